/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of this test share: a session with its chunks in place, and what a thread finds in
 * its words.
 */
#ifndef THREADS_WORDS_H
#define THREADS_WORDS_H

#include "common/common.h"
#include "long/hand.h"

#define WORDS_USED 3 /* by the chunks: a count; the time stamp counter and the own clock */

struct session {
	struct ki_target *t;
	struct ki_counter_map *counters;
	struct ki_global_map *globals;
	struct hand_numbers first;
};

void session_open(struct session *s, uint32_t words);
void session_close(struct session *s);
/* One of chunks.c; KI_R_OK, or the reason. */
uint32_t session_install(const struct session *s, const char *function, const char *chunk);

/* What the current thread has in a session. */
struct own {
	uint64_t where; /* 0: it has no words */
	uint64_t count, clock;
};

struct own own_words(const struct session *s);
void own_enter(void); /* start times into its words */
void own_leave(void);
void own_count(unsigned int n);

/* Who is inside, of one of the session's words. */
struct ki_inside_row inside(const struct session *s, enum ki_clock clock, uint32_t word);

double now_ms(clockid_t clock);
double ticks_ms(const struct session *s, uint64_t ticks);
void burn_ms(double ms); /* of this thread's CPU time */
void sleep_ms(double ms);
pid_t thread_id(void);
pthread_t begin(void *(*run)(void *), void *arg);

void test_counts(void); /* counts.c */
void test_clocks(void); /* clocks.c */
void test_traced(void);
void test_sessions(void); /* sessions.c */
void test_take(void);
void test_cost(void); /* cost.c */

#endif
