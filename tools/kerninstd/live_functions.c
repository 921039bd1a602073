// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live_inside.h"
#include "kerninst/match.h"

int live_refresh(struct live *l, struct ki_err *err)
{
	bool changed = false;
	int ret = ki_target_refresh(l->look, &changed, err);

	if (changed)
		live_known_changed(l);
	return ret;
}

static bool is_shown(const struct ki_symbol *s)
{
	return !s->alias && !ki_match_is_padding(s);
}

/* The symbols of one module stand together. */
static const struct ki_symbol *end_of_module(const struct ki_symbol *s, const struct ki_symbol *end)
{
	const struct ki_symbol *first = s;

	while (s < end && !strcmp(s->module, first->module))
		s++;
	return s;
}

/* A process's is named as in points: "1234/libc.so.6". */
static void put_module(struct ki_json *j, pid_t pid, const struct ki_symbol *from,
		       const struct ki_symbol *to)
{
	char name[300];

	snprintf(name, sizeof(name), "%d/%s", (int)pid, from->module);
	ki_json_open(j, NULL, '{');
	ki_json_str(j, "name", pid ? name : from->module);
	ki_json_open(j, "names", '[');
	for (const struct ki_symbol *s = from; s < to; s++)
		if (is_shown(s))
			ki_json_str(j, NULL, s->name);
	ki_json_close(j);
	ki_json_open(j, "addr", '[');
	for (const struct ki_symbol *s = from; s < to; s++)
		if (is_shown(s))
			ki_json_hex(j, NULL, s->addr);
	ki_json_close(j);
	ki_json_close(j);
}

/* All of a target: the kernel, or a process. */
static void put_functions(struct ki_target *t, pid_t pid, struct reply *r)
{
	const struct ki_symbol *at, *end, *next;
	struct doc d;
	size_t n;

	if (doc_begin(&d)) {
		reply_no_memory(r);
		return;
	}
	at = ki_target_symbols(t, &n);
	ki_json_open(&d.j, NULL, '{');
	ki_json_open(&d.j, "modules", '[');
	for (end = at + n; at < end; at = next) {
		next = end_of_module(at, end);
		put_module(&d.j, pid, at, next);
	}
	ki_json_close(&d.j);
	ki_json_close(&d.j);
	doc_reply(&d, r);
}

void live_functions(struct source *s, const char *process, struct reply *r)
{
	struct live *l = live_of(s);
	struct ki_target *t = l->look;
	struct ki_err err = {0};
	char *end = NULL;
	long pid = *process ? strtol(process, &end, 10) : 0;

	if (*process && (*end || pid <= 0 || pid > INT_MAX)) {
		reply_error(r, 400, "BAD_PROCESS", "'%.40s' is no process: its number is wanted",
			    process);
		return;
	}
	if (pid)
		t = live_process_look(l, (pid_t)pid, &err);
	else
		live_refresh(l, &err);
	if (err.code)
		reply_error(r, pid ? 409 : 500, reply_tag(&err), "%s", err.msg);
	else
		put_functions(t, (pid_t)pid, r);
}
