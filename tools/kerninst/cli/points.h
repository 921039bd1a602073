/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The library's engines as verbs use them: what goes wrong is said on stderr, and becomes an exit
 * status; what takes long shows its progress, and ends at a signal.
 */
#ifndef KERNINST_POINTS_GLUE_H
#define KERNINST_POINTS_GLUE_H

#include "kerninst/aggregate.h"
#include "kerninst/measured.h"
#include "kerninst/points.h"
#include "kerninst/predict.h"
#include "kerninst/presets.h"
#include "cli.h"
#include "util/vec.h"

/* What a user wrote is understood: CLI_OK, or reported. */
int points_ask(struct ki_asked *a, const struct verb *self, const char *text);
int splits_add(struct ki_splits *s, const struct verb *self, char *text);
int splits_make(struct ki_splits *s, const struct verb *self, const char *all);
int record_values_parse(struct ki_record_values *v, const struct verb *self, const char *text);
int record_written_when(struct ki_record_values *v, const struct verb *self,
			const struct ki_predicate *when);
int stat_by_parse(struct ki_aggregate *b, const struct verb *self, const struct ki_wanted *also);

/* Progress of the library and its warnings on stderr; what goes on ends at a signal. quiet: no
   progress. */
const struct ki_listener *cli_listener(bool quiet);

/* Of rows of options: metrics to a struct ki_wanted; a preset to a const char *; a share of the
   machine to a double. */
cli_take take_metrics, take_preset, take_budget;

/* Wait so long; false: a signal has come. */
bool pause_seconds(double seconds);

/* Reported. */
int report_failed(void);

/* The code of each point: CLI_OK, or reported. */
int report_code(struct ki_measured *r, const struct ki_points *p);

/* What the driver would install: CLI_OK, or reported: CLI_ERROR if it would install nothing. */
int report_dry(struct ki_measured *r, struct ki_points *p, const struct ki_prediction *pr,
	       bool quiet);

#endif
