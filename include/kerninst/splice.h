/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Splicing: where code can be put, how displaced instructions are moved, what is installed.
 *
 * Windows are a pure function of a function's bytes and blocks, so that any two users of one
 * kernel agree on them without talking to each other (doc/design.md, section 2).
 */
#ifndef KERNINST_SPLICE_H
#define KERNINST_SPLICE_H

#include "kerninst/code.h"
#include "kerninst/snippet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run of whole instructions of one block that one springboard displaces. */
struct ki_span {
	uint64_t addr;
	uint32_t first; /* its instructions in the function's array */
	uint8_t count;
	uint8_t len;	 /* bytes, filler of 0xcc behind the last instruction included */
	uint16_t reason; /* KI_R_OK, or KI_R_WINDOW_SHORT */
};

struct ki_spans {
	struct ki_span *v; /* in order of address */
	size_t n;
};

/* All windows of a function. Instructions that may not be displaced are in none. */
int ki_spans_find(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err);
void ki_spans_free(struct ki_spans *s);

/* The window that holds the instruction at addr, or NULL. */
const struct ki_span *ki_spans_at(const struct ki_spans *s, const struct ki_function *fn,
				  uint64_t addr);

/*
 * The relocated copy of one instruction: its bytes with the position-dependent field as a
 * fixup; short branches in their 32-bit form; a call as a push of the original return address
 * and a jump, so that no return address points into a patch. KI_R_OK, or why it cannot be.
 */
unsigned int ki_relocate(const struct ki_insn *in, const uint8_t *bytes, struct ki_copy *out);

/* Where in a function something is to be put. */
enum ki_point_kind { KI_POINT_ENTRY, KI_POINT_EXIT, KI_POINT_BLOCK, KI_POINT_INSN };

struct ki_point {
	enum ki_point_kind kind;
	uint32_t block; /* KI_POINT_BLOCK: its number */
	uint64_t addr;	/* KI_POINT_INSN: its address */
};

/* A place that a point stands for: before one instruction. */
struct ki_place {
	uint64_t addr;	 /* the instruction */
	uint16_t reason; /* KI_R_OK, or why nothing can be put there */
	bool flags_live; /* code there must keep the flags */
};

/*
 * The places of a point: one for an entry, a block or an instruction; as many as there are
 * returns and tail jumps for an exit. Entry and block: the first instruction of the block that
 * is in a window, provided that nothing before it in the block could leave the block.
 * -EINVAL with KI_R_NOT_BOUNDARY for an address inside an instruction. Caller frees *out.
 */
int ki_point_places(const struct ki_function *fn, const struct ki_spans *spans,
		    const struct ki_point *pt, struct ki_place **out, size_t *count,
		    struct ki_err *err);

/*
 * A plan: chunks at places, of any number of functions, to be installed together. Adding does
 * not touch the kernel.
 */
struct ki_plan;

int ki_plan_new(struct ki_plan **out);
void ki_plan_free(struct ki_plan *p);

/*
 * Put a snippet's code before the instruction at addr. *id numbers it within the plan (0, 1,
 * ...). On a refusal the plan is as it was, and err has the reason. The function and its spans
 * need not live on.
 */
int ki_plan_add(struct ki_plan *p, const struct ki_function *fn, const struct ki_spans *spans,
		uint64_t addr, const struct ki_code *code, uint32_t *id, struct ki_err *err);

size_t ki_plan_windows(const struct ki_plan *p); /* distinct windows */
size_t ki_plan_chunks(const struct ki_plan *p);
size_t ki_plan_waits(const struct ki_plan *p); /* windows whose jump covers several instructions */

/* Why the driver refused chunk id at the last ki_plan_apply: KI_R_OK if it did not. */
unsigned int ki_plan_refusal(const struct ki_plan *p, uint32_t id);

/*
 * Install a plan through the session of a live target: all of it or nothing. If the driver
 * refuses places and drop is true, they are left out (ki_plan_refusal tells which) and the rest
 * is installed; if drop is false, the call fails with the first reason.
 */
int ki_plan_apply(struct ki_plan *p, struct ki_target *t, bool drop, struct ki_err *err);

/* Take out what was installed: all of the plan; its ids stay valid for another apply. */
int ki_plan_remove(struct ki_plan *p, struct ki_target *t, struct ki_err *err);

/*
 * Counters of a session, mapped to read: values cost the kernel nothing to read.
 */
struct ki_counter_map;

int ki_counter_map_open(struct ki_target *t, struct ki_counter_map **out, struct ki_err *err);
void ki_counter_map_close(struct ki_counter_map *m);

/* Take a run of `count` zeroed counters; KI_R_COUNTERS_FULL if there are not so many. */
int ki_counters_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err);

/* Counter n of one CPU, and the sum of all CPUs. Wraps at 2^64. */
uint64_t ki_counter_read_cpu(const struct ki_counter_map *m, uint32_t n, unsigned int cpu);
uint64_t ki_counter_read(const struct ki_counter_map *m, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
