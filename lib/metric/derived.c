// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How values come of what is counted, as a text: by the same columns of the table by which readings
 * compute them (reading.c).
 */
#include <stdio.h>
#include <string.h>

#include "metric/events.h"
#include "metric/table.h"

#define NAME 80

/* The row that is this event's count as it is. */
static const char *row_of(uint8_t event)
{
	const struct ki_metric_row *r;

	for (size_t i = 0; (r = ki_event_row(i)); i++)
		if (r->event == event && r->other == EVENT_NONE && r->bottom == BOTTOM_ONE)
			return r->m.name;
	return "";
}

/* The row that is this source's total as it is. */
static const char *total_of(enum ki_source source)
{
	const struct ki_metric *m;

	for (size_t i = 0; (m = ki_metric_at(i)); i++) {
		const struct ki_metric_row *r = ki_metric_row(m);

		if (r->source == source && r->top == TOP_ALL && r->bottom == BOTTOM_ONE)
			return m->name;
	}
	return "";
}

/* What a pair of the row counts. */
static const char *counted(const struct ki_metric_row *r, uint8_t event, char name[NAME])
{
	static const char *const sides[] = {"", [KI_EVENT_USER] = ":u", [KI_EVENT_KERNEL] = ":k"};

	if (r->source != SOURCE_NONE && r->source != SOURCE_EVENT)
		snprintf(name, NAME, "%s", total_of(r->source));
	else if (r->source == SOURCE_EVENT && event != EVENT_RAW)
		snprintf(name, NAME, "%s%s", row_of(event), sides[r->sides]);
	else
		snprintf(name, NAME, "%.*s%s", (int)strcspn(r->m.name, "/:"), r->m.name,
			 sides[r->sides]);
	return name;
}

void ki_metric_derived(const struct ki_metric *m, char *text, size_t size)
{
	const struct ki_metric_row *r = ki_metric_row(m);
	char a[NAME], b[NAME], top[2 * NAME + 16];

	counted(r, r->event, a);
	counted(r, r->other, b);
	snprintf(top, sizeof(top), "%s", a);
	if (r->less)
		snprintf(top, sizeof(top), "max(0, %s - %s)", a, b);
	if (r->bottom == BOTTOM_ONE)
		snprintf(text, size, "%s", r->less ? top : "");
	else if (r->bottom == BOTTOM_OVER)
		snprintf(text, size, "%s / calls", top);
	else if (r->bottom == BOTTOM_TIME)
		snprintf(text, size, "%s / time", top);
	else
		snprintf(text, size, r->share ? "min(1, %s / %s)" : "%s / %s", top,
			 r->bottom == BOTTOM_SELF ? a : b);
}
