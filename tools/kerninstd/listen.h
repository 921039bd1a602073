/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sockets that are listened to.
 */
#ifndef KERNINSTD_LISTEN_H
#define KERNINSTD_LISTEN_H

#include "guard.h"

#define LISTEN_GROUP "kerninst"

/* "127.0.0.1:7072", "[::1]:0": into address and port of the guard. 0, or -EINVAL. */
int listen_parse(struct guard *g, const char *text);

/* A descriptor, or -errno. The port, if it was 0, is then known. */
int listen_tcp(struct guard *g);

/* A local socket, which group LISTEN_GROUP may use; one that nobody listens to any more is
   replaced. */
int listen_local(const char *path);

/* Does nobody but this machine get there? */
bool listen_is_loopback(const struct guard *g);

#endif
