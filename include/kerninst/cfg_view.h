/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kerninst cfg shows of a function, in whatever format.
 */
#ifndef KERNINST_CFG_VIEW_H
#define KERNINST_CFG_VIEW_H

#include <stdio.h>

#include "kerninst/cfg.h"

struct cfg_view {
	const struct ki_function *fn;
	struct ki_cfg *cfg;
	uint32_t *place; /* of each block, in reverse postorder */
	uint32_t mark;	 /* the block that was asked for; KI_NONE */
	uint32_t nedges; /* inside the function */
	uint32_t nexits; /* blocks that it is left from */
	uint32_t depth;	 /* of the deepest loop */
};

/* 0, or -errno. Free in any case. */
int cfg_view_make(struct cfg_view *v, const struct ki_function *fn, struct ki_err *err);
void cfg_view_free(struct cfg_view *v);

/* Does the edge lead to a block of the function (not by a call)? */
bool cfg_is_inner(const struct cfg_view *v, const struct ki_edge *e);

/* Does it lead back: to a loop's header, or into its middle? */
bool cfg_is_back(const struct cfg_view *v, const struct ki_edge *e);

enum cfg_exit { CFG_STAYS, CFG_RETURNS, CFG_LEAVES, CFG_ENDS };

/*
 * How a block leaves the function: "ret", "tail call to kfree", "to f.cold", "panic does not
 * return", "trap"; "" if it does not. CFG_RETURNS, CFG_LEAVES for somewhere else, CFG_ENDS.
 */
enum cfg_exit cfg_exit_text(const struct cfg_view *v, uint32_t block, char *buf, size_t len);

uint32_t cfg_depth(const struct cfg_view *v, uint32_t block);

/* The loop that the block is the header of, or KI_NONE. */
uint32_t cfg_headed(const struct cfg_view *v, uint32_t block);

/* Bytes up to the end of the last block. */
uint64_t cfg_bytes(const struct cfg_view *v);

/* "1083 bytes, 31 blocks, 44 edges, 3 exits, 2 loops, depth 1" */
void cfg_facts(const struct cfg_view *v, char *buf, size_t len);

/*
 * The instructions of a block that are shown: all, or of a long one those at its beginning and
 * end. Returns how many lines; *skip is the first that is left out, *skipped how many.
 */
uint32_t cfg_lines(const struct cfg_view *v, uint32_t block, uint32_t *skip, uint32_t *skipped);

/* The formats. 0, or -errno with *err; failures of `out` itself are for who opened it. */
typedef int cfg_writer(const struct cfg_view *v, FILE *out, struct ki_err *err);
cfg_writer cfg_write_text, cfg_write_json, cfg_write_dot, cfg_write_svg;

#endif
