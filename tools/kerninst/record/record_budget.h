/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording's cost, kept below a share of the machine: instruments are sampled, or taken out, and
 * the file says so.
 */
#ifndef KERNINST_RECORD_BUDGET_H
#define KERNINST_RECORD_BUDGET_H

#include "points.h"
#include "out/json.h"
#include "record/record_group.h"

struct record_budget {
	double share; /* of the machine; 0: there is no budget, and nothing is done */
	bool quiet;
	struct record_group *groups;
	size_t n;
	struct ki_costs cost;
	struct ki_budget budget;
	struct ki_record_file *file;
	ki_vec(struct ki_record_event) events; /* all there were */
	int err;			       /* -errno of the file */
};

/* Of groups that have been resolved. CLI_OK, or reported. */
int record_budget_open(struct record_budget *b, struct record_group *groups, size_t n);
void record_budget_close(struct record_budget *b);

/* From here on it counts. CLI_OK, or reported. */
int record_budget_begin(struct record_budget *b, struct ki_record_file *file, double now);

/* When it is to be looked at again; negative: never. */
double record_budget_next(const struct record_budget *b);

/* CLI_OK, or reported; or b->err, which is not. */
int record_budget_look(struct record_budget *b, double now);

/* What has been done until now, to another file. 0, or -errno. */
int record_budget_write(const struct record_budget *b, struct ki_record_file *file);

/* At the end: what it has cost, and what was done about that. */
void record_budget_note(struct record_budget *b, double now);
void record_budget_json(const struct record_budget *b, struct ki_json *j);
void record_budget_say(const struct record_budget *b);

#endif
