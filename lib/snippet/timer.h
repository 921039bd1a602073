/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Timers: the clock when a call begins is left in a word of the thread, and what has passed is
 * known when the caller gets control back.
 *
 * The word is 0 outside. Inside it is the clock at the outermost call; a call inside that one makes
 * it negative and is counted in bits 56-62, so it ends with the outermost one. What returns without
 * having been seen to begin finds 0 and is nothing. A thread without words is never inside.
 *
 * clock: KI_FACT_TSC, KI_FACT_CLOCK, or a number of the thread's that only grows, plus 1, since 0
 * means outside; not negative. It is an expression without calls and loads, of helpers only EVENT,
 * and may be evaluated in several places. narrow: it stays below 2^56. Then no call inside reads
 * it, and it matters for nothing if it cannot be read there (helper EVENT, called while another
 * helper runs, gives 0). A call that takes 2^56 ticks or more, and is called
 * inside itself, is taken for a shorter one. Of one that calls itself more than 127 deep those
 * beyond are not counted, so it seems to end too early: too_deep (NULL: nothing) is what is done at
 * each of them.
 *
 * first and begun (NULL: nothing) are done before and after the clock of an outermost call, ending
 * before the word is 0 again. So what an interrupt calls from begun to ending is inside, and what
 * begun has left is what ending finds; what first does takes no time of the call.
 *
 * word: KI_VAR_THREAD, of 64 bits; it is taken as signed. elapsed: a local of 64 bits, which holds
 * the ticks when `ending` and `then` run, and is changed nowhere else.
 */
#ifndef KI_SNIPPET_TIMER_H
#define KI_SNIPPET_TIMER_H

#include "kerninst/snippet.h"

/* Statements; NULL and the failure is noted, as by all builders. */
struct ki_node *ki_timer_start(struct ki_snippet *s, const struct ki_var *word,
			       struct ki_node *clock, struct ki_node *too_deep,
			       struct ki_node *first, struct ki_node *begun);
/* The end of what ki_timer_start began. narrow: the clock has 32 bits. */
struct ki_timer_end {
	const struct ki_var *word;
	struct ki_node *clock;
	bool narrow;
	const struct ki_var *elapsed;
	struct ki_node *ending, *then; /* NULL: nothing */
};
struct ki_node *ki_timer_stop(struct ki_snippet *s, const struct ki_timer_end *end);

#endif
