// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * One probe: a word that it writes to, its code, its chunk in the plan.
 */
#include <errno.h>

#include "cover/live.h"
#include "kerninst/process.h"
#include "splice/plan.h"

#define SLOTS_FIRST 512 /* taken at first; then twice as many each time */
#define SLOTS_MOST  131072
#define SLOTS_LEAST 64

/* There are fewer, or no more for this session. */
static bool is_too_much(const struct ki_err *why)
{
	return why->reason == KI_R_COUNTERS_FULL || why->code == -EDQUOT;
}

/* As many as there are, of at most so many: asking waits for a request that is under way. */
static int take_some(int (*take)(struct ki_target *, uint32_t, uint32_t *, struct ki_err *),
		     struct ki_target *t, uint32_t *n, uint32_t *first, struct ki_err *err)
{
	struct ki_err why;
	int ret;

	for (;; *n /= 2) {
		why = (struct ki_err){0};
		ret = take(t, *n, first, &why);
		if (!ret || !is_too_much(&why) || *n <= SLOTS_LEAST)
			break;
	}
	if (ret)
		*err = why;
	return ret;
}

/* Counters of each CPU are better, as long as there are some: nobody waits for another CPU. */
static int take_words(struct ki_cover *c, struct ki_err *err)
{
	uint32_t first = 0, n = c->slots ? c->slots * 2 : SLOTS_FIRST;
	int ret;

	c->slots = n < SLOTS_MOST ? n : SLOTS_MOST;
	n = c->slots;
	if (c->o.mode == KI_COVER_HIT && !c->o.when) {
		n /= 8;
		ret = take_some(ki_globals_take, c->t, &n, &first, err);
		c->next_slot = first * 8;
		c->end_slot = c->next_slot + n * 8;
		return ret;
	}
	ret = c->o.when ? -ENOSPC : take_some(ki_counters_take, c->t, &n, &first, err);
	if (!ret) {
		c->next_slot = first;
	} else {
		ki_err_clear(err);
		n = c->slots;
		ret = take_some(ki_globals_take, c->t, &n, &first, err);
		c->next_slot = first | SLOT_GLOBAL;
	}
	c->end_slot = c->next_slot + n;
	return ret;
}

bool ki_cover_has_counters(struct ki_cover *c, uint32_t n)
{
	struct ki_err ignored = {0};

	if (c->end_slot - c->next_slot < n && !(c->next_slot & SLOT_GLOBAL) &&
	    take_words(c, &ignored))
		c->end_slot = c->next_slot;
	return c->end_slot - c->next_slot >= n && !(c->next_slot & SLOT_GLOBAL);
}

static void make_code(const struct ki_cover *c, uint32_t slot, bool flags_live, struct ki_code *out)
{
	if (ki_cover_is_process(c))
		ki_process_count(out, slot, flags_live);
	else if (c->o.mode == KI_COVER_HIT)
		ki_snippet_mark(out, slot / 8, slot % 8);
	else if (slot & SLOT_GLOBAL)
		ki_snippet_count_global(out, slot & ~SLOT_GLOBAL, flags_live);
	else
		ki_snippet_count(out, slot, flags_live);
}

/* The same under a condition, as a snippet. */
static int make_guarded(const struct ki_cover *c, uint32_t slot, struct ki_snippet *s,
			struct ki_err *err)
{
	const struct ki_var to = {.name = "block",
				  .kind = KI_VAR_GLOBAL,
				  .type = KI_U64,
				  .first = slot & ~SLOT_GLOBAL};
	struct ki_node *action =
		ki_stmt_update(s, c->o.mode == KI_COVER_HIT ? KI_SET : KI_UPDATE_ADD, &to, NULL,
			       ki_expr_const(s, KI_U64, 1));
	int ret = ki_predicate_guard(c->o.when, s, NULL, action, &action, err);

	ki_snippet_body(s, action);
	return ret;
}

static int add_guarded(struct ki_cover *c, const struct ki_ground *g, const struct ki_place *place,
		       uint32_t *id, struct ki_err *err)
{
	struct ki_snippet *s;
	int ret = ki_snippet_new(&s);

	if (ret)
		return ret;
	ret = make_guarded(c, c->next_slot, s, err);
	if (!ret)
		ret = ki_plan_add_snippet(c->plan,
					  &(struct ki_insertion){g->fn, g->spans, place, 0}, s,
					  NULL, id, err);
	ki_snippet_free(s);
	return ret;
}

void ki_cover_leave_out(struct ki_cover *c, const struct cover_probe *p, unsigned int reason)
{
	if (p->edge) {
		c->edges.v[p->of].rule = KI_EDGE_NONE;
		c->edges.v[p->of].reason = (uint16_t)reason;
		return;
	}
	c->blocks.v[p->of].how = KI_COVER_UNKNOWN;
	c->blocks.v[p->of].reason = (uint16_t)reason;
	c->rules.v[p->of] = KI_RULE_NONE;
}

static int add_chunk(struct ki_cover *c, const struct ki_ground *g, const struct ki_place *place,
		     struct ki_err *err)
{
	struct ki_code code;
	uint32_t id;

	if (c->o.when)
		return add_guarded(c, g, place, &id, err);
	make_code(c, c->next_slot, place->flags_live, &code);
	return ki_plan_add(c->plan, &(struct ki_insertion){g->fn, g->spans, place, 0}, &code, &id,
			   err);
}

int ki_cover_put(struct ki_cover *c, const struct ki_ground *g, const struct ki_place *place,
		 struct cover_probe probe, struct ki_err *err)
{
	struct ki_err why = {0};
	int ret;

	if (c->next_slot == c->end_slot && take_words(c, &why)) {
		c->end_slot = c->next_slot;
		if (why.reason == KI_R_LOCKDOWN || why.reason == KI_R_READ_ONLY ||
		    why.reason == KI_R_UNKNOWN_KERNEL) {
			*err = why;
			return why.code;
		}
		ki_cover_leave_out(c, &probe, why.reason ? why.reason : KI_R_COUNTERS_FULL);
		return 0;
	}
	probe.slot = c->next_slot;
	probe.still = c->tree.narcs != 0;
	ret = ki_vec_reserve(&c->probes, 1) ? -ENOMEM : add_chunk(c, g, place, &why);
	if (ret == -ENOMEM)
		return ki_err_set(err, -ENOMEM, g->fn->start, "coverage: out of memory");
	if (ret) {
		ki_cover_leave_out(c, &probe, why.reason ? why.reason : KI_R_BAD_CHUNK);
		return 0;
	}
	c->probes.v[c->probes.n++] = probe;
	c->next_slot++;
	return 0;
}
