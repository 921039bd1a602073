/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The table of metrics with what the engine needs to know of a row: what is measured (source), what
 * the code keeps of it (keeps), and how a value comes of that (top, bottom).
 */
#ifndef KI_METRIC_TABLE_H
#define KI_METRIC_TABLE_H

#include "kerninst/metric.h"

/* What goes on while a thread is inside; each but NONE makes a pair of start and stop. */
enum ki_source {
	SOURCE_NONE, /* passing a point is all there is */
	SOURCE_WALL,
	SOURCE_OWN, /* the thread's own clock */
	SOURCE_FAULTS,
	SOURCE_MAJOR_FAULTS,
	SOURCE_SWITCHES,
	SOURCE_PREEMPTIONS,
	SOURCE_EVENT, /* the thread's own count of an event */
	SOURCES
};

/* What a pair's stop writes. */
enum {
	KEEP_TOTAL = 1, /* the sum of what went on */
	KEEP_OVER = 2,	/* calls that are over */
	KEEP_LOG2 = 4,	/* a histogram of what went on in each */
};

enum ki_top { TOP_COUNTER, TOP_ALL /* with what is not over yet */, TOP_OVER, TOP_LOG2 };
enum ki_bottom {
	BOTTOM_ONE,
	BOTTOM_OVER,
	BOTTOM_TIME,
	BOTTOM_SELF, /* what is counted, without anything taken away */
	BOTTOM_OTHER
};

/* One event as it is asked for. */
struct ki_event_ask {
	uint8_t id; /* enum ki_event_id */
	uint8_t sides;
	uint64_t raw;
};

struct ki_metric_row {
	struct ki_metric m; /* first: a public pointer is one to its row */
	uint8_t at; /* SOURCE_NONE: enum ki_point_kind; KI_POINT_KINDS: the point asked for */
	uint8_t source;
	uint8_t keeps;
	uint8_t top, bottom;
	uint8_t event, other; /* SOURCE_EVENT: enum ki_event_id; EVENT_NONE: there is no other */
	uint8_t sides;	      /* KI_EVENT_USER, KI_EVENT_KERNEL: of both, only what happens there */
	uint64_t raw;	      /* EVENT_RAW: its number */
	bool less;	      /* the top is without what is counted of the other */
	bool share;	      /* of something: not more than 1 */
};

/* The rows about events, after all others (event_rows.c); NULL: no such number. */
const struct ki_metric_row *ki_event_row(size_t n);

/* The same row. */
const struct ki_metric_row *ki_metric_row(const struct ki_metric *m);

#endif
