/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be asked for, and the commands to the engine that answer it.
 */
#ifndef KERNINSTD_ROUTES_H
#define KERNINSTD_ROUTES_H

#include "engine.h"

enum route_kind { ROUTE_ANSWER, ROUTE_EVENTS, ROUTE_RECORDING };

struct route {
	const char *method, *path;
	void (*run)(struct engine *e, struct command *c);
	enum route_kind kind;
};

/* NULL: no such path, or not by this method (then *known). */
const struct route *route_find(const char *method, const char *path, bool *known);

/* gzip's form in place of the text, if that works. */
void pack(struct reply *r);

#endif
