/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people write to name a point, or several:
 *
 *	[MODULE:]FUNCTION[@0xADDRESS]	and behind it nothing or one of
 *	    :entry  :exit[:after]  :calls  :returns  :block/N[:pre|:post]  :edge/N
 *	    +OFFSET[:before|:after]
 *	    :blocks[:post]  :edges  :insns[:after]  :edge/FROM-TO  :call/CALLEE
 *	and behind that /ORDER
 *	0xADDRESS
 *
 * MODULE, FUNCTION and CALLEE may be globs; the kernel itself is the module "kernel". @0xADDRESS
 * picks one of several functions of the same name. The first line is of single points, whose names
 * are the library's (ki_point_parse).
 */
#ifndef KERNINST_COMMON_POINTSPEC_H
#define KERNINST_COMMON_POINTSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POINTSPEC_KERNEL "kernel"

enum pointspec_suffix {
	POINTSPEC_NONE,
	POINTSPEC_ENTRY,
	POINTSPEC_EXIT,
	POINTSPEC_BLOCK,
	POINTSPEC_OFFSET,
	POINTSPEC_ADDRESS, /* nothing but an address */
	POINTSPEC_BLOCK_END,
	POINTSPEC_AFTER,
	POINTSPEC_EDGE,
	POINTSPEC_CALLS,
	POINTSPEC_RETURNS,
	POINTSPEC_BLOCKS,
	POINTSPEC_EDGES,
	POINTSPEC_INSNS,
	POINTSPEC_BLOCK_ENDS,
	POINTSPEC_AFTERS,
	POINTSPEC_EDGE_BETWEEN,
	POINTSPEC_CALL_TO,
	POINTSPEC_EXIT_AFTER,
};

struct pointspec {
	enum pointspec_suffix suffix;
	uint16_t order;
	uint64_t number;    /* of the block, the edge; the offset; the address */
	uint64_t to;	    /* POINTSPEC_EDGE_BETWEEN: the other block */
	uint64_t picked;    /* the address behind '@'; 0: none */
	char module[64];    /* "": any */
	char function[512]; /* "": none, an address */
	char callee[512];   /* POINTSPEC_CALL_TO */
};

/* 0, or -EINVAL and *why says what is wrong with the text. */
int pointspec_parse(const char *text, struct pointspec *out, const char **why);

bool pointspec_is_glob(const char *s);

/* Does it name the function? module "" is the kernel. */
bool pointspec_matches(const struct pointspec *p, const char *module, const char *function,
		       uint64_t addr);

/* The distance in edits of two names; max + 1 if it is more than max. */
unsigned int pointspec_distance(const char *a, const char *b, unsigned int max);

#endif
