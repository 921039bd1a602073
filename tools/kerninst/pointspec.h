/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people write to name a point:
 *
 *	[MODULE:]FUNCTION[@0xADDRESS][:entry|:exit|:block/N|+OFFSET]
 *	0xADDRESS
 *
 * MODULE and FUNCTION may be globs; the kernel itself is the module "kernel". @0xADDRESS picks
 * one of several functions of the same name.
 */
#ifndef KERNINST_POINTSPEC_H
#define KERNINST_POINTSPEC_H

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
};

struct pointspec {
	enum pointspec_suffix suffix;
	uint64_t number;    /* of the block; the offset; the address */
	uint64_t picked;    /* the address behind '@'; 0: none */
	char module[64];    /* "": any */
	char function[512]; /* "": none, an address */
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
