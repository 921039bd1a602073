/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Snippets: what is inserted, as native position-independent code with fixups.
 *
 * A snippet is a tree of typed nodes: one statement, made of statements and expressions. It is
 * built by the functions below, checked, and then compiled for a place: into code that runs inline
 * there, in registers that are dead at the place, and leaves everything else as it was. The same
 * tree can be run by an interpreter over a model machine, which says what the code must do.
 *
 * Building
 *  - Nodes belong to their snippet and live as long as it does. A node is used once: as the child
 *    of one other, or as the body.
 *  - Callers need not look at what builders return. After the first failure this builder
 *    and all later ones return NULL. Failures are memory, a wrong argument, a child of another
 *    snippet or used twice. ki_snippet_check says so, and all that compile, run or print it.
 *  - A snippet is used by one thread at a time, also to compile it.
 *  - Nothing is evaluated that is not asked for: `&&`, `||` and the conditional expression evaluate
 *    what they need. In what order the operands of other expressions are evaluated is not said,
 *    except that calls (ki_expr_call, ki_expr_helper) come from left to right.
 *
 * Values
 *  - Every value is held in 64 bits, extended as its type says. Arithmetic is done in 64 bits and
 *    wraps: its result is u64 if one operand's type is unsigned, else i64. A cast truncates to its
 *    type and extends.
 *  - Division, remainder, right shift and comparison are unsigned if one operand's type is. Only
 *    the lower 6 bits of a shift's count are used. x / 0 = 0, x % 0 = x; the least number / -1 is
 *    itself, and % -1 is 0.
 *  - Comparisons, `&&`, `||` and `!` yield 0 or 1, of type i64.
 *  - A string (ki_expr_string) is not a number: it stands only where this header says so.
 *
 * Memory
 *  - Memory at addresses that are computed is read, and never written: what a snippet writes are
 *    variables, rows of tables and records, whose places the driver knows and checks before it
 *    installs the code. Code that writes elsewhere it could not tell from code that destroys the
 *    kernel. Who has to write calls a function for it, an instrument in C.
 */
#ifndef KERNINST_SNIPPET_H
#define KERNINST_SNIPPET_H

#include <stdbool.h>
#include <stddef.h>

#include "kerninst/code.h"
#include "kerninst/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Code with fixups, ready to be a chunk. */
struct ki_code {
	uint8_t len;
	uint8_t nfix;
	struct ki_fixup fix[KI_FIXUPS];
	uint8_t code[KI_CHUNK_MAX];
};

/*
 * Add one to a counter of this CPU. One instruction, so exact against interrupts, NMIs and
 * migration:
 *
 *	incq %gs:counter		65 48 ff 04 25 disp32
 *
 * If the flags are live at the place, they are kept in %rax meanwhile:
 *
 *	push %rax			50
 *	lahf				9f
 *	seto %al			0f 90 c0
 *	incq %gs:counter		65 48 ff 04 25 disp32
 *	add  $127, %al			04 7f
 *	sahf				9e
 *	pop  %rax			58
 */
void ki_snippet_count(struct ki_code *out, uint32_t counter, bool keep_flags);

/*
 * The same of a global variable, of which there may be more: all CPUs take turns.
 *
 *	lock incq global(%rip)		f0 48 ff 05 disp32
 */
void ki_snippet_count_global(struct ki_code *out, uint32_t global, bool keep_flags);

/*
 * Note that control was here: byte 0 to 7 of a global variable becomes 1. It changes no flags.
 *
 *	movb $1, byte(%rip)		c6 05 disp32 01
 */
void ki_snippet_mark(struct ki_code *out, uint32_t global, unsigned int byte);

struct ki_snippet;
struct ki_node;
int ki_snippet_new(struct ki_snippet **out);
void ki_snippet_free(struct ki_snippet *s); /* NULL is allowed */

/*
 * The snippet is in the kernel, and about a thread of a process: parameter `param` of the function
 * where it stands is where its registers are (struct pt_regs). What is built from now on has
 * registers, parameters, what is returned, KI_FACT_ADDR and KI_FACT_PLACE of the thread, where it
 * is: `at` says what there is. Memory and strings are its process's, as far as they can be read
 * without waiting; else 0, and empty. at NULL: what is built from now on is the kernel's again.
 */
struct ki_site_regs;
void ki_snippet_of_thread(struct ki_snippet *s, unsigned int param, const struct ki_site_regs *at);

enum ki_type { KI_I8, KI_I16, KI_I32, KI_I64, KI_U8, KI_U16, KI_U32, KI_U64, KI_TYPES };

/*
 * Variables.
 *
 * KI_VAR_CPU: counters of KI_IOC_COUNTERS, one of each CPU; `first` is the first one's number. To
 * assign, add, subtract, or, and is one instruction: exact against whatever else runs on the CPU,
 * and against migration.
 *
 * KI_VAR_GLOBAL: a variable of KI_IOC_GLOBALS, of all CPUs. Adding, subtracting, or, and are
 * atomic.
 *
 * KI_VAR_THREAD: a word of the current thread, 64 bits, 0 at first; `first` is a number of
 * KI_IOC_WORDS. To assign, add, subtract, or, and is one instruction. A thread without words (there
 * was no memory for them) reads 0 and writes nothing.
 *
 * KI_VAR_LOCAL: a value of this run of the snippet, 0 at first, in a register or on the stack.
 * `first` (0..KI_LOCALS - 1) tells one from the other; all uses of one have one type. Those that
 * hold something at the same time must have room on the stack, beside what is calculated: about
 * forty.
 *
 * A scalar may have any type; it takes the first bytes of its slot, and the others stay 0. A vector
 * (count > 1) is per CPU, of u64 or i64. An index out of its range (taken as unsigned) reads 0
 * and writes nothing.
 *
 * Minimum and maximum compare, and if the variable would change call a helper that compares again
 * until no other has come between: no value that was given is lost, also if other CPUs, interrupts
 * or NMIs give one. One that changes nothing costs two instructions. They start from the 0 that
 * slots begin with: for a minimum of unsigned numbers keep the maximum of the complement.
 */
enum ki_var_kind { KI_VAR_CPU, KI_VAR_GLOBAL, KI_VAR_THREAD, KI_VAR_LOCAL, KI_VAR_KINDS };

#define KI_LOCALS 64

struct ki_var {
	const char *name; /* for ki_snippet_format; NULL: made from kind and number. Copied. */
	uint8_t kind;	  /* enum ki_var_kind */
	uint8_t type;	  /* enum ki_type */
	uint32_t first;
	uint32_t count; /* 0 or 1: a scalar */
};

/*
 * A table of the session (kerninst/table.h): rows of `values` words each, that are found by keys of
 * `keys` words. `shared`: there is one for all CPUs, as an associative array is; else each CPU has
 * its own, and who reads adds them up. A key is a tuple of expressions, each of which gives a word,
 * extended as its type says.
 */
struct ki_table_var {
	const char *name; /* for ki_snippet_format; NULL: made from the number. Copied. */
	uint32_t number;  /* ki_table_var_of fills it in */
	uint32_t keys, values;
	bool shared;
};

/* ---- expressions ---- */

enum ki_unary { KI_NEG, KI_NOT /* ~ */, KI_LNOT /* ! */, KI_UNARIES };

enum ki_binary {
	KI_ADD,
	KI_SUB,
	KI_MUL,
	KI_DIV,
	KI_MOD,
	KI_AND,
	KI_OR,
	KI_XOR,
	KI_SHL,
	KI_SHR,
	KI_EQ,
	KI_NE,
	KI_LT,
	KI_LE,
	KI_GT,
	KI_GE,
	KI_LAND, /* && */
	KI_LOR,	 /* || */
	KI_BINARIES
};

/* What a point knows without arguments, and its type. */
enum ki_fact {
	KI_FACT_RETVAL,	  /* u64: %rax; only where struct ki_site_regs says at_exit */
	KI_FACT_TSC,	  /* u64: rdtsc */
	KI_FACT_NANOTIME, /* u64: helper */
	KI_FACT_CPU,	  /* u32 */
	KI_FACT_PID,	  /* u32: the thread's number */
	KI_FACT_TGID,	  /* u32: the process's */
	KI_FACT_TASK,	  /* u64: the address of the current task */
	KI_FACT_COMM0,	  /* u64: bytes 0-7 of its name */
	KI_FACT_COMM1,	  /* u64: bytes 8-15 */
	/* u64: the thread's own clock, in ticks of the time stamp counter for which it ran; only
	   while the session has words (KI_IOC_WORDS). A switch to another thread and back in the
	   middle of reading it is noticed, and it is read once more. A thread without words reads
	   the time stamp counter itself. */
	KI_FACT_CLOCK,
	KI_FACT_MINFLT, /* u64: the thread's page faults without I/O */
	KI_FACT_MAJFLT, /* u64: with I/O */
	KI_FACT_NVCSW,	/* u64: how often it gave up its CPU */
	KI_FACT_NIVCSW, /* u64: how often it was taken from it */
	KI_FACT_UID,	/* u32: helper */
	KI_FACT_CGROUP, /* u64: helper; the number of its control group */
	KI_FACT_ADDR,	/* u64: of the place: addr of struct ki_site_regs */
	KI_FACT_PLACE,	/* u64: which place it is: KI_PLACE_FACTS, place of struct ki_site_regs */
	KI_FACTS
};

#define KI_PARAMS    32 /* parameters 0..31 of a function */
#define KI_CALL_ARGS 6	/* arguments of a call */

struct ki_node *ki_expr_const(struct ki_snippet *s, enum ki_type type, uint64_t value);
struct ki_node *ki_expr_var(struct ki_snippet *s, const struct ki_var *v); /* a scalar */
struct ki_node *ki_expr_index(struct ki_snippet *s, const struct ki_var *v, struct ki_node *index);
struct ki_node *ki_expr_fact(struct ki_snippet *s, enum ki_fact fact);

/* A register as it is at the point, u64; KI_RSP too. */
struct ki_node *ki_expr_reg(struct ki_snippet *s, enum ki_reg reg);

/*
 * Parameter n, u64, only where struct ki_site_regs says at_entry: %rdi %rsi %rdx %rcx %r8 %r9, then
 * the stack. What the upper bits of narrower ones hold is the caller's business: cast.
 */
struct ki_node *ki_expr_param(struct ki_snippet *s, unsigned int n);

/* Kernel memory; 0 where nothing can be read. */
struct ki_node *ki_expr_load(struct ki_snippet *s, enum ki_type type, struct ki_node *addr);

/* Is this the name of the current task? At most 15 bytes. */
struct ki_node *ki_expr_comm_is(struct ki_snippet *s, const char *name);

/*
 * The string at an address of the kernel, or of the current process: `words` words of 8 bytes, 1 to
 * KI_STRING_WORDS: what does not fit into words * 8 - 1 bytes is cut off, and after its end there
 * are zeros. What cannot be read up to there (of a process: without waiting) is an empty string. A
 * value of records, which it takes so many words of; and:
 */
struct ki_node *ki_expr_string(struct ki_snippet *s, struct ki_node *addr, unsigned int words,
			       bool user);

/* Is the string text, or with `prefix`, does it begin with it? 0 or 1, i64. At most words * 8 - 2
   bytes of text, so that a string that was cut off is not taken for it; of a prefix words * 8 - 1.
 */
struct ki_node *ki_expr_string_is(struct ki_snippet *s, struct ki_node *string, const char *text,
				  bool prefix);

/*
 * The number of the stack here, u64, of the session's table (ki_stacks_number): of the kernel's, or
 * of the one with which the current process entered the kernel; without the `skip` innermost frames
 * (at most 255). 0: there is none, or no place for it.
 */
struct ki_node *ki_expr_stack(struct ki_snippet *s, uint32_t table, unsigned int skip, bool user);
/* How many frames the kernel's has, u64, without those; the table says nothing of it. */
struct ki_node *ki_expr_depth(struct ki_snippet *s, uint32_t table, unsigned int skip);

/*
 * An operation on strings of the session's table (ki_texts_number), at most 3 arguments: a
 * string's number, u64, or a number, i64, as enum ki_text_op says.
 */
struct ki_node *ki_expr_text(struct ki_snippet *s, uint32_t table, enum ki_text_op op,
			     struct ki_node *const *args, unsigned int nargs);

/* The value, after a statement that is no list and no `if`. */
struct ki_node *ki_expr_behind(struct ki_snippet *s, struct ki_node *stmt, struct ki_node *value);

struct ki_node *ki_expr_cast(struct ki_snippet *s, enum ki_type type, struct ki_node *x);
/* The lower 2, 4 or 8 bytes in the other order, as a value of that type. */
struct ki_node *ki_expr_swap(struct ki_snippet *s, enum ki_type type, struct ki_node *x);
struct ki_node *ki_expr_unary(struct ki_snippet *s, enum ki_unary op, struct ki_node *x);
struct ki_node *ki_expr_binary(struct ki_snippet *s, enum ki_binary op, struct ki_node *l,
			       struct ki_node *r);
struct ki_node *ki_expr_cond(struct ki_snippet *s, struct ki_node *c, struct ki_node *yes,
			     struct ki_node *no);

/* A value of the row that a key has in a table. Keys are evaluated from left to right. */
struct ki_row_value {
	const struct ki_table_var *table;
	uint32_t index; /* of the value */
	struct ki_node *const *keys;
	unsigned int nkeys;
};
/* Of a shared table, u64; 0 if there is no row. */
struct ki_node *ki_expr_table(struct ki_snippet *s, const struct ki_row_value *v);

/* A helper of the driver, u64 (kerninst_helpers.def); not what there is a node of its own for. */
struct ki_node *ki_expr_helper(struct ki_snippet *s, enum ki_helper helper,
			       struct ki_node *const *args, unsigned int nargs);

/*
 * Call the function of the kernel or a module at addr, which must follow the C calling convention
 * and not sleep. 0 if it must not be called now: helper ENTER decides, after the arguments have
 * been evaluated. name: for ki_snippet_format; NULL: its address.
 */
struct ki_node *ki_expr_call(struct ki_snippet *s, enum ki_type type, uint64_t addr,
			     const char *name, struct ki_node *const *args, unsigned int nargs);

/*
 * The same call (of ki_expr_call), whose function may write records with this id (below
 * KI_HIT_IDS) into the session's ring: an instrument function (kerninst/callable.h).
 */
struct ki_hit {
	uint32_t ring; /* ki_ring_number */
	uint32_t id;
};
struct ki_node *ki_expr_call_recording(struct ki_snippet *s, struct ki_node *call,
				       const struct ki_hit *hit);

/* ---- statements ---- */

enum ki_update {
	KI_SET,
	KI_UPDATE_ADD,
	KI_UPDATE_SUB,
	KI_UPDATE_MIN,
	KI_UPDATE_MAX,
	KI_UPDATE_OR,
	KI_UPDATE_AND,
	KI_UPDATES
};

/* A list with one more statement at its end; list NULL: a new list. Returns the list. */
struct ki_node *ki_stmt_append(struct ki_snippet *s, struct ki_node *list, struct ki_node *stmt);

/* otherwise: NULL if there is nothing to do then. */
struct ki_node *ki_stmt_if(struct ki_snippet *s, struct ki_node *cond, struct ki_node *then,
			   struct ki_node *otherwise);

/* Minimum and maximum compare as the variable's type says. index: NULL for a scalar. */
struct ki_node *ki_stmt_update(struct ki_snippet *s, enum ki_update op, const struct ki_var *v,
			       struct ki_node *index, struct ki_node *value);

/*
 * The same statement, a change of a variable or of a row, or a record, with a condition: once all
 * its values have been evaluated, it does nothing if the local variable v (of 64 bits) is not 0.
 * Not of a minimum or maximum.
 */
struct ki_node *ki_stmt_unless(struct ki_snippet *s, struct ki_node *stmt, const struct ki_var *v);

/* For its effect. */
struct ki_node *ki_stmt_eval(struct ki_snippet *s, struct ki_node *expr);

/*
 * Count a value in a histogram with buckets by powers of two: v is a vector of KI_LOG2_BUCKETS.
 * Bucket 0 counts zeros, bucket n values from 2^(n-1) to 2^n - 1; negative ones are taken as
 * unsigned.
 */
#define KI_LOG2_BUCKETS 65
struct ki_node *ki_stmt_log2(struct ki_snippet *s, const struct ki_var *v, struct ki_node *value);

/*
 * Buckets of equal width: v is a vector of ki_linear_buckets. Bucket 0 counts what is less than
 * low, the last what is high or more; comparison is signed as the value is. 0 <= low if it is
 * unsigned.
 */
struct ki_linear {
	int64_t low, high; /* low < high */
	uint64_t step;	   /* 1 or more; what is left over makes a narrower bucket before high */
};
struct ki_node *ki_stmt_linear(struct ki_snippet *s, const struct ki_var *v,
			       const struct ki_linear *l, struct ki_node *value);

/* All buckets, both ends' included; 0: it cannot be so, or has more than 2^20. */
uint32_t ki_linear_buckets(const struct ki_linear *l);

/* The values that a bucket counts: from *low to *high, both included. -EINVAL: no such bucket. */
int ki_log2_bounds(unsigned int bucket, uint64_t *low, uint64_t *high);
int ki_linear_bounds(const struct ki_linear *l, uint32_t bucket, int64_t *low, int64_t *high);

/*
 * Write a record into the session's ring: id, the time, and these values, each as 64 bits, extended
 * as its type says, or as many words as a string has; at most KI_RECORD_WORDS. ring:
 * ki_ring_number. Values are evaluated from left to right.
 */
struct ki_node *ki_stmt_record(struct ki_snippet *s, uint32_t ring, uint32_t id,
			       struct ki_node *const *values, unsigned int nvalues);

/*
 * Change a value, or those from it on, of a row, which is made if it is not there: enum ki_table_op
 * says how; not GET. SET and DELETE are for shared tables; DELETE has no value (NULL), and index 0.
 * The value is evaluated after the keys.
 */
struct ki_node *ki_stmt_table(struct ki_snippet *s, enum ki_table_op op,
			      const struct ki_row_value *v, struct ki_node *value);

/* Count the value in one of the ki_linear_buckets values from that index on: ki_stmt_linear. */
struct ki_node *ki_stmt_table_linear(struct ki_snippet *s, const struct ki_row_value *v,
				     const struct ki_linear *l, struct ki_node *value);

/* The statement that the snippet is. Once. */
void ki_snippet_body(struct ki_snippet *s, struct ki_node *stmt);

/* ---- what can be done with it ---- */

/*
 * What instruments are told of a place beside its address (struct ki_here of
 * kerninst/instrument.h): its offset in its function, enum ki_where, the code's order among what
 * stands there, and a number for who measures.
 */
#define KI_PLACE_FACTS(offset, where, order, number)                                               \
	(((uint64_t)(offset)&0xffffff) | (uint64_t)(uint8_t)(where) << 24 |                        \
	 (uint64_t)(uint16_t)(order) << 32 | (uint64_t)(uint16_t)(number) << 48)

/* What a place offers. All zero: everything is live, nothing is known. */
struct ki_site_regs {
	ki_regset dead;	 /* may be overwritten: registers of which all parts are in it; the flags
			    if all six are */
	uint32_t pushed; /* at_entry: words that the function has pushed since */
	bool at_entry;	 /* parameters are still where the caller has put them */
	bool at_exit;	 /* %rax holds the value returned */
	bool user;	 /* in a process: kerninst/process.h says what it may have */
	uint64_t addr;	 /* of the place: what its stacks begin with */
	uint64_t place;	 /* KI_PLACE_FACTS */
};

/* Where in the code a line of ki_snippet_format begins; line 0: what keeps registers and flags. */
struct ki_code_line {
	uint32_t off;
	uint32_t line; /* 1, 2, ... */
};

/* The code of a long chunk; fixups in order of their offsets. All zero: empty. */
struct ki_long_code {
	uint8_t *code;
	struct ki_fixup *fix;
	struct ki_code_line *lines; /* in order of offsets; the first at 0 */
	uint32_t len, nfix, nlines;
	uint32_t ninsns;
};

/* 0, or what is wrong with how it was built. site: NULL, or also whether it can stand there. */
int ki_snippet_check(const struct ki_snippet *s, const struct ki_site_regs *site,
		     struct ki_err *err);

/*
 * Compile for a place. -E2BIG: more than KI_LONG_MAX bytes, KI_LONG_FIXUPS fixups, KI_LONG_DEPTH
 * words on the stack, or more values at once than there are registers. Free with ki_long_code_free.
 */
int ki_snippet_compile(const struct ki_snippet *s, const struct ki_site_regs *site,
		       struct ki_long_code *out, struct ki_err *err);
void ki_long_code_free(struct ki_long_code *c);

/* Its source, one statement a line, each ended by a newline. Free *out with ki_free(). */
int ki_snippet_format(const struct ki_snippet *s, char **out, struct ki_err *err);

/* The source with the generated instructions below each line. Free *out with ki_free(). */
int ki_snippet_listing(const struct ki_snippet *s, const struct ki_long_code *code, char **out,
		       struct ki_err *err);

/*
 * A model machine: what a snippet can see and change. Numbers of slots that are not there read 0
 * and are not written.
 */
struct ki_machine {
	uint64_t regs[16];  /* by enum ki_reg */
	uint64_t *counters; /* of this CPU */
	uint64_t *globals;
	uint64_t *thread; /* words of the current thread; nthread 0: it has none */
	uint32_t ncounters, nglobals, nthread;
	uint64_t tsc, nanotime, task;
	uint64_t (*event)(void *arg, uint64_t which);	/* helper EVENT; NULL: 0 */
	uint64_t (*signal)(void *arg, uint64_t number); /* SIGNAL; NULL: 0 */
	uint64_t clock, minflt, majflt, nvcsw, nivcsw, cgroup;
	uint64_t udepth, ucaller; /* helpers UDEPTH, UCALLER */
	uint32_t cpu, pid, tgid, uid;
	bool may_call; /* helper ENTER */
	char comm[16];
	void *arg;
	/* `size` bytes of kernel memory, zero-extended; 0: it cannot be read. NULL: always. */
	uint64_t (*load)(void *arg, uint64_t addr, unsigned int size);
	/* The same of the current process. NULL: 0. */
	uint64_t (*user)(void *arg, uint64_t addr, unsigned int size);
	/* 1: they cannot be read. NULL: 0. */
	uint64_t (*unreadable)(void *arg, uint64_t addr, uint64_t size);
	uint64_t (*call)(void *arg, uint64_t addr, const uint64_t *args, unsigned int nargs);
	/* The string there, at most `most` bytes, to `to`, which is all 0. NULL: it is empty. */
	void (*string)(void *arg, uint64_t addr, bool user, char *to, size_t most);
	/* The number of the stack, or how deep it is: helpers STACK, USTACK, DEPTH. NULL: 0. */
	uint64_t (*stack)(void *arg, uint32_t table, unsigned int skip, enum ki_helper helper);
	/* What helper TEXT does; what: KI_TEXT. NULL: 0. */
	uint64_t (*text)(void *arg, uint32_t what, const uint64_t args[3]);
	/* A record is written; NULL: it is lost. */
	void (*record)(void *arg, uint32_t id, const uint64_t *values, unsigned int nvalues);
	/* What helper TABLE does, and its result; `what` as KI_TABLE_OP. NULL: nothing, 0. */
	uint64_t (*table)(void *arg, uint32_t what, const uint64_t *keys, unsigned int nkeys,
			  uint64_t value);
};

/* Run it: what the compiled code does at a place, done step by step. */
int ki_snippet_run(const struct ki_snippet *s, const struct ki_site_regs *site,
		   struct ki_machine *m, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
