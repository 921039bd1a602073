// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst evolve: lay functions of the running kernel out anew, by how they are used.
 */
#include "evolve.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "kerninst/coverage.h"
#include "kerninst/evolve.h"
#include "open.h"
#include "select.h"

static const char usage[] =
	"Usage: kerninst evolve [OPTION...] FUNCTION...\n"
	"       kerninst evolve --list | --undo\n"
	"Let functions of the running kernel stand in memory as they are executed: profile them while\n"
	"they run, choose an order of their blocks, put copies in that order in, measure whether calls\n"
	"got faster, and keep the copies or take them out. What the code does stays the same: the\n"
	"driver makes each copy itself, and only the order is chosen.\n\n"
	"      --for SECONDS    profile so long (default 10)\n"
	"      --save FILE      keep the profile: what kerninst cover --mode edges writes\n"
	"      --from FILE      use one, also of another boot of the same kernel\n"
	"      --hot N          a block is hot if it runs in more than 1/N of the calls (default 20;\n"
	"                       0: if it runs at all)\n"
	"      --policy NAME    ext-tsp (the default), hot-first, reverse (worse on purpose)\n"
	"      --apart          each function by itself; else those of the kernel stand together, and\n"
	"                       call each other without a jump as long as nobody uses ftrace\n"
	"  -n, --dry-run        say what would be done, change nothing\n"
	"      --explain        say what is expected of each function\n"
	"      --judge FUNCTION whose time per call decides (default: the first one that is laid out;\n"
	"                       a caller that is not is fairer, since inserted code costs less in a\n"
	"                       layout)\n"
	"      --metric NAME    what of it (default vtime/call)\n"
	"      --windows N      measure N times without and N times with it (default 5)\n"
	"      --window SECONDS each so long (default 1)\n"
	"      --always         do not measure\n"
	"      --keep           leave what is better in, in a process that stays; else it is there\n"
	"                       until Ctrl-C\n"
	"      --list           what such processes keep\n"
	"      --undo           end them; all is as it was\n"
	"  -h, --help           this text\n\n"
	"Better is: with 95 % confidence (Welch's test). Exit status: 0 it is in, or was until Ctrl-C;\n"
	"4 it is not better, so it was taken out; 1 an error, 2 wrong usage, 3 not possible on this\n"
	"system.\n\n"
	"Examples:\n"
	"  kerninst evolve --dry-run --explain --for 5 vfs_read\n"
	"  kerninst evolve --keep --judge ksys_read vfs_read rw_verify_area\n";

enum { CLI_NOT_BETTER = 4, OPTION_LONG = 256 };

enum {
	OPT_FOR = OPTION_LONG,
	OPT_SAVE,
	OPT_FROM,
	OPT_HOT,
	OPT_POLICY,
	OPT_APART,
	OPT_EXPLAIN,
	OPT_JUDGE,
	OPT_METRIC,
	OPT_WINDOWS,
	OPT_WINDOW,
	OPT_ALWAYS,
	OPT_KEEP,
	OPT_LIST,
	OPT_UNDO
};

#define WINDOWS_MOST 1000

struct options {
	double seconds, window;
	const char *save, *from, *metric;
	char *judge;
	struct ki_evolve_options choice;
	size_t windows;
	bool dry_run, explain, always, keep, list, undo;
	char **what;
	int n;
};

struct run {
	const struct options *o;
	const struct verb *self;
	struct ki_target *t;
	ki_selection chosen;
	struct ki_coverage *profile;
	struct ki_evolve *evolve;
	const struct ki_symbol *first; /* that is laid out */
	size_t n;
	struct command nothing;
};

/* ---- options ---- */

static bool get_number(const char *text, unsigned long most, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(text, &end, 10);
	return !errno && *text >= '0' && *text <= '9' && !*end && *out <= most;
}

static int take_number(const struct verb *self, int c, struct options *o)
{
	unsigned long n;

	if (c == OPT_HOT) {
		if (!get_number(optarg, 1000000, &n))
			return cli_misuse(self, "--hot '%s': a number up to 1000000", optarg);
		o->choice.hot = (unsigned int)n;
		return CLI_OK;
	}
	if (!get_number(optarg, WINDOWS_MOST, &n) || n < 2)
		return cli_misuse(self, "--windows '%s': a number from 2 to %d", optarg,
				  WINDOWS_MOST);
	o->windows = n;
	return CLI_OK;
}

static int take_option(const struct verb *self, int c, struct options *o)
{
	const char **texts[] = {[OPT_SAVE - OPTION_LONG] = &o->save,
				[OPT_FROM - OPTION_LONG] = &o->from,
				[OPT_METRIC - OPTION_LONG] = &o->metric,
				[OPT_UNDO - OPTION_LONG] = NULL};
	bool *flags[] = {[OPT_EXPLAIN - OPTION_LONG] = &o->explain,
			 [OPT_ALWAYS - OPTION_LONG] = &o->always,
			 [OPT_APART - OPTION_LONG] = &o->choice.apart,
			 [OPT_KEEP - OPTION_LONG] = &o->keep,
			 [OPT_LIST - OPTION_LONG] = &o->list,
			 [OPT_UNDO - OPTION_LONG] = &o->undo};

	if (c == 'n')
		o->dry_run = true;
	else if (c == OPT_JUDGE)
		o->judge = optarg;
	else if (texts[c - OPTION_LONG])
		*texts[c - OPTION_LONG] = optarg;
	else if (flags[c - OPTION_LONG])
		*flags[c - OPTION_LONG] = true;
	else if (c == OPT_POLICY && !(o->choice.policy = ki_lay_policy_find(optarg)))
		return cli_misuse(self, "--policy '%s': ext-tsp, hot-first or reverse", optarg);
	else if ((c == OPT_FOR && !cli_seconds(optarg, &o->seconds)) ||
		 (c == OPT_WINDOW && !cli_seconds(optarg, &o->window)))
		return cli_misuse(self, "'%s': a positive number of seconds", optarg);
	else if (c == OPT_HOT || c == OPT_WINDOWS)
		return take_number(self, c, o);
	return CLI_OK;
}

static int check(const struct verb *self, const struct options *o)
{
	if (o->list && o->undo)
		return cli_misuse(self, "--list, or --undo: one of them");
	if ((o->list || o->undo) && o->n)
		return cli_misuse(self, "no function is expected with --list and --undo: they are "
					"of all that is kept");
	if (!o->list && !o->undo && !o->n)
		return cli_misuse(self, "functions are wanted; or --list, --undo");
	if (o->from && o->save)
		return cli_misuse(self, "--from, or --save: one of them");
	if (o->keep && o->dry_run)
		return cli_misuse(self, "--keep, or --dry-run: one of them");
	return CLI_OK;
}

static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	static const struct option options[] = {{"for", required_argument, NULL, OPT_FOR},
						{"save", required_argument, NULL, OPT_SAVE},
						{"from", required_argument, NULL, OPT_FROM},
						{"hot", required_argument, NULL, OPT_HOT},
						{"policy", required_argument, NULL, OPT_POLICY},
						{"apart", no_argument, NULL, OPT_APART},
						{"dry-run", no_argument, NULL, 'n'},
						{"explain", no_argument, NULL, OPT_EXPLAIN},
						{"judge", required_argument, NULL, OPT_JUDGE},
						{"metric", required_argument, NULL, OPT_METRIC},
						{"windows", required_argument, NULL, OPT_WINDOWS},
						{"window", required_argument, NULL, OPT_WINDOW},
						{"always", no_argument, NULL, OPT_ALWAYS},
						{"keep", no_argument, NULL, OPT_KEEP},
						{"list", no_argument, NULL, OPT_LIST},
						{"undo", no_argument, NULL, OPT_UNDO},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c, ret;

	*done = true;
	while ((c = getopt_long(argc, argv, ":nh", options, NULL)) != -1) {
		if (c == 'h' || c == '?' || c == ':')
			return cli_other_option(self, c, argv);
		ret = take_option(self, c, o);
		if (ret)
			return ret;
	}
	o->what = argv + optind;
	o->n = argc - optind;
	ret = check(self, o);
	*done = ret != CLI_OK;
	return ret;
}

/* ---- the profile ---- */

static bool wait_seconds(void *arg, double seconds)
{
	return wait_event(arg, wait_now() + seconds) == EVENT_TIME;
}

static int save(const struct run *r)
{
	FILE *f = r->o->save ? fopen(r->o->save, "w") : NULL;
	int ret;

	if (!r->o->save)
		return CLI_OK;
	if (!f)
		return cli_error("%s: %s", r->o->save, strerror(errno));
	ret = ki_coverage_write_json(r->profile, f);
	if (fclose(f) && !ret)
		ret = -errno;
	return ret ? cli_error("%s: %s", r->o->save, strerror(-ret)) : CLI_OK;
}

static int count(struct run *r, const struct ki_symbol **syms)
{
	const struct ki_cover_options how = {.mode = KI_COVER_EDGES};
	struct ki_cover *cover = NULL;
	struct ki_err err = {0};
	bool all;
	int ret;

	for (size_t i = 0; i < r->chosen.n; i++)
		syms[i] = r->chosen.v[i].sym;
	if (ki_cover_install(r->t, syms, r->chosen.n, &how, &cover, &err))
		return cli_fail(&err);
	all = wait_seconds(&r->nothing, r->o->seconds);
	ret = ki_cover_remove(cover, &err);
	if (!ret)
		ret = ki_cover_read(cover, &r->profile, &err);
	ki_cover_close(cover);
	if (ret)
		return cli_fail(&err);
	return all ? save(r) : cli_error("stopped while profiling; nothing has changed");
}

static int profile(struct run *r)
{
	const struct ki_symbol **syms;
	struct ki_err err = {0};
	int ret;

	if (r->o->from)
		return ki_coverage_read_json(r->o->from, &r->profile, &err) ? cli_fail(&err)
									    : CLI_OK;
	syms = calloc(r->chosen.n + 1, sizeof(*syms));
	ret = syms ? count(r, syms) : cli_no_memory();
	free(syms);
	return ret;
}

/* ---- choosing ---- */

static void explain(const struct ki_symbol *sym, const struct ki_evolve_forecast *f)
{
	printf("%s: %" PRIu64 " calls; %" PRIu32 " of %" PRIu32 " blocks are hot, %" PRIu32
	       " of %" PRIu32 " bytes: %" PRIu32 " cache lines instead of %" PRIu32
	       "; control does not fall %.2f times a call instead of %.2f\n",
	       sym->name, f->calls, f->hot, f->blocks, f->hot_bytes, f->bytes, f->lines_after,
	       f->lines_before, f->taken_after, f->taken_before);
}

/* Functions that cannot be laid out are left out, if there are others. */
static int choose(struct run *r)
{
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (ki_evolve_new(r->t, &r->o->choice, &r->evolve, &err))
		return cli_fail(&err);
	for (size_t i = 0; i < r->chosen.n; i++) {
		const struct ki_symbol *sym = r->chosen.v[i].sym;
		struct ki_evolve_forecast f;

		if (ki_evolve_add(r->evolve, r->profile, sym, &f, &err)) {
			ret = cli_fail(&err);
			continue;
		}
		if (r->o->explain || r->o->dry_run)
			explain(sym, &f);
		r->first = r->first ? r->first : sym;
		r->n++;
	}
	return r->n ? CLI_OK : ret ? ret : CLI_ERROR;
}

/* ---- better? ---- */

static int find_judge(struct run *r, const struct ki_symbol **out)
{
	ki_selection named = {0};
	char *name = r->o->judge;
	int ret;

	*out = r->first;
	if (!name)
		return CLI_OK;
	ret = select_functions(r->t, r->self, &name, 1, false, &named);
	if (!ret && named.n != 1)
		ret = cli_misuse(r->self, "--judge '%s': one function is expected, these are %zu",
				 name, named.n);
	if (!ret)
		*out = named.v[0].sym;
	ki_vec_free(&named);
	return ret;
}

static int judge(struct run *r, const struct ki_evolve_trial *t)
{
	double *v = calloc(2 * t->windows, sizeof(*v));
	struct ki_evolve_verdict d;
	struct ki_err err = {0};
	int ret;

	if (!v)
		return cli_no_memory();
	ret = ki_evolve_try(r->evolve, t, v, v + t->windows, &err) ? cli_fail(&err) : CLI_OK;
	if (!ret) {
		ki_evolve_judge(v, v + t->windows, t->windows, &d);
		printf("%s: %s %.4g, then %.4g: %+.2f %% to %+.2f %% (95 %%): %s\n", t->judge->name,
		       t->metric, d.before, d.after, 100 * d.low, 100 * d.high,
		       d.better	 ? "better"
		       : d.worse ? "worse"
				 : "no difference is proved");
		ret = d.better ? CLI_OK : CLI_NOT_BETTER;
	}
	free(v);
	if (ret == CLI_NOT_BETTER && ki_evolve_undo(r->evolve, &err))
		return cli_fail(&err);
	return ret;
}

static int put_in(struct run *r)
{
	struct ki_evolve_trial t = {.metric = r->o->metric,
				    .windows = r->o->windows,
				    .seconds = r->o->window,
				    .wait = wait_seconds,
				    .arg = &r->nothing};
	struct ki_err err = {0};
	int ret;

	if (r->o->always)
		return ki_evolve_install(r->evolve, &err) ? cli_fail(&err) : CLI_OK;
	ret = find_judge(r, &t.judge);
	return ret ? ret : judge(r, &t);
}

/* ---- */

/* What the driver has refused is left out. */
static void tell_refused(struct run *r)
{
	const struct ki_symbol *sym;
	unsigned int reason;

	for (size_t i = 0; reason = ki_evolve_refusal(r->evolve, i, &sym), sym; i++) {
		if (!reason)
			continue;
		cli_warn("%s: %s", sym->name, ki_reason_text(reason));
		r->n--;
	}
}

static int dry_run(struct run *r)
{
	struct ki_err err = {0};

	if (ki_evolve_check(r->evolve, &err))
		return cli_fail(&err);
	tell_refused(r);
	return CLI_OK;
}

static int take_out(struct run *r)
{
	struct ki_err err = {0};

	return ki_evolve_undo(r->evolve, &err) ? cli_fail(&err) : CLI_OK;
}

static int stay(struct run *r)
{
	tell_refused(r);
	if (r->o->keep) {
		printf("%zu function%s laid out, kept by process %d: kerninst evolve --undo ends it\n",
		       r->n, r->n == 1 ? " is" : "s are", getpid());
		evolve_tell(CLI_OK);
		evolve_stay();
	} else {
		printf("%zu function%s laid out, until Ctrl-C\n", r->n,
		       r->n == 1 ? " is" : "s are");
		fflush(stdout);
		wait_event(&r->nothing, -1);
	}
	return take_out(r);
}

static int evolve(struct run *r)
{
	const struct open_options live = {0};
	int ret = open_or_fail(&live, &r->t);

	if (!ret)
		ret = select_functions(r->t, r->self, r->o->what, r->o->n, false, &r->chosen);
	if (!ret)
		ret = profile(r);
	if (!ret)
		ret = choose(r);
	if (!ret && r->o->dry_run)
		return dry_run(r);
	if (!ret)
		ret = put_in(r);
	return ret ? ret : stay(r);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {.seconds = 10,
			    .window = 1,
			    .windows = 5,
			    .metric = "vtime/call",
			    .choice = {.policy = ki_lay_ext_tsp, .hot = 20}};
	struct run r = {.o = &o, .self = self};
	bool done;
	int ret = parse_options(self, argc, argv, &o, &done);

	if (done)
		return ret;
	if (o.list || o.undo)
		return o.list ? evolve_list() : evolve_undo();
	if (o.keep)
		ret = evolve_leave();
	wait_prepare();
	if (!ret)
		ret = evolve(&r);
	evolve_tell(ret);
	ki_evolve_free(r.evolve);
	ki_coverage_free(r.profile);
	ki_vec_free(&r.chosen);
	ki_target_close(r.t);
	return ret;
}

const struct verb verb_evolve = {
	.name = "evolve",
	.summary = "lay hot code out anew, measure, keep what is better",
	.usage = usage,
	.run = run,
};
