/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a long chunk may consist of, written down a second time, from the list and over another
 * decoder: neither the generator's table nor the driver's.
 */
#ifndef COMMON_VET_H
#define COMMON_VET_H

#include "kerninst/snippet.h"

#define VET_RINGS 3

/* Tables, as common_snippet.h says. */
#define VET_TABLES	 (2 * KI_TABLE_KEYS)
#define VET_TABLE_VALUES 100

/* NULL, or what is wrong. Rings and tables of stacks from 0 to VET_RINGS, counters, globals and
 * words from 0 to these numbers are owned. */
const char *vet_long(const struct ki_long_code *c, uint32_t counters, uint32_t globals,
		     uint32_t words);

/* The offsets of its instructions, ended by its length. At most `max`; returns how many. */
unsigned int vet_offsets(const struct ki_long_code *c, uint16_t *offs, unsigned int max);

#endif
