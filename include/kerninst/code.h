/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code: the instructions and basic blocks of one function, from its original bytes.
 */
#ifndef KERNINST_CODE_H
#define KERNINST_CODE_H

#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_insn_kind {
	KI_INSN_PLAIN,	       /* falls through */
	KI_INSN_JCC,	       /* conditional branch, direct */
	KI_INSN_JMP,	       /* jmp, direct */
	KI_INSN_JMP_INDIRECT,  /* jmp through register or memory, or to a retpoline thunk */
	KI_INSN_CALL,	       /* call, direct */
	KI_INSN_CALL_INDIRECT, /* call through register or memory, or to a retpoline thunk */
	KI_INSN_RET,	       /* ret, or jmp to the return thunk */
	KI_INSN_LOOP,	       /* loop, loope, loopne, jrcxz, jecxz */
	KI_INSN_TRAP,	       /* ud0, ud1, ud2, int3: never falls through, except a WARN's */
	KI_INSN_PAD,	       /* int3 or nop that nothing reaches: filler between code; in no
				  block, and its reason is KI_R_NO_CODE */
	KI_INSN_BAD,	       /* not decodable */
};

#define KI_INSN_RIP	     0x01 /* has a RIP-relative operand */
#define KI_INSN_READS_FLAGS  0x02 /* reads some arithmetic flag */
#define KI_INSN_WRITES_FLAGS 0x04 /* writes all six arithmetic flags, always */

/* Some arithmetic flag may be read here or after, before it is written: code placed before
   this instruction must keep the flags. */
#define KI_INSN_FLAGS_LIVE 0x08

/* A static branch: falls through or goes to target. Its kind is KI_INSN_JCC whether a nop or a
   jmp stands there now. */
#define KI_INSN_JUMP_LABEL 0x10

#define KI_INSN_NORETURN 0x20 /* a call after which no code of the function follows */
#define KI_INSN_EXTABLE	 0x40 /* has an exception row: a fault goes on at its fixup */
#define KI_INSN_BUG	 0x80 /* a ud2 with a row in the bug table: a BUG or WARN */

/* General registers, by their number in instructions. */
enum ki_reg {
	KI_RAX,
	KI_RCX,
	KI_RDX,
	KI_RBX,
	KI_RSP,
	KI_RBP,
	KI_RSI,
	KI_RDI,
	KI_R8,
	KI_R9,
	KI_R10,
	KI_R11,
	KI_R12,
	KI_R13,
	KI_R14,
	KI_R15,
};

/*
 * A set of registers and flags. A general register has three parts, since instructions may write
 * one and keep the others: bits 0-7, bits 8-15, bits 16-63. Vector and x87 registers, MXCSR and
 * the system flags are in no set: kernel code does not leave them to others.
 */
typedef uint64_t ki_regset;

#define KI_REGSET_LOW(r)   (1ull << (r))	   /* bits 0-7 of register r */
#define KI_REGSET_HIGH(r)  (1ull << (16 + (r)))	   /* bits 8-15 */
#define KI_REGSET_UPPER(r) (1ull << (32 + (r)))	   /* bits 16-63 */
#define KI_REGSET_REG(r)   (0x100010001ull << (r)) /* all of it */
#define KI_REGSET_GPRS	   0x0000ffffffffffffull
#define KI_REGSET_CF	   (1ull << 48)
#define KI_REGSET_PF	   (1ull << 49)
#define KI_REGSET_AF	   (1ull << 50)
#define KI_REGSET_ZF	   (1ull << 51)
#define KI_REGSET_SF	   (1ull << 52)
#define KI_REGSET_OF	   (1ull << 53)
#define KI_REGSET_FLAGS	   (0x3full << 48)
#define KI_REGSET_ALL	   (KI_REGSET_GPRS | KI_REGSET_FLAGS)

struct ki_insn {
	uint64_t addr;
	uint64_t target; /* of a direct branch or call, of a jump label; of a RIP-relative
			    operand: the address; else 0 */
	uint8_t len;
	uint8_t kind;	     /* enum ki_insn_kind */
	uint8_t flags;	     /* KI_INSN_* */
	uint8_t block_start; /* 1: begins a basic block */
	uint16_t reason;     /* KI_R_OK: it may be displaced; else why not */
	uint8_t field;	     /* offset of the 8- or 32-bit displacement in the bytes; 0: none */
	uint8_t tail;	     /* bytes after a RIP-relative displacement */
};

struct ki_block {
	uint64_t start, end;	     /* [start, end); padding is in no block */
	uint32_t first, count;	     /* its instructions, in the function's array */
	uint32_t first_edge, nedges; /* what leaves it, in the function's array */
	bool entered; /* code of another symbol jumps to it, as a cold part does into its parent */
};

enum ki_edge_kind {
	KI_EDGE_FALL,	       /* into the next block, by no jump */
	KI_EDGE_TAKEN,	       /* a conditional branch that is taken (a static branch's too) */
	KI_EDGE_JUMP,	       /* jmp inside the function or between it and its cold part */
	KI_EDGE_TABLE,	       /* by a jump table */
	KI_EDGE_FIXUP,	       /* an exception at the instruction: the fixup of its table row */
	KI_EDGE_CALL,	       /* call, direct; control comes back to the instruction after it */
	KI_EDGE_CALL_INDIRECT, /* call through register, memory or a retpoline thunk: `to` is 0 */
	KI_EDGE_TAIL,	       /* jmp or jcc to the start of another function */
	KI_EDGE_TAIL_INDIRECT, /* jmp through register, memory or a thunk, out of the function:
				  `to` is 0 */
	KI_EDGE_RETURN,	       /* ret, iret, jmp to a return thunk: `to` is 0 */
};

/* "fall", "call-indirect"...; "?" for what is none. In files, reports and pages. */
const char *ki_edge_kind_name(unsigned int kind);

#define KI_NONE UINT32_MAX /* no such number */

struct ki_edge {
	uint64_t to;	   /* address; 0: not known from the code */
	uint32_t insn;	   /* number of the instruction that it leaves from */
	uint32_t block;	   /* number of the block that it leaves from */
	uint32_t to_block; /* number of the block that it leads to; KI_NONE: outside */
	uint8_t kind;	   /* enum ki_edge_kind */
};

struct ki_function {
	struct ki_target *target;	/* not owned */
	const struct ki_symbol *symbol; /* owned by the target */
	uint64_t start, end;
	uint8_t *bytes;		 /* original bytes of [start, end) */
	struct ki_insn *insns;	 /* all of [start, end), in order */
	struct ki_block *blocks; /* in order of address; block 0 is the entry */
	struct ki_edge *edges;	 /* in order of the instructions that they leave from */
	uint32_t ninsns, nblocks, nedges;
	uint16_t reason; /* KI_R_OK, or why nothing in it can be instrumented */
	bool guessed; /* nothing says where one of its jump tables ends: it may lead elsewhere, too
		       */
};

/*
 * Analyse the function of a symbol.
 *
 * Block leaders:
 *    the entry
 *    targets of direct branches from inside
 *    those from other functions, found by scanning the target's whole text once (a cold
 *    part jumps into the middle of its parent)
 *    targets of jump labels and exception fixups
 *    what follows a branch, a return, a trap that does not continue
 *
 * Calls do not end a block.
 *
 * 0 also for a function that cannot be instrumented: then fn->reason says why, and whatever
 * could be decoded is there. Free with ki_function_free.
 */
int ki_function_analyze(struct ki_target *t, const struct ki_symbol *sym, struct ki_function **out,
			struct ki_err *err);
void ki_function_free(struct ki_function *fn); /* NULL is allowed */

/*
 * Analyse many functions at once. `each` is called for every function, in any order, from several
 * threads at the same time; `take` after it, one at a time, in the order of the symbols. One of
 * them may be NULL. fn is as ki_function_analyze makes it, but lives only until they return. An
 * error that one returns ends all; it is returned.
 */
typedef int ki_function_step(void *arg, size_t i, const struct ki_function *fn);
struct ki_functions_job {
	const struct ki_symbol *const *syms;
	size_t n;
	unsigned int threads; /* 0: one for each CPU that this process may use */
	ki_function_step *each, *take;
	void *arg;
	bool at_entries; /* of flags only what is so at their entries: elsewhere they may be said to
			    be live where they are not. Edges only where one may lead to the
			    function's first block; else there are none, but if `each` asks */
	ki_function_step *whole; /* with at_entries: what is called after `each` has returned
				    KI_FUNCTION_WHOLE, with all edges there */
};
#define KI_FUNCTION_WHOLE 1
int ki_functions_analyze(struct ki_target *t, const struct ki_functions_job *job,
			 struct ki_err *err);

/*
 * What an instruction compares: the values of C's comparison after it, as far as they can be told.
 *
 *	cmp a, b	a and b; a number is always the first
 *	test a, a	0 and a
 *	test a, b	a and b; a number, which is a mask, is always the first
 *
 * Registers are general ones but %rsp; memory is the kernel's own. Not told, which none of a
 * compiler's is or needs to be: operands with %fs or %gs or 32-bit addresses; a register compared
 * with itself, instructions with a row in the exception table (what they read may be a user's).
 * Other instructions that set flags (sub, and, bt, dec) are no comparisons.
 */
enum ki_compared_kind {
	KI_COMPARED_NUMBER,   /* number, sign-extended from the comparison's size */
	KI_COMPARED_REGISTER, /* reg */
	KI_COMPARED_MEMORY,   /* [base + index * scale + number] */
};

#define KI_COMPARED_NONE 0xff /* no base, no index */

struct ki_compared {
	uint8_t kind;		    /* enum ki_compared_kind */
	uint8_t reg;		    /* enum ki_reg */
	bool high;		    /* its bits 8 to 15 */
	uint8_t base, index, scale; /* enum ki_reg, or KI_COMPARED_NONE; 1, 2, 4, 8 */
	int64_t number;
};

struct ki_insn_comparison {
	uint8_t size; /* bytes: 1, 2, 4, 8 */
	struct ki_compared first, second;
};

/* Does the instruction of fn compare? */
bool ki_insn_compares(const struct ki_function *fn, const struct ki_insn *in,
		      struct ki_insn_comparison *out);

/*
 * Where an indirect call or jump of fn goes: to what the register holds, of a thunk too, or to the
 * address in memory. False: it is none, or its operand has %fs, %gs or a 32-bit address.
 */
bool ki_insn_leads(const struct ki_function *fn, const struct ki_insn *in, struct ki_compared *out);

/* The instruction that starts at addr, or NULL. O(log n). */
const struct ki_insn *ki_function_insn_at(const struct ki_function *fn, uint64_t addr);

/* The block that covers addr, or NULL. O(log n). */
const struct ki_block *ki_function_block_at(const struct ki_function *fn, uint64_t addr);

/*
 * Intel-syntax text of an instruction, branch targets as function+offset: "call vfs_read",
 * "je do_sys_openat2+0x44". Truncated to len.
 */
void ki_insn_format(const struct ki_function *fn, const struct ki_insn *in, char *buf, size_t len);

enum ki_syntax { KI_SYNTAX_INTEL, KI_SYNTAX_ATT };

/*
 * The same in either syntax. RIP-relative operands as their address, with the symbol's name
 * where one of the target's text symbols covers it. bytes: what stands at the instruction
 * (the live view, perhaps); NULL: the function's own, original bytes.
 */
void ki_insn_format_as(const struct ki_function *fn, const struct ki_insn *in, const uint8_t *bytes,
		       enum ki_syntax syntax, char *buf, size_t len);

/*
 * "rax, cl, dx, flags": names of the whole registers and groups of a set, "-" if it is empty.
 * A register of which only parts are in the set is named by its part: al, ah, ax, or "rax:16-63".
 * All six flags: "flags"; else each by its name: "cf, zf". Truncated to len. Returns buf.
 */
char *ki_regset_format(ki_regset set, char *buf, size_t len);

#ifdef __cplusplus
}
#endif

#endif
