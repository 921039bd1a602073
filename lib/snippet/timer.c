// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Timers as trees. What happens nearly always, a call that is not inside itself, comes second in
 * each `if`: what comes first must jump over it.
 *
 *	start:	if (word != 0) {
 *			if (word < 0)
 *				if ((word & bits 56-62) == bits 56-62)
 *					too_deep;
 *				else
 *					word += 1 << 56;
 *			else
 *				word = (word & low 56 bits) | sign | 1 << 56;
 *		} else {
 *			first
 *			word = clock;
 *			begun
 *		}
 *
 *	stop:	if (word <= 0) {
 *			if (word < 0) {
 *				word -= 1 << 56;
 *				if ((word & bits 56-62) == 0) {
 *					elapsed = clock;
 *					word = elapsed - ((elapsed - word) & low 56 bits);
 *				}
 *			}
 *		} else {
 *			elapsed = clock - word;
 *			ending
 *			word = 0;
 *			then
 *		}
 *
 * The clock may have more than 56 bits (of a time stamp counter: after 278 days at 3 GHz). It is
 * stored whole; a call inside takes the upper ones away, and when the last of these is over they
 * are made again from the clock that is now. Of a narrow clock there are none: word = word & low 56
 * bits. An interrupt may come in between anywhere, with calls
 * of its own: they leave the word as they have found it.
 */
#include <errno.h>

#include "snippet/timer.h"
#include "snippet/tree.h"

#define LEVEL (1ull << 56)
#define SIGN  (1ull << 63)
#define DEPTH (SIGN - LEVEL) /* the levels */

static struct ki_node *number(struct ki_snippet *s, uint64_t value)
{
	return ki_expr_const(s, KI_I64, value);
}

static struct ki_node *set(struct ki_snippet *s, const struct ki_var *v, struct ki_node *value)
{
	return ki_stmt_update(s, KI_SET, v, NULL, value);
}

static struct ki_node *compare(struct ki_snippet *s, const struct ki_var *v, enum ki_binary op)
{
	return ki_expr_binary(s, op, ki_expr_var(s, v), number(s, 0));
}

static struct ki_node *and_with(struct ki_snippet *s, struct ki_node *x, uint64_t mask)
{
	return ki_expr_binary(s, KI_AND, x, number(s, mask));
}

static bool is_wide(const struct ki_var *v, enum ki_var_kind kind)
{
	return v && v->kind == kind && v->type < KI_TYPES && ki_types[v->type].size == 8;
}

static bool is_signed_word(struct ki_snippet *s, const struct ki_var *word, struct ki_var *out)
{
	if (!is_wide(word, KI_VAR_THREAD)) {
		if (!s->err.code)
			ki_tree_fail(s, -EINVAL, "a timer needs a word of 64 bits");
		return false;
	}
	*out = *word;
	out->type = KI_I64;
	return true;
}

struct ki_node *ki_timer_start(struct ki_snippet *s, const struct ki_var *word,
			       struct ki_node *clock, struct ki_node *too_deep,
			       struct ki_node *first, struct ki_node *begun)
{
	struct ki_node *deeper, *second, *full, *outermost;
	struct ki_var w;

	if (!is_signed_word(s, word, &w))
		return NULL;
	deeper = ki_stmt_update(s, KI_UPDATE_ADD, &w, NULL, number(s, LEVEL));
	full = ki_expr_binary(s, KI_EQ, and_with(s, ki_expr_var(s, &w), DEPTH), number(s, DEPTH));
	deeper = too_deep ? ki_stmt_if(s, full, too_deep, deeper)
			  : ki_stmt_if(s, ki_expr_unary(s, KI_LNOT, full), deeper, NULL);
	second = set(s, &w,
		     ki_expr_binary(s, KI_OR, and_with(s, ki_expr_var(s, &w), LEVEL - 1),
				    number(s, SIGN | LEVEL)));
	outermost = set(s, &w, clock);
	if (first)
		outermost = ki_stmt_append(s, ki_stmt_append(s, NULL, first), outermost);
	if (begun)
		outermost = ki_stmt_append(
			s, first ? outermost : ki_stmt_append(s, NULL, outermost), begun);
	return ki_stmt_if(s, compare(s, &w, KI_NE),
			  ki_stmt_if(s, compare(s, &w, KI_LT), deeper, second), outermost);
}

/* Make the upper bits again: of a narrow clock (NULL) they are 0. */
static struct ki_node *restore(struct ki_snippet *s, const struct ki_var *w, struct ki_node *clock,
			       const struct ki_var *elapsed)
{
	struct ki_node *list, *passed;

	if (!clock)
		return ki_stmt_update(s, KI_UPDATE_AND, w, NULL, number(s, LEVEL - 1));
	passed = and_with(s, ki_expr_binary(s, KI_SUB, ki_expr_var(s, elapsed), ki_expr_var(s, w)),
			  LEVEL - 1);
	list = ki_stmt_append(s, NULL, set(s, elapsed, clock));
	return ki_stmt_append(
		s, list, set(s, w, ki_expr_binary(s, KI_SUB, ki_expr_var(s, elapsed), passed)));
}

/* One level less. */
static struct ki_node *leave(struct ki_snippet *s, const struct ki_var *w, struct ki_node *clock,
			     const struct ki_var *elapsed)
{
	struct ki_node *list, *last;

	list = ki_stmt_append(s, NULL, ki_stmt_update(s, KI_UPDATE_SUB, w, NULL, number(s, LEVEL)));
	last = ki_expr_binary(s, KI_EQ, and_with(s, ki_expr_var(s, w), DEPTH), number(s, 0));
	list = ki_stmt_append(s, list, ki_stmt_if(s, last, restore(s, w, clock, elapsed), NULL));
	return ki_stmt_if(s, compare(s, w, KI_LT), list, NULL);
}

struct ki_node *ki_timer_stop(struct ki_snippet *s, const struct ki_timer_end *end)
{
	struct ki_node *inner, *list;
	struct ki_var w;

	if (!is_signed_word(s, end->word, &w))
		return NULL;
	if (!is_wide(end->elapsed, KI_VAR_LOCAL)) {
		if (!s->err.code)
			ki_tree_fail(s, -EINVAL, "a timer leaves what has passed in a local");
		return NULL;
	}
	inner = leave(s, &w, end->narrow ? NULL : ki_node_again(s, end->clock), end->elapsed);
	list = ki_stmt_append(
		s, NULL,
		set(s, end->elapsed, ki_expr_binary(s, KI_SUB, end->clock, ki_expr_var(s, &w))));
	if (end->ending)
		list = ki_stmt_append(s, list, end->ending);
	list = ki_stmt_append(s, list, set(s, &w, number(s, 0)));
	if (end->then)
		list = ki_stmt_append(s, list, end->then);
	return ki_stmt_if(s, compare(s, &w, KI_LE), inner, list);
}
