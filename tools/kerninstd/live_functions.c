// SPDX-License-Identifier: GPL-2.0-only
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

static void put_module(struct ki_json *j, const struct ki_symbol *from, const struct ki_symbol *to)
{
	ki_json_open(j, NULL, '{');
	ki_json_str(j, "name", from->module);
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

void live_functions(struct source *s, struct reply *r)
{
	struct live *l = live_of(s);
	const struct ki_symbol *at, *end, *next;
	struct ki_err err = {0};
	struct doc d;
	size_t n;

	if (live_refresh(l, &err)) {
		reply_error(r, 500, reply_tag(&err), "%s", err.msg);
		return;
	}
	if (doc_begin(&d)) {
		reply_no_memory(r);
		return;
	}
	at = ki_target_symbols(l->look, &n);
	ki_json_open(&d.j, NULL, '{');
	ki_json_open(&d.j, "modules", '[');
	for (end = at + n; at < end; at = next) {
		next = end_of_module(at, end);
		put_module(&d.j, at, next);
	}
	ki_json_close(&d.j);
	ki_json_close(&d.j);
	doc_reply(&d, r);
}
