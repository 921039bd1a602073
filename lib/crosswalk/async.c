// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the kernel does elsewhere in the meantime: in interrupts, softirqs, timers and work queues.
 * No process is told of these, so they are measured for whomever they are.
 *
 * Most are called through a pointer, by a function that does little else. So its call is timed, or
 * the function where it is given the pointer, and where that leads is the key of a row:
 *
 *	before: the thread's word = where it leads
 *	after: table[kind, word] += time, 1
 *
 * Others are timed themselves, by their names. What a kernel does not have is left out.
 */
#include <errno.h>
#include <string.h>

#include "callees/inside.h"
#include "crosswalk/async.h"
#include "kerninst/metric.h"
#include "kerninst/table.h"
#include "util/clock.h"
#include "util/listen.h"

enum where {
	AT_CALLS,  /* its calls through pointers */
	AT_SECOND, /* itself: its second parameter is the pointer */
	AT_SELF,
	AT_PREFIX /* the same, of all whose names begin so */
};

struct caller {
	const char *name;
	uint8_t kind;	    /* enum ki_crosswalk_kind */
	uint8_t where;	    /* enum where */
	const char *metric; /* what may sleep is measured by its thread's clock */
};

static const struct caller callers[] = {
	{"__sysvec_", KI_CROSSWALK_INTERRUPT, AT_PREFIX, "walltime"},
	{"__handle_irq_event_percpu", KI_CROSSWALK_INTERRUPT, AT_CALLS, "walltime"},
	{"tasklet_hi_action", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"run_timer_softirq", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"net_tx_action", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"net_rx_action", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"blk_done_softirq", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"irq_poll_softirq", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"tasklet_action", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"run_rebalance_domains", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"sched_balance_softirq", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"hrtimer_run_softirq", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"rcu_core_si", KI_CROSSWALK_SOFTIRQ, AT_SELF, "walltime"},
	{"tasklet_action_common", KI_CROSSWALK_TASKLET, AT_CALLS, "walltime"},
	{"call_timer_fn", KI_CROSSWALK_TIMER, AT_SECOND, "walltime"},
	{"__run_hrtimer", KI_CROSSWALK_TIMER, AT_CALLS, "walltime"},
	{"__hrtimer_run_queues", KI_CROSSWALK_TIMER, AT_CALLS, "walltime"},
	{"process_one_work", KI_CROSSWALK_WORK, AT_CALLS, "vtime"},
};

struct ki_crosswalk_async {
	struct ki_crosswalk *w;
	struct ki_measure *m;
	struct ki_table_map *table;
	struct ki_kthreads threads;
	double begun;
	uint32_t curves;
};

/* One place that is timed, while its code is made. */
struct timed {
	struct ki_crosswalk_async *x;
	const struct caller *by;
	uint64_t addr;		  /* of the function */
	struct ki_compared leads; /* of a call */
};

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
}

static struct ki_node *number(struct ki_snippet *s, uint64_t value)
{
	return ki_expr_const(s, KI_U64, value);
}

static bool has_key(const struct caller *by)
{
	return by->where == AT_CALLS || by->where == AT_SECOND;
}

/* A register, or the word at base + index * scale + number. */
static struct ki_node *operand(const struct ki_compared *to, struct ki_snippet *s)
{
	struct ki_node *at = number(s, (uint64_t)to->number);

	if (to->kind == KI_COMPARED_REGISTER)
		return ki_expr_reg(s, to->reg);
	if (to->base != KI_COMPARED_NONE)
		at = ki_expr_binary(s, KI_ADD, ki_expr_reg(s, to->base), at);
	if (to->index != KI_COMPARED_NONE)
		at = ki_expr_binary(
			s, KI_ADD,
			ki_expr_binary(s, KI_MUL, ki_expr_reg(s, to->index), number(s, to->scale)),
			at);
	return ki_expr_load(s, KI_U64, at);
}

static int make_begin(void *arg, struct ki_snippet *s, struct ki_node **values, struct ki_err *err)
{
	const struct timed *a = arg;

	values[0] = a->by->where == AT_SECOND ? ki_expr_param(s, 1) : operand(&a->leads, s);
	return values[0] ? 0 : ki_snippet_check(s, NULL, err);
}

static struct ki_node *add_to_row(const struct timed *a, struct ki_snippet *s, uint32_t index,
				  const struct ki_var *word, struct ki_node *value)
{
	struct ki_table_var table = ki_table_var_of(a->x->table, "elsewhere");
	struct ki_node *keys[] = {number(s, a->by->kind),
				  word ? ki_expr_var(s, word) : number(s, a->addr)};
	const struct ki_row_value row = {.table = &table, .index = index, .keys = keys, .nkeys = 2};

	return ki_stmt_table(s, KI_TABLE_ADD, &row, value);
}

static int make_end(void *arg, struct ki_snippet *s, const struct ki_var *words,
		    const struct ki_var *took, struct ki_node **stmt, struct ki_err *err)
{
	const struct timed *a = arg;
	const struct ki_var *word = has_key(a->by) ? words : NULL;

	*stmt = ki_stmt_append(s, NULL, add_to_row(a, s, 0, word, ki_expr_var(s, took)));
	*stmt = ki_stmt_append(s, *stmt, add_to_row(a, s, 1, word, number(s, 1)));
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

/* What is refused is left out. */
static int time_place(struct timed *a, const struct ki_function *fn, const struct ki_spans *spans,
		      const struct ki_point *at)
{
	const struct ki_measure_ends ends = {
		.words = has_key(a->by), .begin = make_begin, .end = make_end, .arg = a};
	uint32_t curve;
	int ret = ki_measure_add_ends(a->x->m, ki_metric_find(a->by->metric),
				      &(struct ki_measured_at){fn, spans, at, 0, NULL}, &ends,
				      &curve, NULL);

	a->x->curves += !ret;
	return ret == -ENOMEM ? ret : 0;
}

static int time_calls(struct timed *a, const struct ki_function *fn, const struct ki_spans *spans)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < fn->nedges; i++) {
		const struct ki_point call = {.kind = KI_POINT_EDGE, .edge = i};

		if (ki_callees_is_unknown(fn, &fn->edges[i]) &&
		    ki_insn_leads(fn, &fn->insns[fn->edges[i].insn], &a->leads))
			ret = time_place(a, fn, spans, &call);
	}
	return ret;
}

static int time_function(struct ki_crosswalk_async *x, const struct caller *by,
			 const struct ki_symbol *sym)
{
	static const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct timed a = {.x = x, .by = by, .addr = sym->addr};
	struct ki_function *fn;
	struct ki_spans spans = {0};
	int ret = ki_function_analyze(x->w->kernel, sym, &fn, NULL);

	if (ret)
		return ret == -ENOMEM ? ret : 0;
	ret = ki_spans_find(fn, &spans, NULL);
	if (!ret)
		ret = by->where == AT_CALLS ? time_calls(&a, fn, &spans)
					    : time_place(&a, fn, &spans, &entry);
	ki_spans_free(&spans);
	ki_function_free(fn);
	return ret == -ENOMEM ? ret : 0;
}

/* A copy of the compiler's has the name and more, ".constprop.0", and perhaps other parameters. */
static bool is_of(const struct caller *by, const struct ki_symbol *sym)
{
	const size_t len = strlen(by->name);

	if (*sym->module || sym->alias || strncmp(sym->name, by->name, len))
		return false;
	return by->where == AT_PREFIX || !sym->name[len] ||
	       (sym->name[len] == '.' && by->where == AT_CALLS);
}

static int time_all(struct ki_crosswalk_async *x)
{
	size_t n;
	const struct ki_symbol *v = ki_target_symbols(x->w->kernel, &n);
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		for (size_t k = 0; !ret && k < sizeof(callers) / sizeof(*callers); k++)
			if (is_of(&callers[k], &v[i]))
				ret = time_function(x, &callers[k], &v[i]);
	return ret;
}

static int begin(struct ki_crosswalk_async *x, struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 2, .values = 2};
	int ret = ki_measure_new(x->w->kernel, &x->m, err);

	if (!ret)
		ret = ki_table_map_new(x->w->kernel, &o, &x->table, err);
	if (!ret && (time_all(x) || ki_kthreads_read(&x->threads)))
		ret = no_memory(err);
	if (!ret)
		ret = ki_measure_start(x->m, err);
	x->begun = ki_now();
	return ret;
}

int ki_crosswalk_async_new(struct ki_crosswalk *w, struct ki_crosswalk_async **out,
			   struct ki_err *err)
{
	struct ki_crosswalk_async *x = w->kernel ? calloc(1, sizeof(*x)) : NULL;
	struct ki_err why = {0};
	int ret;

	*out = NULL;
	if (!x)
		return w->kernel ? no_memory(err) : 0;
	x->w = w;
	ret = begin(x, &why);
	if (!ret) {
		*out = x;
		return 0;
	}
	ki_crosswalk_async_free(x);
	if (ret == -ENOMEM)
		return no_memory(err);
	ki_listener_warn(w->listener, "%s: what the kernel does elsewhere is not known", why.msg);
	return 0;
}

void ki_crosswalk_async_free(struct ki_crosswalk_async *x)
{
	if (!x)
		return;
	ki_measure_free(x->m);
	ki_table_map_free(x->table);
	ki_kthreads_free(&x->threads);
	free(x);
}

/* ---- what has been found ---- */

int ki_crosswalk_async_add(struct ki_crosswalk *w, const struct ki_crosswalk_elsewhere *e,
			   const char *name, const char *module)
{
	struct ki_crosswalk_elsewhere own = *e;

	if (e->share < KI_CROSSWALK_ELSEWHERE)
		return 0;
	own.name = strdup(name);
	own.module = strdup(module);
	if (own.name && own.module && !ki_vec_push(&w->elsewhere, own))
		return 0;
	free(own.name);
	free(own.module);
	return -ENOMEM;
}

static int add_row(const struct ki_crosswalk_async *x, const uint64_t *key, const uint64_t *values,
		   double seconds)
{
	const struct ki_symbol *sym = ki_target_symbol_at(x->w->kernel, key[1]);
	const struct ki_crosswalk_elsewhere e = {.kind = (uint8_t)key[0],
						 .addr = key[1],
						 .share = (double)values[0] / 1e9 / seconds,
						 .calls_per_second = (double)values[1] / seconds};

	return sym ? ki_crosswalk_async_add(x->w, &e, sym->name, ki_symbol_module(sym)) : 0;
}

/* The dearest place's cost is taken for all. */
static double cost_of(const struct ki_crosswalk_async *x)
{
	unsigned int cost = 0;

	for (uint32_t i = 0; i < x->curves; i++) {
		const unsigned int one = ki_measure_cost(x->m, i);

		cost = one > cost ? one : cost;
	}
	return cost;
}

static int by_share(const void *a, const void *b)
{
	const struct ki_crosswalk_elsewhere *x = a, *y = b;

	return (x->share < y->share) - (x->share > y->share);
}

int ki_crosswalk_async_end(struct ki_crosswalk_async *x, struct ki_err *err)
{
	struct ki_table_reading *r;
	double seconds;
	int ret;

	if (!x)
		return 0;
	ret = ki_table_read(x->table, &r, err);
	if (ret)
		return ret;
	seconds = ki_now() - x->begun;
	for (size_t i = 0; !ret && i < r->n; i++) {
		const uint64_t *values = ki_table_values(r, i);

		x->w->spent[1] += (double)values[1] * cost_of(x);
		ret = add_row(x, ki_table_key(r, i), values, seconds);
	}
	ki_table_reading_free(r);
	if (!ret)
		ret = ki_kthreads_add(x->w, &x->threads, seconds);
	if (ret)
		return no_memory(err);
	if (x->w->elsewhere.n)
		qsort(x->w->elsewhere.v, x->w->elsewhere.n, sizeof(*x->w->elsewhere.v), by_share);
	return 0;
}
