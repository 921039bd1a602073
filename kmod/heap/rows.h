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
#include "reach/reach.h"

/*
 * The heap has three coordinates: bytes, rows of the unwinder, exception rows. A block has a
 * piece of each, and where bytes come first, rows come first (heap.c: why). All three have
 * memory up to the same step, and more steps get some when it is needed.
 */
#define KI_HEAP_STEP	0x100000
#define KI_HEAP_STEPS	(KI_HEAP_SIZE / KI_HEAP_STEP)
#define KI_HEAP_UNIT	16
#define KI_LARGE_STEPS	(PMD_SIZE / KI_HEAP_STEP)
#define KI_HEAP_UNITS	(KI_HEAP_SIZE / KI_HEAP_UNIT)
#define KI_HEAP_ORCS	(KI_HEAP_SIZE / 16)
#define KI_HEAP_EXS	(KI_HEAP_SIZE / 256)
#define KI_HEAP_RESERVE 32    /* one part in so many is kept for taking out */
#define KI_BUG_ROWS	16384 /* at most */
#define KI_BUG_STEP	1024

struct mod_kallsyms;

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

/*
 * names.c; has a lock of its own. There are names from make (-ENOMEM) to hide; once no one reads
 * them their memory is reclaimed, if they are not made again before.
 */
int __must_check ki_names_make(void);
void ki_names_hide(void);
void ki_names_reclaim(void);
/* Of the group that has been linked for it. */
void ki_name_patch(const struct ki_patch *p, const struct ki_group *g);
void ki_name_drop(const struct ki_patch *p);

/* heap.c; has a lock of its own */
/* -ENOSPC: full */
int __must_check ki_heap_alloc(u32 len, u32 norc, u32 nex, bool reserve, struct ki_block **out);
/*
 * The same in pages of 2 MiB, never from what is kept in reserve. paged: at the beginning of a page
 * of 4 KiB. -ENOSPC: there are none.
 */
int __must_check ki_heap_alloc_large(u32 len, u32 norc, u32 nex, bool paged, struct ki_block **out);
/* A patch of len bytes that is to begin at base + a distance that traps where inner says. */
struct ki_filled {
	u32 len;
	unsigned long base;
	u8 inner;
};
/*
 * A block with room for a patch after *pad bytes of others, so that it begins as asked
 * (ki_fill_distance). Never from what is kept in reserve.
 */
int __must_check ki_heap_alloc_filled(const struct ki_filled *as, u32 norc, u32 nex, u32 *pad,
				      struct ki_block **out);
void ki_heap_free(struct ki_block *b);
unsigned long ki_heap_addr(const struct ki_block *b);
unsigned long ki_heap_reach(void); /* so many of its first bytes have memory; without locks */

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

struct ki_bug_of {
	struct bug_entry *like; /* the original; NULL: it may be gone */
	bool taken;
};

/* The rows of a patch that is being linked; all zero at first. */
struct ki_rows {
	struct module *owner; /* of the originals at hand; NULL: the kernel */
	u32 norc, nex, nbug;
	unsigned long found_at; /* the original that was looked up last; 0: none has been */
	struct orc_entry found; /* and what the kernel says of it */
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

/*
 * The heap's size, changed under one lock. Growing never waits for readers of what is going: some
 * CPU may be busy for long.
 *
 * grow: the steps [from, *to) get memory, if they have none left, and rows that hold the new end;
 * that is one step, or as many as a large page has. -ENOMEM; -ENOSPC: more than `most`, or only a
 * large one was wanted. hide: the rows of the steps [from, ...) are not looked at by new readers.
 * reclaim: what is not shown gives its memory back once all readers have gone, a large page as a
 * whole; false if some have not.
 */
int __must_check ki_rows_grow(u32 from, u32 most, bool large, u32 *to);
void ki_rows_hide(u32 from);
bool ki_rows_reclaim(u32 shown, bool wait);

/* region.c: the description by which the kernel knows the heap */
int ki_region_init(void);
void ki_region_exit(void);
struct module *ki_region_module(void);
/* The symbols that it and the driver have from now on; who looks at others goes on for a while. */
void ki_region_names(struct mod_kallsyms *names);

/* origin.c */
void ki_origin_start(void);
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
void ki_orc_start(struct module *region);
void ki_orc_count(struct module *region, u32 n); /* so many are there to be looked at */

/* extable.c */
const struct exception_table_entry *ki_extable_find(struct module *owner, unsigned long addr);
unsigned long ki_extable_fixup(const struct exception_table_entry *e);
void ki_extable_put(u32 first, unsigned long base, const struct ki_ex_row *rows, u32 n);
void ki_extable_clear(u32 first, u32 n, unsigned long end);
void ki_extable_lower(u32 first, u32 n, unsigned long end);
void ki_extable_start(struct module *region);
void ki_extable_count(struct module *region, u32 n);

/* bugs.c; has a lock of its own */
struct bug_entry *ki_bugs_find(struct module *owner, unsigned long addr);
bool __must_check ki_bugs_take(unsigned long base, const struct ki_bug_row *rows, u32 n,
			       bool reserve);
void ki_bugs_retire(unsigned long start, unsigned long end); /* the originals may go */
void ki_bugs_drop(unsigned long start, unsigned long end);
void ki_bugs_start(struct module *region);
void ki_bugs_hide(void);    /* if all rows are free, the table is empty */
void ki_bugs_reclaim(void); /* no reader reads rows that are not in the table */

#endif
