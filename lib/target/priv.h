/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is inside a target, for the kinds of target (live.c, image.c, memory.c) and for
 * lib/code.
 *
 * A kind fills ranges and a list of symbols, calls ki_target_finish, and has three operations.
 */
#ifndef KI_TARGET_PRIV_H
#define KI_TARGET_PRIV_H

#include "kerninst/target.h"
#include "util/vec.h"

struct ki_rows {
	struct ki_reserved_row *v;
	uint64_t *reach; /* the highest end of rows 0..i, so that a search can find long rows */
	size_t n;
	bool read;
};

struct ki_target_ops {
	/* The range lies within one text range. */
	int (*read)(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		    struct ki_err *err);
	/* The original bytes of text that is in memory anyway, or NULL; may be NULL itself. */
	const uint8_t *(*view)(struct ki_target *t, uint64_t addr, size_t len);
	/* Data, or text; NULL: only text can be read. */
	int (*read_data)(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			 struct ki_err *err);
	/* Data, of at least one byte; NULL: nothing is written. */
	int (*write_data)(struct ki_target *t, uint64_t addr, const void *buf, size_t len,
			  struct ki_err *err);
	/*
	 * Fill `next`, an empty target that shares t's descriptor, facts and own, with the
	 * ranges and symbols that there are now. NULL: they never change.
	 */
	int (*refresh)(struct ki_target *t, struct ki_target *next, struct ki_err *err);
	/* Allocates rows->v and sets rows->n; NULL if the kind has no reserved text. */
	int (*reserved)(struct ki_target *t, struct ki_rows *rows, struct ki_err *err);
	void (*close)(struct ki_target *t);
};

struct ki_name_index {
	uint32_t *head; /* 1 + number of the first symbol of a bucket; 0: empty */
	uint32_t *next; /* of the next one, in order of the table */
	uint32_t mask;
};

struct ki_target {
	const struct ki_target_ops *ops;
	enum ki_target_kind kind;
	int fd;
	bool has_info;
	struct ki_info info;
	void *own; /* of the kind */

	ki_vec(struct ki_text_range) ranges;
	struct ki_symbol *symbols;
	size_t nsymbols;
	size_t nexternals;     /* after the symbols: what is called, but is not in the target */
	uint64_t externals_at; /* raw symbols from here on are externals; 0: there are none */
	struct ki_name_index names;
	char *strings; /* all names */
	struct ki_rows rows;

	/* What lib/code has found out about all text; its own business. */
	void *facts;
	void (*facts_free)(void *facts);
};

/* Symbols as they are read: in any order, names as offsets into one block of strings. */
struct ki_raw_symbol {
	uint64_t addr;
	uint32_t name, module : 31, local : 1;
};

struct ki_symbol_list {
	ki_vec(struct ki_raw_symbol) raw;
	ki_vec(char) strings;
};

/* An empty target of a kind; ki_target_free frees it whatever has been filled in. */
int ki_target_new(struct ki_target **out, enum ki_target_kind kind, const struct ki_target_ops *ops,
		  struct ki_err *err);

/* A string of the list, *off its place: 0, -ENOMEM, -EOVERFLOW. */
int ki_symbol_list_string(struct ki_symbol_list *l, const char *s, size_t len, uint32_t *off);
int ki_symbol_list_add(struct ki_symbol_list *l, uint64_t addr, const char *name, size_t len,
		       uint32_t module);
void ki_symbol_list_free(struct ki_symbol_list *l);

/*
 * Order the ranges, cut overlapping ones, and make the table of symbols of what lies in them.
 * Consumes the list, also on failure. The ranges' module names are the caller's: strings that
 * live as long as the target, or, if `modules` is not NULL, offsets of strings in the list.
 */
int ki_target_finish(struct ki_target *t, struct ki_symbol_list *l, const uint32_t *modules,
		     struct ki_err *err);

/* The range that holds addr, or NULL. */
const struct ki_text_range *ki_target_range_at(const struct ki_target *t, uint64_t addr);

/* Free the ranges and symbols, and all that was made of them: nothing is there then. */
void ki_target_clear(struct ki_target *t);

/* Number of the first symbol with an address above addr. */
size_t ki_target_symbol_after(const struct ki_target *t, uint64_t addr);

/* The error of an address that is not text. */
int ki_target_not_text(struct ki_err *err, uint64_t addr, size_t len);

/* What the names of functions begin with that have none (process_file.c). */
#define KI_NAMELESS "sub_"

/* Does kernel lockdown forbid reading the kernel's memory? */
bool ki_locked_down(void);

/* Length of the endbr64, or of what the kernel seals one with, at p: 4, or 0. */
size_t ki_target_endbr_len(const uint8_t *p, size_t avail);

#endif
