/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Counters of each thread, for who links and who reads. */
#ifndef KI_PROCESS_TALLY_H
#define KI_PROCESS_TALLY_H

#include "process/linked.h"

#define KI_TALLY_ROWS	1024u
#define KI_TALLY_BLOCKS 64u
#define KI_TALLY_MEMORY (64ull << 20) /* all blocks; what is not written takes none */

struct ki_tally_row {
	uint64_t thread; /* its FS base; 0: nobody's; all ones: somebody takes it */
	uint64_t block;	 /* its distance from the first */
};

/*
 * A counter's fixup that may become one of each thread, without a lock: the chunk is what
 * ki_process_count makes, and nothing else.
 */
#define KI_TALLY      (1ull << 32)
#define KI_TALLY_KEEP (1ull << 33) /* with the flags kept */

struct ki_tally_code {
	size_t len, slow, counter, back; /* where its two fields are; where one comes back to */
	uint8_t code[128];
};

void ki_tally_code(struct ki_tally_code *out, const struct ki_linked *x, bool keep_flags);

/* What `slow` leads to calls this, with %rcx the counter's address. As ki_words_routine. */
size_t ki_tally_routine(uint8_t *to, const struct ki_linked *x);

/* How much memory the counters take: blocks, stride, shared_len, counters_len. */
void ki_tally_size(struct ki_linked *x, bool tally);

uint64_t ki_tally_read(const struct ki_linked *x, const uint64_t *values, uint32_t counter);

#endif
