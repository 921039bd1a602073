/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is known of a target's whole text, found once for each target: the thunks, and the
 * places inside functions that other functions jump to.
 */
#ifndef KI_CODE_FACTS_H
#define KI_CODE_FACTS_H

#include "kerninst/code.h"
#include "target/priv.h"
#include "util/sort.h"

enum ki_thunk_kind { KI_THUNK_NONE, KI_THUNK_INDIRECT, KI_THUNK_RETURN };

#define KI_THUNK_NO_REG 0xff

struct ki_thunk {
	uint64_t addr;
	enum ki_thunk_kind kind;
	uint8_t reg; /* enum ki_reg: what an indirect thunk jumps to; KI_THUNK_NO_REG */
};

/* Reserved text: everything in [start, end). */
struct ki_covering {
	uint64_t start, end;
	uint16_t reason;
};

/* In order, none overlapping. */
struct ki_covers {
	struct ki_covering *v;
	size_t n, cap;
};

struct ki_facts {
	/*
	 * What looks like a branch into another symbol, of which more entries may come: in order of
	 * its target, with the address of its displacement, 4 bytes, as the value.
	 */
	ki_vec(struct ki_sort_item) branches;
	ki_vec(struct ki_thunk) thunks; /* in order of address */
	bool prefixed;			/* some functions have a symbol before them, "__pfx_" */
	ki_vec(uint64_t) entries;	/* in order, each once */
	struct ki_covers covers;	/* of all reserved rows but sites */
	struct ki_covers static_calls;	/* of those of static calls */
	bool kernel; /* where all that a compiler made has ftrace sites, or nothing has any */
	unsigned int asked;   /* for how many single functions */
	struct ki_memo *memo; /* of single functions, after many of them; NULL */
};

/* The target's facts, found when first asked for. */
int ki_facts_get(struct ki_target *t, const struct ki_facts **out, struct ki_err *err);

/*
 * The same, and the branches are resolved: the facts do not change any more. text is all text, or
 * NULL: it is read from the target. memo: what is decoded is remembered there; or NULL.
 */
struct ki_text;
int ki_facts_complete(struct ki_target *t, const struct ki_text *text, struct ki_memo *memo,
		      const struct ki_facts **out, struct ki_err *err);

/* The same for one function: who asks often gets a memo, and the branches resolved. */
int ki_facts_ask(struct ki_target *t, const struct ki_facts **out, struct ki_err *err);

/* What a call leads to: of the bytes before a function, in which a kernel may count calls, the
   function. */
uint64_t ki_facts_callee(const struct ki_target *t, const struct ki_facts *f, uint64_t target);
enum ki_thunk_kind ki_facts_thunk(const struct ki_facts *f, uint64_t addr);
uint8_t ki_facts_thunk_register(const struct ki_facts *f, uint64_t addr);

/* Of the entries, those inside (start, end). */
const uint64_t *ki_facts_entries(const struct ki_facts *f, uint64_t start, uint64_t end,
				 size_t *count);

/*
 * Of the exception or bug table, and about one instruction: it keeps nothing where it is. (A longer
 * one does: the handler decodes the instruction.)
 */
static inline bool ki_row_is_site(const struct ki_reserved_row *row)
{
	return (row->reason == KI_R_EXTABLE || row->reason == KI_R_BUG_SITE) && row->len <= 2;
}

/* cover.c: make the covers of the target's reserved rows. 0, or a negative errno. */
int ki_covers_find(struct ki_target *t, struct ki_facts *f, struct ki_err *err);

/* Number of the first cover that ends after addr. */
size_t ki_covers_from(const struct ki_covers *covers, uint64_t addr);

/* entries.c: scan all text: entries of rows, and branches. 0, or a negative errno. */
int ki_entries_scan(struct ki_target *t, struct ki_facts *f, struct ki_err *err);

/* Branches that are instructions become entries, the others go. 0 or -ENOMEM. */
int ki_entries_complete(struct ki_target *t, struct ki_facts *f, const struct ki_text *text,
			struct ki_memo *memo);

/* Mark as leaders what entries, and branches that are instructions, lead to in the function under
   analysis. */
struct ki_analysis;
void ki_entries_far(struct ki_analysis *a);

/*
 * near.c: mark as leaders what code just outside of the function under analysis reaches by an
 * 8-bit branch. text is what stands at [lo, hi), which surrounds the function by up to KI_NEAR
 * bytes.
 */
#define KI_NEAR 130
void ki_entries_near(struct ki_analysis *a, const uint8_t *text, uint64_t lo, uint64_t hi);

/* Remember where the function's last instructions are, for what comes after it. */
void ki_entries_note(struct ki_analysis *a);

#endif
