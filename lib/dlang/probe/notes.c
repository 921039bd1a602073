// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/probe/notes.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#define ATTRIBUTES 20 /* bytes of a provider's */

/* One note: the bytes that say something. */
struct piece {
	const char *owner;
	uint32_t owner_len, type;
	const uint8_t *desc;
	uint64_t len;
};

static uint64_t padded(uint64_t n)
{
	return (n + 3) & ~3ull;
}

/* *p: a section's bytes from here on. False: there is no further note. */
static bool next_piece(const uint8_t **p, const uint8_t *end, struct piece *out)
{
	Elf64_Nhdr h;

	if ((uint64_t)(end - *p) < sizeof(h))
		return false;
	memcpy(&h, *p, sizeof(h));
	*p += sizeof(h);
	if (padded(h.n_namesz) + padded(h.n_descsz) > (uint64_t)(end - *p))
		return false;
	out->owner = (const char *)*p;
	out->owner_len = h.n_namesz;
	out->type = h.n_type;
	out->desc = *p + padded(h.n_namesz);
	out->len = h.n_descsz;
	*p = out->desc + padded(h.n_descsz);
	return true;
}

static bool is_of(const struct piece *n, const char *owner)
{
	return n->owner_len == strlen(owner) + 1 && !memcmp(n->owner, owner, n->owner_len);
}

static const char *next_string(const uint8_t **p, const uint8_t *end)
{
	const char *s = (const char *)*p;
	const uint8_t *zero = *p < end ? memchr(*p, 0, (size_t)(end - *p)) : NULL;

	*p = zero ? zero + 1 : end;
	return zero ? s : NULL;
}

/* p may be behind the end. -1: there is none. */
static int next_byte(const uint8_t **p, const uint8_t *end)
{
	return *p < end ? *(*p)++ : -1;
}

/* words: addresses, which stand before the strings; counted: so are the arguments. */
static bool read_note(const struct piece *n, unsigned int words, bool counted,
		      struct ki_d_note *out)
{
	uint64_t *const to[2][3] = {{&out->pc, &out->base, &out->semaphore},
				    {&out->pc, &out->function}};
	const uint8_t *p = n->desc + words * sizeof(uint64_t), *end = n->desc + n->len;

	if (n->len < words * sizeof(uint64_t))
		return false;
	for (unsigned int i = 0; i < words; i++)
		memcpy(to[counted][i], n->desc + i * sizeof(uint64_t), sizeof(uint64_t));
	out->provider = next_string(&p, end);
	out->name = out->provider ? next_string(&p, end) : NULL;
	if (!out->name || (counted && next_byte(&p, end) < 0))
		return false;
	out->args = next_string(&p, end);
	return out->args && *out->provider && *out->name;
}

int ki_d_notes_each(const uint8_t *bytes, uint64_t len, ki_d_note_take *take, void *arg)
{
	const uint8_t *p = bytes, *end = bytes + len;
	struct piece at;
	int ret = 0;

	while (!ret && next_piece(&p, end, &at)) {
		const bool usdt = is_of(&at, "usdt") && (at.type == 1 || at.type == 2);
		struct ki_d_note n = {.asks = usdt && at.type == 2};

		if ((usdt && read_note(&at, 2, true, &n)) ||
		    (at.type == 3 && is_of(&at, "stapsdt") && read_note(&at, 3, false, &n)))
			ret = take(arg, &n);
	}
	return ret;
}

uint32_t ki_d_note_args(const struct ki_d_note *n)
{
	uint32_t has = 0;

	for (const char *p = n->args + strspn(n->args, " "); *p; p += strspn(p, " ")) {
		p += strcspn(p, " ");
		has++;
	}
	return has;
}

/* ---- types ---- */

/* Two underscores are a hyphen. */
static bool is_same(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		const bool hyphen[] = {a[0] == '_' && a[1] == '_', b[0] == '_' && b[1] == '_'};

		if ((hyphen[0] ? '-' : *a) != (hyphen[1] ? '-' : *b))
			return false;
		a += hyphen[0];
		b += hyphen[1];
	}
	return *a == *b;
}

/* A probe's name has been read: the rest. */
static bool read_types(const uint8_t **p, const uint8_t *end, struct ki_d_noted *out)
{
	const int native = next_byte(p, end);
	int seen;

	for (int i = 0; i < native; i++)
		if (!next_string(p, end))
			return false;
	seen = next_byte(p, end);
	if (native < 0 || seen < 0)
		return false;
	for (int i = 0; i < seen; i++) {
		const char *type = next_string(p, end);
		const int from = next_byte(p, end);

		if (!type || from < 0)
			return false;
		if (i >= KI_D_NOTED_ARGS)
			continue;
		out->args[i].type = type;
		out->args[i].from = (uint8_t)from;
	}
	out->own = (uint32_t)native;
	out->n = (uint32_t)(seen < KI_D_NOTED_ARGS ? seen : KI_D_NOTED_ARGS);
	return true;
}

static enum ki_d_notes_have types_in(const struct piece *at, const struct ki_d_note *of,
				     struct ki_d_noted *out)
{
	const uint8_t *p = at->desc, *end = p + at->len;
	const char *name = next_string(&p, end);
	const uint64_t before = padded((uint64_t)(p - at->desc)) + ATTRIBUTES + sizeof(uint32_t);
	uint32_t n;

	if (!name || strcmp(name, of->provider) != 0 || before > at->len)
		return KI_D_NOTES_NOTHING;
	p = at->desc + before;
	memcpy(&n, p - sizeof(n), sizeof(n));
	while (n--) {
		name = next_string(&p, end);
		if (!name || !read_types(&p, end, out))
			break;
		if (is_same(name, of->name))
			return KI_D_NOTES_TYPES;
		p = at->desc + padded((uint64_t)(p - at->desc));
	}
	return KI_D_NOTES_OTHERS;
}

enum ki_d_notes_have ki_d_notes_types(const uint8_t *bytes, uint64_t len,
				      const struct ki_d_note *of, struct ki_d_noted *out)
{
	enum ki_d_notes_have have = KI_D_NOTES_NOTHING, now;
	const uint8_t *p = bytes, *end = bytes + len;
	struct piece at;

	while (have != KI_D_NOTES_TYPES && next_piece(&p, end, &at)) {
		now = at.type == 1 && is_of(&at, "prov") ? types_in(&at, of, out)
							 : KI_D_NOTES_NOTHING;
		have = now > have ? now : have;
	}
	if (have != KI_D_NOTES_TYPES)
		*out = (struct ki_d_noted){0};
	return have;
}
