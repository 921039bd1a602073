// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * One level: the functions in question are counted for a while, then timed; but for those whose
 * timer would cost too much, or cannot be had: they are looked for on stacks meanwhile. Then all is
 * taken out.
 */
#include <errno.h>

#include "crosswalk/round.h"
#include "util/clock.h"
#include "util/listen.h"

#define COUNT_PART 0.25 /* of a level's time */
#define LOOK	   0.04 /* seconds from one look at stacks to the next */
#define TIMER_COST 80	/* instructions that a call's timer takes, on both its ends; */
#define TOLD_COST  1000 /* by breakpoints of which the kernel is told */

static struct ki_crosswalk_node *node(const struct ki_crosswalk *w, uint32_t number)
{
	return &w->graph.nodes.v[number];
}

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
}

/* ---- counting ---- */

static double timer_cost(const struct ki_crosswalk *w, const struct ki_crosswalk_node *n)
{
	return w->told && !n->kernel ? TOLD_COST : TIMER_COST;
}

static void take_counts(const struct ki_round *r, const double *hits, double seconds)
{
	const struct ki_crosswalk *w = r->w;

	for (size_t i = 0; i < r->rows.n; i++) {
		struct ki_crosswalk_node *n = node(w, r->rows.v[i].node);

		n->calls = (uint64_t)hits[i];
		n->seconds = r->rows.v[i].reason ? 0 : seconds;
		n->sampled = hits[i] / seconds * timer_cost(w, n) > w->o.limit * w->speed ||
			     (w->untimed && !n->kernel);
	}
}

static int count_level(struct ki_crosswalk *w, const ki_crosswalk_numbers *open, struct ki_err *err)
{
	const struct ki_metric *const metrics[KI_ROUND_METRICS] = {ki_metric_find("count")};
	struct ki_round r = {0};
	double *hits = calloc(open->n + 1, sizeof(*hits));
	int ret;

	if (!hits)
		return no_memory(err);
	ret = ki_round_open(&r, w, metrics, open, err);
	if (!ret)
		ki_crosswalk_wait(w, w->o.seconds * COUNT_PART);
	if (!ret)
		ret = ki_round_read(&r, 0, hits, err);
	if (!ret)
		take_counts(&r, hits, ki_now() - r.begun);
	if (!ret)
		ki_round_charge(&r, hits);
	w->ended |= !ret && ki_round_ended(&r);
	ki_round_close(&r);
	free(hits);
	return ret;
}

/* ---- timing ---- */

/* A level while it is timed. */
struct timing {
	struct ki_round r;
	ki_crosswalk_numbers timed;		 /* of the nodes in question */
	double *times, *calls;			 /* of each row */
	struct ki_crosswalk_stand before, after; /* where threads were */
	struct ki_crosswalk_rows rows;
};

static int open_round(struct ki_round *r, struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		      struct ki_err *err)
{
	const struct ki_metric *const timers[KI_ROUND_METRICS] = {w->metric,
								  ki_metric_find("calls")};

	return ki_round_open(r, w, timers, open, err);
}

/* Only those that a timer is for. */
static int pick_timed(const struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		      ki_crosswalk_numbers *timed)
{
	timed->n = 0;
	for (size_t i = 0; i < open->n; i++)
		if (!node(w, open->v[i])->sampled && ki_vec_push(timed, open->v[i]))
			return -ENOMEM;
	return 0;
}

static void sample_program(struct ki_crosswalk *w, const ki_crosswalk_numbers *open)
{
	w->untimed = true;
	for (size_t i = 0; i < open->n; i++)
		node(w, open->v[i])->sampled |= !node(w, open->v[i])->kernel;
}

/* Where a machine or a program has no timers, that is said once. */
static int open_timed(struct timing *x, struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		      struct ki_err *err)
{
	struct ki_err why = {0};
	int ret = open_round(&x->r, w, &x->timed, &why);

	if (ret != -EOPNOTSUPP || w->untimed)
		return ret ? ki_err_set(err, ret, why.addr, "%s", why.msg) : 0;
	ki_round_close(&x->r);
	x->r = (struct ki_round){.before = &x->before};
	ki_listener_warn(w->listener, "%s: the program's shares are of stacks", why.msg);
	sample_program(w, open);
	if (pick_timed(w, open, &x->timed))
		return no_memory(err);
	ret = ki_crosswalk_reopen(w, err);
	return ret ? ret : open_round(&x->r, w, &x->timed, err);
}

/* What is refused in the program when it is put in can be had by its calls, perhaps. */
static int ask_again(struct timing *x, struct ki_crosswalk *w, struct ki_err *err)
{
	bool any = false;

	for (size_t i = 0; i < x->r.rows.n; i++) {
		struct ki_crosswalk_node *n = node(w, x->r.rows.v[i].node);

		if (n->kernel || !x->r.rows.v[i].reason || n->by_calls || n->level == 0)
			continue;
		n->reason = x->r.rows.v[i].reason;
		any = n->by_calls = true;
	}
	if (!any)
		return 0;
	ki_round_close(&x->r);
	return open_round(&x->r, w, &x->timed, err);
}

/* Seconds, or events, as a share of what there was in the level. */
static double share_of_all(const struct ki_crosswalk *w, double value)
{
	return w->parts.all > 0 ? value / w->parts.all : 0;
}

static int take_times(const struct timing *x, double seconds)
{
	const struct ki_crosswalk *w = x->r.w;

	for (size_t i = 0; i < x->r.rows.n; i++) {
		struct ki_crosswalk_node *n = node(w, x->r.rows.v[i].node);

		if (x->r.rows.v[i].reason)
			continue;
		n->share = share_of_all(w, x->times[i]);
		if (ki_crosswalk_rows_take(w, &x->rows, x->r.rows.v[i].node, n->share,
					   w->parts.all) ||
		    ki_crosswalk_stand_both(w, &x->before, &x->after, n, x->calls[i] > 0))
			return -ENOMEM;
		n->share += n->stood;
		n->calls = (uint64_t)x->calls[i];
		n->seconds = seconds;
	}
	return 0;
}

static void note_refused(const struct timing *x)
{
	for (size_t i = 0; i < x->r.rows.n; i++)
		if (x->r.rows.v[i].reason)
			ki_crosswalk_refuse(node(x->r.w, x->r.rows.v[i].node),
					    x->r.rows.v[i].reason);
}

static int pass_time(struct timing *x, struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		     struct ki_err *err)
{
	struct ki_crosswalk_stand begun;
	int ret = ki_crosswalk_stand_times(w, &begun);

	ki_crosswalk_parts_free(&w->parts);
	if (!ret)
		ret = ki_crosswalk_parts_begin(&w->parts, &begun);
	ki_crosswalk_stand_free(&begun);
	if (ret)
		return no_memory(err);
	ret = ki_crosswalk_look(w, open, &w->parts, err);
	return ret ? ret : ki_crosswalk_stand_take(w, false, &x->after, err);
}

static int time_while(struct timing *x, struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		      struct ki_err *err)
{
	double seconds;
	int ret;

	x->r.before = &x->before;
	ret = open_timed(x, w, open, err);

	if (ret)
		return ret;
	ret = ask_again(x, w, err);
	if (ret)
		return ret;
	note_refused(x);
	ret = ki_crosswalk_rows_read(w, &x->rows.from, err);
	if (!ret)
		ret = pass_time(x, w, open, err);
	x->rows.stand = &x->after;
	if (!ret)
		ret = ki_round_read(&x->r, 0, x->times, err);
	if (!ret)
		ret = ki_crosswalk_rows_read(w, &x->rows.now, err);
	seconds = ki_now() - x->r.begun;
	if (!ret)
		ret = ki_round_read(&x->r, 1, x->calls, err);
	if (!ret && ki_crosswalk_parts_end(w, &w->parts, &x->after, seconds))
		ret = no_memory(err);
	if (!ret)
		ki_crosswalk_looked(w, open, &w->parts);
	if (!ret && take_times(x, seconds))
		ret = no_memory(err);
	if (!ret)
		ki_round_charge(&x->r, x->calls);
	return ret;
}

static int time_level(struct ki_crosswalk *w, const ki_crosswalk_numbers *open, struct ki_err *err)
{
	struct timing x = {.times = calloc(open->n + 1, sizeof(*x.times)),
			   .calls = calloc(open->n + 1, sizeof(*x.calls))};
	int ret = x.times && x.calls && !pick_timed(w, open, &x.timed)
			  ? time_while(&x, w, open, err)
			  : no_memory(err);

	w->ended |= !ret && ki_round_ended(&x.r);
	ki_round_close(&x.r);
	ki_crosswalk_rows_free(&x.rows);
	ki_crosswalk_stand_free(&x.before);
	ki_crosswalk_stand_free(&w->now);
	w->now = x.after;
	ki_vec_free(&x.timed);
	free(x.times);
	free(x.calls);
	return ret;
}

/* ---- what timers say that stacks do not ---- */

#define DOUBTS 20 /* looks at stacks; a function of 25 % is on none of them once in 300 times */

/* A timer goes on if its thread has left the function otherwise than by a return or a jump: by
   longjmp, an exception, the thread's end. */
static bool is_doubted(const struct ki_crosswalk *w, const struct ki_crosswalk_node *n)
{
	return !n->kernel && n->truth == KI_CROSSWALK_OPEN && !n->sampled && n->stood == 0 &&
	       n->share >= w->o.threshold && !ki_crosswalk_stand_in(w, &w->now, n);
}

static int pick_doubted(const struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
			ki_crosswalk_numbers *doubted)
{
	/* Events may be those of short moments. */
	for (size_t i = 0; w->what != KI_WHAT_EVENT && w->now.stacks.n && i < open->n; i++)
		if (is_doubted(w, node(w, open->v[i])) && ki_vec_push(doubted, open->v[i]))
			return -ENOMEM;
	return 0;
}

static void drop_seen(const struct ki_crosswalk *w, const struct ki_crosswalk_stand *s,
		      ki_crosswalk_numbers *doubted)
{
	size_t left = 0;

	for (size_t i = 0; i < doubted->n; i++)
		if (!ki_crosswalk_stand_in(w, s, node(w, doubted->v[i])))
			doubted->v[left++] = doubted->v[i];
	doubted->n = left;
}

static int doubt(struct ki_crosswalk *w, const ki_crosswalk_numbers *open, struct ki_err *err)
{
	ki_crosswalk_numbers doubted = {0};
	int ret = pick_doubted(w, open, &doubted);

	for (unsigned int i = 0; !ret && doubted.n && i < DOUBTS && ki_crosswalk_wait(w, LOOK);
	     i++) {
		struct ki_crosswalk_stand s;

		ret = ki_crosswalk_stand_take(w, true, &s, err);
		if (ret)
			break;
		drop_seen(w, &s, &doubted);
		ki_crosswalk_stand_free(&s);
	}
	for (size_t i = 0; !ret && !w->stopped && i < doubted.n; i++)
		node(w, doubted.v[i])->share = node(w, doubted.v[i])->nthreads = 0;
	ki_vec_free(&doubted);
	return ret ? no_memory(err) : 0;
}

/* ---- what is called too often, in the kernel ---- */

static int pick_hot(const struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
		    ki_crosswalk_numbers *hot)
{
	for (size_t i = 0; i < open->n; i++)
		if (node(w, open->v[i])->kernel && node(w, open->v[i])->sampled &&
		    node(w, open->v[i])->truth == KI_CROSSWALK_OPEN && ki_vec_push(hot, open->v[i]))
			return -ENOMEM;
	return 0;
}

static int take_hot(struct timing *x)
{
	struct ki_crosswalk *w = x->r.w;
	const double all =
		w->what == KI_WHAT_EVENT ? w->parts.all * COUNT_PART : ki_now() - x->r.begun;
	int ret = 0;

	for (size_t i = 0; !ret && all > 0 && i < x->r.rows.n; i++) {
		struct ki_crosswalk_node *n = node(w, x->r.rows.v[i].node);

		n->share = x->times[i] / all;
		ret = ki_crosswalk_rows_take(w, &x->rows, x->r.rows.v[i].node, n->share, all);
	}
	note_refused(x);
	return ret;
}

static int time_hot_ones(struct timing *x, struct ki_crosswalk *w, struct ki_err *err)
{
	int ret = open_round(&x->r, w, &x->timed, err);

	if (!ret)
		ret = ki_crosswalk_rows_read(w, &x->rows.from, err);
	if (!ret)
		ki_crosswalk_wait(w, w->o.seconds * COUNT_PART);
	if (!ret)
		ret = ki_round_read(&x->r, 0, x->times, err);
	if (!ret)
		ret = ki_crosswalk_rows_read(w, &x->rows.now, err);
	return !ret && take_hot(x) ? no_memory(err) : ret;
}

static int time_hot(struct ki_crosswalk *w, const ki_crosswalk_numbers *open, struct ki_err *err)
{
	struct timing x = {.times = calloc(open->n + 1, sizeof(*x.times))};
	int ret = x.times && !pick_hot(w, open, &x.timed) ? 0 : no_memory(err);

	if (!ret && x.timed.n)
		ret = time_hot_ones(&x, w, err);
	ki_round_close(&x.r);
	ki_crosswalk_rows_free(&x.rows);
	ki_vec_free(&x.timed);
	free(x.times);
	return ret;
}

/* A thread that is in what never returns stays. */
static int conclude(struct ki_crosswalk *w, struct ki_crosswalk_node *n)
{
	const bool stays = n->reason == KI_R_NEVER_RETURNS;

	if (stays && ki_crosswalk_stand_both(w, &w->now, &w->now, n, false))
		return -ENOMEM;
	if (stays)
		n->share = n->stood;
	ki_crosswalk_judge(w, n);
	if (n->truth == KI_CROSSWALK_OPEN || n->share >= w->o.threshold)
		ki_crosswalk_conclude(n, w->o.threshold);
	return 0;
}

int ki_crosswalk_measure(struct ki_crosswalk *w, const ki_crosswalk_numbers *open,
			 struct ki_err *err)
{
	int ret = count_level(w, open, err);

	if (ret || w->ended || w->stopped)
		return ret;
	ret = time_level(w, open, err);
	if (!ret && !w->ended && !w->stopped)
		ret = doubt(w, open, err);
	if (!ret && !w->ended && !w->stopped)
		ret = time_hot(w, open, err);
	for (size_t i = 0; !ret && !w->stopped && i < open->n; i++)
		if (conclude(w, node(w, open->v[i])))
			ret = no_memory(err);
	return ret;
}
