/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting of kerninst record: for signals, for the command, for a time, and for the buffers.
 */
#ifndef KERNINST_RECORD_WAIT_H
#define KERNINST_RECORD_WAIT_H

#include "command.h"

struct record_waiting {
	bool snapshots;
	int signals; /* a signalfd: something is there for wait_event */
	int ring;    /* a descriptor that can be read when the buffers are to be; -1: none */
};

/* Right after wait_prepare. snapshots: SIGUSR1 is waited for too. 0, or -errno. */
int record_wait_prepare(struct record_waiting *w, bool snapshots);
void record_wait_end(struct record_waiting *w);

enum record_event {
	RECORD_TIME,
	RECORD_DATA,	 /* the buffers are to be read */
	RECORD_SNAPSHOT, /* SIGUSR1 */
	RECORD_END,	 /* a signal, or the command has ended */
};

/* Until `deadline`, seconds of CLOCK_MONOTONIC; negative: none. */
enum record_event record_wait(struct record_waiting *w, struct command *c, double deadline);

#endif
