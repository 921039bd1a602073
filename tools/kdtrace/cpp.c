// SPDX-License-Identifier: GPL-2.0-only
#include "cpp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

/* What scripts ask for that run on several systems. */
static const char *const always[] = {
	"cpp",	       "-nostdinc",    "-D__linux",
	"-D__linux__", "-D__unix",     "-D__unix__",
	"-D__x86_64",  "-D__SUNW_D=1", "-D__SUNW_D_VERSION=0x02000000"};
#define ALWAYS (sizeof(always) / sizeof(*always))

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

static void become(int in, int out, const char *const *args, size_t nargs)
{
	char **argv = calloc(ALWAYS + nargs + 1, sizeof(*argv));

	if (!argv || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	memcpy(argv, always, sizeof(always));
	if (nargs)
		memcpy(argv + ALWAYS, args, nargs * sizeof(*argv));
	execvp("cpp", argv);
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

char *cpp_run(const char *text, const char *const *args, size_t nargs)
{
	int in = as_file(text), ends[2], status = 0;
	char *out = NULL;
	pid_t pid = -1;

	if (in >= 0 && pipe(ends) == 0) {
		pid = fork();
		if (!pid) {
			close(ends[0]);
			become(in, ends[1], args, nargs);
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
		say("cpp is not installed: -C needs the C preprocessor");
	else
		say("cpp could not process the program: %s",
		    pid > 0 ? "its messages are above" : strerror(errno));
	return NULL;
}
