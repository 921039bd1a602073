// SPDX-License-Identifier: GPL-2.0-only
/*
 * reasons KERNINST	earn every reason of the table, in its order; KERNINST is the tool
 * reasons KERNINST TAG	only that one
 * reasons count		print how many lines it prints for all
 * reasons suites	print "TAG FILE" of those that are earned elsewhere
 *
 * Each must come back with its number in the ABI and its errno; the words for a person say where,
 * what is wrong and what to do instead; and what the driver says of itself is as before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reasons/reasons.h"

#define LIBRARY_SAYS 55 /* of the requests that are ours, most */

static const struct reason_case *const cases[KI_R_COUNT] = {
#define KI_REASON(tag, err, text, hint) &case_##tag,
#include "uapi/kerninst_reasons.def"
#undef KI_REASON
};

static const char *tool;
static unsigned int said; /* requests of which the library has told what is wrong */

/* ---- nothing changes ---- */

struct state {
	uint64_t heap_used, windows, counters, globals, words, sessions, rings, returns;
};

static struct state state_now(void)
{
	struct ki_info i = {.size = sizeof(i)};

	if (ioctl(ki_target_fd(world), KI_IOC_INFO, &i))
		die("info", strerror(errno));
	return (struct state){i.heap_used,  i.windows,	i.counters_used, i.globals_used,
			      i.words_used, i.sessions, i.rings,	 i.returns};
}

/* What others had installed, to be in the way, goes in a moment. */
static bool is_as_before(const struct state *before)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	struct state now = state_now();

	for (int i = 0; i < 250 && memcmp(&now, before, sizeof(now)); i++) {
		nanosleep(&pause, NULL);
		now = state_now();
	}
	return !memcmp(&now, before, sizeof(now));
}

/* ---- one case ---- */

static void check_words(unsigned int reason, const char *words, const char *where)
{
	char name[64];

	printf("# %s", words);
	if (*words && words[strlen(words) - 1] != '\n')
		putchar('\n');
	snprintf(name, sizeof(name), "%s: the words", ki_reason_tag(reason));
	report(name,
	       strstr(words, where) && strstr(words, ki_reason_text(reason)) &&
		       strstr(words, ki_reason_hint(reason)),
	       "where, what, what to do");
}

static void check_ask(unsigned int reason, const struct reason_case *c)
{
	struct state before = state_now();
	char words[KI_ERR_MSG + 512];
	struct answer a = {0};
	struct ki_err err = {0};

	c->ask(&a);
	report(ki_reason_tag(reason), a.reason == reason && a.error == ki_reason_errno(reason),
	       "errno %d (%s), reason %s", a.error, strerror(a.error), ki_reason_tag(a.reason));
	said += !!*a.words;
	if (!*a.words) /* as the library does for those that it passes on (splice/apply.c) */
		ki_err_reason(&err, reason, 0, "%s", a.where);
	snprintf(words, sizeof(words), "%s; %s", *a.words ? a.words : err.msg,
		 ki_reason_hint(reason));
	check_words(reason, words, a.where);
	report(ki_reason_tag(reason), is_as_before(&before), "nothing has changed");
}

/* What it says on its error output; returns its status. */
static int run_tool(const char *const *args, char *words, size_t size)
{
	char *argv[12] = {strdup(tool)};
	int says[2], status;
	size_t n = 0;
	ssize_t got;

	for (int i = 0; args[i]; i++)
		argv[i + 1] = strdup(args[i]);
	if (pipe(says))
		die("pipe", strerror(errno));
	fflush(stdout);
	if (!fork()) {
		dup2(says[1], 2);
		close(says[0]);
		close(says[1]);
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "r", stdin))
			_exit(126);
		execv(tool, argv);
		_exit(127);
	}
	close(says[1]);
	while (n + 1 < size && (got = read(says[0], words + n, size - 1 - n)) > 0)
		n += (size_t)got;
	words[n] = 0;
	close(says[0]);
	wait(&status);
	for (char **arg = argv; *arg; arg++)
		free(*arg);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void check_tool(unsigned int reason, const struct reason_case *c)
{
	struct state before = state_now();
	char words[2048], name[64];
	int status;

	if (c->prepare)
		c->prepare();
	status = run_tool(c->tool, words, sizeof(words));
	if (c->after)
		c->after();
	snprintf(name, sizeof(name), "%s: the tool", ki_reason_tag(reason));
	report(name, status == 1 || status == 2 || status == 3, "status %d", status);
	check_words(reason, words, c->names);
	report(name, is_as_before(&before), "nothing has changed");
}

/* ---- points, several at once, with one that can be counted ---- */

#define BATCH 6

static void check_line(unsigned int reason, char *words)
{
	const char *point = cases[reason]->point;
	char head[160], *line = words;
	size_t n;

	snprintf(head, sizeof(head), "kerninst: %s: ", point);
	while (line && strncmp(line, head, strlen(head)))
		line = (line = strchr(line, '\n')) ? line + 1 : NULL;
	n = line ? strcspn(line, "\n") : 0;
	line = line ? strndup(line, n) : strdup("nothing is said of it");
	snprintf(head, sizeof(head), "[%s]", ki_reason_tag(reason));
	report(head, strstr(line, head) != NULL, "the tool names it");
	check_words(reason, line, point);
	free(line);
}

static void check_batch(const unsigned int *reasons, unsigned int n)
{
	const char *args[11] = {"stat", "--for", "0.01", "vfs_read"};
	struct state before = state_now();
	char words[4096];
	int status;

	for (unsigned int i = 0; i < n; i++)
		args[4 + i] = cases[reasons[i]]->point;
	status = run_tool(args, words, sizeof(words));
	report("a good point among them", status == 0, "status %d", status);
	for (unsigned int i = 0; i < n; i++)
		check_line(reasons[i], words);
	report("all at once", is_as_before(&before), "nothing has changed");
}

static void check_points(unsigned int only)
{
	unsigned int reasons[BATCH], n = 0;

	for (unsigned int r = 1; r < KI_R_COUNT; r++) {
		if (cases[r]->point && (!only || r == only))
			reasons[n++] = r;
		if (n == BATCH || (n && r == KI_R_COUNT - 1)) {
			check_batch(reasons, n);
			n = 0;
		}
	}
}

static void check(unsigned int reason)
{
	const struct reason_case *c = cases[reason];

	if (c->suite)
		printf("# %s: %s\n", ki_reason_tag(reason), c->suite);
	if (c->ask)
		check_ask(reason, c);
	if (c->tool[0])
		check_tool(reason, c);
}

static int print_suites(void)
{
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (cases[r]->suite)
			printf("%s %s\n", ki_reason_tag(r), cases[r]->suite);
	return 0;
}

/* Of a request, and of the tool: what came back, the words, nothing has changed. */
static int print_count(void)
{
	unsigned int n = 0, points = 0;

	for (unsigned int r = 1; r < KI_R_COUNT; r++) {
		n += 3 * !!cases[r]->ask + 3 * !!cases[r]->tool[0];
		points += !!cases[r]->point;
	}
	printf("%u\n", 1 + n + 2 * points + 2 * ((points + BATCH - 1) / BATCH));
	return 0;
}

int main(int argc, char **argv)
{
	struct ki_err err = {0};
	unsigned int only = KI_R_OK;

	if (argc == 2 && !strcmp(argv[1], "suites"))
		return print_suites();
	if (argc == 2 && !strcmp(argv[1], "count"))
		return print_count();
	if (argc < 2 || (argc > 2 && ki_reason_find(argv[2], &only)))
		return 2;
	tool = argv[1];
	if (ki_target_new_live(&world, &err))
		die("open", err.msg);
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (!only || r == only)
			check(r);
	check_points(only);
	if (!only)
		report("the library's own words", said >= LIBRARY_SAYS, "%u", said);
	world_close();
	return report_status();
}
