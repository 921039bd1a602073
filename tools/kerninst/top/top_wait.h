/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kerninst top waits for: time, keys, another size of the terminal, the end.
 */
#ifndef KERNINST_TOP_WAIT_H
#define KERNINST_TOP_WAIT_H

#include "command.h"
#include "kerninst/top_keys.h"

enum top_event { TOP_TIME, TOP_KEY, TOP_RESIZED, TOP_STOPPED, TOP_ENDED };

struct top_wait {
	bool keyboard; /* there is one */
	int signals;   /* becomes readable when there are some */
	int ended; /* the same, when the process that is measured has ended; -1: there is none */
	struct ki_top_keys keys;
	enum ki_top_key key; /* TOP_KEY: which */
};

/* After wait_prepare. 0, or -errno. */
int top_wait_open(struct top_wait *w, bool keyboard);
void top_wait_close(struct top_wait *w);

/* Until `deadline` at most; see wait_event. TOP_STOPPED: a signal, or the terminal or the process
   has gone. */
enum top_event top_wait(struct top_wait *w, struct command *c, double deadline);

#endif
