/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A hash of the text by which a test, or a person, sees that the kernel is as it was, and the text
 * itself without what comes and goes.
 *
 * What the kernel rewrites by itself while it runs is taken as zero: the rows of reserved text
 * that say so, and, since ftrace's sites are not all in that table, the first instruction of every
 * function that looks like one. Where the kernel counts calls it does so in the nops before each
 * function, and writes there when the function is first called from a place that comes later: that
 * is taken as nops.
 */
#include "target/text.h"

#include <errno.h>
#include <string.h>

#include <xxhash.h>

#define SITE_LEN 5

static bool rewritten(unsigned int reason)
{
	return reason == KI_R_FTRACE_SITE || reason == KI_R_JUMP_LABEL ||
	       reason == KI_R_STATIC_CALL || reason == KI_R_LOCK_PREFIX || reason == KI_R_COPIED;
}

static void zero_rows(uint8_t *text, const struct ki_text_range *r,
		      const struct ki_reserved_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ki_reserved_row *row = &rows[i];
		uint64_t from = row->addr > r->start ? row->addr : r->start;
		uint64_t to = row->addr + row->len;

		if (to < row->addr || to > r->end)
			to = r->end;
		if (rewritten(row->reason) && from < to)
			memset(text + (from - r->start), 0, to - from);
	}
}

/* What counts a function's calls, sarq $5 of %gs:disp or %gs:disp(%rip), is nops again. */
static void drop_count(uint8_t *function, size_t before)
{
	static const uint8_t absolute[] = {0x65, 0x48, 0xc1, 0x3c, 0x25};
	static const uint8_t relative[] = {0x65, 0x48, 0xc1, 0x3d};
	const size_t long_len = 10, len = 9;

	if (before >= long_len && !memcmp(function - long_len, absolute, sizeof(absolute)))
		memset(function - long_len, 0x90, long_len);
	else if (before >= len && !memcmp(function - len, relative, sizeof(relative)))
		memset(function - len, 0x90, len);
}

static void zero_sites(struct ki_target *t, uint8_t *text, const struct ki_text_range *r)
{
	static const uint8_t nop[SITE_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	for (size_t i = r->start ? ki_target_symbol_after(t, r->start - 1) : 0;
	     i < t->nsymbols && t->symbols[i].addr < r->end; i++) {
		const struct ki_symbol *s = &t->symbols[i];
		size_t avail, skip;
		uint8_t *p;

		if (s->alias)
			continue;
		p = text + (s->addr - r->start);
		drop_count(p, s->addr - r->start);
		avail = r->end - s->addr;
		skip = ki_target_endbr_len(p, avail);
		p += skip;
		avail -= skip;
		if (avail >= SITE_LEN && (*p == 0xe8 || memcmp(p, nop, SITE_LEN) == 0))
			memset(p, 0, SITE_LEN);
	}
}

int ki_target_text_masked(struct ki_target *t, const struct ki_text_range *r, enum ki_view view,
			  uint8_t **out, struct ki_err *err)
{
	const struct ki_reserved_row *rows;
	size_t count, len = r->end - r->start;
	uint8_t *text = malloc(len);
	int ret;

	*out = NULL;
	if (!text)
		return ki_err_set(err, -ENOMEM, r->start, "out of memory for the text");
	ret = ki_target_read(t, r->start, text, len, view, err);
	if (!ret)
		ret = ki_target_reserved(t, r->start, r->end, &rows, &count, err);
	if (ret) {
		free(text);
		return ret;
	}
	if (t->kind != KI_TARGET_PROCESS) {
		zero_rows(text, r, rows, count);
		zero_sites(t, text, r);
	}
	*out = text;
	return 0;
}

bool ki_target_text_is_watched(const struct ki_target *t, const struct ki_text_range *r)
{
	return t->kind == KI_TARGET_PROCESS || strcmp(r->module, "kerninst") != 0;
}

bool ki_target_text_is_gone(const struct ki_text_range *r, int ret, struct ki_err *err)
{
	const bool gone = ret == -EFAULT && *r->module;

	if (gone && err)
		*err = (struct ki_err){0};
	return gone;
}

static int hash_range(struct ki_target *t, const struct ki_text_range *r, XXH3_state_t *state,
		      struct ki_err *err)
{
	uint8_t *text;
	int ret = ki_target_text_masked(t, r, KI_VIEW_LIVE, &text, err);

	if (!ret)
		XXH3_128bits_update(state, text, r->end - r->start);
	free(text);
	return ki_target_text_is_gone(r, ret, err) ? 0 : ret;
}

int ki_target_text_hash(struct ki_target *t, char hash[KI_TEXT_HASH_LEN], struct ki_err *err)
{
	static const char digits[] = "0123456789abcdef";
	XXH3_state_t *state = XXH3_createState();
	XXH128_canonical_t bytes;
	int ret = 0;

	if (!state)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	XXH3_128bits_reset(state);
	for (size_t i = 0; !ret && i < t->ranges.n; i++)
		if (ki_target_text_is_watched(t, &t->ranges.v[i]))
			ret = hash_range(t, &t->ranges.v[i], state, err);
	if (!ret) {
		XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state));
		for (size_t i = 0; i < sizeof(bytes.digest); i++) {
			hash[2 * i] = digits[bytes.digest[i] >> 4];
			hash[2 * i + 1] = digits[bytes.digest[i] & 15];
		}
		hash[2 * sizeof(bytes.digest)] = 0;
	}
	XXH3_freeState(state);
	return ret;
}
