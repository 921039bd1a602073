/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A snippet's inside: nodes in an arena, shared by the builders and by all that walk them.
 */
#ifndef KI_SNIPPET_TREE_H
#define KI_SNIPPET_TREE_H

#include "kerninst/snippet.h"

#define TREE_DEPTH 200	 /* nodes from the body to a leaf; walking is recursive */
#define TREE_NODES 65536 /* of one snippet */

enum node_kind {
#define KI_NODE(tag, ops, what) NODE_##tag,
#include "snippet/nodes.def"
#undef KI_NODE
	NODE_KINDS
};

struct ki_node {
	struct ki_snippet *snippet;
	uint8_t kind; /* enum node_kind */
	uint8_t type; /* of an expression */
	uint8_t op;   /* unary, binary, update, fact, register, helper */
	uint8_t nkids;
	uint8_t need;	/* registers that evaluating it takes, about */
	bool konst;	/* its value is `value` */
	bool effects;	/* contains a call */
	bool used;	/* has a parent */
	uint8_t width;	/* of a string, in words; 0: it is a number */
	uint16_t depth; /* nodes below it */
	/* The generator's; of a node and all below it, but for `scope` and `assumed`. */
	uint16_t scope[2]; /* registers that it pushes; in the code of threads without words */
	uint16_t fixed;	   /* registers that it must have for itself */
	uint64_t locals;   /* bits: it uses these */
	uint8_t words;	   /* how often it uses words of the thread; 255: or more */
	bool calls;	   /* contains a call of a function of the kernel */
	bool assumed;	   /* `konst` only for the moment */
	uint8_t unless;	   /* 1 + the local that its effect is left out for; 0: none */
	uint32_t line;	   /* of a statement, in ki_snippet_format */
	uint64_t value;	   /* constant, number of a parameter, address */
	uint32_t ring;	   /* of a call with op 1: KI_HIT */
	uint32_t what;	   /* KI_TABLE_OP */
	uint8_t nkeys;	   /* children that are the key; strings have several words */
	struct ki_node *kid[KI_RECORD_WORDS];
	struct ki_node *first, *last, *next; /* of a list */
	struct ki_node *lowered;
	struct ki_var var;
	struct ki_linear linear;
	const char *name;
};

struct ki_snippet {
	struct arena_block *blocks;
	struct ki_node *body;
	uint32_t nnodes;
	uint8_t local_types[KI_LOCALS]; /* 1 + type; 0: not used yet */
	struct ki_err err;		/* the first failure */
	bool thread;			/* it is about a thread (ki_snippet_of_thread), whose */
	unsigned int thread_param;	/* registers are where this parameter says */
	struct ki_site_regs thread_at;	/* and which is there */
};

/* thread.c: what nodes are then. */
struct ki_node *ki_thread_reg(struct ki_snippet *s, unsigned int reg);
struct ki_node *ki_thread_load(struct ki_snippet *s, enum ki_type type, struct ki_node *addr);
struct ki_node *ki_thread_param(struct ki_snippet *s, unsigned int param);
struct ki_node *ki_thread_fact(struct ki_snippet *s, enum ki_fact fact);

/* A parameter, memory of the kernel, whatever the snippet is about. */
struct ki_node *ki_tree_param(struct ki_snippet *s, unsigned int param);
struct ki_node *ki_tree_load(struct ki_snippet *s, enum ki_type type, struct ki_node *addr);

/* A zeroed node, or NULL and the failure is noted. */
struct ki_node *ki_tree_node(struct ki_snippet *s, enum node_kind kind);

/* Note a failure; returns NULL. */
struct ki_node *ki_tree_fail(struct ki_snippet *s, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Make it a child; NULL is left out if it may be. false: a failure is noted. */
bool ki_tree_adopt(struct ki_node *parent, unsigned int i, struct ki_node *kid, bool statement);

/* Words of a value, on the stack and in a record. */
static inline unsigned int ki_node_words(const struct ki_node *n)
{
	return n->width ? n->width : 1;
}

/* Words of the first n children. */
unsigned int ki_node_kids_words(const struct ki_node *parent, unsigned int n);

/* Look at a variable and copy it into the node. */
bool ki_tree_var(struct ki_node *n, const struct ki_var *v, bool indexed);

/* The bucket's number as an expression of the value, which is held; NULL: a failure is noted. */
struct ki_node *ki_tree_lower_linear(struct ki_node *n, const struct ki_linear *l,
				     const struct ki_node *value);

/* A copy of a string that lives with the snippet; NULL and the failure is noted. */
const char *ki_tree_string(struct ki_snippet *s, const char *text);

bool ki_node_is_statement(const struct ki_node *n);

/* The facts that a value depends on, a bit for each; KI_FACTS_AND_MORE: also on something else,
   memory or a register. */
#define KI_FACTS_AND_MORE UINT64_MAX
uint64_t ki_node_facts(const struct ki_node *n);

/* A timer's clock once more, for another place. */
struct ki_node *ki_node_again(struct ki_snippet *s, const struct ki_node *n);

static inline bool ki_var_is_vector(const struct ki_var *v)
{
	return v->count > 1;
}

/* ---- types and arithmetic (arith.c) ---- */

struct ki_type_row {
	const char *name;
	uint8_t size; /* bytes */
	bool sign;
};
extern const struct ki_type_row ki_types[KI_TYPES];

uint64_t ki_type_extend(enum ki_type type, uint64_t value);

/* Is every value of type `from` one of type `to`? */
bool ki_type_covers(enum ki_type to, enum ki_type from);

/* The type that arithmetic with these operands has. */
enum ki_type ki_type_common(enum ki_type l, enum ki_type r);

uint64_t ki_arith_unary(enum ki_unary op, uint64_t x);
uint64_t ki_arith_binary(enum ki_binary op, bool sign, uint64_t l, uint64_t r);

/* Is the operation of signed operands? */
static inline bool ki_node_is_signed(const struct ki_node *n)
{
	return ki_types[ki_type_common(n->kid[0]->type, n->kid[1]->type)].sign;
}

/* The bucket of a value. */
uint32_t ki_log2_bucket(uint64_t value);
uint32_t ki_linear_bucket(const struct ki_linear *l, bool sign, uint64_t value);

static inline uint32_t ki_what_op(uint32_t what)
{
	return what >> 16 & 15;
}

/* Words that an operation is about. */
uint32_t ki_table_op_words(uint32_t op);

/* Number of arguments of a helper. */
unsigned int ki_helper_args(unsigned int helper);
const char *ki_helper_name(unsigned int helper);

/* Registers that parameters come in. */
extern const uint8_t ki_param_regs[6];

/* What kind of node, fact, ... it is, in words. */
extern const char *const ki_fact_names[KI_FACTS];
extern const uint8_t ki_fact_types[KI_FACTS];

/* The helper that knows a fact, or 0 (LOAD8, which knows none). */
static inline unsigned int ki_fact_helper(unsigned int fact)
{
	return fact == KI_FACT_NANOTIME ? KI_HELPER_NANOTIME
	       : fact == KI_FACT_UID	? KI_HELPER_UID
	       : fact == KI_FACT_CGROUP ? KI_HELPER_CGROUP
					: 0;
}

#endif
