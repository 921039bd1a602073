/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * permit: what the driver lets a caller do. Files: main.c, requests.c (each request, made once),
 * asleep.c (one that sleeps in user memory), limits.c, exhaust.c.
 */
#ifndef TEST_PERMIT_H
#define TEST_PERMIT_H

#include "common/common.h"

/*
 * What a request does; what is refused to a descriptor for reading is all of CHANGES and TAKES_OUT.
 */
enum kind { TELLS, READS, CHANGES, TAKES_OUT, KINDS };

/*
 * Make each request of that kind on fd, and report whether it is refused with this errno (0: it is
 * done) and, where it has a field for that, this reason.
 */
void requests_try(const char *when, int fd, enum kind kind, int error, unsigned int reason);

/*
 * asleep.c: a splice on fd whose windows are on a page that nobody brings before asleep_end. One at
 * a time. It is in the driver, and asleep, when asleep_begin returns. asleep_end: its errno, and
 * where the reason goes.
 */
void asleep_begin(int fd);
int asleep_end(unsigned int *reason);

/* limits.c: how much may a session have, and its user? What does it cost its control group? */
int limits_reach(const char *name, unsigned int session, unsigned int user);
int limits_memory(const char *group);
/* exhaust.c: all that it can get, in this control group */
int exhaust(const char *group);

#endif
