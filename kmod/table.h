/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: their memory and what user space sees of it (tables.c), and working on rows (table.c).
 */
#ifndef KI_TABLE_H
#define KI_TABLE_H

#include <linux/percpu.h>

#include "ki.h"

#define KI_TABLES 256 /* at once, those of sessions that have just ended included */

/* What a CPU knows of a table. */
struct ki_table_cpu {
	u64 *rows; /* of the bank that it works on */
	struct ki_table_head *head;
	const u64 *init; /* values of a new row; NULL: zeros */
	u32 mask;	 /* rows less 1 */
	u32 words;	 /* of a row */
	u32 keys, values;
	bool shared;
};

/* By number. One that code may use is there. */
extern struct ki_table_cpu __percpu *ki_table_cpus[KI_TABLES];

#endif
