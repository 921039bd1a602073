/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver's sessions: who has the device open, and what each has put into the kernel. Rows come
 * one by one, and windows too, so a session that ends meanwhile is left out or told without its
 * windows: never another's. fd: of the driver's device (ki_target_fd, ki_sessions_fd).
 */
#ifndef KERNINST_SESSIONS_H
#define KERNINST_SESSIONS_H

#include "kerninst/err.h"
#include "uapi/kerninst_sessions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The device, for reading, without a target and its symbols: a descriptor, to be closed; or -errno.
 */
int ki_sessions_fd(struct ki_err *err);

/* What the driver says of itself and of all sessions now. 0, or -errno. */
int ki_sessions_info(int fd, struct ki_info *info);

/* The session after that of number r->session (0: the first). 1; 0: there is none; or -errno. */
int ki_session_next(int fd, struct ki_session_row *r);

/* The window of a session at w->addr or after it (0: the first); flags: KI_WINDOW_*. The same. */
int ki_session_window(int fd, uint64_t session, uint32_t flags, struct ki_session_window *w);

/* Take out all that a session has put in; 0: all sessions. *count grows by those it was. 0, or
   -errno: -ENOENT, there is none of that number. */
int ki_session_evict(int fd, uint64_t session, uint64_t *count, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
