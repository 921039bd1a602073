// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals stay blocked, and wait_event takes them; the descriptor only says that there are some.
 */
#include "record/record_wait.h"

#include <poll.h>
#include <unistd.h>

int record_wait_prepare(struct record_waiting *w, bool snapshots)
{
	w->ring = -1;
	w->snapshots = snapshots;
	w->signals = wait_descriptor(snapshots ? SIGUSR1 : 0);
	return w->signals < 0 ? w->signals : 0;
}

void record_wait_end(struct record_waiting *w)
{
	if (w->signals > 0)
		close(w->signals);
	w->signals = 0;
}

enum record_event record_wait(struct record_waiting *w, struct command *c, double deadline)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
				       {.fd = w->ring, .events = POLLIN}};
		struct timespec left = wait_left(deadline);
		int n = ppoll(fds, 2, deadline < 0 ? NULL : &left, NULL);
		double now = wait_now();

		if (fds[0].revents) {
			if (w->snapshots && wait_take(SIGUSR1))
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
