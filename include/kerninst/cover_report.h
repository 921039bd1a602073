/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a coverage looks like: tables, comparisons, and pages for a browser.
 */
#ifndef KERNINST_COVER_REPORT_H
#define KERNINST_COVER_REPORT_H

#include <stdio.h>

#include "kerninst/coverage.h"
#include "kerninst/listener.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A summary: what was hit, what is not known and why, by module. functions: a row for each function
 * that was hit, too. bold: titles, as a terminal shows it. 0, or -errno.
 */
int ki_cover_text(const struct ki_coverage *c, bool functions, bool bold, FILE *out);

/* How a comparison is shown. */
struct ki_cover_diff_show {
	const char *before, *after; /* the names of the files */
	bool blocks;		    /* block by block */
	bool bold;
};

/* A comparison, as a table or as JSON. 0, or -errno. */
int ki_cover_diff_text(const struct ki_coverage *before, const struct ki_coverage *after,
		       const struct ki_cover_diff *d, const struct ki_cover_diff_show *how,
		       FILE *out);
int ki_cover_diff_json(const struct ki_coverage *before, const struct ki_coverage *after,
		       const struct ki_cover_diff *d, const struct ki_cover_diff_show *how,
		       FILE *out);

/* Pages in a directory, which is made if it is not there. */
struct ki_cover_html_options {
	size_t size; /* of this structure, as the caller was compiled with it */
	const char *dir;
	const struct ki_cover_lines *lines; /* source lines; NULL: none */
	struct ki_target *target;	    /* instructions come from there; NULL: none */
	/* So many functions have been written. NULL: this is not wanted. */
	void (*progress)(void *arg, size_t done, size_t all);
	void *arg;
};

/* 0, or -errno. */
int ki_cover_html(const struct ki_coverage *c, const struct ki_cover_html_options *o,
		  struct ki_err *err);

/* Files that a coverage is written to; NULL: not wanted. */
struct ki_cover_files {
	const char *file; /* as JSON, to be read again */
	const char *lcov; /* a trace file */
	const char *pcs;  /* addresses of blocks that were hit */
	const char *html; /* a directory */
	struct {
		const char **v;
		size_t n, cap;
	} debug; /* files with DWARF; none: look where Debian has them */
	bool no_debug;
};

/* Write those that are wanted. t: a target from which instructions can be read for the pictures of
   pages; NULL. 0, or -errno. */
int ki_cover_files_write(const struct ki_cover_files *o, const struct ki_coverage *c,
			 struct ki_target *t, const struct ki_listener *l, struct ki_err *err);

/* Warn if there was no room for all probes. */
void ki_cover_warn_room(const struct ki_coverage *c, const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
