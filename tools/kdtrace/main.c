// SPDX-License-Identifier: GPL-2.0-only
/*
 * kdtrace: D programs from the shell.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cost.h"
#include "debug.h"
#include "list.h"
#include "made.h"
#include "options.h"

#define PERIOD 100 /* milliseconds between two looks at what has been recorded */
#define NAMED  3   /* probes of a reason that are named */

static volatile sig_atomic_t interrupted;

/* The second one ends the program at once. */
static void interrupt(int signal)
{
	interrupted = signal;
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static int fail(const struct ki_err *err)
{
	const char *hint = err->reason ? ki_reason_hint(err->reason) : "";

	say("%s%s%s", err->msg, *hint ? "; " : "", hint);
	switch (err->reason) {
	case KI_R_NO_DEVICE:
	case KI_R_NO_PERMISSION:
	case KI_R_ABI_MISMATCH:
	case KI_R_LOCKDOWN:
	case KI_R_UNKNOWN_KERNEL:
	case KI_R_NO_SYMBOLS:
		return EXIT_NOT_HERE;
	default:
		return EXIT_FAILED;
	}
}

struct session {
	struct options o;
	struct child child;
	struct ki_target *t;
	struct ki_dlang *d;
	size_t came; /* ki_dlang_came, the last time */
	FILE *out;
};

/* The line of the program, and a mark below the place. */
static void show_place(const struct ki_dlang_where *w)
{
	fprintf(stderr, "  %s\n  ", w->text);
	for (unsigned int i = 0; i + 1 < w->column && w->text[i]; i++)
		fputc(w->text[i] == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

/* A program that is not compiled. */
static int fail_compile(const struct session *s, const struct ki_err *err)
{
	const struct ki_dlang_where *w = &s->o.where;
	const struct piece *p = s->o.pieces.v;
	char line[32] = "";
	bool is_script, is_long;

	if (!w->tag)
		return fail(err);
	while (p + 1 < s->o.pieces.v + s->o.pieces.n && p[1].begins <= w->at)
		p++;
	is_script = !strcmp(p->what, "script");
	is_long = !is_script && strchr(p->name, '\n');
	if (is_script || is_long)
		snprintf(line, sizeof(line), "line %u: ", w->line);
	say("%s%s%s: %s%s%s%s%s",
	    is_script ? "failed to compile script " : "invalid probe specifier",
	    is_script || is_long ? "" : " ", is_long ? "" : p->name, s->o.tags ? "[" : "",
	    s->o.tags ? w->tag : "", s->o.tags ? "] " : "", line, ki_dlang_reason(err));
	if (!s->o.plain)
		show_place(w);
	return EXIT_FAILED;
}

static void print(void *arg, const char *text, size_t len)
{
	struct session *s = arg;

	fwrite(text, 1, len, s->out);
	fflush(s->out);
}

static void warn(void *arg, const char *text)
{
	(void)arg;
	say("%s", text);
}

static void truncate_output(void *arg)
{
	struct session *s = arg;

	rewind(s->out);
	/* A terminal or a pipe has no length. */
	if (ftruncate(fileno(s->out), 0) && errno != EINVAL)
		say("ftruncate(): %s", strerror(errno));
}

/* Of what a piece of the program names. */
static void print_stability(const struct session *s, const struct piece *p, size_t end)
{
	struct ki_dlang_stability descriptions, statements;

	ki_dlang_least_stable(s->d, p->begins, end, &descriptions, &statements);
	fprintf(s->out, "\nStability attributes for %s %s:\n", p->what, p->name);
	list_stability(s->out, "Minimum Probe Description", &descriptions);
	list_stability(s->out, "Minimum Statement", &statements);
	fputc('\n', s->out);
}

static void say_matched(const struct session *s)
{
	for (size_t i = 0; !ki_dlang_is_quiet(s->d) && i < s->o.pieces.n; i++) {
		const struct piece *p = &s->o.pieces.v[i];
		size_t end = i + 1 < s->o.pieces.n ? p[1].begins : SIZE_MAX;
		size_t n = ki_dlang_matched(s->d, p->begins, end);
		bool is_text = strcmp(p->what, "script") != 0;

		if (!strcmp(p->what, PIECE_LIBRARY))
			continue;
		say("%s '%.*s' matched %zu probe%s", p->what,
		    is_text ? (int)strcspn(p->name, "{/;") : (int)strlen(p->name), p->name, n,
		    n == 1 ? "" : "s");
	}
	for (size_t i = 0; s->o.verbose && i < s->o.pieces.n; i++)
		if (strcmp(s->o.pieces.v[i].what, PIECE_LIBRARY) != 0)
			print_stability(s, &s->o.pieces.v[i],
					i + 1 < s->o.pieces.n ? s->o.pieces.v[i + 1].begins
							      : SIZE_MAX);
	fflush(s->out);
}

/* So many probes are left out for a reason; the first few by name. */
static void say_reason(const struct session *s, unsigned int reason, size_t count)
{
	const size_t n = ki_dlang_probes(s->d);
	char names[512] = "";
	size_t named = 0;

	for (size_t i = 0; i < n && named < NAMED && named < count; i++) {
		struct ki_dlang_probe p;
		size_t at = strlen(names);

		ki_dlang_probe(s->d, i, &p);
		if (p.reason != reason)
			continue;
		snprintf(names + at, sizeof(names) - at, "%s%s:%s:%s:%s", at ? ", " : "",
			 p.provider, p.module, p.function, p.name);
		named++;
	}
	say("%zu of %zu probes left out, %s (%s): %s%s; %s", count, n, ki_reason_tag(reason),
	    ki_reason_text(reason), names, count > NAMED ? " ..." : "", ki_reason_hint(reason));
}

/* Probes that are not there, by reason. False: no probe is left, and none will come. */
static bool say_left_out(const struct session *s)
{
	size_t n = ki_dlang_probes(s->d), left_out = 0, of[KI_R_COUNT] = {0};

	for (size_t i = 0; i < n; i++) {
		struct ki_dlang_probe p;

		ki_dlang_probe(s->d, i, &p);
		of[p.reason < KI_R_COUNT ? p.reason : 0]++;
	}
	for (unsigned int reason = 1; reason < KI_R_COUNT; reason++) {
		if (of[reason])
			say_reason(s, reason, of[reason]);
		left_out += of[reason];
	}
	return left_out < n || ki_dlang_wants_process(s->d);
}

/* Is it at an offset that a description says? */
static bool is_named(const struct session *s, const struct ki_dlang_probe *p)
{
	const size_t n = ki_dlang_descriptions(s->d);
	const char *end = p->name + strspn(p->name, "0123456789abcdef");
	char text[1024];

	for (size_t i = 0; !*end && !strncmp(p->provider, "pid", 3) && i < n; i++) {
		ki_dlang_description(s->d, i, text, sizeof(text));
		if (!strcmp(strrchr(text, ':') + 1, p->name))
			return true;
	}
	return false;
}

/* A probe that is left out, and stands at an offset that the program says. */
static bool lacks_named(const struct session *s)
{
	const size_t n = ki_dlang_probes(s->d);

	for (size_t i = 0; i < n; i++) {
		struct ki_dlang_probe p;

		ki_dlang_probe(s->d, i, &p);
		if (p.reason && is_named(s, &p)) {
			say("%s:%s:%s:%s cannot be put in", p.provider, p.module, p.function,
			    p.name);
			return true;
		}
	}
	return false;
}

/* How places in processes are come by. */
static void say_places(const struct session *s)
{
	size_t n = ki_dlang_places(s->d, true, KI_R_OK);

	if (n)
		say("%zu place%s in processes, by breakpoints of the driver's", n,
		    n == 1 ? "" : "s");
	n = ki_dlang_places(s->d, false, KI_R_OK);
	if (n)
		say("%zu place%s in processes, by uprobes, as asked for", n, n == 1 ? "" : "s");
	for (unsigned int reason = KI_R_OK + 1; reason < KI_R_COUNT; reason++) {
		n = ki_dlang_places(s->d, false, reason);
		if (n)
			say("%zu place%s in processes, by uprobes, %s (%s)", n, n == 1 ? "" : "s",
			    ki_reason_tag(reason), ki_reason_text(reason));
	}
}

static void say_came(struct session *s)
{
	const size_t n = ki_dlang_came(s->d);

	if (s->o.verbose && n != s->came)
		say("probes have come in processes: %zu times", n);
	s->came = n;
}

/* One kind: in JSON, or as a line, with its tag if these are asked for. */
static void say_drop(const struct session *s, const struct ki_dlang_drops *drops, const char *tag,
		     uint64_t n, const char *kind, const char *text)
{
	if (!n)
		return;
	if (s->o.json)
		fprintf(s->out, "{\"type\":\"drop\",\"kind\":\"%s\",\"count\":%llu}\n", kind,
			(unsigned long long)n);
	else
		say("%s%s%s%llu %s", drops->tagged ? "[DTRACEDROP_" : "", drops->tagged ? tag : "",
		    drops->tagged ? "] " : "", (unsigned long long)n, text);
}

/* Of records that option bufsize has no room for. */
static void say_cpu_drops(const struct session *s, const struct ki_dlang_drops *drops)
{
	char text[32];

	for (unsigned int cpu = 0; cpu < ki_dlang_cpus(s->d); cpu++) {
		const uint64_t n = ki_dlang_cpu_drops(s->d, cpu);

		snprintf(text, sizeof(text), "drop%s on CPU %u", n == 1 ? "" : "s", cpu);
		say_drop(s, drops, "PRINCIPAL", n, "record", text);
	}
}

static void say_drops(const struct session *s)
{
	struct ki_dlang_drops drops;
	const struct {
		uint64_t n;
		const char *tag, *kind, *texts[2];
	} rows[] = {{(ki_dlang_drops(s->d, &drops), drops.records),
		     "PRINCIPAL",
		     "record",
		     {"record drop", "record drops"}},
		    {drops.aggregations,
		     "AGGREGATION",
		     "aggregation",
		     {"aggregation drop", "aggregation drops"}},
		    {drops.variables,
		     "DYNAMIC",
		     "dynamic variable",
		     {"dynamic variable drop", "dynamic variable drops"}},
		    {drops.strings, "STRING", "string", {"string drop", "string drops"}},
		    {drops.speculations,
		     "SPEC",
		     "speculative",
		     {"speculative drop", "speculative drops"}},
		    {drops.refused,
		     "SPECUNAVAIL",
		     "failed speculation",
		     {"failed speculation (no speculative buffer available)",
		      "failed speculations (no speculative buffer available)"}},
		    {drops.errors,
		     "DBLERROR",
		     "error in ERROR",
		     {"error in ERROR probe enabling", "errors in ERROR probe enabling"}},
		    {drops.signals, "SIGNAL", "signal", {"signal drop", "signal drops"}}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say_drop(s, &drops, rows[i].tag, rows[i].n, rows[i].kind,
			 rows[i].texts[rows[i].n != 1]);
	say_cpu_drops(s, &drops);
}

static void say_ended(const struct child *c)
{
	if (WIFSIGNALED(c->status))
		say("pid %d terminated by %d", c->pid, WTERMSIG(c->status));
	else if (WEXITSTATUS(c->status))
		say("pid %d exited with status %d", c->pid, WEXITSTATUS(c->status));
	else
		say("pid %d has exited", c->pid);
}

static int work(struct session *s)
{
	const struct ki_dlang_output out = {print, warn, truncate_output, s};
	struct ki_err err = {0};
	int ret = ki_dlang_start(s->d, s->t, &err);

	if (ret)
		return fail(&err);
	if (s->o.compile_only)
		return EXIT_DONE;
	if (!say_left_out(s)) {
		say("no probe is left: nothing would ever be said");
		return EXIT_FAILED;
	}
	if (lacks_named(s))
		return EXIT_FAILED;
	if (s->o.verbose)
		say_places(s);
	child_start(&s->child);
	while (!ret && !interrupted && !child_has_ended(&s->child)) {
		ret = ki_dlang_work(s->d, PERIOD, &out, &err);
		say_came(s);
	}
	if (s->child.ended && !ki_dlang_is_quiet(s->d))
		say_ended(&s->child);
	if (interrupted && !s->o.json)
		print(s, "\n", 1);
	if (ret >= 0)
		ret = ki_dlang_stop(s->d, &out, &err);
	say_drops(s);
	if (cost_print(s->d, s->o.json ? s->out : stderr, s->o.json))
		say("the costs could not be printed");
	return ret < 0 ? fail(&err) : ki_dlang_status(s->d);
}

/* With -e alone, where there is a driver: each description, but those of processes, matches. */
static int check_matches(struct session *s)
{
	struct ki_err err = {0};

	if (ki_dlang_wants_process(s->d) || ki_target_new_live(&s->t, &err) ||
	    !ki_dlang_match(s->d, s->t, &err))
		return EXIT_DONE;
	return fail_compile(s, &err);
}

/* The command stands at its main(), or at its first instruction: now it can be read what its notes
 * say of types. */
static int reach_entry(struct session *s)
{
	struct ki_err err = {0};

	if (child_reach(&s->child, ki_dlang_at_main(s->d), &err)) {
		say("-c: %s", err.msg);
		return EXIT_FAILED;
	}
	if (!ki_dlang_wants_types(s->d))
		return EXIT_DONE;
	ki_dlang_free(s->d);
	s->d = NULL;
	return ki_dlang_new(s->o.text, &s->o.d, &s->d, &err) ? fail_compile(s, &err) : EXIT_DONE;
}

/* As option evaltime says; of what is only listed, where its own probes are asked for. */
static bool begins_at_entry(const struct session *s)
{
	return s->o.command && (ki_dlang_wants_process(s->d) ||
				(!s->o.list && !s->o.compile_only && !ki_dlang_at_exec(s->d)));
}

/* The process of -c, which waits, or of -p. */
static int take_process(struct session *s)
{
	int ret = s->o.command ? child_prepare(&s->child, s->o.command) : 0;

	if (ret) {
		say("-c: %s", strerror(-ret));
		return EXIT_FAILED;
	}
	if (s->o.command)
		s->o.pid = s->child.pid;
	else if (s->o.pid)
		child_grab(&s->child, s->o.pid);
	s->o.d.target = s->o.pid;
	return EXIT_DONE;
}

static int run(struct session *s)
{
	struct ki_err err = {0};
	int ret;

	if (s->o.makes)
		return ki_dlang_new(s->o.text, &s->o.d, &s->d, &err) ? fail_compile(s, &err)
								     : make_files(&s->o, s->d);
	ret = take_process(s);
	if (ret)
		return ret;
	s->o.d.lists = s->o.list;
	if (ki_dlang_new(s->o.text, &s->o.d, &s->d, &err))
		return fail_compile(s, &err);
	if (s->o.compile_only && !s->o.listing)
		return check_matches(s);
	if (!s->o.compile_only && !ki_dlang_descriptions(s->d)) {
		say("the program has no clause: no probe would be used");
		return EXIT_FAILED;
	}
	if (begins_at_entry(s)) {
		ret = reach_entry(s);
		if (ret)
			return ret;
	}
	if (ki_target_new_live(&s->t, &err) || ki_dlang_match(s->d, s->t, &err))
		return fail_compile(s, &err);
	if (s->o.list) {
		list_probes(s->d, s->out, s->o.verbose);
		return EXIT_DONE;
	}
	say_matched(s);
	if (ki_dlang_is_destructive(s->d) && !ki_dlang_is_quiet(s->d))
		say("allowing destructive actions");
	return work(s);
}

static bool open_output(struct session *s)
{
	/* -h, -G: it is what is made, and opened there. */
	s->out = s->o.output && !s->o.makes ? fopen(s->o.output, "a") : stdout;
	if (!s->out)
		say("%s: %s", s->o.output, strerror(errno));
	return s->out;
}

int main(int argc, char **argv)
{
	struct session s = {0};
	int status;

	setlocale(LC_ALL, "");
	if (options_parse(&s.o, argc, argv, &status)) {
		catch_signals();
		status = open_output(&s) ? run(&s) : EXIT_FAILED;
		child_abandon(&s.child);
		ki_dlang_free(s.d);
		ki_target_free(s.t);
		errno = 0;
		if (s.out && (fflush(s.out) || ferror(s.out))) {
			say("writing the output failed%s%s", errno ? ": " : "",
			    errno ? strerror(errno) : "");
			status = status ? status : EXIT_FAILED;
		}
	}
	if (s.o.core && !s.o.compile_only)
		debug_core();
	options_free(&s.o);
	return status;
}
