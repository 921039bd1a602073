/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The code generator's state.
 *
 * Registers. Those that are dead at the place, and that the snippet does not read, are free. Any
 * other can be had by pushing it first; a snippet that reads a pushed register reads its word on
 * the stack. Registers are always chosen in the same order (`order`), whether they have been pushed
 * or not; what was taken without being free is noted in `need`. So code is generated again with
 * more pushed, until nothing is needed: at most 15 times, and nearly always once more.
 *
 * Scopes. The body, and each branch of an `if`, pushes what it needs where it begins and pops it
 * where it ends, so that what a predicate refuses costs no pushes. What several scopes inside one
 * need is pushed once, by the outer one.
 *
 * Locals, and the pointer to the thread's words, are in registers that nothing claims while they
 * are there.
 *
 * Fixed registers (a helper's arguments, rdtsc, shift counts) are claimed: if an evaluation around
 * this one holds something there, it is on the stack meanwhile.
 */
#ifndef KI_SNIPPET_GEN_H
#define KI_SNIPPET_GEN_H

#include "snippet/asm.h"
#include "snippet/tree.h"

#define REGS	   16
#define REG_BIT(r) ((uint16_t)(1u << (r)))
#define RED_ZONE   16 /* words below %rsp that a function of a process may use */

/* Where a local is. */
struct home {
	bool stack;
	uint8_t at; /* register; the depth at which it was pushed */
};

/* What is known of the thread's words. */
enum words_mode {
	WORDS_UNKNOWN,
	WORDS_EACH, /* the same: and whoever uses one looks for itself */
	WORDS_HERE, /* words_reg says where they are */
	WORDS_NONE, /* there are none: nothing reads one, and nothing is written */
};

struct gen {
	struct code_list a;
	const struct ki_site_regs *site;
	struct ki_err *err;
	int failed;
	uint8_t order[REGS];
	uint8_t norder;
	uint16_t dead;	 /* free without a push */
	uint16_t pushed; /* by the scopes around here */
	uint16_t busy;
	uint16_t need;	    /* taken, and neither dead nor pushed */
	uint16_t inside;    /* pushed by scopes that have ended inside this one */
	uint8_t slot[REGS]; /* the depth at which a register was pushed */
	unsigned int depth; /* words on the stack, with those of a red zone */
	unsigned int below; /* of these: the red zone's */
	unsigned int held;  /* register of NODE_HELD */
	uint64_t homed;	    /* bits: locals that are somewhere now */
	struct home home[KI_LOCALS];
	uint8_t words; /* enum words_mode */
	uint8_t words_reg;
	bool frugal; /* the code was too long: nothing is taken for long, no WORDS_HERE */
};

/* Registers that were claimed, and must be given back. */
struct claims {
	uint16_t taken;
	uint16_t pushed; /* in the order of `saved` */
	uint8_t saved[REGS];
	unsigned int nsaved;
};

int ki_gen_fail(struct gen *g, int code, const char *what);

/* regs.c */
unsigned int ki_gen_alloc(struct gen *g, uint16_t but);
unsigned int ki_gen_alloc_first(struct gen *g, unsigned int preferred);
/* For long: REGS if too few would be left. */
unsigned int ki_gen_take(struct gen *g, uint16_t but);
void ki_gen_release(struct gen *g, unsigned int reg);
void ki_gen_claim(struct gen *g, unsigned int reg, unsigned int dest, struct claims *c);
/* Those of %rax, %rsi and %rdi that are among `which`. */
void ki_gen_claim_some(struct gen *g, uint16_t which, unsigned int dest, struct claims *c);
void ki_gen_unclaim(struct gen *g, const struct claims *c);
void ki_gen_push(struct gen *g, unsigned int reg);
void ki_gen_pop(struct gen *g, unsigned int reg);
/* Does the register still hold what it held at the place? */
bool ki_gen_intact(const struct gen *g, unsigned int reg);
struct rm ki_gen_slot(const struct gen *g, unsigned int reg); /* of one that has been pushed */
/* Body of a scope, with what it needs pushed around it. */
void ki_gen_scope(struct gen *g, struct ki_node *body);

/* An operand as it can stand in an instruction. */
enum opnd_kind { OPND_IMM, OPND_REG, OPND_MEM };
struct opnd {
	uint8_t kind;
	bool own; /* OPND_REG: to be released */
	int32_t imm;
	struct rm m;
};

/* operand.c */
struct opnd ki_gen_operand(struct gen *g, const struct ki_node *n);
struct opnd ki_gen_reg_operand(struct gen *g, const struct ki_node *n); /* never IMM or MEM */
void ki_gen_drop(struct gen *g, const struct opnd *o);
/* A leaf that costs no instruction: a register of the place, a variable of 64 bits. */
bool ki_gen_leaf(const struct gen *g, const struct ki_node *n, struct opnd *o);
int ki_gen_place_reg(const struct ki_node *n); /* the register that it stands for, or -1 */
/* Where it is; a word of the thread only in WORDS_HERE. */
struct rm ki_gen_var(const struct gen *g, const struct ki_var *v, uint64_t index);
/* The register that a local is in, or -1. */
int ki_gen_local_reg(const struct gen *g, const struct ki_var *v);
/* What is left in %rax by itself goes there, if it can. */
bool ki_gen_comes_in_rax(const struct ki_node *n);
bool ki_fits_s32(uint64_t v);
/* Should the right one be evaluated first? */
bool ki_gen_swaps(const struct ki_node *l, const struct ki_node *r);

/* mov $imm32, %reg (%rdi and below), in that form only: the driver looks for it. */
static inline void ki_gen_number(struct gen *g, unsigned int reg, uint32_t v)
{
	uint8_t mov[] = {(uint8_t)(0xb8 + reg), (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
			 (uint8_t)(v >> 24)};

	ki_asm_bytes(&g->a, mov, sizeof(mov), false);
}

void ki_gen_expr(struct gen *g, const struct ki_node *n, unsigned int dest);
void ki_gen_simple(struct gen *g, struct ki_node *n);	    /* a statement */
void ki_gen_effect(struct gen *g, const struct ki_node *n); /* an expression without its value */
/*
 * A value of a record or of a key onto the stack: one word, or those of a string; %rax, %rsi and
 * %rdi have been saved if somebody needs them, but dest, which is free. Nothing stays claimed.
 */
void ki_gen_push_value(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c);

/* gen_index.c */
/* cmp $, %reg; ja; after it the caller puts the access. Returns the label to end at. */
uint32_t ki_gen_bound(struct gen *g, unsigned int index, uint32_t count);
struct rm ki_gen_at_index(const struct ki_node *n, unsigned int reg);
/* Of words that threads share: the address of the one whose index is in a register, which changes.
 */
struct rm ki_gen_shared_at_index(struct gen *g, const struct ki_node *n, unsigned int reg);
/* Add one to the bucket whose number is in a register, which changes; or is known now. */
void ki_gen_count(struct gen *g, const struct ki_node *n, unsigned int bucket);
void ki_gen_count_konst(struct gen *g, const struct ki_node *n, uint32_t bucket);
/* Is its effect left out now? Then to the label that is returned; all values are evaluated. */
#define KI_GEN_ALWAYS UINT32_MAX
uint32_t ki_gen_unless(struct gen *g, const struct ki_node *n);
void ki_gen_unless_end(struct gen *g, uint32_t label);

/* gen_cond.c: go to the label if it is true (sense) or false; or 0 or 1 into dest. */
void ki_gen_cond(struct gen *g, const struct ki_node *n, bool sense, uint32_t label);
void ki_gen_truth(struct gen *g, const struct ki_node *n, unsigned int dest);

/* gen_call.c */
void ki_gen_helper(struct gen *g, enum ki_helper h, struct ki_node *const *args, unsigned int n,
		   unsigned int dest);
/* Call it with what is in its registers, and give back what was claimed for them. */
void ki_gen_finish_helper(struct gen *g, enum ki_helper h, unsigned int dest, struct claims *c);
void ki_gen_move(struct gen *g, unsigned int dest, unsigned int from);
/* A result's %rax is free until there is one. */
void ki_gen_lend(struct gen *g, unsigned int dest);
void ki_gen_take_back(struct gen *g, unsigned int dest);

/* compile.c: %rax, and the first registers of parameters. */
uint16_t ki_gen_fixed_args(unsigned int n);

/* node/clock.c */
void ki_gen_tsc(struct gen *g, unsigned int dest);
void ki_gen_clock(struct gen *g, unsigned int dest);
void ki_gen_user_cpu(struct gen *g, unsigned int dest); /* in a process */

/* node/minmax.c: `index` is in a register, and in bounds; NULL: none. */
void ki_gen_minmax(struct gen *g, const struct ki_node *n, const struct rm *m, const struct opnd *v,
		   const struct opnd *index);
/* What its call claims, where it is called. */
uint16_t ki_gen_minmax_fixed(const struct ki_node *n);
/* node/update.c */
void ki_gen_store(struct gen *g, unsigned int size, const struct rm *m, const struct opnd *v);

/* gen_words.c */
struct rm ki_gen_word(const struct gen *g, const struct ki_var *v); /* in WORDS_HERE */
/* Look for it, and read it into dest: 0 if there is none. */
void ki_gen_word_read(struct gen *g, const struct ki_var *v, unsigned int dest);
/* Look for it: in a register to be released; to the label if there is none. */
struct rm ki_gen_word_look(struct gen *g, const struct ki_var *v, uint32_t none);
/* If statements from here on share one look for words, generate them; *stop is the next one. */
bool ki_gen_words_shared(struct gen *g, struct ki_node *first, const struct ki_node *end,
			 struct ki_node **stop);
/* If an `if` asks other things before it needs words, generate it; `no`: what comes after it. */
bool ki_gen_words_behind(struct gen *g, struct ki_node *n, uint32_t no);
/* Does every way through it use a word? */
bool ki_gen_words_always(const struct ki_node *n);
/* What is evaluated of a condition in any case. */
const struct ki_node *ki_gen_asked_first(const struct ki_node *n);

/* gen_run.c */
void ki_gen_stmt(struct gen *g, struct ki_node *n);
/* Statements of a list from the first until the end. */
void ki_gen_run(struct gen *g, struct ki_node *first, const struct ki_node *end);
/* The last statement that uses one of these locals; NULL. */
struct ki_node *ki_gen_user(struct ki_node *first, const struct ki_node *end, uint64_t locals);

#endif
