// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Places that record themselves: of which functions, put in and taken out, listed. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kerninst/kcov_places.h"
#include "util/listen.h"

/*
 * What Makefiles of the kernel leave out of KCOV, by names: what comes by chance, and not because
 * of what a system call was asked for.
 */
static const char *const by_chance[] = {
	"__schedule*",	 "schedule*",	  "*_sched_*",	   "sched_*",	    "try_to_wake_up*",
	"ttwu_*",	 "*task_fair*",	  "*_entity*",	   "update_curr*",  "update_load_avg*",
	"*load_balance", "*_rq_*",	  "finish_task_*", "*spin_*lock*",  "*mutex_*lock*",
	"*rwsem*",	 "*down_read*",	  "*down_write*",  "up_read*",	    "up_write*",
	"osq_*",	 "*rcu*",	  "*_irq*",	   "irq*",	    "*softirq*",
	"*hrtimer*",	 "*timer_*",	  "tick_*",	   "*clockevent*",  "*ktime_*",
	"*jiffies*",	 "timekeeping_*", "*slab*",	   "kmem_cache_*",  "kmalloc*",
	"kfree*",	 "__kmalloc*",	  "*alloc_pages*", "free_unref_*",  "*trace_*",
	"*ftrace*",	 "perf_*",	  "__perf_*",	   "*stack_trace*", "unwind_*",
	"apic_*",	 "native_apic_*", "smp_call_*",	   "*ipi*",	    "work_*",
	"*queue_work*",	 "process_one_*", "worker_*",	   "cpu_*",	    "*vmstat*",
};

bool ki_kcov_is_by_chance(const struct ki_symbol *sym)
{
	for (size_t i = 0; i < sizeof(by_chance) / sizeof(*by_chance); i++)
		if (!fnmatch(by_chance[i], sym->name, 0))
			return true;
	return false;
}

struct adding {
	struct ki_kcov_places *p;
	const struct ki_listener *l;
	size_t n;
	struct ki_err *err;
};

static int take_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct adding *a = arg;

	if (!ki_listener_progress(a->l, "analysing functions", i, a->n))
		return ki_err_set(a->err, -ECANCELED, 0,
				  "interrupted while analysing; nothing is installed");
	return ki_kcov_add_function(a->p, fn, a->err);
}

int ki_kcov_add_functions(struct ki_kcov_places *p, struct ki_target *t,
			  const struct ki_symbol *const *syms, size_t n,
			  const struct ki_listener *l, struct ki_err *err)
{
	struct adding a = {p, l, n, err};
	int ret = p->plan ? 0 : ki_plan_new(&p->plan);

	if (ret)
		return ki_err_set(err, ret, 0, "out of memory");
	ki_listener_progress(l, "analysing functions", 0, n);
	ret = ki_functions_analyze(
		t,
		&(struct ki_functions_job){.syms = syms, .n = n, .take = take_function, .arg = &a},
		err);
	ki_listener_over(l);
	if (!ret && !p->n)
		return ki_err_set(err, -ENOENT, 0, "none of these blocks can be recorded");
	return ret;
}

struct installing {
	const struct ki_listener *l;
	size_t done, all; /* chunks that were installed last */
};

static bool show_progress(void *arg, size_t done, size_t all)
{
	struct installing *i = arg;

	(void)all;
	i->done = done;
	return ki_listener_progress(i->l, "installing", done, i->all);
}

int ki_kcov_put_in(struct ki_kcov_places *p, struct ki_target *t, bool dry,
		   const struct ki_listener *l, struct ki_err *err)
{
	struct installing now = {l, 0, p->n};
	struct ki_err why = {0};
	int ret;

	ki_listener_progress(l, "installing", 0, p->n);
	ki_plan_on_progress(p->plan, show_progress, &now);
	ret = dry ? ki_plan_check(p->plan, t, &why) : ki_plan_apply(p->plan, t, true, &why);
	ki_plan_on_progress(p->plan, NULL, NULL);
	ki_listener_over(l);
	if (ret == -ECANCELED)
		return ki_err_set(err, ret, 0,
				  "interrupted while installing; nothing is installed");
	if (ret && why.reason == KI_R_HEAP_FULL)
		return ki_err_set(err, ret, 0,
				  "%s: %zu of %zu places had found room; nothing is installed: "
				  "name fewer functions, or leave some out with --exclude",
				  ki_reason_text(why.reason), now.done, p->n);
	if (ret && err && !err->code)
		*err = why;
	if (!ret)
		ki_kcov_sort_out(p, t);
	return ret;
}

int ki_kcov_take_out(struct ki_kcov_places *p, struct ki_target *t, struct ki_err *err)
{
	return ki_plan_remove(p->plan, t, err);
}

void ki_kcov_tell(const struct ki_kcov_places *p, bool dry, const struct ki_listener *l)
{
	const char *record = dry ? "would record" : "record";

	ki_listener_warn(l,
			 "%" PRIu64 " of %" PRIu64 " blocks %s themselves, in %" PRIu64
			 " functions, %zu moved",
			 p->recorded[KI_KCOV_BLOCK], p->asked[KI_KCOV_BLOCK], record, p->touched,
			 ki_plan_moved(p->plan));
	if (p->comparisons)
		ki_listener_warn(l, "%" PRIu64 " of %" PRIu64 " comparisons %s themselves",
				 p->recorded[KI_KCOV_COMPARISON], p->asked[KI_KCOV_COMPARISON],
				 record);
	for (unsigned int i = 0; i < KI_R_COUNT; i++)
		if (p->refused[i])
			ki_listener_warn(l, "  %8" PRIu64 "  %s: %s", p->refused[i],
					 ki_reason_tag(i), ki_reason_text(i));
}

/* Where the kernel is linked to begin. */
#define LINKED_TEXT 0xffffffff81000000ull

void ki_kcov_list(const struct ki_kcov_places *p, const struct ki_target *t, FILE *out)
{
	static const char *const kinds[KI_KCOV_KINDS] = {"", " comparison"};
	const struct ki_symbol *text = ki_target_symbol_named(t, "", "_text", NULL);
	const uint64_t slide = text ? text->addr - LINKED_TEXT : 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct ki_kcov_place *at = &p->v[i];
		const struct ki_symbol *sym = ki_target_symbol_at(t, at->addr);

		fprintf(out, "0x%" PRIx64 " 0x%" PRIx64 " %s+0x%" PRIx64 "%s\n", at->addr - slide,
			at->addr, sym->name, at->addr - sym->addr, kinds[at->kind]);
	}
}
