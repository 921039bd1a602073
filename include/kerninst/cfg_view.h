/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What kerninst cfg shows of a function, in whatever format.
 */
#ifndef KERNINST_CFG_VIEW_H
#define KERNINST_CFG_VIEW_H

#include <stdio.h>

#include "kerninst/cfg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_cfg_view {
	const struct ki_function *fn;
	struct ki_cfg *cfg;
	uint32_t *place; /* of each block, in reverse postorder */
	uint32_t mark;	 /* the block that was asked for; KI_NONE */
	uint32_t nedges; /* inside the function */
	uint32_t nexits; /* blocks that it is left from */
	uint32_t depth;	 /* of the deepest loop */
	bool bold;	 /* titles of tables, as a terminal shows it */
};

/* 0, or -errno. Free in any case. */
int ki_cfg_view_new(struct ki_cfg_view *v, const struct ki_function *fn, struct ki_err *err);
void ki_cfg_view_free(struct ki_cfg_view *v);

/* Mark the block that a point text means, if it means one: v->mark. -ENOENT: there is no such. */
struct ki_pointspec;
int ki_cfg_view_mark(struct ki_cfg_view *v, const struct ki_pointspec *spec, const char *text,
		     struct ki_err *err);

/* Does the edge lead to a block of the function (not by a call)? */
bool ki_cfg_view_is_inner(const struct ki_cfg_view *v, const struct ki_edge *e);

/* Does it lead back: to a loop's header, or into its middle? */
bool ki_cfg_view_is_back(const struct ki_cfg_view *v, const struct ki_edge *e);

enum ki_cfg_exit { KI_CFG_STAYS, KI_CFG_RETURNS, KI_CFG_LEAVES, KI_CFG_ENDS };

/*
 * How a block leaves the function: "ret", "tail call to kfree", "to f.cold", "panic does not
 * return", "trap"; "" if it does not. KI_CFG_RETURNS, KI_CFG_LEAVES for somewhere else,
 * KI_CFG_ENDS.
 */
enum ki_cfg_exit ki_cfg_view_exit(const struct ki_cfg_view *v, uint32_t block, char *buf,
				  size_t len);

uint32_t ki_cfg_view_depth(const struct ki_cfg_view *v, uint32_t block);

/* The loop that the block is the header of, or KI_NONE. */
uint32_t ki_cfg_view_headed(const struct ki_cfg_view *v, uint32_t block);

/* Bytes up to the end of the last block. */
uint64_t ki_cfg_view_bytes(const struct ki_cfg_view *v);

/* "1083 bytes, 31 blocks, 44 edges, 3 exits, 2 loops, depth 1" */
void ki_cfg_view_facts(const struct ki_cfg_view *v, char *buf, size_t len);

/*
 * The instructions of a block that are shown: all, or of a long one those at its beginning and
 * end. Returns how many lines; *skip is the first that is left out, *skipped how many.
 */
uint32_t ki_cfg_view_lines(const struct ki_cfg_view *v, uint32_t block, uint32_t *skip,
			   uint32_t *skipped);

/* The formats. 0, or -errno with *err; failures of `out` itself are for who opened it. */
typedef int ki_cfg_writer(const struct ki_cfg_view *v, FILE *out, struct ki_err *err);
ki_cfg_writer ki_cfg_write_text, ki_cfg_write_json, ki_cfg_write_dot, ki_cfg_write_svg;

#ifdef __cplusplus
}
#endif

#endif
