// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst specialize: a version of a function for the value that one of its arguments mostly has.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kerninst/special.h"
#include "open.h"
#include "run.h"
#include "select.h"

static const char usage[] =
	"Usage: kerninst specialize [OPTION...] FUNCTION [-- COMMAND...]\n"
	"Count the values of an argument of FUNCTION, make a version of it for the most frequent one,\n"
	"and lead calls with that value there: while COMMAND runs, or until Ctrl-C. The version is a\n"
	"kernel module: the function's own code, without what the value decides.\n\n"
	"      --argument N     which argument: 0 (the default) to 5\n"
	"      --value V        the value; nothing is counted\n"
	"      --for SECONDS    count so long (default 5)\n"
	"      --share PERCENT  the value must be in so many of 100 calls (default 20)\n"
	"      --callers        calls with the constant in their code lead there where they stand, past\n"
	"                       the guard; who traces FUNCTION does not see them\n"
	"      --alone          no copies of the functions that it calls\n"
	"  -n, --dry-run        say what would be done, and change nothing\n"
	"  -h, --help           this text\n\n"
	"Exit status: that of COMMAND if there was one, else 0; 1 an error, 2 wrong usage, 3 not\n"
	"possible on this system, 4 no value is frequent enough, or it decides nothing.\n\n"
	"Examples:\n"
	"  kerninst specialize --dry-run --value 64 __kmalloc\n"
	"  kerninst specialize --for 10 --callers __kmalloc\n";

enum { CLI_NOT_WORTH = 4 };

struct options {
	unsigned long argument, share;
	long long value;
	double seconds;
	bool given, callers, alone, dry_run;
	char *function, **command; /* command NULL: none */
};

struct specialize {
	const struct options *o;
	struct ki_target *t;
	struct ki_special *version;
	struct command command;
};

static bool wait_seconds(void *arg, double seconds)
{
	return wait_event(arg, wait_now() + seconds) == EVENT_TIME;
}

/* The most frequent value: CLI_OK and *value. */
static int count_values(struct specialize *r, const struct ki_symbol *sym, uint64_t *value)
{
	struct command nothing = {0};
	const struct ki_special_watch w = {.sym = sym,
					   .argument = (unsigned int)r->o->argument,
					   .seconds = r->o->seconds,
					   .wait = wait_seconds,
					   .arg = &nothing};
	struct ki_special_value *v;
	struct ki_err err = {0};
	uint64_t calls;
	double share;
	size_t n;

	if (ki_special_values(r->t, &w, &v, &n, &calls, &err))
		return cli_fail(&err);
	*value = n ? v->value : 0;
	share = n ? 100.0 * (double)v->calls / (double)calls : 0;
	free(v);
	if (!n)
		cli_warn("%s was not called in %g s: let a load run", sym->name, r->o->seconds);
	else
		printf("%s: argument %lu is %" PRId64 " in %.1f %% of %" PRIu64
		       " calls (%zu values)\n",
		       sym->name, r->o->argument, (int64_t)*value, share, calls, n);
	if (n && share < (double)r->o->share)
		cli_warn("that is below --share %lu", r->o->share);
	return n && share >= (double)r->o->share ? CLI_OK : CLI_NOT_WORTH;
}

static void tell(const struct specialize *r, const char *name, uint64_t value)
{
	struct ki_special_facts f;

	ki_special_facts(r->version, &f);
	printf("%s for %" PRId64 ": %" PRIu32 " instructions instead of %" PRIu32 ", %" PRIu32
	       " branch%s decided, %" PRIu32 " callee%s copied, %zu bytes\n",
	       name, (int64_t)value, f.after, f.before, f.branches, f.branches == 1 ? "" : "es",
	       f.copies, f.copies == 1 ? "" : "s", f.bytes);
}

static int make(struct specialize *r, const struct ki_symbol *sym)
{
	struct ki_special_wish wish = {.sym = sym,
				       .argument = (unsigned int)r->o->argument,
				       .value = (uint64_t)r->o->value,
				       .alone = r->o->alone,
				       .callers = r->o->callers};
	struct ki_err err = {0};
	int ret = r->o->given ? CLI_OK : count_values(r, sym, &wish.value);

	if (ret)
		return ret;
	if (ki_special_make(r->t, &wish, &r->version, &err)) {
		ret = cli_fail(&err);
		return err.code == -ENODATA ? CLI_NOT_WORTH : ret;
	}
	tell(r, sym->name, wish.value);
	return CLI_OK;
}

static int run_with_it(struct specialize *r)
{
	struct ki_special_facts f;
	struct ki_err err = {0};

	if (ki_special_install(r->version, &err))
		return cli_fail(&err);
	ki_special_facts(r->version, &f);
	if (r->o->callers)
		printf("%zu call%s lead%s there past the guard\n", f.calls, f.calls == 1 ? "" : "s",
		       f.calls == 1 ? "s" : "");
	if (!r->o->command)
		printf("%s is in, until Ctrl-C\n", f.name);
	fflush(stdout);
	run_to_end(&r->command);
	if (ki_special_undo(r->version, &err))
		return cli_fail(&err);
	run_failed(&r->command);
	return run_status(&r->command, CLI_OK);
}

static int one_function(struct specialize *r, const struct verb *self, const struct ki_symbol **out)
{
	const struct open_options live = {0};
	ki_selection v = {0};
	char *name = r->o->function;
	int ret = open_or_fail(&live, &r->t);

	if (!ret)
		ret = select_functions(r->t, self, &name, 1, false, &v);
	if (!ret && v.n != 1)
		ret = cli_misuse(self, "'%s': one function is expected, these are %zu", name, v.n);
	if (!ret)
		*out = v.v[0].sym;
	ki_vec_free(&v);
	return ret;
}

static int specialize(struct specialize *r, const struct verb *self)
{
	const struct ki_symbol *sym;
	int ret = one_function(r, self, &sym);

	if (!ret)
		ret = make(r, sym);
	if (ret || r->o->dry_run)
		return ret;
	if (r->o->command)
		ret = run_prepare(&r->command, r->o->command, false);
	return ret ? ret : run_with_it(r);
}

/* ---- options ---- */

enum { OPT_ARGUMENT = 256, OPT_VALUE, OPT_FOR, OPT_SHARE, OPT_CALLERS, OPT_ALONE };

static int take_number(const struct verb *self, const char *name, unsigned long most,
		       unsigned long *out)
{
	char *end;

	*out = strtoul(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || *out > most)
		return cli_misuse(self, "--%s '%s': a number from 0 to %lu", name, optarg, most);
	return CLI_OK;
}

static int take_value(const struct verb *self, struct options *o)
{
	char *end;

	o->value = strtoll(optarg, &end, 0);
	o->given = true;
	if (end == optarg || *end || o->value != (int32_t)o->value)
		return cli_misuse(self, "--value '%s': a number of 32 bits, with a sign", optarg);
	return CLI_OK;
}

static int take_option(const struct verb *self, int option, void *arg)
{
	struct options *o = arg;

	switch (option) {
	case OPT_ARGUMENT:
		return take_number(self, "argument", KI_SPECIAL_ARGUMENTS - 1, &o->argument);
	case OPT_SHARE:
		return take_number(self, "share", 100, &o->share);
	case OPT_VALUE:
		return take_value(self, o);
	case OPT_FOR:
		return cli_seconds(optarg, &o->seconds)
			       ? CLI_OK
			       : cli_misuse(self, "--for '%s': seconds, more than 0", optarg);
	}
	o->callers |= option == OPT_CALLERS;
	o->alone |= option == OPT_ALONE;
	o->dry_run |= option == 'n';
	return CLI_OK;
}

static bool parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			  int *status)
{
	static const struct option options[] = {{"argument", required_argument, NULL, OPT_ARGUMENT},
						{"value", required_argument, NULL, OPT_VALUE},
						{"for", required_argument, NULL, OPT_FOR},
						{"share", required_argument, NULL, OPT_SHARE},
						{"callers", no_argument, NULL, OPT_CALLERS},
						{"alone", no_argument, NULL, OPT_ALONE},
						{"dry-run", no_argument, NULL, 'n'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const struct cli_syntax syntax = {":nh", options, take_option, o};

	argc = command_cut(argc, argv, &o->command);
	if (!cli_take_options(self, argc, argv, &syntax, status))
		return false;
	if (argc - optind != 1) {
		*status = cli_misuse(self, "one function is expected");
		return false;
	}
	o->function = argv[optind];
	return true;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {.seconds = 5, .share = 20};
	struct specialize r = {.o = &o};
	int ret;

	if (!parse_options(self, argc, argv, &o, &ret))
		return ret;
	wait_prepare();
	ret = specialize(&r, self);
	command_abandon(&r.command);
	ki_special_free(r.version);
	ki_target_close(r.t);
	return ret;
}

const struct verb verb_specialize = {
	.name = "specialize",
	.summary = "a version of a function for a frequent value of an argument",
	.usage = usage,
	.run = run,
};
