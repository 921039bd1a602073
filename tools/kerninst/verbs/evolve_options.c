// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "evolve.h"
#include "kerninst/budget.h"

const char evolve_usage[] =
	"Usage: kerninst evolve [OPTION...] FUNCTION... | --hottest N\n"
	"       kerninst evolve --watch [OPTION...]\n"
	"       kerninst evolve --list | --undo\n"
	"Let functions of the running kernel stand in memory as they are executed: profile them while\n"
	"they run, choose an order of their blocks, put copies in that order in, measure whether calls\n"
	"got faster, and keep the copies or take them out. What the code does stays the same: the\n"
	"driver makes each copy itself, and only the order is chosen.\n\n"
	"      --hottest N      the N functions in which the kernel spends most of its time now\n"
	"      --for SECONDS    profile so long (default 10); before it, look for the hottest so long\n"
	"      --save FILE      keep the profile: what kerninst cover --mode edges writes\n"
	"      --from FILE      use one, also of another boot of the same kernel\n"
	"      --hot N          a block is hot if it runs in more than 1/N of the calls (default 20;\n"
	"                       0: if it runs at all)\n"
	"      --policy NAME    ext-tsp (the default), hot-first, reverse (worse on purpose)\n"
	"      --retarget       direct calls of them by the kernel's other functions lead there, too,\n"
	"                       where they stand, as long as nobody uses ftrace\n"
	"      --apart          each function by itself; else those of the kernel stand together, and\n"
	"                       call each other without a jump as long as nobody uses ftrace\n"
	"  -n, --dry-run        say what would be done, change nothing\n"
	"      --explain        say what is expected of each function\n"
	"      --judge FUNCTION whose time per call decides (default: who calls them most often in a\n"
	"                       second, of those that are not laid out: inserted code costs less in a\n"
	"                       layout, so that a function does not judge itself)\n"
	"      --metric NAME    what of it (default vtime/call)\n"
	"      --windows N      measure N times without and N times with it (default 5)\n"
	"      --window SECONDS each so long (default 1)\n"
	"      --always         do not measure\n"
	"      --keep           leave what is better in, in a process that stays; else it is there\n"
	"                       until Ctrl-C\n"
	"      --watch          go on until a signal: look for the hottest (8), profile them, keep what\n"
	"                       is better, try it again later, take out what is not; a line for each\n"
	"      --budget SHARE%  of the kernel's time, for --watch's profiles and trials (0.5%): it rests\n"
	"                       in between\n"
	"      --again ROUNDS   --watch tries again after so many rounds what it has decided (10)\n"
	"      --ideas LIST     what --watch tries of each function, in this order, until something is\n"
	"                       better: layout (the default), group (it and the hot ones that it calls,\n"
	"                       in one patch), version (for a frequent value: kerninst specialize)\n"
	"      --json           --watch's lines as JSON\n"
	"      --list           what such processes keep\n"
	"      --undo           end them; all is as it was\n"
	"  -h, --help           this text\n\n"
	"Better is: with 95 % confidence (Welch's test). Exit status: 0 it is in, or was until Ctrl-C;\n"
	"4 it is not better, so it was taken out; 1 an error, 2 wrong usage, 3 not possible on this\n"
	"system.\n\n"
	"Examples:\n"
	"  kerninst evolve --dry-run --explain --for 5 vfs_read\n"
	"  kerninst evolve --keep --judge ksys_read vfs_read rw_verify_area\n"
	"  kerninst evolve --watch --budget 1% --hottest 20\n";

enum { OPTION_LONG = 256 };

enum {
	OPT_FOR = OPTION_LONG,
	OPT_HOTTEST,
	OPT_SAVE,
	OPT_FROM,
	OPT_HOT,
	OPT_POLICY,
	OPT_APART,
	OPT_RETARGET,
	OPT_EXPLAIN,
	OPT_JUDGE,
	OPT_METRIC,
	OPT_WINDOWS,
	OPT_WINDOW,
	OPT_ALWAYS,
	OPT_KEEP,
	OPT_LIST,
	OPT_WATCH,
	OPT_BUDGET,
	OPT_AGAIN,
	OPT_JSON,
	OPT_IDEAS,
	OPT_UNDO
};

static int take_number(const struct verb *self, int c, struct evolve_options *o)
{
	static const struct {
		int option;
		const char *name;
		unsigned long least, most;
	} rows[] = {{OPT_HOTTEST, "hottest", 1, 5000},
		    {OPT_HOT, "hot", 0, 1000000},
		    {OPT_WINDOWS, "windows", 2, 1000},
		    {OPT_AGAIN, "again", 1, 1000000}};
	size_t *const to[] = {&o->hottest, &o->hot, &o->windows, &o->again};
	unsigned long n;
	size_t i = 0;
	char *end;

	while (rows[i].option != c)
		i++;
	errno = 0;
	n = strtoul(optarg, &end, 10);
	if (errno || *optarg < '0' || *optarg > '9' || *end || n < rows[i].least ||
	    n > rows[i].most)
		return cli_misuse(self, "--%s '%s': a number from %lu to %lu", rows[i].name, optarg,
				  rows[i].least, rows[i].most);
	*to[i] = n;
	return CLI_OK;
}

/* "group,layout": which, and in which order. */
static int take_ideas(const struct verb *self, struct evolve_options *o)
{
	char *save = NULL;

	o->nideas = 0;
	for (char *name = strtok_r(optarg, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		ki_evolve_policy *policy = ki_evolve_policy_find(name);

		if (!policy || o->nideas == EVOLVE_IDEAS)
			return cli_misuse(self, "--ideas '%s': layout, group, version, each once",
					  name);
		o->ideas[o->nideas++] = policy;
	}
	return o->nideas ? CLI_OK : cli_misuse(self, "--ideas: layout, group, version");
}

static int take_option(const struct verb *self, int c, void *arg)
{
	struct evolve_options *o = arg;
	const char **texts[] = {[OPT_SAVE - OPTION_LONG] = &o->save,
				[OPT_FROM - OPTION_LONG] = &o->from,
				[OPT_METRIC - OPTION_LONG] = &o->metric,
				[OPT_UNDO - OPTION_LONG] = NULL};
	bool *flags[] = {[OPT_EXPLAIN - OPTION_LONG] = &o->explain,
			 [OPT_ALWAYS - OPTION_LONG] = &o->always,
			 [OPT_APART - OPTION_LONG] = &o->choice.apart,
			 [OPT_RETARGET - OPTION_LONG] = &o->choice.retarget,
			 [OPT_KEEP - OPTION_LONG] = &o->keep,
			 [OPT_LIST - OPTION_LONG] = &o->list,
			 [OPT_WATCH - OPTION_LONG] = &o->watch,
			 [OPT_JSON - OPTION_LONG] = &o->json,
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
	else if (c == OPT_BUDGET && !ki_budget_parse(optarg, &o->budget))
		return cli_misuse(self, "--budget '%s': a share of the kernel's time, as 0.5%%",
				  optarg);
	else if (c == OPT_IDEAS)
		return take_ideas(self, o);
	else if (c == OPT_HOT || c == OPT_WINDOWS || c == OPT_HOTTEST || c == OPT_AGAIN)
		return take_number(self, c, o);
	return CLI_OK;
}

/* It chooses functions, and takes and keeps profiles, by itself. */
static int check_watch(const struct verb *self, const struct evolve_options *o)
{
	const struct {
		bool given;
		const char *what;
	} others[] = {{o->n, "functions"},	 {o->list, "--list"},	    {o->undo, "--undo"},
		      {o->keep, "--keep"},	 {o->dry_run, "--dry-run"}, {o->always, "--always"},
		      {o->explain, "--explain"}, {o->from, "--from"},	    {o->save, "--save"}};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].given)
			return cli_misuse(self, "--watch chooses and decides by itself: without %s",
					  others[i].what);
	return CLI_OK;
}

static int check(const struct verb *self, const struct evolve_options *o)
{
	if (o->list && o->undo)
		return cli_misuse(self, "--list, or --undo: one of them");
	if ((o->list || o->undo) && o->n)
		return cli_misuse(self, "no function is expected with --list and --undo: they are "
					"of all that is kept");
	if (o->watch)
		return check_watch(self, o);
	if (o->json || o->nideas)
		return cli_misuse(self, "%s is of --watch", o->json ? "--json" : "--ideas");
	if (!o->list && !o->undo && !o->n && !o->hottest)
		return cli_misuse(self, "functions are wanted; or --hottest, --list, --undo");
	if (o->hottest && (o->n || o->from))
		return cli_misuse(self,
				  "--hottest finds functions of its own: no names, no --from");
	if (o->from && o->save)
		return cli_misuse(self, "--from, or --save: one of them");
	if (o->choice.apart && o->choice.retarget)
		return cli_misuse(self,
				  "--apart, or --retarget: calls lead to what stands together");
	if (o->keep && o->dry_run)
		return cli_misuse(self, "--keep, or --dry-run: one of them");
	return CLI_OK;
}

static const struct option options[] = {{"for", required_argument, NULL, OPT_FOR},
					{"hottest", required_argument, NULL, OPT_HOTTEST},
					{"save", required_argument, NULL, OPT_SAVE},
					{"from", required_argument, NULL, OPT_FROM},
					{"hot", required_argument, NULL, OPT_HOT},
					{"policy", required_argument, NULL, OPT_POLICY},
					{"apart", no_argument, NULL, OPT_APART},
					{"retarget", no_argument, NULL, OPT_RETARGET},
					{"dry-run", no_argument, NULL, 'n'},
					{"explain", no_argument, NULL, OPT_EXPLAIN},
					{"judge", required_argument, NULL, OPT_JUDGE},
					{"metric", required_argument, NULL, OPT_METRIC},
					{"windows", required_argument, NULL, OPT_WINDOWS},
					{"window", required_argument, NULL, OPT_WINDOW},
					{"always", no_argument, NULL, OPT_ALWAYS},
					{"keep", no_argument, NULL, OPT_KEEP},
					{"list", no_argument, NULL, OPT_LIST},
					{"watch", no_argument, NULL, OPT_WATCH},
					{"budget", required_argument, NULL, OPT_BUDGET},
					{"again", required_argument, NULL, OPT_AGAIN},
					{"json", no_argument, NULL, OPT_JSON},
					{"ideas", required_argument, NULL, OPT_IDEAS},
					{"undo", no_argument, NULL, OPT_UNDO},
					{"help", no_argument, NULL, 'h'},
					{0}};

int evolve_parse(const struct verb *self, int argc, char **argv, struct evolve_options *o,
		 bool *done)
{
	const struct cli_syntax syntax = {":nh", options, take_option, o};
	int ret;

	*done = true;
	if (!cli_take_options(self, argc, argv, &syntax, &ret))
		return ret;
	o->what = argv + optind;
	o->n = argc - optind;
	o->choice.hot = (unsigned int)o->hot;
	ret = check(self, o);
	*done = ret != CLI_OK;
	return ret;
}
