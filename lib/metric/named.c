// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Metrics that are in no table: those about events with modifiers, and of events by their number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/events.h"
#include "metric/table.h"

#define NAME 64

struct named {
	struct ki_metric_row row; /* first: a pointer to its metric is one to this */
	char name[NAME];
};

/* A name taken apart: EVENT[:MODIFIERS][/call]. */
struct parts {
	char event[NAME];
	char base[NAME]; /* EVENT[/call]: as the table has it */
	uint8_t sides;
	bool per_call;
};

static int take_modifiers(const char *text, size_t n, uint8_t *sides)
{
	*sides = 0;
	for (size_t i = 0; i < n; i++) {
		if (text[i] != 'u' && text[i] != 'k')
			return -EINVAL;
		*sides |= text[i] == 'u' ? KI_EVENT_USER : KI_EVENT_KERNEL;
	}
	if (*sides == (KI_EVENT_USER | KI_EVENT_KERNEL))
		*sides = 0; /* both: all */
	return n ? 0 : -EINVAL;
}

static int take_apart(const char *name, struct parts *p)
{
	const size_t len = strlen(name), event = strcspn(name, ":/");
	const char *slash = strchr(name, '/');
	const size_t end = slash ? (size_t)(slash - name) : len;

	*p = (struct parts){.per_call = slash != NULL};
	if (len >= NAME || !event || (slash && strcmp(slash, "/call") != 0))
		return -EINVAL;
	memcpy(p->event, name, event);
	strcpy(stpcpy(p->base, p->event), slash ? slash : "");
	return name[event] == ':' ? take_modifiers(name + event + 1, end - event - 1, &p->sides)
				  : 0;
}

/* "r01c2": 0, or -EINVAL. */
static int take_number(const char *event, uint64_t *number)
{
	const size_t n = strlen(event) - 1;

	if (*event != 'r' || !n || n > 16 || strspn(event + 1, "0123456789abcdefABCDEF") != n)
		return -EINVAL;
	*number = strtoull(event + 1, NULL, 16);
	return 0;
}

/* As an event of the table is counted. */
static int find_row(const struct parts *p, struct ki_metric_row *row)
{
	const struct ki_metric *like = ki_metric_find(p->base);
	uint64_t number;

	if (!like && !take_number(p->event, &number)) {
		*row = *ki_metric_row(
			ki_metric_find(p->per_call ? "instructions/call" : "instructions"));
		row->event = EVENT_RAW;
		row->raw = number;
		row->m.text = "an event of the processor, by its number";
		return 0;
	}
	if (!like || ki_metric_row(like)->source != SOURCE_EVENT)
		return -EINVAL;
	*row = *ki_metric_row(like);
	return 0;
}

int ki_metric_new(const char *name, struct ki_metric **out, struct ki_err *err)
{
	struct named *made = calloc(1, sizeof(*made));
	struct parts p;

	if (!made)
		return ki_err_set(err, -ENOMEM, 0, "metric: out of memory");
	if (take_apart(name, &p) || find_row(&p, &made->row)) {
		free(made);
		return ki_err_set(err, -EINVAL, 0,
				  "no metric '%s'; events take modifiers, as cycles:k or "
				  "cycles:u/call, and may be numbers: r01c2",
				  name);
	}
	strcpy(made->name, name);
	made->row.m.name = made->name;
	made->row.sides = p.sides;
	*out = &made->row.m;
	return 0;
}

void ki_metric_free(struct ki_metric *m)
{
	free(m);
}
