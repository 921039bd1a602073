// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

static const char usage[] =
	"Usage: kdtrace [OPTION...] -n PROGRAM [ARGUMENT...]\n"
	"       kdtrace [OPTION...] -s FILE [ARGUMENT...]\n"
	"Run a D program: its clauses become native code, which runs inline where its probes are.\n"
	"\n"
	"  -n PROGRAM   clauses of D: 'PROBE /PREDICATE/ { STATEMENTS }'; more -n are added\n"
	"  -s FILE      the program in a file; - is the standard input\n"
	"  -P, -m, -f   as -n, where a provider, module or function stands for the probe\n"
	"  -c COMMAND   run it, with $target its number, and end with it\n"
	"  -p PID       $target\n"
	"  -l           list the probes that would be used, and stop\n"
	"  -e           compile, and stop\n"
	"  -q           print only what the program asks for\n"
	"  -o FILE      append output to a file\n"
	"  -x NAME[=VALUE]  as #pragma D option NAME=VALUE\n"
	"  -Z           probes may match nothing\n"
	"  -V           the version\n"
	"  -h, --help   this text\n"
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
	fputs("kdtrace: ", stderr);
	ki_text_vprint(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

static bool add(struct options *o, const char *before, const char *text, const char *after)
{
	char *all;

	if (asprintf(&all, "%s%s%s%s\n", o->text ? o->text : "", before, text, after) < 0)
		return false;
	free(o->text);
	o->text = all;
	return true;
}

/* A field alone, with what may stand behind it: predicate and body. */
static bool add_field(struct options *o, const char *before, const char *text, const char *after)
{
	size_t n = strcspn(text, " \t\n/{");
	char *field = strndup(text, n), *rest = NULL;
	bool done = field && asprintf(&rest, "%s%s", after, text + n) >= 0 &&
		    add(o, before, field, rest);

	free(field);
	free(rest);
	return done;
}

static bool add_option(struct options *o, const char *text)
{
	char *line, *old = o->text;

	if (asprintf(&line, "#pragma D option %s\n%s", text, old ? old : "") < 0)
		return false;
	free(old);
	o->text = line;
	return true;
}

static bool add_file(struct options *o, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (!f) {
		say("%s: %s", name, strerror(errno));
		return false;
	}
	n = getdelim(&text, &size, '\0', f);
	if (n > 0 && !feof(f)) {
		say("%s: a 0 in the program", name);
		n = -1;
	} else if (n < 0) {
		say("%s: %s", name, ferror(f) ? strerror(errno) : "it is empty");
	}
	if (f != stdin)
		fclose(f);
	o->name = name;
	if (n > 0 && !add(o, "", text, ""))
		n = -1;
	free(text);
	return n > 0;
}

static bool take_pid(struct options *o, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*end || pid < 1 || pid > INT32_MAX) {
		say("-p '%s': the number of a process is expected", text);
		return false;
	}
	o->pid = (int)pid;
	return true;
}

/* True: it was taken. */
static bool take(struct options *o, int option, const char *arg)
{
	switch (option) {
	case 'n':
		return add(o, "", arg, "");
	case 's':
		return add_file(o, arg);
	case 'P':
		return add_field(o, "", arg, ":::");
	case 'm':
		return add_field(o, ":", arg, "::");
	case 'f':
		return add_field(o, "::", arg, ":");
	case 'x':
		return add_option(o, arg);
	case 'p':
		return take_pid(o, arg);
	case 'c':
		o->command = arg;
		return true;
	case 'o':
		o->output = arg;
		return true;
	case 'l':
		return o->list = true;
	case 'e':
		return o->compile_only = true;
	case 'q':
		return o->d.quiet = true;
	case 'Z':
		return o->d.zero = true;
	default:
		say("option -%c is unknown, or wants a value; kdtrace --help lists them", optopt);
		return false;
	}
}

static bool finish(struct options *o, int argc, char **argv)
{
	o->d.size = sizeof(o->d);
	o->d.args = (const char *const *)argv + optind;
	o->d.nargs = (unsigned int)(argc - optind);
	if (!o->text) {
		say("no program: kdtrace -n 'PROBE { STATEMENTS }', or -s FILE");
		return false;
	}
	if (o->command && o->pid) {
		say("-c and -p both say what $target is");
		return false;
	}
	return true;
}

bool options_parse(struct options *o, int argc, char **argv, int *status)
{
	int option;

	*status = EXIT_MISUSED;
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		*status = EXIT_DONE;
		return false;
	}
	opterr = 0;
	while ((option = getopt(argc, argv, "+n:s:P:m:f:x:p:c:o:leqZVh")) != -1) {
		if (option == 'h' || option == 'V') {
			fputs(option == 'h' ? usage : "kdtrace " KI_VERSION "\n", stdout);
			*status = EXIT_DONE;
			return false;
		}
		if (!take(o, option, optarg))
			return false;
	}
	return finish(o, argc, argv);
}

void options_free(struct options *o)
{
	free(o->text);
}
