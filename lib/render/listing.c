// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "code/decode/decode.h"
#include "util/vec.h"

static uint32_t block_of_start(const struct ki_function *fn, uint64_t addr)
{
	const struct ki_block *b = ki_function_block_at(fn, addr);

	return b && b->start == addr ? (uint32_t)(b - fn->blocks) : KI_NONE;
}

static bool is_same(const struct ki_listing *v, const struct ki_insn *in)
{
	size_t at = in->addr - v->fn->start;

	return !memcmp(v->bytes + at, v->fn->bytes + at, in->len);
}

/* The line at addr, at or after the start of instruction *i, which moves on after it. */
static struct ki_listing_line next_line(const struct ki_listing *v, uint64_t addr, uint32_t *i)
{
	const struct ki_function *fn = v->fn;
	struct ki_listing_line l = {.addr = addr, .insn = *i, .block = block_of_start(fn, addr)};
	const struct ki_insn *in = &fn->insns[*i];

	if (*i < fn->ninsns && in->addr == addr && is_same(v, in)) {
		l.len = in->len;
		l.count = 1;
		++*i;
		return l;
	}
	if (*i >= fn->ninsns || in->addr > addr) {
		l.kind = KI_LISTING_REST;
		l.len = (uint32_t)((*i < fn->ninsns ? in->addr : fn->end) - addr);
		return l;
	}
	l.kind = KI_LISTING_CHANGED;
	l.len = (uint32_t)ki_decode_len(v->bytes + (addr - fn->start), fn->end - addr);
	for (; *i < fn->ninsns && fn->insns[*i].addr < addr + l.len; ++*i)
		l.count++;
	return l;
}

static int make_lines(struct ki_listing *v, const struct ki_insn *first)
{
	uint32_t i = (uint32_t)(first - v->fn->insns);

	for (uint64_t addr = first->addr; addr < v->fn->end;) {
		struct ki_listing_line l = next_line(v, addr, &i);

		if (ki_vec_push(&v->lines, l))
			return -ENOMEM;
		addr += l.len;
	}
	return 0;
}

/* Where it would have to be: the instruction that covers addr. */
static int not_a_boundary(const struct ki_function *fn, uint64_t addr, struct ki_err *err)
{
	uint32_t i = 0;

	while (i + 1 < fn->ninsns && fn->insns[i + 1].addr <= addr)
		i++;
	return ki_err_reason(err, KI_R_NOT_BOUNDARY, addr,
			     "%s+0x%" PRIx64 ": inside the instruction at +0x%" PRIx64,
			     fn->symbol->name, addr - fn->start, fn->insns[i].addr - fn->start);
}

int ki_listing_new(struct ki_listing *v, const struct ki_function *fn, uint64_t from, bool live,
		   enum ki_syntax syntax, struct ki_err *err)
{
	const struct ki_insn *first = ki_function_insn_at(fn, from);
	size_t len = fn->end - fn->start;
	int ret = 0;

	*v = (struct ki_listing){.fn = fn, .live = live, .syntax = syntax};
	if (!fn->ninsns)
		return ki_err_reason(err, fn->reason ? fn->reason : KI_R_NO_CODE, from, "%s",
				     fn->symbol->name);
	if (!first)
		return not_a_boundary(fn, from, err);
	v->bytes = malloc(len);
	if (!v->bytes)
		return ki_err_set(err, -ENOMEM, from, "%s: out of memory", fn->symbol->name);
	memcpy(v->bytes, fn->bytes, len);
	if (live)
		ret = ki_target_read(fn->target, fn->start, v->bytes, len, KI_VIEW_LIVE, err);
	if (!ret && make_lines(v, first))
		ret = ki_err_set(err, -ENOMEM, from, "%s: out of memory", fn->symbol->name);
	if (ret)
		ki_listing_free(v);
	return ret;
}

void ki_listing_free(struct ki_listing *v)
{
	free(v->bytes);
	v->bytes = NULL;
	ki_vec_free(&v->lines);
}

const uint8_t *ki_listing_bytes(const struct ki_listing *v, const struct ki_listing_line *l)
{
	return v->bytes + (l->addr - v->fn->start);
}

/* "je vfs_read+0x44" becomes "je +0x44". */
static void shorten_target(const struct ki_function *fn, char *text)
{
	size_t len = strlen(fn->symbol->name);
	char *last = strrchr(text, ' ');

	if (!last || strncmp(last + 1, fn->symbol->name, len) != 0)
		return;
	last++;
	if (last[len] == '+')
		memmove(last, last + len, strlen(last + len) + 1);
	else if (!last[len])
		strcpy(last, "+0x0");
}

static bool jumps_inside(const struct ki_function *fn, const struct ki_insn *in)
{
	return in->target >= fn->start && in->target < fn->end &&
	       (in->kind == KI_INSN_JMP || in->kind == KI_INSN_JCC || in->kind == KI_INSN_LOOP);
}

/* room for "+0x0" in place of a name of one letter */
#define FORMAT_TEXT (KI_LISTING_TEXT - 8)

static void format(const struct ki_listing *v, const struct ki_insn *in, const uint8_t *bytes,
		   char *text, size_t len)
{
	ki_insn_format_as(v->fn, in, bytes, v->syntax, text, len);
	if (jumps_inside(v->fn, in))
		shorten_target(v->fn, text);
}

bool ki_listing_insn(const struct ki_listing *v, const struct ki_listing_line *l,
		     struct ki_insn *out)
{
	struct ki_decoded d;

	if (l->kind == KI_LISTING_REST)
		return false;
	if (l->kind == KI_LISTING_SAME) {
		*out = v->fn->insns[l->insn];
		return true;
	}
	ki_decode(ki_listing_bytes(v, l), l->len, l->addr, &d);
	*out = d.in;
	return true;
}

void ki_listing_text(const struct ki_listing *v, const struct ki_listing_line *l,
		     char text[KI_LISTING_TEXT])
{
	struct ki_insn in;

	if (ki_listing_insn(v, l, &in))
		format(v, &in, ki_listing_bytes(v, l), text, FORMAT_TEXT);
	else
		snprintf(text, KI_LISTING_TEXT, "(%u byte%s of what is displaced)", l->len,
			 l->len == 1 ? "" : "s");
}

void ki_listing_displaced(const struct ki_listing *v, const struct ki_listing_line *l,
			  char text[KI_LISTING_TEXT])
{
	char one[KI_LISTING_TEXT];
	size_t at = 0;

	*text = '\0';
	if (l->kind != KI_LISTING_CHANGED)
		return;
	for (uint32_t i = l->insn; i < l->insn + l->count && at < KI_LISTING_TEXT; i++) {
		if (v->fn->insns[i].kind == KI_INSN_PAD)
			continue;
		format(v, &v->fn->insns[i], NULL, one, FORMAT_TEXT);
		at += (size_t)snprintf(text + at, KI_LISTING_TEXT - at, "%s%s", at ? "; " : "",
				       one);
	}
}

unsigned int ki_listing_reason(const struct ki_listing *v, const struct ki_listing_line *l)
{
	return l->count ? v->fn->insns[l->insn].reason : KI_R_OK;
}

bool ki_listing_is_padding(const struct ki_listing *v, const struct ki_listing_line *l)
{
	return l->kind == KI_LISTING_SAME && v->fn->insns[l->insn].kind == KI_INSN_PAD;
}
