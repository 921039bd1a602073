// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

static int note_header(struct replay *r, json_t *o)
{
	if (json_integer_value(json_object_get(o, "kerninst-session")) != 1)
		return -EINVAL;
	r->info = json_incref(json_object_get(o, "info"));
	r->metrics = json_incref(json_object_get(o, "metrics"));
	return json_is_object(r->info) && json_is_array(r->metrics) ? 0 : -EINVAL;
}

static int note_curve(struct replay *r, json_t *row)
{
	const json_t *cpu = json_object_get(row, "cpu");
	struct replay_curve c = {
		.id = json_integer_value(json_object_get(row, "id")),
		.row = row,
		.metric = json_string_value(json_object_get(row, "metric")),
		.point = json_string_value(json_object_get(row, "point")),
		.predicate = json_string_value(json_object_get(row, "predicate")),
		.cpu = json_is_integer(cpu) ? (int)json_integer_value(cpu) : -1,
	};

	if (json_object_get(row, "refused"))
		return 0;
	if (!c.metric || !c.point || !json_is_integer(json_object_get(row, "id")))
		return -EINVAL;
	if (replay_find(r, c.id))
		return 0;
	c.predicate = c.predicate ? c.predicate : "";
	if (ki_vec_push(&r->curves, c))
		return -ENOMEM;
	json_incref(row);
	return 0;
}

static int note_curves(struct replay *r, json_t *data)
{
	json_t *rows = json_object_get(data, "curves"), *row;
	size_t i;
	int ret = json_is_array(rows) ? 0 : -EINVAL;

	json_array_foreach(rows, i, row) ret = ret ? ret : note_curve(r, row);
	return ret;
}

static int note_sample(struct replay *r, json_t *data)
{
	(void)r;
	return json_is_number(json_object_get(data, "from")) &&
			       json_is_number(json_object_get(data, "to")) &&
			       json_is_object(json_object_get(data, "values"))
		       ? 0
		       : -EINVAL;
}

static int note_function(struct replay *r, json_t *data)
{
	const char *name = json_string_value(json_object_get(data, "name"));

	return name && !json_object_set(r->code, name, data) ? 0 : -EINVAL;
}

static int note_functions(struct replay *r, json_t *data)
{
	json_decref(r->functions);
	r->functions = json_incref(data);
	return json_is_array(json_object_get(data, "modules")) ? 0 : -EINVAL;
}

static int note_other(struct replay *r, json_t *data)
{
	(void)r;
	return json_is_object(data) ? 0 : -EINVAL;
}

/* What is to be known of an event beforehand; told: clients get it when its time has come. */
static const struct {
	const char *event;
	int (*note)(struct replay *r, json_t *data);
	bool told;
} events[] = {
	{"curves", note_curves, true},
	{"sample", note_sample, true},
	{"gap", note_other, true},
	{"curve", note_other, true},
	{"modules", note_other, true},
	{"function", note_function, false},
	{"functions", note_functions, false},
};

static int keep_line(struct replay *r, double t, const char *event, json_t *data)
{
	struct replay_line line = {.t = t};

	line.event = strdup(event);
	line.data = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(12));
	if (!line.event || !line.data || ki_vec_push(&r->lines, line)) {
		free(line.event);
		free(line.data);
		return -ENOMEM;
	}
	r->lines.v[r->lines.n - 1].n = strlen(line.data);
	return 0;
}

/* Events of other versions are passed over. */
static int note_line(struct replay *r, json_t *o)
{
	const char *event = json_string_value(json_object_get(o, "event"));
	json_t *t = json_object_get(o, "t"), *data = json_object_get(o, "data");
	int ret;

	if (!event || !json_is_number(t) || !json_is_object(data))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (strcmp(events[i].event, event) != 0)
			continue;
		ret = events[i].note(r, data);
		return ret || !events[i].told ? ret
					      : keep_line(r, json_number_value(t), event, data);
	}
	return 0;
}

static int take_line(struct replay *r, const char *text, size_t n, char why[256])
{
	json_error_t error = {0};
	json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	int ret;

	if (!o) {
		snprintf(why, 256, "%s", error.text);
		return -EINVAL;
	}
	snprintf(why, 256, r->info ? "no event of a recording" : "no recording of kerninstd");
	ret = r->info ? note_line(r, o) : note_header(r, o);
	json_decref(o);
	return ret;
}

int replay_read(struct replay *r, FILE *f, char why[256])
{
	char *line = NULL, what[256];
	size_t cap = 0, number = 0;
	ssize_t n;
	int ret = 0;

	r->code = json_object();
	while (!ret && (n = getline(&line, &cap, f)) > 0) {
		number++;
		if (line[n - 1] != '\n' && number > 1)
			break; /* whoever wrote it died */
		ret = take_line(r, line, (size_t)n, what);
		if (ret)
			snprintf(why, 256, "line %zu: %.200s", number, what);
	}
	free(line);
	if (!ret && (!r->info || ferror(f))) {
		snprintf(why, 256, ferror(f) ? "it cannot be read" : "it is empty");
		return -EINVAL;
	}
	return ret;
}

void replay_free(struct replay *r)
{
	for (size_t i = 0; i < r->lines.n; i++) {
		free(r->lines.v[i].event);
		free(r->lines.v[i].data);
	}
	for (size_t i = 0; i < r->curves.n; i++)
		json_decref(r->curves.v[i].row);
	ki_vec_free(&r->lines);
	ki_vec_free(&r->curves);
	json_decref(r->info);
	json_decref(r->metrics);
	json_decref(r->functions);
	json_decref(r->code);
	free(r);
}
