/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HTTP: one thread for each socket; what needs the engine waits for it suspended.
 */
#ifndef KERNINSTD_HTTP_H
#define KERNINSTD_HTTP_H

#include "engine.h"
#include "guard.h"

#define CONNECTIONS_MAX	    256
#define CONNECTION_PATIENCE 15	       /* seconds without progress */
#define BODY_MAX	    (4u << 20) /* bytes of a POST */

struct MHD_Daemon;

struct http {
	struct engine *engine;
	const struct guard *guard; /* NULL: the socket's permissions decide */
	struct MHD_Daemon *daemon;
	bool read_only;
};

/* Serve a listening socket, which is its own from then on. 0, or -errno. */
int http_start(struct http *h, int fd);

/* First no new connections come; then, when the engine has stopped, the others end. */
void http_quiesce(struct http *h);
void http_stop(struct http *h);

#endif
