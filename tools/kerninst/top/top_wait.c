// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals stay blocked, and are taken by those who know them; the descriptor only says that there
 * are some.
 */
#include "top/top_wait.h"

#include <math.h>
#include <poll.h>
#include <unistd.h>

#include "out/screen.h"

/* What belongs to a key comes at once. */
#define KEY_SECONDS 0.05

int top_wait_open(struct top_wait *w, bool keyboard)
{
	w->keyboard = keyboard;
	w->ended = -1;
	w->signals = wait_descriptor(SIGWINCH);
	return w->signals < 0 ? w->signals : 0;
}

void top_wait_close(struct top_wait *w)
{
	if (w->signals > 0)
		close(w->signals);
	w->signals = 0;
}

/* Before anything else: a second signal may come, which ends this process at once. */
static enum top_event take_signal(struct command *c)
{
	if (wait_take(SIGWINCH))
		return TOP_RESIZED;
	if (wait_is_interrupted())
		ki_screen_close();
	switch (wait_event(c, wait_now())) {
	case EVENT_SIGNAL:
		return TOP_STOPPED;
	case EVENT_ENDED:
		return TOP_ENDED;
	default:
		return TOP_TIME;
	}
}

/* TOP_TIME: no whole key yet. */
static enum top_event take_bytes(struct top_wait *w, short happened)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) == 1)
		w->key = ki_top_keys_take(&w->keys, byte);
	else if (happened & (POLLHUP | POLLERR | POLLNVAL))
		return TOP_STOPPED;
	return w->key ? TOP_KEY : TOP_TIME;
}

static enum top_event look(struct top_wait *w, struct command *c, double deadline)
{
	struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
			       {.fd = w->keyboard ? STDIN_FILENO : -1, .events = POLLIN},
			       {.fd = w->ended, .events = POLLIN}};
	const bool pending = ki_top_keys_pending(&w->keys);
	double left = fmax(deadline - wait_now(), 0);

	if (pending)
		left = fmin(left, KEY_SECONDS);
	if (poll(fds, 3, (int)ceil(fmin(left, 1e6) * 1e3)) < 0)
		return TOP_TIME;
	if (fds[0].revents)
		return take_signal(c);
	if (fds[1].revents)
		return take_bytes(w, fds[1].revents);
	if (fds[2].revents)
		return TOP_STOPPED;
	if (pending)
		w->key = ki_top_keys_end(&w->keys);
	return w->key ? TOP_KEY : TOP_TIME;
}

enum top_event top_wait(struct top_wait *w, struct command *c, double deadline)
{
	enum top_event e;

	w->key = KI_TOP_KEY_NONE;
	do
		e = look(w, c, deadline);
	while (e == TOP_TIME && wait_now() < deadline);
	return e;
}
