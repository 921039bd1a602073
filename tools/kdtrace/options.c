// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpp.h"
#include "debug.h"
#include "environment.h"
#include "library.h"
#include "kerninst/budget.h"
#include "paths.h"
#include "util/text.h"

const char *program_name = "kdtrace";

static const char usage[] =
	"Usage: kdtrace [OPTION...] -n PROGRAM [ARGUMENT...]\n"
	"       kdtrace [OPTION...] -s FILE [ARGUMENT...]\n"
	"Run a D program: its clauses become native code, which runs inline where its probes are.\n"
	"\n"
	"  -n PROGRAM   clauses of D: 'PROBE /PREDICATE/ { STATEMENTS }'; more -n are added\n"
	"  -s FILE      the program in a file; - is the standard input\n"
	"  -P, -m, -f   as -n, where a provider, module or function stands for the probe\n"
	"  -i ID        as -n, where a probe's number of -l stands for it\n"
	"  -l           list the probes that would be used, or all, and stop; -lv with arguments\n"
	"  -e           compile, and stop; -S: print what the program is compiled to\n"
	"  -c COMMAND   run it, with $target its number, and end with it\n"
	"  -p PID       $target\n"
	"  -q           print only what the program asks for; -v: print more\n"
	"  -F           indent by calls and returns\n"
	"  --cost       say what the program has cost: instructions at each probe, share of the machine\n"
	"  --budget SHARE%  cost at most that share: probes that cost too much are taken out\n"
	"  --json       print a line of JSON for each record, aggregation, error and drop\n"
	"  -o FILE      append output to a file\n"
	"  -x NAME[=VALUE]  as #pragma D option NAME=VALUE; -b SIZE: bufsize\n"
	"  -w           permit actions that change the system\n"
	"  -Z           probes may match nothing\n"
	"  -C           run the C preprocessor first; -D -U -I -H are its options, -X the standard\n"
	"  -h -s FILE   make FILE's header, with a macro for each probe that it says a program is to have;\n"
	"               -G: the object that such a program is linked with\n"
	"  -V           the version; --help, or -h alone: this text\n"
	"\n"
	"Examples:\n"
	"  kdtrace -n 'fbt::vfs_read:entry { @[execname] = count(); }'\n"
	"  kdtrace -n 'syscall:::entry { @[probefunc] = count(); }' -c 'ls -l'\n"
	"  kdtrace -n 'fbt::vfs_read:entry { self->t = timestamp; }\n"
	"      fbt::vfs_read:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }'\n"
	"\n"
	"Exit status: 0 done, or what exit() says; 1 error; 2 wrong usage; 3 not possible on this system.\n"
	"Manual: kdtrace(8).\n";

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "%s: ", program_name);
	ki_text_vprint(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

static bool no_memory(void)
{
	say("out of memory");
	return false;
}

/* ---- programs ---- */

bool piece_add(struct options *o, const char *what, const char *name, const char *text)
{
	struct piece p = {what, name, o->text ? strlen(o->text) : 0};
	char *all;

	/* Each has lines of its own. */
	if (asprintf(&all, "%s%s%s\n", o->text ? o->text : "", o->text ? "# 1\n" : "", text) < 0)
		return no_memory();
	free(o->text);
	o->text = all;
	return !ki_vec_push(&o->pieces, p) || no_memory();
}

/* A field alone, with what may stand behind it: predicate and body. */
static bool add_field(struct options *o, const char *what, const char *arg, unsigned int after)
{
	size_t n = strcspn(arg, " \t\n/{"), colons = 0, skip;
	char *text;
	bool done;

	for (size_t i = 0; i < n; i++)
		colons += arg[i] == ':';
	skip = *arg == ':' && colons + after == 4; /* an empty field too many */
	if (colons + after > 3 + skip) {
		say("invalid probe specifier %s: invalid probe description \"%.*s\": "
		    "Overspecified probe description",
		    arg, (int)n, arg);
		return false;
	}
	if (asprintf(&text, "%.*s%.*s%s", (int)(n - skip), arg + skip, (int)after, ":::", arg + n) <
	    0)
		return no_memory();
	done = piece_add(o, what, arg, text);
	free(text);
	return done;
}

/* A probe by its number. What stands right behind the number is a description of its own. */
static bool add_probe(struct options *o, const char *arg)
{
	char *end, *text;
	bool done;

	errno = 0;
	strtol(arg, &end, 10);
	if (errno || end == arg) {
		say("invalid probe identifier: %s", arg);
		return false;
	}
	if (asprintf(&text, "%.*s%s%s", (int)(end - arg), arg, strchr(" \t\n/{", *end) ? "" : ", ",
		     end) < 0)
		return no_memory();
	done = piece_add(o, "probe", arg, text);
	free(text);
	return done;
}

static bool add_file(struct options *o, const char *name)
{
	char *text = library_read(name);
	bool done = text && piece_add(o, "script", name, text);

	free(text);
	return done;
}

/* ---- options ---- */

static bool set(struct options *o, const char *text)
{
	o->json |= !strcmp(text, "oformat=json");
	o->tags |= !strcmp(text, "errtags");
	o->listing |= !strcmp(text, "verbose");
	o->plain |= !strcmp(text, "plain");
	o->dof |= !strcmp(text, "linktype=dof");
	o->core |= !strcmp(text, "core");
	if (!strcmp(text, "debug"))
		debug_begin();
	debug("option %s", text);
	if (!strncmp(text, "libdir=", strlen("libdir=")))
		return library_add(o, text + strlen("libdir="));
	return cpp_set(o, text) && (!ki_vec_push(&o->set, text) || no_memory());
}

bool option_set(struct options *o, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s%s%s", name, value ? "=" : "", value ? value : "") < 0 ||
	    ki_vec_push(&o->owned, text))
		return no_memory();
	return set(o, text);
}

static bool take_standard(struct options *o, const char *text)
{
	if (cpp_standard(o, text))
		return true;
	o->misused = true;
	say("invalid argument for -X: '%s'; a, c, s or t is expected", text);
	return false;
}

static bool take_pid(struct options *o, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*end || pid < 1 || pid > INT32_MAX) {
		say("invalid pid: %s", text);
		return false;
	}
	o->pid = (int)pid;
	if (kill(o->pid, 0) && errno == ESRCH) {
		say("No such process");
		return false;
	}
	return true;
}

static bool take_flag(struct options *o, int option)
{
	switch (option) {
	case 'l':
		o->list = true;
		return set(o, "zdefs");
	case 'e':
		return o->compile_only = true;
	case 'v':
		return o->verbose = true;
	case 'S':
		return o->listing = true;
	case 'J':
		return set(o, "oformat=json");
	case 'M':
		return o->d.cost = true;
	case 'q':
		return set(o, "quiet");
	case 'F':
		return set(o, "flowindent");
	case 'w':
		return set(o, "destructive");
	case 'Z':
		return set(o, "zdefs");
	case 'C':
		return set(o, "cpp");
	default:
		return cpp_option(o, "-H", "");
	}
}

static bool take_program(struct options *o, int option, const char *arg)
{
	switch (option) {
	case 'n':
		return piece_add(o, "description", arg, arg);
	case 's':
		return add_file(o, arg);
	case 'P':
		return add_field(o, "provider", arg, 3);
	case 'm':
		return add_field(o, "module", arg, 2);
	case 'f':
		return add_field(o, "function", arg, 1);
	default:
		return add_probe(o, arg);
	}
}

static bool refuse(int option)
{
	say("-%c is not supported: programs run at once, and are not kept or linked", option);
	return false;
}

/* What getopt could not take: `what` is the argument that it stands in. */
static bool misuse(struct options *o, int option, const char *what)
{
	const char letter[] = {'-', (char)optopt, 0};
	const bool is_long = !optopt || !strncmp(what, "--", 2);
	const char *why = is_long && optopt ? "takes no value" : "is unknown";

	o->misused = true;
	say("option %s %s; kdtrace --help lists them", is_long ? what : letter,
	    option == ':' ? "wants a value" : why);
	return false;
}

static bool take_budget(struct options *o, const char *text)
{
	o->misused = !ki_budget_parse(text, &o->d.budget);
	if (o->misused)
		say("--budget %s: a share of the machine is expected, as 0.5%% or 2%%", text);
	return o->d.cost = !o->misused;
}

/* -64, as all objects of -G are; -32. */
static bool take_bits(struct options *o, int option, const char *arg)
{
	o->misused = option != '6' || strcmp(arg, "4") != 0;
	if (o->misused)
		say("-%c%s is not supported: programs have 64 bits; leave it out, or say -64",
		    option, arg);
	return !o->misused;
}

/* True: it was taken. -B: there are no buffers of processes. */
static bool take(struct options *o, int option, const char *arg)
{
	if (strchr("36", option))
		return take_bits(o, option, arg);
	if (strchr("nsPmfi", option))
		return take_program(o, option, arg);
	if (strchr("DUI", option))
		return cpp_option(o, (char[]){'-', (char)option, 0}, arg);
	if (strchr("Aa", option))
		return refuse(option);
	switch (option) {
	case 'h':
	case 'G':
		o->makes = (char)option;
		return true;
	case 'x':
		return set(o, arg);
	case 'b':
		return option_set(o, "bufsize", arg);
	case 'X':
		return take_standard(o, arg);
	case 'p':
		return take_pid(o, arg);
	case 'T':
		return take_budget(o, arg);
	case 'c':
		o->command = arg;
		return true;
	case 'o':
		o->output = arg;
		return true;
	case 'L':
		return library_add(o, arg);
	case 'B':
		return true;
	default:
		return take_flag(o, option);
	}
}

static bool finish(struct options *o)
{
	o->d.size = sizeof(o->d);
	o->d.args = o->args.v;
	o->d.nargs = o->makes ? 0 : (unsigned int)o->args.n; /* objects that are linked */
	for (size_t i = 0; i < o->pieces.n; i++)
		if (!strcmp(o->pieces.v[i].what, "script"))
			o->d.name = o->pieces.v[i].name;
	o->d.set = o->set.v;
	o->d.nset = (unsigned int)o->set.n;
	o->d.where = &o->where;
	o->d.listing = o->listing ? stderr : NULL;
	o->d.trees = stdout;
	o->d.built_only = o->listing && o->compile_only;
	paths_debug(o);
	if (!o->text && o->list)
		return piece_add(o, "description", ":::", ":::");
	if (!o->text) {
		o->misused = true;
		say("no probes specified: kdtrace -n 'PROBE { STATEMENTS }', or -s FILE");
		return false;
	}
	if (o->command && o->pid) {
		o->misused = true;
		say("-c and -p both say what $target is");
		return false;
	}
	return !o->use_cpp || cpp_programs(o);
}

/* As the reference says it; with -v before it, whose it is. */
static void print_version(const struct options *o)
{
	printf("%s: D %s\n", program_name, KI_D_LANGUAGE);
	if (o->verbose)
		printf("This is DTrace of kerninst %s, its language %s\n", KI_VERSION,
		       KI_D_LANGUAGE);
}

/* Options and operands may stand in any order. */
static bool take_all(struct options *o, int argc, char **argv, int *status)
{
	static const char letters[] = "+:3:6:aAb:B:c:CD:eFf:GhHi:I:lL:m:n:o:p:P:qs:SU:vVwx:X:Z";
	static const struct option words[] = {{"help", no_argument, NULL, 'h'},
					      {"json", no_argument, NULL, 'J'},
					      {"cost", no_argument, NULL, 'M'},
					      {"budget", required_argument, NULL, 'T'},
					      {0}};
	bool only_operands = false; /* behind -- */
	int option;

	opterr = 0;
	for (optind = 1; optind < argc; optind++) {
		while (!only_operands &&
		       (option = getopt_long(argc, argv, letters, words, NULL)) != -1) {
			if (option == 'V') {
				print_version(o);
				*status = EXIT_DONE;
				return false;
			}
			if (option == '?' || option == ':')
				return misuse(o, option, argv[optind - 1]);
			if (!take(o, option, optarg))
				return false;
		}
		only_operands |= !strcmp(argv[optind - 1], "--");
		if (optind < argc && ki_vec_push(&o->args, (const char *)argv[optind]))
			return no_memory();
	}
	return true;
}

bool options_parse(struct options *o, int argc, char **argv, int *status)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;

	if (argc)
		program_name = slash ? slash + 1 : argv[0];
	*status = EXIT_FAILED;
	if (!environment_take(o))
		return false;
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		*status = EXIT_DONE;
		return false;
	}
	if (take_all(o, argc, argv, status)) {
		if (o->makes == 'h' && !o->text)
			fputs(usage, stdout);
		if ((o->compile_only || o->makes == 'h') && !o->text && !o->list) {
			*status = EXIT_DONE;
			return false;
		}
		if (finish(o))
			return true;
	}
	if (o->misused)
		*status = EXIT_MISUSED;
	return false;
}

void options_free(struct options *o)
{
	for (size_t i = 0; i < o->owned.n; i++)
		free(o->owned.v[i]);
	ki_vec_free(&o->owned);
	ki_vec_free(&o->pieces);
	ki_vec_free(&o->args);
	ki_vec_free(&o->set);
	ki_vec_free(&o->cpp);
	free(o->text);
}
