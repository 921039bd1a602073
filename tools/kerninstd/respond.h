/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers, each with what protects a page: no other page may frame it, nothing but its own scripts
 * runs, nobody keeps what it says.
 */
#ifndef KERNINSTD_RESPOND_H
#define KERNINSTD_RESPOND_H

#include <microhttpd.h>

#include "assets.h"
#include "engine.h"

/* The reply's body is the response's from here on. */
enum MHD_Result respond(struct MHD_Connection *conn, struct reply *r);

enum MHD_Result respond_asset(struct MHD_Connection *conn, const struct asset *a, const char *tag);

/* The body, and after it what is in the file. Takes the file. */
enum MHD_Result respond_file(struct MHD_Connection *conn, struct command *c);

/* The stream of a client that is held: *held becomes NULL when the stream has it. */
enum MHD_Result respond_events(struct MHD_Connection *conn, struct clients *cs,
			       struct client **held, struct command *c);

#endif
