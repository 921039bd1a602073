/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records: what threads of this process do is known to the last call, and so is what the ring must
 * say of it. What the parts share.
 */
#ifndef TEST_GUEST_RECORDS_H
#define TEST_GUEST_RECORDS_H

#include "common/common.h"
#include "kerninst/record.h"

#define ID_CALL	 0xca11ca11u /* of a call: who, how often, CPU, mark */
#define ID_TIMER 7	     /* of another function: how many on this CPU, CPU */
#define BYTES	 (sizeof(struct ki_record) + 4 * 8) /* of a call's record */

struct session {
	struct ki_target *t;
	struct ki_ring_map *ring;
	struct ki_plan *plan;
};

/* A session with a ring; this process's calls, and all of another function, are recorded. */
void session_open(struct session *s, const struct ki_ring_options *o, const char *another);
void session_close(struct session *s); /* kernel's memory of it is free, too */
uint32_t rings(struct ki_target *t);   /* all there are */
uint32_t soon_rings(struct ki_target *t, uint32_t n);

/* What has been read. */
struct seen {
	uint64_t n, wrong, late; /* records; of wrong content; not in the order of times */
	uint64_t before;	 /* the last time */
	uint64_t cpu_before[MAX];
	uint64_t count[MAX], first[MAX], next[MAX]; /* of each caller */
	uint64_t gaps;				    /* counts that are not there, or not in order */
	uint64_t twice;				    /* a count again, or a smaller one */
	uint64_t timers[MAX], timer_gaps;	    /* of each CPU */
	char why[160];
};
ki_record_each seen_record; /* arg: struct seen */
void seen_begin(struct seen *s);
void seen_read(struct seen *s, struct ki_ring_map *r); /* a new round: times begin anew */

void test_exact(void);	  /* exact.c */
void test_timers(void);	  /* timers.c */
void test_sessions(void); /* sessions.c */
void test_hostile(void);  /* hostile.c */
void test_cost(void);	  /* cost.c; needs -icount */

#endif
