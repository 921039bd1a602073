/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's own tables say of patches, and the memory for both.
 *
 * The kernel finds things out about an address in three tables of the module it lies in: how to
 * unwind the stack there (ORC), where an instruction that faults there goes on (exceptions), and
 * what the ud2 there means (bugs). A patch is full of copies of instructions; what the tables say
 * of an instruction they must say of its copy.
 */
#ifndef KI_ROWS_H
#define KI_ROWS_H

#include <linux/module.h>
#include <asm/orc_types.h>

#include "ki.h"

/*
 * The heap has three coordinates: bytes, rows of the unwinder, exception rows. A block has a
 * piece of each, and whose bytes come first, his rows come first (heap.c: why).
 */
#ifdef KI_WIDE /* for what is put everywhere: patches for each basic block of the kernel */
#define KI_HEAP_SIZE 0x3000000
#define KI_BUG_ROWS  12288
#else
#define KI_HEAP_SIZE 0x400000
#define KI_BUG_ROWS  4096
#endif
#define KI_HEAP_UNIT	16
#define KI_HEAP_UNITS	(KI_HEAP_SIZE / KI_HEAP_UNIT)
#define KI_HEAP_ORCS	(KI_HEAP_SIZE / 16)
#define KI_HEAP_EXS	(KI_HEAP_SIZE / 256)
#define KI_HEAP_RESERVE 32 /* one part in so many is kept for taking out */

/* So many rows the module may have of its own. */
#define KI_OWN_ORCS 16384
#define KI_OWN_EXS  256
#define KI_OWN_BUGS 64

struct ki_extent {
	u32 units, orcs, exs;
};

struct ki_block {
	struct list_head in_heap;  /* all, in order of address */
	struct list_head in_class; /* the free ones of about one size */
	struct ki_extent at;
	struct ki_extent stale; /* free: so many of its first rows hold addresses of old patches */
	bool live;
	u16 name;  /* live: 1 + the place of its patch's first name; 0: it has none (names.c) */
	u16 names; /* and how many it has */
};

/* names.c; has a lock of its own: a patch that begins where addr is in the original */
int ki_names_init(void);
void ki_names_exit(void);
/* Of the group that has been linked for it. */
void ki_name_patch(const struct ki_patch *p, const struct ki_group *g);
void ki_name_drop(const struct ki_patch *p);

/* heap.c; has a lock of its own */
/* -ENOSPC: full */
int __must_check ki_heap_alloc(u32 len, u32 norc, u32 nex, bool reserve, struct ki_block **out);
/*
 * A block with room for len bytes behind *pad others, so that they begin at `base` + a distance
 * that traps where `inner` says (ki_fill_distance). Never from what is kept in reserve.
 */
int __must_check ki_heap_alloc_filled(u32 len, u32 norc, u32 nex, unsigned long base, u8 inner,
				      u32 *pad, struct ki_block **out);
void ki_heap_free(struct ki_block *b);
unsigned long ki_heap_addr(const struct ki_block *b);

/* From this offset in a patch on, the stack is so. */
struct ki_orc_row {
	u32 off;
	struct orc_entry entry;
};

/* The copy at this offset has a row like this one, but goes on at fixup, if that is not 0. */
struct ki_ex_row {
	u32 off;
	unsigned long fixup;
	const struct exception_table_entry *like;
};

struct ki_bug_row {
	u32 off;
	struct bug_entry *like;
};

/* The rows of a patch that is being linked; all zero at first. */
struct ki_rows {
	struct module *owner; /* of the originals at hand; NULL: the kernel */
	u32 norc, nex, nbug;
	struct orc_entry last;	/* the last one's */
	struct ki_orc_row *orc; /* NULL: they are only counted */
	struct ki_ex_row *ex;
	struct ki_bug_row *bug;
};

/* rows.c. From start on rows are counted, or if there is room, kept. */
void ki_rows_start(struct ki_rows *r);
int __must_check ki_rows_room(struct ki_rows *r); /* make room for as many as have been counted */
void ki_rows_free(struct ki_rows *r);
/* At off begins code that runs with the stack of the original at addr, and `pushed` bytes more. */
void ki_rows_stack(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed);
/* The same of code of len bytes: a bit of `words` is set where it has a word more on the stack. */
void ki_rows_code(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, u64 words, u32 len);
/* The same of code with depth[i] words more before the instruction at byte i. */
void ki_rows_depth(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, const u8 *depth,
		   u32 len);
/* At off is the copy of the instruction at addr. If it faults: on at fixup; 0: as the original. */
void ki_rows_copy(struct ki_rows *r, u32 off, unsigned long addr, const u8 *code,
		  unsigned long fixup);
/* Let the kernel's tables say so. False: no bug rows are left, and nothing was done. */
bool __must_check ki_rows_publish(const struct ki_rows *r, const struct ki_block *b, bool reserve)
	__must_hold(&ki_lock);

/* origin.c */
void ki_origin_start(unsigned long heap_start);
/* Code of len bytes at `at` in the heap is, or belongs to, that of the original at addr. */
void ki_origin_note(unsigned long at, u32 len, unsigned long addr);
/* The original address, or one at most KI_HEAP_UNIT bytes of the patch before it; 0: not in the
   heap, or nothing was ever there. In any context. */
unsigned long ki_origin_of(unsigned long at);

/* orc.c: the coordinate's rows [first, first + n) */
void ki_orc_find(struct module *owner, unsigned long addr, struct orc_entry *out);
void ki_orc_put(u32 first, unsigned long base, const struct ki_orc_row *rows, u32 n);
void ki_orc_clear(u32 first, u32 n, unsigned long end); /* raised to end, or at it */
void ki_orc_lower(u32 first, u32 n, unsigned long end); /* to it */
int __must_check ki_orc_prepare(struct module *mod, unsigned long heap_start,
				unsigned long heap_end);
void ki_orc_hide(struct module *mod);
void ki_orc_point(struct module *mod);
void ki_orc_show(struct module *mod);

/* extable.c */
const struct exception_table_entry *ki_extable_find(struct module *owner, unsigned long addr);
unsigned long ki_extable_fixup(const struct exception_table_entry *e);
void ki_extable_put(u32 first, unsigned long base, const struct ki_ex_row *rows, u32 n);
void ki_extable_clear(u32 first, u32 n, unsigned long end);
void ki_extable_lower(u32 first, u32 n, unsigned long end);
int __must_check ki_extable_prepare(struct module *mod, unsigned long heap_start,
				    unsigned long heap_end);
void ki_extable_hide(struct module *mod);
void ki_extable_point(struct module *mod);
void ki_extable_show(struct module *mod);

/* bugs.c; has a lock of its own */
struct bug_entry *ki_bugs_find(struct module *owner, unsigned long addr);
bool __must_check ki_bugs_take(unsigned long base, const struct ki_bug_row *rows, u32 n,
			       bool reserve);
void ki_bugs_bury(unsigned long start, unsigned long end); /* the originals may go */
void ki_bugs_drop(unsigned long start, unsigned long end);
int __must_check ki_bugs_prepare(struct module *mod, unsigned long heap_start,
				 unsigned long heap_end);
void ki_bugs_hide(struct module *mod);
void ki_bugs_point(struct module *mod);
void ki_bugs_show(struct module *mod);

#endif
