/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The instructions of one symbol, or of what stands before the first symbol of a range, one after
 * the other from its start on.
 */
#ifndef KI_CODE_TRAIL_H
#define KI_CODE_TRAIL_H

#include "code/decode/decode.h"
#include "code/function/alltext.h"

struct ki_memo;

/* All zero but for the first three: it is nowhere. */
struct ki_trail {
	struct ki_target *target;
	const struct ki_text *text; /* all text; NULL: what is needed is read from the target */
	struct ki_memo *memo;	    /* NULL: decode the slow way */

	uint64_t from, to;
	const uint8_t *bytes; /* NULL: they cannot be read */
	uint8_t *copy;
	size_t pos; /* an instruction starts so far after `from` */
};

/*
 * Go to the start of what addr, which is text, lies in. Instructions that begin before `limit`
 * are needed, others are not.
 */
void ki_trail_enter(struct ki_trail *w, uint64_t addr, uint64_t limit);
void ki_trail_leave(struct ki_trail *w);

/* Does addr lie in what has been entered? */
static inline bool ki_trail_holds(const struct ki_trail *w, uint64_t addr)
{
	return addr >= w->from && addr < w->to;
}

/* Walk to the instruction, *d, that addr lies in. Of what can be read. */
void ki_trail_to(struct ki_trail *w, uint64_t addr, struct ki_decoded *d);

/*
 * Is the byte before `field` the last one of the opcode of a direct branch or call, and `field`
 * its displacement, up to `end`? True, too, where that cannot be excluded.
 */
bool ki_trail_is_branch(struct ki_trail *w, uint64_t field, uint64_t end);

#endif
