/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What people write to name a point, or several:
 *
 *	[MODULE:]FUNCTION[@0xADDRESS]	and after it nothing or one of
 *	    :entry  :exit[:after]  :calls  :returns  :block/N[:pre|:post]  :edge/N
 *	    +OFFSET[:before|:after]
 *	    :blocks[:post]  :edges  :insns[:after]  :edge/FROM-TO  :call/CALLEE
 *	and after that /ORDER
 *	0xADDRESS
 *
 * MODULE, FUNCTION and CALLEE may be globs; the kernel itself is the module "kernel". @0xADDRESS
 * picks one of several functions of the same name. The first line is of single points, whose names
 * are the library's (ki_point_parse).
 */
#ifndef KERNINST_POINTSPEC_H
#define KERNINST_POINTSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KI_POINTSPEC_KERNEL "kernel"

enum ki_pointspec_suffix {
	KI_POINTSPEC_NONE,
	KI_POINTSPEC_ENTRY,
	KI_POINTSPEC_EXIT,
	KI_POINTSPEC_BLOCK,
	KI_POINTSPEC_OFFSET,
	KI_POINTSPEC_ADDRESS, /* nothing but an address */
	KI_POINTSPEC_BLOCK_END,
	KI_POINTSPEC_AFTER,
	KI_POINTSPEC_EDGE,
	KI_POINTSPEC_CALLS,
	KI_POINTSPEC_RETURNS,
	KI_POINTSPEC_BLOCKS,
	KI_POINTSPEC_EDGES,
	KI_POINTSPEC_INSNS,
	KI_POINTSPEC_BLOCK_ENDS,
	KI_POINTSPEC_AFTERS,
	KI_POINTSPEC_EDGE_BETWEEN,
	KI_POINTSPEC_CALL_TO,
	KI_POINTSPEC_EXIT_AFTER,
};

struct ki_pointspec {
	enum ki_pointspec_suffix suffix;
	uint16_t order;
	uint64_t number;    /* of the block, the edge; the offset; the address */
	uint64_t to;	    /* KI_POINTSPEC_EDGE_BETWEEN: the other block */
	uint64_t picked;    /* the address after '@'; 0: none */
	char module[64];    /* "": any */
	char function[512]; /* "": none, an address */
	char callee[512];   /* KI_POINTSPEC_CALL_TO */
};

/* 0, or -EINVAL and *why says what is wrong with the text. */
int ki_pointspec_parse(const char *text, struct ki_pointspec *out, const char **why);

/* "PID/" before a point: the process, and *rest stands after it. 0: there is none, *rest is all. */
pid_t ki_pointspec_process(const char *text, const char **rest);

bool ki_pointspec_is_glob(const char *s);

/* Does it name the function? module "" is the kernel. */
bool ki_pointspec_matches(const struct ki_pointspec *p, const char *module, const char *function,
			  uint64_t addr);

/* The distance in edits of two names; max + 1 if it is more than max. */
unsigned int ki_pointspec_distance(const char *a, const char *b, unsigned int max);

#ifdef __cplusplus
}
#endif

#endif
