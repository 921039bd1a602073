// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst kcov: blocks record themselves for programs that use the kernel's KCOV interface. Those
 * programs know nothing of this; the driver has the file that they open.
 */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "run.h"
#include "open.h"
#include "kerninst/match.h"
#include "select.h"

#include "kerninst/kcov_places.h"

#define KCOV_FILE "/sys/kernel/debug/kcov"

static const char usage[] =
	"Usage: kerninst kcov [OPTION...] [FUNCTION...] [-- COMMAND...]\n"
	"Let each basic block of these functions record itself for KCOV, while COMMAND runs, or until\n"
	"Ctrl-C: programs that use " KCOV_FILE ", this COMMAND or others, then find\n"
	"there what the kernel's documentation (dev-tools/kcov) promises. Other tasks pay two to four\n"
	"instructions a block, and as many a comparison.\n\n"
	"FUNCTION is [MODULE:]NAME, a glob too, or an ADDRESS.\n\n"
	"  -a, --all          all functions of the kernel and its modules, but those that KCOV leaves\n"
	"                     out because what they do does not depend on the system call: scheduler,\n"
	"                     locks, RCU, interrupts, timers, memory management's core, tracing\n"
	"  -c, --comparisons  comparisons record themselves too, for who enables KCOV_TRACE_CMP\n"
	"  -x, --exclude GLOB not these functions, of those named or of all; may be given again\n"
	"      --no-move      leave functions where they are: each block costs two jumps\n"
	"      --list FILE    write which places are recorded: address as KCOV has it, address,\n"
	"                     function+offset, \"comparison\" if it is one\n"
	"  -n, --dry-run      say what would be installed, and change nothing\n"
	"  -q, --quiet        only errors\n"
	"  -h, --help         this text\n\n"
	"Recorded is the address of the block's first instruction, minus how far KASLR has moved the\n"
	"kernel: what addr2line wants of vmlinux; of a comparison that of its cmp or test. Remote\n"
	"coverage is not supported: KCOV_REMOTE_ENABLE says ENOTTY.\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system.\n\n"
	"Examples:\n"
	"  kerninst kcov '__x64_sys_*' 'ksys_*' 'vfs_*' 'ext4:*' -- ./fuzzer\n"
	"  kerninst kcov --comparisons 'do_sys_*' 'ksys_*' -- ./fuzzer\n"
	"  kerninst kcov --all -n\n";

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

struct options {
	bool all, comparisons, no_move, dry_run, quiet;
	const char *list;
	char **functions, **command; /* command NULL: none */
	int n;
	ki_vec(const char *) without;
};

struct run {
	const struct options *o;
	struct ki_target *t;
	ki_selection functions;
	struct ki_kcov_places places;
	struct cli_progress progress;
	size_t done; /* chunks that were installed last */
	struct command command;
};

/* ---- which functions ---- */

static bool is_left_out(const struct options *o, const struct ki_symbol *sym)
{
	for (size_t i = 0; i < o->without.n; i++)
		if (!fnmatch(o->without.v[i], sym->name, 0))
			return true;
	for (size_t i = 0; o->all && i < sizeof(by_chance) / sizeof(*by_chance); i++)
		if (!fnmatch(by_chance[i], sym->name, 0))
			return true;
	return false;
}

static int select_all(struct run *r)
{
	size_t n;
	const struct ki_symbol *syms = ki_target_symbols(r->t, &n);

	for (size_t i = 0; i < n; i++)
		if (!ki_match_is_padding(&syms[i]) && (!i || syms[i].addr != syms[i - 1].addr) &&
		    ki_vec_push(&r->functions, ((struct selected){&syms[i], syms[i].addr})))
			return cli_no_memory();
	return CLI_OK;
}

static int choose(struct run *r, const struct verb *self)
{
	const struct options *o = r->o;
	size_t n = 0;
	int ret = o->all ? select_all(r)
			 : select_functions(r->t, self, o->functions, o->n, false, &r->functions);

	for (size_t i = 0; !ret && i < r->functions.n; i++)
		if (!is_left_out(o, r->functions.v[i].sym))
			r->functions.v[n++] = r->functions.v[i];
	r->functions.n = n;
	if (!ret && !n)
		return cli_error("all of these functions are left out");
	return ret;
}

/* ---- the places ---- */

static int take_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct run *r = arg;
	struct ki_err err = {0};

	cli_progress_at(&r->progress, i);
	if (wait_is_interrupted())
		return cli_error("interrupted while analysing; nothing is installed");
	return ki_kcov_add_function(&r->places, fn, &err) ? cli_fail(&err) : CLI_OK;
}

static int plan_all(struct run *r)
{
	const struct ki_symbol **syms = malloc(r->functions.n * sizeof(*syms));
	struct ki_err err = {0};
	int ret;

	if (!syms || ki_plan_new(&r->places.plan)) {
		free(syms);
		return cli_no_memory();
	}
	for (size_t i = 0; i < r->functions.n; i++)
		syms[i] = r->functions.v[i].sym;
	cli_progress_start(&r->progress, "analysing functions", r->functions.n, r->o->quiet);
	ret = ki_functions_analyze(
		r->t,
		&(struct ki_functions_job){
			.syms = syms, .n = r->functions.n, .take = take_function, .arg = r},
		&err);
	cli_progress_end(&r->progress);
	free(syms);
	if (ret < 0)
		return cli_fail(&err);
	return !ret && !r->places.n ? cli_error("none of these blocks can be recorded") : ret;
}

/* ---- installing ---- */

static bool show_progress(void *arg, size_t done, size_t all)
{
	struct run *r = arg;

	(void)all;
	r->done = done;
	cli_progress_at(&r->progress, done);
	return !wait_is_interrupted();
}

static int no_room(struct run *r, const struct ki_err *err)
{
	if (err->reason != KI_R_HEAP_FULL)
		return cli_fail(err);
	return cli_error("%s: %zu of %zu places had found room; nothing is installed: name fewer "
			 "functions, or leave some out with --exclude",
			 ki_reason_text(err->reason), r->done, r->places.n);
}

static void tell(const struct run *r)
{
	const struct ki_kcov_places *p = &r->places;
	const char *record = r->o->dry_run ? "would record" : "record";

	if (r->o->quiet && !r->o->dry_run)
		return;
	cli_warn("%" PRIu64 " of %" PRIu64 " blocks %s themselves, in %" PRIu64
		 " functions, %zu moved",
		 p->recorded[KI_KCOV_BLOCK], p->asked[KI_KCOV_BLOCK], record, p->touched,
		 ki_plan_moved(p->plan));
	if (p->comparisons)
		cli_warn("%" PRIu64 " of %" PRIu64 " comparisons %s themselves",
			 p->recorded[KI_KCOV_COMPARISON], p->asked[KI_KCOV_COMPARISON], record);
	for (unsigned int i = 0; i < KI_R_COUNT; i++)
		if (p->refused[i])
			cli_warn("  %8" PRIu64 "  %s: %s", p->refused[i], ki_reason_tag(i),
				 ki_reason_text(i));
}

static int install(struct run *r)
{
	struct ki_err err = {0};
	int ret;

	cli_progress_start(&r->progress, "installing", r->places.n, r->o->quiet);
	ki_plan_on_progress(r->places.plan, show_progress, r);
	ret = r->o->dry_run ? ki_plan_check(r->places.plan, r->t, &err)
			    : ki_plan_apply(r->places.plan, r->t, true, &err);
	cli_progress_end(&r->progress);
	if (ret == -ECANCELED)
		return cli_error("interrupted while installing; nothing is installed");
	if (ret)
		return no_room(r, &err);
	ki_kcov_sort_out(&r->places, r->t);
	tell(r);
	return CLI_OK;
}

/* How far the kernel stands from where it was linked; its beginning is linked to a multiple of
 * that. */
#define LINKED_ALIGN 0x200000ull
#define LINKED_TEXT  0xffffffff81000000ull

/* slide: how far the kernel was moved. */
static void write_places(const struct ki_kcov_places *p, const struct ki_target *t, uint64_t slide,
			 FILE *out)
{
	static const char *const kinds[KI_KCOV_KINDS] = {"", " comparison"};

	for (size_t i = 0; i < p->n; i++) {
		const struct ki_kcov_place *at = &p->v[i];
		const struct ki_symbol *sym = ki_target_symbol_at(t, at->addr);

		fprintf(out, "0x%" PRIx64 " 0x%" PRIx64 " %s+0x%" PRIx64 "%s\n", at->addr - slide,
			at->addr, sym->name, at->addr - sym->addr, kinds[at->kind]);
	}
}

static int write_list(struct run *r)
{
	const struct ki_symbol *text = ki_target_symbol_named(r->t, "", "_text", NULL);
	const uint64_t slide = text ? text->addr - LINKED_TEXT : 0;
	FILE *out = fopen(r->o->list, "we");
	bool failed;

	if (!out)
		return cli_error("%s: %s", r->o->list, strerror(errno));
	write_places(&r->places, r->t, slide, out);
	failed = ferror(out);
	return fclose(out) || failed ? cli_error("%s: writing failed", r->o->list) : CLI_OK;
}

static int take_out(struct run *r)
{
	struct ki_err err = {0};
	int ret;

	cli_progress_start(&r->progress, "taking out", r->places.n, r->o->quiet);
	ret = ki_plan_remove(r->places.plan, r->t, &err);
	cli_progress_end(&r->progress);
	return ret ? cli_fail(&err) : CLI_OK;
}

/* Until the command has ended, or somebody has had enough. */
static int watch(struct run *r)
{
	run_to_end(&r->command);
	return run_failed(&r->command);
}

static int record(struct run *r)
{
	int ret, out;

	if (access(KCOV_FILE, F_OK) && !r->o->dry_run) {
		cli_warn(KCOV_FILE ": %s; is debugfs mounted?", strerror(errno));
		return CLI_ENVIRONMENT;
	}
	ret = install(r);
	if (ret)
		return ret;
	if (r->o->list)
		ret = write_list(r);
	if (r->o->dry_run)
		return ret;
	if (!ret)
		ret = watch(r);
	out = take_out(r);
	ret = ret ? ret : out;
	return run_status(&r->command, ret);
}

static int prepare(struct run *r, const struct verb *self)
{
	const struct open_options live = {0};
	const struct options *o = r->o;
	int ret = open_or_fail(&live, &r->t);

	if (!ret)
		ret = choose(r, self);
	if (!ret)
		ret = plan_all(r);
	if (ret || o->dry_run || !o->command)
		return ret;
	return run_prepare(&r->command, o->command, false);
}

/* ---- options ---- */

enum { OPT_NO_MOVE = 0x200, OPT_LIST };

static int take_option(struct options *o, int c)
{
	switch (c) {
	case 'a':
		o->all = true;
		return CLI_OK;
	case 'c':
		o->comparisons = true;
		return CLI_OK;
	case 'x':
		return ki_vec_push(&o->without, (const char *)optarg) ? cli_no_memory() : CLI_OK;
	case OPT_NO_MOVE:
		o->no_move = true;
		return CLI_OK;
	case OPT_LIST:
		o->list = optarg;
		return CLI_OK;
	case 'n':
		o->dry_run = true;
		return CLI_OK;
	case 'q':
		o->quiet = true;
		return CLI_OK;
	default:
		return -1;
	}
}

static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	static const struct option options[] = {{"all", no_argument, NULL, 'a'},
						{"comparisons", no_argument, NULL, 'c'},
						{"exclude", required_argument, NULL, 'x'},
						{"no-move", no_argument, NULL, OPT_NO_MOVE},
						{"list", required_argument, NULL, OPT_LIST},
						{"dry-run", no_argument, NULL, 'n'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c, ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	while ((c = getopt_long(argc, argv, ":acx:nqh", options, NULL)) != -1) {
		ret = take_option(o, c);
		if (ret < 0)
			return cli_other_option(self, c, argv);
		if (ret)
			return ret;
	}
	o->functions = argv + optind;
	o->n = argc - optind;
	if (o->all == (o->n > 0))
		return cli_misuse(self, "functions, or --all");
	*done = false;
	return CLI_OK;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {0};
	struct run r = {.o = &o};
	bool done;
	int ret = parse_options(self, argc, argv, &o, &done);

	r.places.move = !o.no_move;
	r.places.comparisons = o.comparisons;
	if (!done) {
		wait_prepare();
		ret = prepare(&r, self);
		if (!ret)
			ret = record(&r);
		command_abandon(&r.command);
	}
	ki_kcov_places_free(&r.places);
	ki_vec_free(&r.functions);
	ki_vec_free(&o.without);
	ki_target_close(r.t);
	return ret;
}

const struct verb verb_kcov = {
	.name = "kcov",
	.summary = "let blocks record themselves for programs that use KCOV",
	.usage = usage,
	.run = run,
};
