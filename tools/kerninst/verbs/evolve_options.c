// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
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
	"      --hot N          a block is hot if it runs in more than 1/N of the calls (20; 0: at all)\n"
	"      --cache KIB      the first-level cache of code (default: this machine's). If hot code is\n"
	"                       larger, what runs less often takes turns in a part of it; 0: nothing\n"
	"      --policy NAME    ext-tsp (the default), hot-first, reverse (worse on purpose)\n"
	"      --retarget       the kernel's other direct calls lead there while nobody uses ftrace\n"
	"      --apart          each function by itself; else those of the kernel stand together, and\n"
	"                       call each other without a jump as long as nobody uses ftrace\n"
	"  -n, --dry-run        say what would be done, change nothing\n"
	"      --explain        say what is expected of each function\n"
	"      --judge FUNCTION whose time per call decides (default: who calls them most often in a\n"
	"                       second, of those that are not laid out: inserted code costs less in a\n"
	"                       layout, so that a function does not judge itself)\n"
	"      --metric NAME    what of it (default vtime/call)\n"
	"      --windows N, --window SECONDS  measure N times without and with it (5), so long (1)\n"
	"      --always         do not measure\n"
	"      --keep           leave what is better in, in a process that stays; else it is there\n"
	"                       until Ctrl-C\n"
	"      --watch          go on until a signal: look for the hottest (8), profile them, keep what\n"
	"                       is better, try it again later, take out what is not; a line for each\n"
	"      --budget SHARE%  of the kernel's time, for --watch's profiles and trials (0.5%)\n"
	"      --again ROUNDS   --watch tries again after so many rounds what it has decided (10)\n"
	"      --ideas LIST     what --watch tries of each function, in this order, until something is\n"
	"                       better: layout (the default), group (it and the hot ones that it calls,\n"
	"                       in one patch), version (for a frequent value: kerninst specialize)\n"
	"      --json           --watch's lines as JSON\n"
	"      --list, --undo   say what such processes keep; end them: all is as it was\n"
	"  -h, --help           this text\n\n"
	"Better is: with 95 % confidence (Welch's test). Exit status: 0 it is in, or was until Ctrl-C;\n"
	"4 it is not better, so it was taken out; 1 an error, 2 wrong usage, 3 not possible on this\n"
	"system.\n\n"
	"Examples:\n"
	"  kerninst evolve --dry-run --explain --for 5 vfs_read\n"
	"  kerninst evolve --keep --judge ksys_read vfs_read rw_verify_area\n"
	"  kerninst evolve --watch --budget 1% --hottest 20\n";

static int take_seconds(const void *self, const char *text, void *to)
{
	return cli_seconds(text, to) ? CLI_OK
				     : cli_misuse(self, "'%s': a positive number of seconds", text);
}

static int take_policy(const void *self, const char *text, void *to)
{
	ki_lay_policy **policy = to;

	*policy = ki_lay_policy_find(text);
	return *policy ? CLI_OK
		       : cli_misuse(self, "--policy '%s': ext-tsp, hot-first or reverse", text);
}

/* "group,layout": which, and in which order. */
static int take_ideas(const void *self, const char *text, void *to)
{
	struct evolve_options *o = to;
	char *copy = strdup(text), *save = NULL, *name;
	bool known = copy != NULL;

	o->nideas = 0;
	for (name = copy ? strtok_r(copy, ",", &save) : NULL; name && known;
	     name = strtok_r(NULL, ",", &save)) {
		ki_evolve_policy *policy = ki_evolve_policy_find(name);

		known = policy && o->nideas < EVOLVE_IDEAS;
		if (known)
			o->ideas[o->nideas++] = policy;
	}
	free(copy);
	return known && o->nideas
		       ? CLI_OK
		       : cli_misuse(self, "--ideas '%s': layout, group, version, each once", text);
}

static int take_budget(const void *self, const char *text, void *to)
{
	return ki_budget_parse(text, to)
		       ? CLI_OK
		       : cli_misuse(self, "--budget '%s': a share of the kernel's time, as 0.5%%",
				    text);
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

int evolve_parse(const struct verb *self, int argc, char **argv, struct evolve_options *o,
		 bool *done)
{
	struct cli_number hottest = {"hottest", 1, 5000, &o->hottest},
			  hot = {"hot", 0, 1000000, &o->hot},
			  cache = {"cache", 0, 65536, &o->choice.cache},
			  windows = {"windows", 2, 1000, &o->windows},
			  again = {"again", 1, 1000000, &o->again};
	const struct ki_option rows[] = {{"for", 0, take_seconds, &o->seconds},
					 {"hottest", 0, cli_number, &hottest},
					 {"save", 0, cli_text, &o->save},
					 {"from", 0, cli_text, &o->from},
					 {"hot", 0, cli_number, &hot},
					 {"cache", 0, cli_number, &cache},
					 {"policy", 0, take_policy, &o->choice.policy},
					 {"apart", 0, NULL, &o->choice.apart},
					 {"retarget", 0, NULL, &o->choice.retarget},
					 {"dry-run", 'n', NULL, &o->dry_run},
					 {"explain", 0, NULL, &o->explain},
					 {"judge", 0, cli_text, &o->judge},
					 {"metric", 0, cli_text, &o->metric},
					 {"windows", 0, cli_number, &windows},
					 {"window", 0, take_seconds, &o->window},
					 {"always", 0, NULL, &o->always},
					 {"keep", 0, NULL, &o->keep},
					 {"list", 0, NULL, &o->list},
					 {"watch", 0, NULL, &o->watch},
					 {"budget", 0, take_budget, &o->budget},
					 {"again", 0, cli_number, &again},
					 {"json", 0, NULL, &o->json},
					 {"ideas", 0, take_ideas, o},
					 {"undo", 0, NULL, &o->undo}};
	int ret;

	*done = true;
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	o->what = argv + optind;
	o->n = argc - optind;
	o->choice.hot = (unsigned int)o->hot;
	*done = (ret = check(self, o)) != CLI_OK;
	return ret;
}
