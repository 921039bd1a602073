/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is shown of a recording: the inside of kerninst report.
 */
#ifndef KERNINST_CHRONICLE_H
#define KERNINST_CHRONICLE_H

#include <stdio.h>

#include "field_text.h"
#include "out/json.h"

struct chronicle {
	struct ki_recording *r;
	FILE *out;
	double from, to;		  /* seconds after the start; to < 0: to the end */
	const char *glob;		  /* of instruments' names; NULL: all */
	double series;			  /* seconds of an interval */
	bool times;			  /* folded: nanoseconds, not calls */
	bool threads;			  /* paths: of each thread by itself */
	uint64_t shown;			  /* records that have passed the filter */
	struct ki_record_event *sampling; /* KI_EVENT_SAMPLING, by id and time */
	size_t nsampling;
	const void *format; /* the one that is used */
	void *own;	    /* its */
	int err;	    /* -errno */
};

/* Functions that a thread is in; more than a stack of the kernel has room for are leftovers of
   records that are missing. */
#define CHRONICLE_DEPTH 1024

/* A record that is to be shown. */
struct seen_record {
	const struct ki_instrument *in;
	size_t index; /* of the instrument */
	const struct ki_record *rec;
	const uint64_t *values;
	unsigned int cpu;
	double time;	 /* seconds after the start */
	uint64_t factor; /* hits that it stands for: 1, or more if it is sampled */
};

/* A way to show records. begin and end may be NULL. 0, or -errno. */
struct chronicle_format {
	const char *name; /* of the option */
	int (*begin)(struct chronicle *c);
	int (*record)(struct chronicle *c, const struct seen_record *e);
	int (*end)(struct chronicle *c);
	void (*free)(struct chronicle *c); /* what begin has made */
};

extern const struct chronicle_format chronicle_table, chronicle_json, chronicle_csv,
	chronicle_summary, chronicle_series, chronicle_chrome, chronicle_folded, chronicle_rates,
	chronicle_counts, chronicle_paths;

/* Show what the filter lets pass. 0, or -errno. */
int chronicle_show(struct chronicle *c, const struct chronicle_format *f);

/* The format that fits what the filter lets pass. 0, or -errno. */
int chronicle_choose(struct chronicle *c, const struct chronicle_format **out);

/* Does the filter let pass what is of this instrument? */
bool chronicle_wants(const struct chronicle *c, const struct ki_instrument *in);

/* ---- what the formats share ---- */

double chronicle_time(const struct chronicle *c, uint64_t tsc);
uint64_t chronicle_ns(double seconds);		 /* 0 or more, in whole nanoseconds */
double chronicle_end(const struct chronicle *c); /* of the recording, or of what is shown */

/* Where and when it was made, and of what code: the header of what people read. */
void chronicle_origin(const struct chronicle *c);

/* A field with that name: its number, or -1. */
int chronicle_field(const struct ki_instrument *in, const char *name);

/* Field i of a record as people read it, without its unit. Returns text. */
char *chronicle_value(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		      char text[FIELD_TEXT]);

/* All fields: "fd=3  len=10 bytes". Free it; NULL: out of memory. */
char *chronicle_values(const struct chronicle *c, const struct seen_record *e);

/* Room for the names of instruments, and for their title. */
unsigned int chronicle_name_width(const struct chronicle *c);

/* Does it count hits, not record them? Each of its records has those since the one before. */
bool chronicle_is_totals(const struct ki_instrument *in);

/* The fields of a record into the object at hand. */
void chronicle_fields(const struct chronicle *c, const struct seen_record *e, struct ki_json *j);

/* When an instrument was there: seconds after the start. */
void chronicle_span(const struct chronicle *c, const struct ki_instrument *in, double *on,
		    double *off);

/* Before and behind all that asks about sampling. 0, or -ENOMEM. */
int chronicle_sampling_begin(struct chronicle *c);
void chronicle_sampling_end(struct chronicle *c);

/* How many hits a record stands for: as many as was said last before it, at least 1. */
uint64_t chronicle_factor(const struct chronicle *c, const struct ki_record *rec);

/* What a budget did about an instrument. */
struct chronicle_sampling {
	uint64_t thinnest; /* one of so many hits was recorded, at times; 1: all */
	double out;	   /* when it was taken out; negative: it was not */
};
struct chronicle_sampling chronicle_sampling(const struct chronicle *c,
					     const struct ki_instrument *in);

/* How often it was reached, if that is known and all of the recording is shown. */
bool chronicle_hits(const struct chronicle *c, const struct ki_instrument *in, uint64_t *hits);

#endif
