/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The inside of reports (kerninst/report.h): one way through the records, and formats that show
 * them.
 */
#ifndef KI_REPORT_INSIDE_H
#define KI_REPORT_INSIDE_H

#include <stdio.h>

#include "kerninst/report.h"
#include "out/json.h"
#include "record/field_text.h"

struct ki_report {
	struct ki_recording *r;
	FILE *out;
	double from, to;  /* seconds after the start; to < 0: to the end */
	const char *glob; /* of instruments' names; NULL: all */
	double series;	  /* seconds of an interval */
	bool times;	  /* folded: nanoseconds, not calls */
	bool threads;	  /* paths: of each thread by itself */
	bool bold;
	uint64_t shown;			  /* records that have passed the filter */
	struct ki_record_event *sampling; /* KI_EVENT_SAMPLING, by id and time */
	size_t nsampling;
	const void *format; /* the one that is used */
	void *own;	    /* its */
	int err;	    /* -errno */
};

/* Functions that a thread is in; more than a stack of the kernel has room for are leftovers of
   records that are missing. */
#define REPORT_DEPTH 1024

/* A record that is to be shown. */
struct ki_report_record {
	const struct ki_instrument *in;
	size_t index; /* of the instrument */
	const struct ki_record *rec;
	const uint64_t *values;
	unsigned int cpu;
	double time;	 /* seconds after the start */
	uint64_t factor; /* hits that it stands for: 1, or more if it is sampled */
};

/* A way to show records. begin and end may be NULL. 0, or -errno. */
struct ki_report_format {
	const char *name; /* of the option */
	int (*begin)(struct ki_report *c);
	int (*record)(struct ki_report *c, const struct ki_report_record *e);
	int (*end)(struct ki_report *c);
	void (*free)(struct ki_report *c); /* what begin has made */
};

extern const struct ki_report_format ki_report_table, ki_report_json, ki_report_csv,
	ki_report_summary, ki_report_series, ki_report_chrome, ki_report_folded, ki_report_rates,
	ki_report_counts, ki_report_paths;

/* Show what the filter lets pass. 0, or -errno. */
int ki_report_go_through(struct ki_report *c, const struct ki_report_format *f);

/* The format that fits what the filter lets pass. 0, or -errno. */
int ki_report_choose(struct ki_report *c, const struct ki_report_format **out);

/* Does the filter let pass what is of this instrument? */
bool ki_report_wants(const struct ki_report *c, const struct ki_instrument *in);

/* ---- what the formats share ---- */

double ki_report_time(const struct ki_report *c, uint64_t tsc);
uint64_t ki_report_ns(double seconds);		 /* 0 or more, in whole nanoseconds */
double ki_report_end(const struct ki_report *c); /* of the recording, or of what is shown */

/* Where and when it was made, and of what code: the header of what people read. */
void ki_report_origin(const struct ki_report *c);

/* A field with that name: its number, or -1. */
int ki_report_field(const struct ki_instrument *in, const char *name);

/* Field i of a record as people read it, without its unit. Returns text. */
char *ki_report_value(const struct ki_report *c, const struct ki_report_record *e, unsigned int i,
		      char text[KI_FIELD_TEXT]);

/* All fields: "fd=3  len=10 bytes". Free it; NULL: out of memory. */
char *ki_report_values(const struct ki_report *c, const struct ki_report_record *e);

/* Room for the names of instruments, and for their title. */
unsigned int ki_report_name_width(const struct ki_report *c);

/* Does it count hits, not record them? Each of its records has those since the one before. */
bool ki_report_is_totals(const struct ki_instrument *in);

/* The fields of a record into the object at hand. */
void ki_report_fields(const struct ki_report *c, const struct ki_report_record *e,
		      struct ki_json *j);

/* When an instrument was there: seconds after the start. */
void ki_report_span(const struct ki_report *c, const struct ki_instrument *in, double *on,
		    double *off);

/* Before and after all that asks about sampling. 0, or -ENOMEM. */
int ki_report_sampling_begin(struct ki_report *c);
void ki_report_sampling_end(struct ki_report *c);

/* How many hits a record stands for: as many as was said last before it, at least 1. */
uint64_t ki_report_factor(const struct ki_report *c, const struct ki_record *rec);

/* What a budget did about an instrument. */
struct ki_report_sampling {
	uint64_t rarest; /* one of so many hits was recorded, at times; 1: all */
	double out;	 /* when it was taken out; negative: it was not */
};
struct ki_report_sampling ki_report_sampling(const struct ki_report *c,
					     const struct ki_instrument *in);

/* How often it was reached, if that is known and all of the recording is shown. */
bool ki_report_hits(const struct ki_report *c, const struct ki_instrument *in, uint64_t *hits);

#endif
