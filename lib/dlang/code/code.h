/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Expressions to nodes of a snippet: what code.c, the statements, is made with.
 */
#ifndef KI_DLANG_CODE_H
#define KI_DLANG_CODE_H

#include "dlang/check/check.h"
#include "dlang/words/names.h"
#include "dlang/run/run.h"

struct ki_d_gen {
	struct ki_dlang *d;
	struct ki_snippet *s;
	const struct ki_d_site *site;
	uint32_t clause;	  /* its number */
	uint32_t statement;	  /* the clause with one of its descriptions, from 0 */
	uint32_t faults;	  /* places of the clause that may fault, so far, */
	uint32_t faults_before;	  /* and before what has been made sure of last */
	uint32_t error_probe;	  /* in ERROR's clauses: whose fault it was, */
	uint32_t error_statement; /* and in which statement */
	uint64_t behind;	  /* a pointer: bytes from it to the member that is read now */
	bool in_error;
	bool takes;			/* the clause takes scratch memory, */
	bool one_time;			/* and its timestamps are all one, which is kept */
	const struct ki_d_node *weight; /* of the aggregation that is made; NULL: 1 */
};

struct ki_node *ki_d_gen_expr(struct ki_d_gen *g, const struct ki_d_node *n);
/* Bytes that one more is; 1 of what is no pointer. */
int64_t ki_d_gen_stride(struct ki_d_gen *g, struct ki_d_type t);

/* code_stack.c: stack() and ustack(); of a variable that keeps one its depth, or it with another
 * depth; how many frames there are, or the caller in a process. Is there no stack of the kernel? */
struct ki_node *ki_d_gen_stack(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_depth(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_frames(struct ki_d_gen *g, enum ki_helper helper);
bool ki_d_gen_has_no_stack(const struct ki_d_gen *g);

/* code_memory.c: what stands in memory; of a struct or an array its value is where it is. */
struct ki_node *ki_d_gen_address(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_memory(struct ki_d_gen *g, const struct ki_d_node *n);

/*
 * code_fault.c: what may fault: memory, a string at an address (an operation of helper TEXT with
 * KI_TEXT_FAULT, args[0] the address), the right side of a division.
 */
struct ki_node *ki_d_gen_load(struct ki_d_gen *g, enum ki_type type, struct ki_node *at);
struct ki_node *ki_d_gen_text_at(struct ki_d_gen *g, enum ki_text_op op, struct ki_node **args,
				 unsigned int n);
static inline bool ki_d_divides(uint8_t op)
{
	return op == KI_DIV || op == KI_MOD;
}

static inline bool ki_d_is_nonzero(const struct ki_d_node *n)
{
	return n->kind == KI_D_NUMBER && n->value;
}

struct ki_node *ki_d_gen_divisor(struct ki_d_gen *g, enum ki_type type, struct ki_node *x);
/* The base of a number in a string. */
#define KI_D_BASE_LEAST 2
#define KI_D_BASE_MOST	36
struct ki_node *ki_d_gen_base(struct ki_d_gen *g, struct ki_node *x);
/* A string that must not be NULL. */
struct ki_node *ki_d_gen_some(struct ki_d_gen *g, struct ki_node *x);
/* code_text.c: one that a function takes; what says that it is NULL is a fault. */
struct ki_node *ki_d_gen_string(struct ki_d_gen *g, const struct ki_d_node *n);
/*
 * code_null.c: strings in variables. Is it one that may be NULL? Its value, 0 for NULL; one for
 * which 0 is NULL alone; what is kept when n is assigned to it. ki_d_gen_kept: what is kept there.
 */
bool ki_d_is_marked(const struct ki_d_gen *g, const struct ki_d_node *n);
bool ki_d_may_be_null(const struct ki_d_gen *g, const struct ki_d_node *n); /* or another one */
struct ki_node *ki_d_gen_unmarked(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_marked(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_some_marked(struct ki_d_gen *g, const struct ki_d_node *n); /* no NULL */
struct ki_node *ki_d_gen_to_keep(struct ki_d_gen *g, const struct ki_d_node *to,
				 const struct ki_d_node *n);
struct ki_node *ki_d_gen_kept(struct ki_d_gen *g, const struct ki_d_node *n);
/* Is there such a place since ki_d_gen.faults_before? */
bool ki_d_gen_faulted(const struct ki_d_gen *g);
/* A change or a record, which is left out behind a fault. */
struct ki_node *ki_d_gen_effect(struct ki_d_gen *g, struct ki_node *stmt);
struct ki_node *ki_d_gen_no_fault(struct ki_d_gen *g);
/* code_error.c: behind a clause that may have faulted: what ERROR's clauses do (NULL: nothing), and
 * a record. */
struct ki_node *ki_d_gen_error(struct ki_d_gen *g, struct ki_node *clauses);
struct ki_node *ki_d_gen_error_argument(struct ki_d_gen *g, unsigned int i);
/* The record of a clause that has come to its end. */
struct ki_node *ki_d_gen_done(struct ki_d_gen *g);

/* which it gives back behind its last statement; NULL: it does not. */
struct ki_node *ki_d_gen_give_room(struct ki_d_gen *g);
/* alloca(), copyin(), bcopy(), copyout() ...; what is assigned to memory, a statement. */
struct ki_node *ki_d_gen_memory_call(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_store(struct ki_d_gen *g, enum ki_type type, struct ki_node *at,
			       struct ki_node *value);
/* The bytes at an address, in pieces: how many nodes. */
unsigned int ki_d_gen_bytes(struct ki_d_gen *g, const struct ki_d_node *at, uint64_t size,
			    struct ki_node **nodes);
/* code_packet.c: a packet for pcap(), of so many bytes at most: how many nodes. */
unsigned int ki_d_gen_packet(struct ki_d_gen *g, const struct ki_d_node *skb, uint64_t size,
			     struct ki_node **nodes);
/* speculation(); speculate(), which remembers the number if it is one; that number; it is free.
 * ends: commit() and discard(), for which one that nspec has not is a fault. */
struct ki_node *ki_d_gen_speculation(struct ki_d_gen *g);
struct ki_node *ki_d_gen_speculate(struct ki_d_gen *g, const struct ki_d_node *which, bool ends);
struct ki_node *ki_d_gen_speculation_now(struct ki_d_gen *g);
struct ki_node *ki_d_gen_no_speculation(struct ki_d_gen *g); /* from here on */
/* code_room.c: of a specsize below the usual one: a clause for whose record there is no room does
 * not speculate; what it takes is added behind list; nothing is in a speculation any more. NULL:
 * nothing is to be done. */
struct ki_node *ki_d_gen_look_for_room(struct ki_d_gen *g);
struct ki_node *ki_d_gen_take_room(struct ki_d_gen *g, struct ki_node *list);
struct ki_node *ki_d_gen_empty_room(struct ki_d_gen *g);
/* What follows speculate(), unless its number is that of none, or something has faulted. */
struct ki_node *ki_d_gen_speculated(struct ki_d_gen *g, struct ki_node *list);
struct ki_node *ki_d_gen_speculation_end(struct ki_d_gen *g);

/* let.c's: a value that is kept while another one is computed, and it. */
struct ki_node *ki_d_gen_let(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_held(struct ki_d_gen *g, const struct ki_d_node *n);
/* An index, which is a fault from n on. */
struct ki_node *ki_d_gen_in_bounds(struct ki_d_gen *g, struct ki_node *x, uint64_t n);
/* What code_parts.c keeps in locals: offsets of a part, and of a second one; a value. */
struct ki_node *ki_d_gen_offset(struct ki_d_gen *g, bool second);
struct ki_node *ki_d_gen_set_offset(struct ki_d_gen *g, bool second, struct ki_node *x);
struct ki_node *ki_d_gen_value_kept(struct ki_d_gen *g);
struct ki_node *ki_d_gen_set_value(struct ki_d_gen *g, struct ki_node *x);
/* So many bytes of scratch memory, as alloca(); some of them, as a statement. */
struct ki_node *ki_d_gen_piece(struct ki_d_gen *g, uint64_t size);
struct ki_node *ki_d_gen_put(struct ki_d_gen *g, struct ki_node *at, struct ki_node *value,
			     unsigned int bytes);

/*
 * code_parts.c: variables with parts. A part's value; of a struct or array: where a copy of it is.
 * What is assigned to one, as statements; a whole struct. Zeros in those of this->; NULL: none.
 */
struct ki_node *ki_d_gen_part(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_part_copy(struct ki_d_gen *g, const struct ki_d_node *n);
/* Where a part of such a copy stands. */
struct ki_node *ki_d_gen_part_address(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_set_part(struct ki_d_gen *g, const struct ki_d_node *n,
				  struct ki_node *value);
struct ki_node *ki_d_gen_set_struct(struct ki_d_gen *g, const struct ki_d_node *to,
				    const struct ki_d_node *from);
/* What x has changed where a copy stands of what `at` is the address of, into the variable. */
struct ki_node *ki_d_gen_put_back(struct ki_d_gen *g, const struct ki_d_node *at,
				  const struct ki_d_node *copy, struct ki_node *x);
struct ki_node *ki_d_gen_parts_begin(struct ki_d_gen *g);
/* Is the current process, or one that it descends from, of that number? */
struct ki_node *ki_d_gen_progeny(struct ki_d_gen *g, const struct ki_d_node *pid);

/* code_text.c: strings, as their numbers. */
struct ki_node *ki_d_gen_text(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_text_call(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_compare_texts(struct ki_d_gen *g, const struct ki_d_node *n);
/* Where the memory of variables begins. */
struct ki_node *ki_d_gen_variables(struct ki_d_gen *g);
/* What puts some of the program's strings into the table, and takes that memory; a list. */
struct ki_node *ki_d_gen_constants(struct ki_d_gen *g, size_t from, size_t to);
/* The bytes of a string that is the same for all hits of the place. */
const char *ki_d_gen_known(struct ki_d_gen *g, const struct ki_d_node *n);

/* code.c: an assignment, ++ or --, as a statement. */
struct ki_node *ki_d_gen_assign(struct ki_d_gen *g, const struct ki_d_node *n);

/* code_agg.c */
struct ki_node *ki_d_gen_aggregate(struct ki_d_gen *g, const struct ki_d_node *n);

/* The words of an associative array's key: of self-> with the thread's number. */
unsigned int ki_d_gen_array_keys(struct ki_d_gen *g, const struct ki_d_node *n,
				 struct ki_node **nodes);

/* A value as it travels: how many nodes. */
unsigned int ki_d_gen_value(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t form,
			    struct ki_node **nodes);

/* The nodes of a tuple, as the aggregation has them; a NULL: as arrays do. */
unsigned int ki_d_gen_keys(struct ki_d_gen *g, const struct ki_d_node *list,
			   const struct ki_d_agg *a, struct ki_node **nodes);

/* The word of a value that is the same for all hits of the place. */
uint64_t ki_d_gen_constant(struct ki_d_gen *g, const struct ki_d_node *n);

/* code_meter.c: one more for a counter of the place (struct ki_d_meter). */
struct ki_node *ki_d_gen_meter(struct ki_d_gen *g, uint32_t counter);
/* The list of a place, of a fault, of a clause with what counts it, if it is to be counted. */
struct ki_node *ki_d_gen_meter_passes(struct ki_d_gen *g, struct ki_node *list);
struct ki_node *ki_d_gen_meter_fault(struct ki_d_gen *g, struct ki_node *list);
struct ki_node *ki_d_gen_meter_end(struct ki_d_gen *g, struct ki_node *list);
/* code_clock.c: how often a list names timestamp; keep the time; what timestamp is. */
unsigned int ki_d_timestamps(const struct ki_d_node *list);
struct ki_node *ki_d_gen_keep_time(struct ki_d_gen *g);
struct ki_node *ki_d_gen_time(struct ki_d_gen *g);
/* Nanoseconds since the machine began, since 1970, on a CPU; rand(). */
struct ki_node *ki_d_gen_timestamp(struct ki_d_gen *g);
struct ki_node *ki_d_gen_walltimestamp(struct ki_d_gen *g);
struct ki_node *ki_d_gen_vtimestamp(struct ki_d_gen *g);
struct ki_node *ki_d_gen_random(struct ki_d_gen *g);
/* A value that is used at once, before anything of the program is evaluated. */
struct ki_node *ki_d_gen_set_temp(struct ki_d_gen *g, struct ki_node *x);
struct ki_node *ki_d_gen_temp(struct ki_d_gen *g);
/* code_meant.c: the list, only for the call that means this trigger; only where the place means the
   probe. */
struct ki_node *ki_d_gen_trigger(struct ki_d_gen *g, struct ki_node *list, uint32_t number);
struct ki_node *ki_d_gen_meant(struct ki_d_gen *g, const struct ki_d_hook *h, struct ki_node *list);
/* code_argument.c: argument i of a system call, where its function begins; of any probe; errno */
struct ki_node *ki_d_gen_syscall_arg(struct ki_d_gen *g, unsigned int i);
struct ki_node *ki_d_gen_argument(struct ki_d_gen *g, unsigned int i);
struct ki_node *ki_d_gen_errno(struct ki_d_gen *g);
/* code_kept.c: of what has been kept since the function was called: word 0 or 1; the list, if there
 * is anything, which is gone behind it, and the place means the probe. */
struct ki_node *ki_d_gen_kept_word(struct ki_d_gen *g, unsigned int word);
struct ki_node *ki_d_gen_if_kept(struct ki_d_gen *g, const struct ki_d_hook *h,
				 struct ki_node *list);
/* code_user.c: an argument of a probe in a process; the list, only at its place there */
struct ki_d_user;
/* At a function's first instruction and at its return its return address is on top of the stack. */
bool ki_d_gen_has_top(const struct ki_d_gen *g);
struct ki_node *ki_d_gen_top(struct ki_d_gen *g);
struct ki_node *ki_d_gen_user_argument(struct ki_d_gen *g, const struct ki_d_user *u,
				       unsigned int i);
/* code_fault.c: a value in the process's memory; a fault if it is not there */
struct ki_node *ki_d_gen_user_load(struct ki_d_gen *g, enum ki_type type, struct ki_node *at);
/* What is put there, as statements, if it can be. */
struct ki_node *ki_d_gen_user_store(struct ki_d_gen *g, enum ki_type type, struct ki_node *at,
				    struct ki_node *value);
/* At a place that asks whether the probe is enabled. */
struct ki_node *ki_d_gen_user_answer(struct ki_d_gen *g, const struct ki_d_user *u);
struct ki_node *ki_d_gen_user_meant(struct ki_d_gen *g, const struct ki_d_user *u,
				    struct ki_node *list);

/* code_signal.c: raise(), stop(). A signal that is lost is counted. */
struct ki_node *ki_d_gen_signal(struct ki_d_gen *g, const struct ki_d_node *n);

#endif
