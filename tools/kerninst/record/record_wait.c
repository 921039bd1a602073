// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals stay blocked, and wait_event takes them; the descriptor only says that there are some.
 */
#include "record/record_wait.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int record_wait_prepare(struct record_waiting *w, bool snapshots)
{
	sigset_t set, usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	if (snapshots)
		sigprocmask(SIG_BLOCK, &usr1, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (snapshots)
		sigaddset(&set, SIGUSR1);
	w->ring = -1;
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signals < 0 ? -errno : 0;
}

void record_wait_end(struct record_waiting *w)
{
	if (w->signals > 0)
		close(w->signals);
	w->signals = 0;
}

static struct timespec time_left(double deadline)
{
	double left = deadline - wait_now();
	time_t seconds = left > 0 ? (time_t)left : 0;

	return (struct timespec){seconds, left > 0 ? (long)((left - (double)seconds) * 1e9) : 0};
}

static bool take_snapshot(void)
{
	const struct timespec none = {0};
	sigset_t set;

	sigpending(&set);
	if (sigismember(&set, SIGUSR1) != 1)
		return false;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, &none) == SIGUSR1;
}

enum record_event record_wait(struct record_waiting *w, struct command *c, double deadline)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
				       {.fd = w->ring, .events = POLLIN}};
		struct timespec left = time_left(deadline);
		int n = ppoll(fds, 2, deadline < 0 ? NULL : &left, NULL);
		double now = wait_now();

		if (fds[0].revents) {
			if (take_snapshot())
				return RECORD_SNAPSHOT;
			switch (wait_event(c, now)) {
			case EVENT_SIGNAL: /* a command that was sent it has a second to end */
				if (c->pid)
					wait_event(c, now + 1);
				return RECORD_END;
			case EVENT_ENDED:
				return RECORD_END;
			case EVENT_TIME:
				continue;
			}
		}
		if (n > 0 && fds[1].revents)
			return RECORD_DATA;
		if (deadline >= 0 && now >= deadline)
			return RECORD_TIME;
	}
}
