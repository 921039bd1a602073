/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A table's inside: what is mapped.
 */
#ifndef KI_TABLE_MAP_H
#define KI_TABLE_MAP_H

#include "kerninst/table.h"

#define TABLE_PAGE 4096u

struct ki_table_map {
	const uint8_t *base; /* of each bank `stride` bytes: a page with the head, and the rows */
	uint64_t stride;
	uint32_t banks, keys, values, rows, number;
	bool shared;
	uint8_t *merge;
	void (*between)(void *arg); /* a test's: called between copying a row and looking again */
	void *between_arg;
};

/* As ki_table_read: what one CPU has counted, in a table that is not shared. */
int ki_table_read_cpu(const struct ki_table_map *m, uint32_t cpu, struct ki_table_reading **out,
		      struct ki_err *err);

static inline const struct ki_table_head *ki_table_head_of(const struct ki_table_map *m,
							   uint32_t bank)
{
	return (const struct ki_table_head *)(const void *)(m->base + bank * m->stride);
}

static inline const uint64_t *ki_table_row_of(const struct ki_table_map *m, uint32_t bank,
					      uint32_t row)
{
	const uint8_t *rows = m->base + bank * m->stride + TABLE_PAGE;

	return (const uint64_t *)(const void *)rows + (size_t)row * (1 + m->keys + m->values);
}

#endif
