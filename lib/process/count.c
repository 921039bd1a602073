/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The counter of a process. A locked increment is exact whichever threads run, and needs nothing of
 * the process: no word of a thread, no allocation. Where threads can be told apart it becomes one
 * of each thread when it is linked (tally.c).
 */
#include <string.h>

#include "kerninst/process.h"
#include "process/tally.h"

static const uint8_t below[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t back[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

static void append(struct ki_code *c, const uint8_t *bytes, size_t n)
{
	memcpy(c->code + c->len, bytes, n);
	c->len += (uint8_t)n;
}

void ki_process_count(struct ki_code *out, uint32_t counter, bool keep_flags)
{
	struct ki_code inner;

	ki_snippet_count_global(&inner, counter, keep_flags);
	inner.fix[0].target |= KI_TALLY | (keep_flags ? KI_TALLY_KEEP : 0);
	if (!keep_flags) {
		*out = inner;
		return;
	}
	memset(out, 0, sizeof(*out));
	append(out, below, sizeof(below));
	append(out, inner.code, inner.len);
	append(out, back, sizeof(back));
	out->nfix = 1;
	out->fix[0] = inner.fix[0];
	out->fix[0].off += sizeof(below);
}
