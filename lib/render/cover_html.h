/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The report of a coverage: static pages that need nothing but each other.
 *
 *	index.html	totals, groups of functions, the hottest functions, what is not known
 *	g/N.html	a group: its files, if source lines are known, and its functions
 *	f/N.html	a function that was hit: its graph in heat colours, its blocks
 *	names.js	all names, for the search; report.css, report.js
 *
 * A group is a directory of the source tree, if lines are known; else a module, or functions of the
 * kernel whose names begin with the same word.
 */
#ifndef KERNINST_COVER_HTML_H
#define KERNINST_COVER_HTML_H

#include "render/cover_sums.h"
#include "kerninst/target.h"

#define HTML_GRAPH_MAX 200 /* blocks; larger functions have no graph */
#define HTML_SHADES    7   /* of heat: h0 not executed ... h6 */

struct html {
	const struct ki_coverage *c;
	const struct ki_cover_lines *lines; /* NULL: none */
	struct ki_target *target;	    /* instructions from there; NULL: none */
	const char *dir;
	struct ki_cover_sum *groups;
	size_t ngroups;
	uint32_t *group_of;  /* of each function */
	uint32_t *ordinals;  /* of each function, among those of its name */
	const char **source; /* file of each function below the tree's root; NULL: not known */
	uint64_t most;	     /* the highest count */
	struct ki_err *err;
};

/* A page: dir/NAME is opened, and closed with its failures reported. `up` leads to dir: "" or
 * "../". */
FILE *ki_html_open(struct html *h, const char *name, const char *up, const char *title);
int ki_html_close(struct html *h, FILE *out, const char *name);

/* dir/NAME for writing; NULL: reported. */
FILE *ki_html_file(struct html *h, const char *name);

/* What is special in HTML is escaped; quotes too. */
void ki_html_text(FILE *out, const char *text);

/* 1,234,567 */
void ki_html_number(FILE *out, uint64_t n);

/* A cell with a share, as a bar and in numbers. */
void ki_html_share(FILE *out, uint64_t part, uint64_t whole);

/* The class of a block's count, when `most` is the highest: "h0" to "h6", "hu" unknown. */
const char *ki_html_heat(const struct ki_cover_block *b, uint64_t most);
unsigned int ki_html_shade(uint64_t count, uint64_t most);

/* "xfs:xfs_read", with "#2" for the second of that name. */
void ki_html_name(FILE *out, const struct html *h, const struct ki_cover_function *f);

/* A function's bytes as a strip in heat colours. */
void ki_html_strip(FILE *out, const struct ki_coverage *c, const struct ki_cover_function *f,
		   uint64_t most);

bool ki_html_has_page(const struct ki_coverage *c, const struct ki_cover_function *f);

/* Fill groups, group_of, source. 0, or -ENOMEM. */
struct html_names;
int ki_html_group(struct html *h, struct html_names **names);
void ki_html_names_free(struct html_names *names);

int ki_html_index(struct html *h);
int ki_html_group_page(struct html *h, uint32_t group);
int ki_html_function_page(struct html *h, size_t function);

/* A graph to be drawn. fn is the same function with instructions, or NULL. */
struct html_graph {
	const struct ki_coverage *c;
	const struct ki_cover_function *f;
	const struct ki_function *fn;
	uint64_t most;
};

/* 0; -ENODATA: no edges are known; -ENOMEM, -E2BIG: none was drawn. */
int ki_html_draw(const struct html_graph *g, FILE *out);

extern const char ki_html_css[], ki_html_css_end[], ki_html_js[], ki_html_js_end[];

#endif
