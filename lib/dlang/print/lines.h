/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Option oformat=json: what is printed as lines of JSON, one for each record, aggregation, error.
 *
 *	{"type":"record","cpu":0,"id":3,"probe":"syscall:vmlinux:read:entry","values":[7,"sh"],
 *	 "text":"7 sh"}
 *	{"type":"aggregation","name":"a","function":"count","rows":[{"key":["sh"],"value":7}]}
 *	{"type":"aggregation","name":"q","function":"quantize","rows":[{"key":[],"buckets":
 *	 [{"low":4,"count":2}]}]}
 *	{"type":"error","id":3,"probe":"dtrace:::BEGIN","text":"..."}
 */
#ifndef KI_DLANG_LINES_H
#define KI_DLANG_LINES_H

#include "dlang/run/reading.h"
#include "out/json.h"

/* A record's line while it is made: f; what is printed meanwhile: captured. */
struct ki_d_line {
	FILE *f, *captured, *was;
	char *line, *text;
	size_t nline, ntext;
	struct ki_json j;
};

int ki_d_line_begin(struct ki_d_line *l, const struct ki_d_reading *r, unsigned int cpu);
/* Note the values of an action, if it prints some; false: it does not print. */
bool ki_d_line_action(struct ki_d_line *l, const struct ki_d_reading *r,
		      const struct ki_d_action *a);
/* What is printed from now on belongs to the line, or not. */
void ki_d_line_text(struct ki_d_line *l, struct ki_d_consumer *c, bool captured);
/* Print it, unless ret says that something has failed. */
int ki_d_line_end(struct ki_d_line *l, struct ki_d_consumer *c, int ret);

int ki_d_line_aggregations(struct ki_d_consumer *c, struct ki_d_agg *const *aggs, unsigned int n);
int ki_d_line_error(struct ki_d_consumer *c, const struct ki_d_probe *p, const char *text);

#endif
