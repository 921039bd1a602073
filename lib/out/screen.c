// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "out/screen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#define OPEN  "\033[?1049h\033[?25l\033[H\033[2J"
#define CLOSE "\033[0m\033[?25h\033[?1049l"

/* What ends a process and may come at any time; SIGINT and SIGTERM are waited for. */
static const int ending[] = {SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGFPE,
			     SIGILL, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};

static struct {
	volatile sig_atomic_t open;
	struct termios before;
	int kept;     /* what is written to standard error */
	int complain; /* standard error itself */
	off_t said;
	char line[256];
} screen;

bool ki_screen_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Also called by a signal's handler. */
static void restore(void)
{
	if (!screen.open)
		return;
	screen.open = 0;
	if (write(STDOUT_FILENO, CLOSE, sizeof(CLOSE) - 1) < 0 ||
	    tcsetattr(STDIN_FILENO, TCSAFLUSH, &screen.before))
		return; /* the terminal has gone */
}

static void end_by(int sig)
{
	restore();
	raise(sig); /* SA_RESETHAND */
}

static void catch_all(void)
{
	struct sigaction sa = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND}, old;

	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &sa, NULL);
}

static int keep_complaints(void)
{
	screen.kept = memfd_create("top", MFD_CLOEXEC);
	screen.complain = dup(STDERR_FILENO);
	screen.said = 0;
	fflush(stderr);
	if (screen.kept < 0 || screen.complain < 0 || dup2(screen.kept, STDERR_FILENO) < 0)
		return -errno;
	return 0;
}

int ki_screen_open(void)
{
	struct termios raw;
	int ret;

	if (tcgetattr(STDIN_FILENO, &screen.before))
		return -errno;
	ret = keep_complaints();
	if (ret)
		return ret;
	raw = screen.before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
	fflush(stdout);
	catch_all();
	screen.open = 1;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) ||
	    write(STDOUT_FILENO, OPEN, sizeof(OPEN) - 1) < 0) {
		ret = -errno;
		ki_screen_close();
		return ret;
	}
	return 0;
}

/* What was written to standard error meanwhile is written now. */
static void let_complain(void)
{
	char text[4096];
	ssize_t n;
	off_t at = 0;

	if (screen.complain <= 0)
		return;
	fflush(stderr);
	dup2(screen.complain, STDERR_FILENO);
	while ((n = pread(screen.kept, text, sizeof(text), at)) > 0) {
		at += n;
		fwrite(text, 1, (size_t)n, stderr);
	}
	close(screen.complain);
	close(screen.kept);
	screen.complain = screen.kept = 0;
}

void ki_screen_close(void)
{
	restore();
	let_complain();
}

void ki_screen_size(unsigned int *width, unsigned int *height)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	*width = size.ws_col;
	*height = size.ws_row;
}

void ki_screen_show(const struct ki_canvas *c)
{
	static const char *const looks[] = {[KI_LOOK_PLAIN] = "\033[0m",
					    [KI_LOOK_BOLD] = "\033[0;1m",
					    [KI_LOOK_INVERSE] = "\033[0;7m"};

	for (unsigned int i = 0; i < c->height; i++)
		printf("\033[%u;1H%s%s", i + 1, looks[c->looks[i]], ki_canvas_line(c, i));
	fputs("\033[0m\033[J", stdout);
	fflush(stdout);
}

const char *ki_screen_said(void)
{
	char text[2048], *line, *end;
	ssize_t n;

	fflush(stderr);
	n = pread(screen.kept, text, sizeof(text) - 1, screen.said);
	if (!screen.open || n <= 0)
		return "";
	screen.said += n;
	text[n] = 0;
	end = text + n;
	while (end > text && end[-1] == '\n')
		*--end = 0;
	line = strrchr(text, '\n');
	snprintf(screen.line, sizeof(screen.line), "%.200s", line ? line + 1 : text);
	return screen.line;
}
