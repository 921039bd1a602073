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
	u32 probes;	 /* rows that are looked at for a key, each once */
	u32 words;	 /* of a row */
	u32 keys, values;
	bool shared;
	u64 last; /* where the row is that was used last, in words from `rows` */
};

/* By number. One that code may use is there. */
extern struct ki_table_cpu __percpu *ki_table_cpus[KI_TABLES];

static_assert(KI_TABLES <= 1 << 12 && KI_TABLE_OPS <= 1 << 4); /* KI_TABLE_OP */

/* tables.c */
struct vm_area_struct;
int ki_tables_init(void);
int __must_check ki_table_check(struct ki_table_request *req); /* without ki_lock, too */
/* One that has been checked; init: its values at first, or NULL. */
int __must_check ki_table_take(struct ki_session *s, struct ki_table_request *req, const u64 *init)
	__must_hold(&ki_lock);
struct ki_table_shape {
	u32 keys, values;
	bool shared;
};
bool ki_table_own(const struct ki_session *s, u32 number, struct ki_table_shape *out)
	__must_hold(&ki_lock);
/* These without ki_lock. */
bool ki_table_is_mapping(u64 offset);
int __must_check ki_table_map(struct ki_session *s, struct vm_area_struct *vma, u64 offset);

#endif
