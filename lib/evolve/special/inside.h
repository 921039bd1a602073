/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_EVOLVE_SPECIAL_INSIDE_H
#define KI_EVOLVE_SPECIAL_INSIDE_H

#include "evolve/special/emit.h"
#include "kerninst/special.h"
#include "module/tables.h"

/* What is never written again. */
struct ki_special_memory {
	struct ki_target *t;
	uint64_t start, end; /* 0, 0: nothing is known */
};

struct ki_special_copy {
	struct ki_function *fn;
	struct ki_constants entry;
	char *name;
};

struct ki_special {
	struct ki_target *t;
	struct ki_special_request request;
	struct ki_special_memory memory;
	struct ki_module_tables tables; /* of the original's module */
	uint64_t keys_start, keys_end;	/* static keys of the kernel itself are there */
	struct ki_special_facts facts;
	uint64_t addr; /* of the original */
	char *original, *module;
	char *of;			       /* the original's module; "": the kernel itself */
	ki_vec(struct ki_special_copy) copies; /* the first is the version */
	ki_vec(struct ki_emit_copy) code;      /* the same */
	struct ki_emitted emitted;
	ki_vec(struct ki_module_row) rows;
	size_t row_size;
	ki_vec(struct ki_module_jump) jumps;
	ki_vec(struct ki_module_call) calls;
	ki_vec(struct ki_module_fault) faults;
	ki_vec(struct ki_module_bug) bugs;
	struct ki_plan *plan; /* while it is in */
	bool half;	      /* the argument has 32 bits: its register's upper half is anything */
	bool loaded;
};

/* memory.c */
void ki_special_memory_find(struct ki_target *t, struct ki_special_memory *out);
bool ki_special_memory_read(void *memory, uint64_t addr, void *out, size_t size);
/* Does a function there keep to the ABI? target: struct ki_target. */
bool ki_special_compiled(void *target, uint64_t addr);

/* sites.c: what the kernel finds by its address; the copies' rows, when they have been emitted. */
int ki_special_sites_read(struct ki_special *s, struct ki_err *err);
uint8_t ki_special_site(void *special, const struct ki_function *fn, const struct ki_insn *in);
int ki_special_sites_rows(struct ki_special *s, struct ki_err *err);
void ki_special_sites_free(struct ki_special *s);

/* rows.c: the unwinder's, of what has been emitted. 0: or there are none in this kernel. */
int ki_special_rows(struct ki_special *s, struct ki_err *err);

/* copies.c: what is left of the function and of what it calls; then it is emitted. */
int ki_special_copies(struct ki_special *s, struct ki_err *err);

/* callers.c: plan that calls with the constant lead to `to`. */
int ki_special_callers(struct ki_special *s, const struct ki_replacement *r, size_t *n,
		       struct ki_err *err);

/* Nothing leads there any more; the module stays. */
int ki_special_leave(struct ki_special *s, struct ki_err *err);

/* left_over.c: unload a module that the driver may be about to let go of: -EBUSY, after so long. */
int ki_special_unload(struct ki_target *t, const char *name, double seconds, struct ki_err *err);

#endif
