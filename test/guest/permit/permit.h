/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * permit: what the driver lets a caller do. Files: main.c, requests.c (each request, made once),
 * limits.c.
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

/* limits.c: how much may a session have, and its user? What does it cost its control group? */
int limits_reach(const char *name, unsigned int session, unsigned int user);
int limits_memory(const char *group);

#endif
