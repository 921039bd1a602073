/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What kernel and driver this is, what is in use, what cannot be done here, what is known of the
 * code as a whole: kerninst info. And what the driver could not give back yet.
 */
#ifndef KERNINST_OVERVIEW_H
#define KERNINST_OVERVIEW_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "kerninst/program.h"
#include "kerninst/springboards.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_json;

struct ki_overview {
	/* given */
	const char *image;	    /* the file, if it is one; lives as long as this */
	struct ki_program *program; /* the analysis; NULL: none is wanted. The caller's */
	unsigned int threads;	    /* of it; 0: one for each CPU */
	bool hashed;		    /* hash the text */
	/* found */
	struct utsname kernel;
	const struct ki_target *target;
	const struct ki_info *driver;	     /* NULL: a file */
	struct ki_springboards springboards; /* if there is an analysis */
	uint64_t text_bytes;		     /* of all ranges */
	size_t functions, modules;
	size_t reserved[KI_R_COUNT]; /* rows of reserved text, by reason */
	char hash[KI_TEXT_HASH_LEN];
};

/* Find them; they live as long as the target. 0, or -errno. */
int ki_overview_gather(struct ki_overview *f, struct ki_target *t, struct ki_err *err);

/* verbose: also each function whose code is not fully known. JSON: one object; 0, or -errno. */
void ki_overview_print(const struct ki_overview *f, bool verbose, FILE *out);
int ki_overview_json(const struct ki_overview *f, bool verbose, FILE *out);

/* What has been taken out and could not be given back yet, and who holds it: a line for each; the
   member "held" of an open object. */
void ki_held_print(const struct ki_target *t, FILE *out);
void ki_held_json(struct ki_json *j, const struct ki_target *t);

#ifdef __cplusplus
}
#endif

#endif
