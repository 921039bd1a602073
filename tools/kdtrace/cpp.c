// SPDX-License-Identifier: GPL-2.0-only
#include "cpp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What scripts ask for that run on several systems. Headers of the C library have no inline
 * functions where C is strict, and D knows none. */
static const char *const always[] = {"cpp",
				     "-D__linux",
				     "-D__linux__",
				     "-D__Linux",
				     "-D__SVR4",
				     "-U__GNUC__",
				     "-D__unix",
				     "-D__unix__",
				     "-D__x86_64",
				     "-D__SUNW_D=1",
				     "-D__SUNW_D_64",
				     "-D__SUNW_D_VERSION=0x02000007",
				     "-D__STRICT_ANSI__"};
#define ALWAYS (sizeof(always) / sizeof(*always))

/* ---- options ---- */

bool cpp_option(struct options *o, const char *option, const char *value)
{
	char *text;

	if (asprintf(&text, "%s%s", option, value) >= 0 && !ki_vec_push(&o->owned, text) &&
	    !ki_vec_push(&o->cpp, (const char *)text))
		return true;
	say("out of memory");
	return false;
}

bool cpp_standard(struct options *o, const char *text)
{
	if (!*text || text[1] || !strchr("acst", *text))
		return false;
	return *text != 's' || (cpp_option(o, "-w", "") && cpp_option(o, "-U__STDC__", ""));
}

static bool take_words(struct options *o, const char *text)
{
	while (*(text += strspn(text, " \t"))) {
		size_t n = strcspn(text, " \t");
		char *word = strndup(text, n);
		bool done = word && cpp_option(o, word, "");

		free(word);
		if (!done)
			return false;
		text += n;
	}
	return true;
}

static bool take_path(struct options *o, const char *text)
{
	o->cpp_path = text;
	return *text;
}

bool cpp_set(struct options *o, const char *text)
{
	static const struct {
		const char *name, *option;
		bool (*take)(struct options *o, const char *text);
	} rows[] = {
		{"define", "-D", NULL},	      {"undef", "-U", NULL},
		{"incdir", "-I", NULL},	      {"cppargs", NULL, take_words},
		{"cpppath", NULL, take_path}, {"stdc", NULL, cpp_standard},
	};
	const size_t n = strcspn(text, "=");

	if (!strcmp(text, "cpp"))
		return o->use_cpp = true;
	if (!strcmp(text, "cpphdrs"))
		return cpp_option(o, "-H", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strlen(rows[i].name) != n || strncmp(text, rows[i].name, n) != 0)
			continue;
		if (text[n] && (rows[i].take ? rows[i].take(o, text + n + 1)
					     : cpp_option(o, rows[i].option, text + n + 1)))
			return true;
		say("failed to set -x %s: Invalid value for specified option", rows[i].name);
		return false;
	}
	return true;
}

/* ---- programs ---- */

/* The program as a file, from its beginning. */
static int as_file(const char *text)
{
	int fd = memfd_create("kdtrace", MFD_CLOEXEC);
	size_t len, done = 0;

	if (text[0] == '#' && text[1] == '!')
		text += strcspn(text, "\n");
	len = strlen(text);
	while (fd >= 0 && done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n <= 0) {
			close(fd);
			return -1;
		}
		done += (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static void become(const struct options *o, int in, int out)
{
	char **argv = calloc(ALWAYS + o->cpp.n + 1, sizeof(*argv));

	if (!argv || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	memcpy(argv, always, sizeof(always));
	if (o->cpp.n)
		memcpy(argv + ALWAYS, o->cpp.v, o->cpp.n * sizeof(*argv));
	execvp(o->cpp_path ? o->cpp_path : "cpp", argv);
	_exit(127);
}

static char *read_all(int fd)
{
	FILE *f = fdopen(fd, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f) {
		close(fd);
		return NULL;
	}
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

/* A program after cpp; a first line that begins with #! is left out. Free it. NULL: it failed, and
 * that was said. */
static char *run(const struct options *o, const char *text)
{
	int in = as_file(text), ends[2], status = 0;
	char *out = NULL;
	pid_t pid = -1;

	if (in >= 0 && pipe(ends) == 0) {
		pid = fork();
		if (!pid) {
			close(ends[0]);
			become(o, in, ends[1]);
		}
		close(ends[1]);
		out = read_all(ends[0]);
	}
	if (in >= 0)
		close(in);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status && out)
		return out;
	free(out);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		say("%s is not installed: -C needs the C preprocessor",
		    o->cpp_path ? o->cpp_path : "cpp");
	else
		say("cpp could not process the program: %s",
		    pid > 0 ? "its messages are above" : strerror(errno));
	return NULL;
}

bool cpp_programs(struct options *o)
{
	char *all = o->text;
	bool done = true;

	o->text = NULL;
	for (size_t i = 0; done && i < o->pieces.n; i++) {
		size_t end = i + 1 < o->pieces.n ? o->pieces.v[i + 1].begins : strlen(all);
		char *one = strndup(all + o->pieces.v[i].begins, end - o->pieces.v[i].begins);
		char *text = one ? run(o, one) : NULL, *more;

		o->pieces.v[i].begins = o->text ? strlen(o->text) : 0;
		done = text && asprintf(&more, "%s%s", o->text ? o->text : "", text) >= 0;
		if (done) {
			free(o->text);
			o->text = more;
		}
		free(one);
		free(text);
	}
	free(all);
	return done;
}
