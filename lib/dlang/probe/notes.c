// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/probe/notes.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define OWNER "stapsdt"
#define TYPE  3

static uint64_t padded(uint64_t n)
{
	return (n + 3) & ~3ull;
}

static const char *next_string(const uint8_t **p, const uint8_t *end)
{
	const char *s = (const char *)*p;
	const uint8_t *zero = memchr(*p, 0, (size_t)(end - *p));

	*p = zero ? zero + 1 : end;
	return zero ? s : NULL;
}

static bool read_note(const uint8_t *desc, uint64_t len, struct ki_d_note *out)
{
	const uint8_t *p = desc + 3 * sizeof(uint64_t), *end = desc + len;

	if (len < 3 * sizeof(uint64_t))
		return false;
	memcpy(&out->pc, desc, sizeof(uint64_t));
	memcpy(&out->base, desc + 8, sizeof(uint64_t));
	memcpy(&out->semaphore, desc + 16, sizeof(uint64_t));
	out->provider = next_string(&p, end);
	out->name = out->provider ? next_string(&p, end) : NULL;
	out->args = out->name ? next_string(&p, end) : NULL;
	return out->args && *out->provider && *out->name;
}

int ki_d_notes_each(const uint8_t *bytes, uint64_t len, ki_d_note_take *take, void *arg)
{
	const uint8_t *p = bytes, *end = bytes + len;
	Elf64_Nhdr h;
	int ret = 0;

	while (!ret && (uint64_t)(end - p) >= sizeof(h)) {
		struct ki_d_note n;
		uint64_t whole;

		memcpy(&h, p, sizeof(h));
		p += sizeof(h);
		whole = padded(h.n_namesz) + padded(h.n_descsz);
		if (whole > (uint64_t)(end - p))
			break;
		if (h.n_type == TYPE && h.n_namesz == sizeof(OWNER) &&
		    !memcmp(p, OWNER, sizeof(OWNER)) &&
		    read_note(p + padded(h.n_namesz), h.n_descsz, &n))
			ret = take(arg, &n);
		p += whole;
	}
	return ret;
}
