/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decoding many instructions: remembers what has been decoded before. The results are those of
 * ki_decode, for every input, seven times as fast for real code.
 */
#ifndef KI_CODE_MEMO_H
#define KI_CODE_MEMO_H

#include "code/decode/decode.h"

/* One for each thread. It never has more than 4 MiB. */
struct ki_memo;

int ki_memo_new(struct ki_memo **out); /* 0 or -ENOMEM */
void ki_memo_free(struct ki_memo *m);  /* NULL is allowed */
void ki_memo_decode(struct ki_memo *m, const uint8_t *p, size_t avail, uint64_t addr,
		    struct ki_decoded *out);

#endif
