/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reports: what a recording (kerninst/record.h) says, as tables, JSON, traces and histograms.
 *
 * Formats: table, summary, series, json, csv, chrome, folded, counts, paths (kerninst(8)).
 */
#ifndef KERNINST_REPORT_H
#define KERNINST_REPORT_H

#include <stdio.h>

#include "kerninst/record.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_report_options {
	size_t size;	    /* of this structure, as the caller was compiled with it */
	const char *format; /* its name; NULL: the one that fits what is shown */
	FILE *out;
	double from, to;  /* seconds after the start; to < 0: to the end */
	const char *glob; /* of instruments' names; NULL: all */
	double series;	  /* series: seconds of an interval */
	bool times;	  /* folded: nanoseconds instead of calls */
	bool threads;	  /* paths: of each thread by itself */
	bool bold;	  /* titles are bold, as a terminal shows it */
};

/* The names of the formats, in the order of the manual; NULL: there is no such number. */
const char *ki_report_format_name(size_t n);

/*
 * Write what the options let pass. 0, -EINVAL (no such format, a structure of another version),
 * -ENOMEM, or the error of writing.
 */
int ki_report_show(struct ki_recording *r, const struct ki_report_options *o, struct ki_err *err);

/* Whether a target's functions have the graphs that a recording says. */
struct ki_report_check {
	size_t functions; /* whose graph the recording says */
	size_t same, gone, other;
	char *names; /* of the first ones that have another graph: ": a, b, ..." or "" */
};

/*
 * image: the file of a module that the target was opened from; NULL: the target has all modules.
 * Free what is in *out with ki_report_check_free. 0, or -errno.
 */
int ki_report_check(struct ki_recording *r, struct ki_target *t, const char *image,
		    struct ki_report_check *out, struct ki_err *err);
void ki_report_check_free(struct ki_report_check *c);

/* Warn if the file is cut, or records are missing; file: how it is called. */
struct ki_listener;
void ki_report_warn(struct ki_recording *r, const char *file, const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
