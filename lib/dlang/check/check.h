/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_DLANG_CHECK_H
#define KI_DLANG_CHECK_H

#include "dlang/program.h"

struct ki_d_checker {
	struct ki_dlang *d;
	struct ki_err *err;
	struct ki_d_clause *clause;
	const struct ki_d_node *statement;   /* that is being checked; NULL: the predicate */
	const struct ki_d_node *misplaced;   /* the first action in it that is no statement */
	const char *tag_aggarg, *tag_aggbad; /* of a function that has an aggregation */
	unsigned int lets;		     /* around here */
	bool is_first; /* the predicate before the body, which may assign what it wants */
};

int ki_d_check_expr(struct ki_d_checker *c, struct ki_d_node *n);
/* functions.c: a call; how many are in a list, and what they must be. */
int ki_d_check_call(struct ki_d_checker *c, struct ki_d_node *n);
unsigned int ki_d_count(const struct ki_d_node *list);
int ki_d_check_numbers(struct ki_d_checker *c, struct ki_d_node *list, const char *tag);
int ki_d_check_all(struct ki_d_checker *c, struct ki_d_node *list);
/* check_agg.c */
int ki_d_check_agg(struct ki_d_checker *c, struct ki_d_node *n);
/* check_buckets.c: of a call that aggregates; first: it is that aggregation's first. */
int ki_d_check_buckets(struct ki_d_checker *c, const struct ki_d_node *call, struct ki_d_agg *a,
		       bool first);
struct ki_d_agg *ki_d_agg_find(const struct ki_dlang *d, const char *name); /* or NULL */

/* check.c: names; new: it is assigned to, and may not be known. */
struct ki_d_var *ki_d_var_find(const struct ki_dlang *d, const struct ki_d_node *n);
int ki_d_var_new(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_var **out);
int ki_d_check_index(struct ki_d_checker *c, struct ki_d_node *n, bool new);

/* check_ops.c */
int ki_d_check_unary(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_binary(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_assign(struct ki_d_checker *c, struct ki_d_node *n);
/* What an inline of that type is. */
int ki_d_check_defined(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_type type);
int ki_d_check_step(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_cond(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_cast(struct ki_d_checker *c, struct ki_d_node *n);
/* A cast of a struct to the type that it has is that struct: *of, which has not been checked. */
int ki_d_uncast(struct ki_d_checker *c, struct ki_d_node **of);
/* An operand, whose arrays are pointers then, and whose texts strings. */
int ki_d_check_operand(struct ki_d_checker *c, struct ki_d_node *n);
/* 0, or a pointer that is 0: no string. */
bool ki_d_is_nothing(const struct ki_d_node *n);
/* check_cast.c: a string: NULL itself, or of a function that may not find what it is to find. */
bool ki_d_may_be_none(const struct ki_d_node *n);
/* A variable's string and a number: what stands from that byte on, substr(s, n). */
bool ki_d_becomes_rest(struct ki_d_node *n);
bool ki_d_has_no_type(struct ki_d_type t);
/* Is it a call of an action that has no value? */
bool ki_d_is_action_call(const struct ki_d_node *n);

/*
 * let.c: a value for the parameter `name` of `body`. held: what stands there instead, and let: what
 * is around the body then, its kid 1; NULL: the value itself. more: lets of the same body before.
 */
struct ki_d_let {
	const struct ki_d_node *body;
	const char *name;
	unsigned int more;
	uint32_t at; /* of what is copied; UINT32_MAX: where it stands */
	struct ki_d_node *let, *held;
};

int ki_d_let(struct ki_d_checker *c, const struct ki_d_node *value, struct ki_d_let *let);
int ki_d_check_let(struct ki_d_checker *c, struct ki_d_node *n);

/* attributes.c: of all clauses, before they are checked; D_ATTR_MIN. */
int ki_d_check_attributes(struct ki_d_checker *c);

/* check_order.c: what may stand behind commit(), speculate() ... */
int ki_d_check_order(struct ki_d_checker *c, const struct ki_d_clause *clause);

int ki_d_check_text_call(struct ki_d_checker *c, struct ki_d_node *n);
/* A function's argument that is a string, or a pointer to one. */
int ki_d_check_string(struct ki_d_checker *c, struct ki_d_node *n, const char *function);
/* check_memory.c */
int ki_d_check_tracemem(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_traced(struct ki_d_checker *c, struct ki_d_node *n); /* of trace() */
int ki_d_check_pcap(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_memory(struct ki_d_checker *c, struct ki_d_node *n);
/* A cast of a string, a copy of which has not been checked, to a pointer: to its bytes. */
int ki_d_become_bytes(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_node *text);
/* *x = s, where x leads to a string, becomes bcopy(s, x, sizeof(string)): *is_one. */
int ki_d_check_string_store(struct ki_d_checker *c, struct ki_d_node *n, bool *is_one);
/* check_type.c: what leads into memory */
int ki_d_check_member(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_deref(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_element(struct ki_d_checker *c, struct ki_d_node *n); /* of a pointer or array */
int ki_d_check_address(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_symbol(struct ki_d_checker *c, struct ki_d_node *n);
/* check_stack.c: stack(5).depth; stack(5).addrs[0], whose call has been checked. */
bool ki_d_is_stack_call(const struct ki_d_node *n);
int ki_d_check_stack_member(struct ki_d_checker *c, struct ki_d_node *n);
/* n, an assignment that computes: as one that does not, where that is another one. */
int ki_d_spread_assign(struct ki_d_checker *c, struct ki_d_node *n);
/* n, an assignment: to the depth of a stack in a variable it becomes one to the variable. */
int ki_d_check_depth_store(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_frame(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_sizeof(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_offsetof(struct ki_d_checker *c, struct ki_d_node *n);

/* parts.c: of one that is in a variable. */
int ki_d_check_part(struct ki_d_checker *c, struct ki_d_node *n);
/* check_type.c: a part of a variable that is wanted in memory is copied there. */
int ki_d_check_copy(struct ki_d_checker *c, const struct ki_d_node *n);

/* Does it stand in scratch memory? */
bool ki_d_in_scratch(const struct ki_d_node *n);

/* An array where a number is wanted: the address of its first element. */
int ki_d_decay(struct ki_d_checker *c, struct ki_d_node *n);
/* An array of characters where a string is wanted. */
int ki_d_to_text(struct ki_d_checker *c, struct ki_d_node *n);

/* The string that a pointer leads to, where one is wanted. */
int ki_d_pointer_to_text(struct ki_d_checker *c, struct ki_d_node *n);
/* A char * becomes the string there, where what it is with is a string; of two either of them. */
int ki_d_match_text(struct ki_d_checker *c, struct ki_d_type with, struct ki_d_node *n);
int ki_d_match_texts(struct ki_d_checker *c, struct ki_d_node *a, struct ki_d_node *b);
/* stringof(a string) is that string. */
void ki_d_unwrap(struct ki_d_node *n);

struct ki_d_inline;
/* Those of the program without parameters: what they name must be known. */
int ki_d_check_inlines(struct ki_d_checker *c);
/* prelude.c: the inlines that programs find declared. */
int ki_d_prelude(struct ki_dlang *d, struct ki_err *err);
/* A call of one of them: NAME(list) is NAME[list]. */
int ki_d_inline_call(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_inline *in);
int ki_d_inline_use(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_inline *in);

/* translate.c: a member of what translator `number` gives; of: what it is a member of, before it
 * was checked. */
int ki_d_check_xlate(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_translate(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_node *of,
		   unsigned int number);
int ki_d_check_translators(struct ki_d_checker *c);

/* args.c: args[i] of the clause's probes. */
int ki_d_check_args(struct ki_d_checker *c, struct ki_d_node *n);
/* args_known.c: is arg0 of the clause's probes nothing but args[0]? It becomes that. */
bool ki_d_arg_is_meant(const struct ki_d_checker *c);
/* NAME:entry, where a system call has that name and no function: f, the fields. */
bool ki_d_is_lone_syscall(struct ki_d_checker *c, const char *const f[4]);
int ki_d_check_meant(struct ki_d_checker *c, struct ki_d_node *n);
/* Where args[] is of the same types for all probes of a clause, but from different places: clauses
 * of those of each. */
int ki_d_split_clauses(struct ki_d_checker *c);

/* inline.c: a copy, with copies of `in` where it has this name; at: UINT32_MAX: where it was.
 * NULL: out of memory, or too large. */
struct ki_d_node *ki_d_copy(struct ki_dlang *d, const struct ki_d_node *n, char *name,
			    struct ki_d_node *in, uint32_t at);

/* A constant expression becomes a KI_D_NUMBER. */
int ki_d_fold(struct ki_dlang *d, struct ki_d_node *n, struct ki_err *err);
/* ... of one that has been checked; false: it is not constant. */
bool ki_d_fold_checked(struct ki_d_node *n);
/* check_type.c: a call of KI_D_F_SWAP; of a constant it becomes one. */
int ki_d_check_swap(struct ki_d_checker *c, struct ki_d_node *n);

/* check_keys.c: a key that is a struct becomes keys, of which there are so many; was: before it was
 * checked. Or -errno. */
int ki_d_spread_key(struct ki_d_checker *c, struct ki_d_node *k, struct ki_d_node *was);

/* check_keys.c: as many keys as option tregs allows. */
int ki_d_check_key_count(struct ki_d_checker *c, const struct ki_d_node *n, unsigned int nkeys);

/* What has no value cannot be one of a list of keys: an aggregation, an action. */
int ki_d_check_key_kinds(struct ki_d_checker *c, const struct ki_d_node *list);

/* How a value travels in a record: ki_d_form. */
uint8_t ki_d_form_of(const struct ki_d_node *n);

/* Is there a ++ or -- in it? */
bool ki_d_steps(const struct ki_d_node *n);
bool ki_d_begins_speculation(const struct ki_d_node *n);
bool ki_d_only_speculates(const struct ki_d_clause *c); /* then it is as one without a body */

/* Is it the same for all hits of a place? */
bool ki_d_is_constant(const struct ki_d_node *n);

/* parts.c: the error, with what Linux has instead. */
int ki_d_no_member(struct ki_d_checker *c, const struct ki_d_node *n, const char *type);

/* args_known.c: the error of a probe, of which nothing else is known. */
int ki_d_no_arg_types(struct ki_d_checker *c, const struct ki_d_node *n, const char *const f[4]);

/* check_clause.c: NAME[...] has no value. */
int ki_d_never_assigned(struct ki_d_checker *c, const struct ki_d_node *n);

#endif
