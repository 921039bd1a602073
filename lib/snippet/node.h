/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a kind of node can do. Each has a file in node/, which ends with its table of operations;
 * nodes.def lists them. What walks a tree asks the table, and knows no kinds.
 *
 * An operation that is NULL: as its comment says. A statement has `action`, an expression `value`.
 */
#ifndef KI_SNIPPET_NODE_H
#define KI_SNIPPET_NODE_H

#include <stdio.h>

#include "snippet/format.h"
#include "snippet/gen.h"
#include "snippet/run.h"
#include "snippet/tree.h"

/* What its children may be. */
enum node_takes { TAKES_NUMBERS, TAKES_STRINGS_TOO, TAKES_STRINGS };

struct ki_node_ops {
	/* ---- building ---- */
	uint8_t takes; /* enum node_takes */
	bool chains;   /* its children are a chain (first, next), however many there are */
	bool has_var;  /* `var` is a variable that it uses */
	/* Can its effect be left out (ki_stmt_unless)? NULL: no. */
	bool (*can_be_left_out)(const struct ki_node *n);
	/* The same once more, for another place; NULL: there is only one. */
	struct ki_node *(*again)(struct ki_snippet *s, const struct ki_node *n);
	/* Which facts its value depends on, and nothing else: a bit for each; NULL: on more. */
	uint64_t (*facts)(const struct ki_node *n);

	/* ---- checking ---- */
	/* What code in a process has no way to know or to do; NULL: it can. */
	const char *foreign;
	const char *(*foreign_of)(const struct ki_node *n); /* if it depends */
	/* Can it stand there? NULL: yes. */
	int (*stands)(const struct ki_node *n, const struct ki_site_regs *site, struct ki_err *err);

	/* ---- what its code needs ---- */
	bool calls; /* a function of the kernel */
	/* Registers that it must have for itself, unless it is constant; NULL: none. */
	uint16_t (*fixed)(const struct ki_node *n);
	/* The register of the place that it is, or -1; NULL: -1. */
	int (*place_reg)(const struct ki_node *n);
	/* Is its value left in %rax by itself? NULL: no. */
	bool (*in_rax)(const struct ki_node *n);
	/* What a thread without words makes of it, if that is known now; NULL: it is not. */
	bool (*wordless)(const struct ki_node *n, uint64_t *value);

	/* ---- code of an expression ---- */
	/* A leaf that costs no instruction, beside registers of the place; NULL: it is none. */
	bool (*leaf)(const struct gen *g, const struct ki_node *n, struct opnd *o);
	/* Its lower 32 bits as memory, in a register of its own; NULL: they are in none. */
	bool (*memory)(struct gen *g, const struct ki_node *n, struct opnd *o);
	/* Into the register. */
	void (*value)(struct gen *g, const struct ki_node *n, unsigned int dest);
	/* A string: onto the stack; ki_gen_push_value. */
	void (*push)(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c);

	/* ---- as a condition ---- */
	/* Is it 0 or 1? Does one comparison of its children decide it? NULL: no. */
	bool (*is_truth)(const struct ki_node *n);
	bool (*is_compare)(const struct ki_node *n);
	/* Go to the label if it is true (sense) or false; false: it has no way of its own. */
	bool (*branch)(struct gen *g, const struct ki_node *n, bool sense, uint32_t label);
	/* What is asked of it in any case; NULL: all. */
	const struct ki_node *(*asked_first)(const struct ki_node *n);
	/* The child that has the same lower `size` bytes; NULL, or returns NULL: none. */
	const struct ki_node *(*bare)(const struct ki_node *n, unsigned int size);

	/* ---- code of a statement ---- */
	void (*action)(struct gen *g, struct ki_node *n);
	/* Does it begin by setting that local, whatever was in it? NULL: no. */
	bool (*sets)(const struct ki_node *n, unsigned int local);
	/* Locals that it uses beside the statements inside; NULL: all of them. */
	uint64_t (*own_locals)(const struct ki_node *n);
	/* Does every way through it use a word of the thread, if one does? NULL: yes. */
	bool (*always_words)(const struct ki_node *n);

	/* ---- meaning, which is the interpreter's: of a statement 0 ---- */
	uint64_t (*run)(const struct run *r, const struct ki_node *n);
	void (*run_words)(const struct run *r, const struct ki_node *n, uint64_t *to); /* string */

	/* ---- text ---- */
	/* outside: how strongly binds what is around it. A statement: without its end. */
	void (*write)(FILE *f, const struct ki_node *n, unsigned int outside);
	/* One that contains statements: its lines, indented; NULL: it is one line. */
	void (*lines)(FILE *f, const struct ki_node *n, unsigned int depth);
	/* Number these lines; returns the next one. */
	uint32_t (*number)(struct ki_node *n, uint32_t line);
};

#define KI_NODE(tag, ops, what) extern const struct ki_node_ops ki_node_##ops;
#include "snippet/nodes.def"
#undef KI_NODE

extern const struct ki_node_ops *const ki_nodes[NODE_KINDS];

static inline const struct ki_node_ops *ki_ops(const struct ki_node *n)
{
	return ki_nodes[n->kind];
}

/* Operations that several kinds have. */
bool ki_node_yes(const struct ki_node *n);
bool ki_node_kid_in_rax(const struct ki_node *n);
uint64_t ki_node_no_facts(const struct ki_node *n);
uint64_t ki_node_kids_facts(const struct ki_node *n);

/* Refuse to make it once more. */
struct ki_node *ki_node_not_again(struct ki_snippet *s);

/* Below what changes none of the lower `size` bytes. */
const struct ki_node *ki_node_bare(const struct ki_node *n, unsigned int size);

/* It is constant; a builder says so of what only constants go into. */
void ki_node_set_konst(struct ki_node *n, uint64_t value);
/* Make them its children, from the first on. */
bool ki_node_adopt_all(struct ki_node *n, struct ki_node *const *kids, unsigned int nkids);

/* `&&` */
bool ki_node_is_and(const struct ki_node *n);

/* Number lines as ki_snippet_format makes them; returns the next one. */
uint32_t ki_node_number(struct ki_node *n, uint32_t line);

#endif
