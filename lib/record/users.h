/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What addresses of processes are: by /proc/PID/maps while they live, and the symbols of the files
 * that are mapped there.
 */
#ifndef KI_RECORD_USERS_H
#define KI_RECORD_USERS_H

#include "kerninst/record.h"

struct ki_users;

int ki_users_new(struct ki_users **out); /* -ENOMEM */
void ki_users_free(struct ki_users *u);	 /* NULL is allowed */

/* Look at a process now, unless it has been: it may end soon. Its mappings may be read again then.
 */
void ki_users_look(struct ki_users *u, uint32_t tgid);

/* Read its mappings now. */
void ki_users_read(struct ki_users *u, uint32_t tgid);

/* What is there? false: not known. Strings live as long as u. */
bool ki_users_find(struct ki_users *u, uint32_t tgid, uint64_t addr, struct ki_user_frame *out);

#endif
