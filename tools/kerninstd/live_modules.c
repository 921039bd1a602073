// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules that come and go while somebody looks. One in which something is measured is held by
 * the driver, so no curve ends by that; others may go, and what the page lists is then no more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live_inside.h"

#define LOOK_EVERY 2.0

/* "\nNAME ADDRESS\n..." of those that are there, neither coming nor going. */
static void read_modules(struct text *to)
{
	FILE *f = fopen("/proc/modules", "re");
	char name[128], state[16], at[32], *line = NULL;
	size_t cap = 0;

	text_str(to, "\n");
	while (f && getline(&line, &cap, f) > 0)
		if (sscanf(line, "%127s %*s %*s %*s %15s %31s", name, state, at) == 3 &&
		    !strcmp(state, "Live"))
			text_printf(to, "%s %s\n", name, at);
	free(line);
	if (f)
		fclose(f);
}

/* The names of those that are in a and not in b. */
static void put_others(struct ki_json *j, const char *key, const char *a, const char *b)
{
	char line[170], name[128];
	const char *end;

	ki_json_open(j, key, '[');
	for (; (end = strchr(a + 1, '\n')); a = end) {
		snprintf(line, sizeof(line), "%.*s", (int)(end + 1 - a), a);
		if (!strstr(b, line) && sscanf(line, "\n%127s", name) == 1)
			ki_json_str(j, NULL, name);
	}
	ki_json_close(j);
}

static void tell(struct live *l, const char *then, const char *now)
{
	struct clients *cs = &l->engine->clients;
	struct text said = {0};
	struct doc d;

	if (doc_begin(&d))
		return;
	ki_json_open(&d.j, NULL, '{');
	put_others(&d.j, "came", now, then);
	put_others(&d.j, "gone", then, now);
	ki_json_close(&d.j);
	if (doc_end(&d, &said))
		return;
	for (struct client *c = cs->first; c; c = c->next)
		if (c->own)
			client_say(cs, c, "modules", said.v, strcspn(said.v, "\n"));
	text_free(&said);
}

double live_look_around(struct source *s, double now)
{
	struct live *l = live_of(s);
	struct text seen = {0};

	if (!l->engine->clients.n) {
		text_free(&l->modules);
		live_process_forget(l, 0);
		return INFINITY;
	}
	if (l->modules.v && now < l->look_around)
		return l->look_around;
	live_look_at_processes(l);
	read_modules(&seen);
	if (!seen.failed) {
		if (l->modules.v && strcmp(l->modules.v, seen.v) != 0)
			tell(l, l->modules.v, seen.v);
		text_free(&l->modules);
		l->modules = seen;
	} else {
		text_free(&seen);
	}
	l->look_around = now + LOOK_EVERY;
	return l->look_around;
}
