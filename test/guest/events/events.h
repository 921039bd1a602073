/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef EVENTS_EVENTS_H
#define EVENTS_EVENTS_H

#include "common/common.h"

/* An event of a new request: 0 and its number, or the errno; *reason as the driver says. */
int ask(int fd, uint32_t type, uint64_t config, uint32_t flags, uint32_t *number, uint32_t *reason);

void test_abi(void);  /* abi.c */
void test_cost(void); /* cost.c */

/* work.c: what is known to happen in system calls. */
void work_faults(unsigned int pages, unsigned int threads); /* page faults, in read */
void work_sleeps(unsigned int times);			    /* in clock_nanosleep */
void work_moves(unsigned int times);			    /* in sched_setaffinity */
void work_burn(unsigned int ms, unsigned int threads);	    /* CPU time, in read */

#endif
