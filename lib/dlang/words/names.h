/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the language knows by itself: built-in variables and functions, a row each.
 */
#ifndef KI_DLANG_NAMES_H
#define KI_DLANG_NAMES_H

#include "dlang/program.h"

enum ki_d_builtin_kind {
	KI_D_B_FACT,   /* number: enum ki_fact */
	KI_D_B_ARG,    /* number: of the argument */
	KI_D_B_COMM,   /* the thread's name */
	KI_D_B_PROBE,  /* number: the field of the probe's description, 0 to 3 */
	KI_D_B_ID,     /* the probe's number */
	KI_D_B_EPID,   /* and that of this clause at it */
	KI_D_B_TIME,   /* nanoseconds since the machine began */
	KI_D_B_WALL,   /* nanoseconds since 1970 */
	KI_D_B_VTIME,  /* nanoseconds for which the thread has run */
	KI_D_B_ERRNO,  /* of what is returned */
	KI_D_B_REG,    /* number: enum ki_reg */
	KI_D_B_ADDR,   /* of the place */
	KI_D_B_CALLER, /* where the function returns to */
	KI_D_B_FRAMES, /* of stacks; number: enum ki_helper */
};

struct ki_d_builtin {
	const char *name;
	uint8_t kind; /* enum ki_d_builtin_kind */
	uint8_t number;
	struct ki_d_type type;
	const char *written; /* its type in C, if the kernel's types are known */
};

/* constants.c: a constant that programs find declared: 0, or -ENOENT. */
int ki_d_constant_find(const char *name, struct ki_d_type *type, int64_t *value);

const struct ki_d_builtin *ki_d_builtin_find(const char *name);
/* regs[i], with i as uregs[] has it; NULL: there is none. */
#define KI_D_REGISTER_RIP 16
const struct ki_d_builtin *ki_d_builtin_register(uint64_t i);

enum ki_d_function_kind {
	KI_D_F_PRINTF,
	KI_D_F_TRACE,
	KI_D_F_PRINTA,
	KI_D_F_PRINT,
	KI_D_F_EXIT,
	KI_D_F_STACK, /* an action, a key */
	KI_D_F_USTACK,
	KI_D_F_PLACE, /* an action, a key; number: enum ki_d_place */
	KI_D_F_CLEAR,
	KI_D_F_TRUNC,
	KI_D_F_NORMALIZE,
	KI_D_F_SYSTEM,
	KI_D_F_FREOPEN,
	KI_D_F_FTRUNCATE,
	KI_D_F_SETOPT,
	KI_D_F_RAISE, /* without an argument SIGSTOP */
	KI_D_F_NEVER, /* known, and refused when it is to run */
	KI_D_F_TRACEMEM,
	KI_D_F_PCAP,
	KI_D_F_COMMIT,
	KI_D_F_DISCARD,
	KI_D_F_DENORMALIZE,
	KI_D_F_SPECULATE,
	KI_D_F_SPECULATION,
	KI_D_F_MEMORY, /* scratch memory; number: enum ki_text_op */
	KI_D_F_TEXT,   /* of strings; number: enum ki_text_op */
	KI_D_F_TOKEN,  /* strtok() */
	KI_D_F_RANDOM,
	KI_D_F_PROGENY,
	KI_D_F_SWAP, /* number: enum ki_type */
	KI_D_F_AGG,  /* number: of the aggregating function */
};

struct ki_d_function {
	const char *name;
	uint8_t kind; /* enum ki_d_function_kind */
	uint8_t number;
	uint8_t least, most; /* arguments */
	const char *args;    /* of KI_D_F_TEXT: s a string, n a number, p a pointer, each */
	int64_t usual[3];    /* values of those that are left out */
};

/* Does it give a number? */
static inline bool ki_d_text_is_number(const struct ki_d_function *f)
{
	return f->number == KI_TEXT_FIRST || f->number == KI_TEXT_LAST ||
	       f->number == KI_TEXT_COMPARE || f->number == KI_TEXT_VALUE ||
	       f->number == KI_TEXT_LENGTH || f->number == KI_TEXT_BYTE;
}

/* Is its first argument an address? */
static inline bool ki_d_text_may_fault(const struct ki_d_function *f)
{
	return f->number == KI_TEXT_KERNEL || f->number == KI_TEXT_USER ||
	       f->number == KI_TEXT_IPV4 || f->number == KI_TEXT_IPV6 || f->number == KI_TEXT_PATH;
}

const struct ki_d_function *ki_d_function_find(const char *name);
static inline bool ki_d_is_action(const struct ki_d_function *f)
{
	return f->kind <= KI_D_F_DENORMALIZE;
}

/* ... which is also a value: of a key, of printf(). */
static inline bool ki_d_is_value(const struct ki_d_function *f)
{
	return f->kind == KI_D_F_STACK || f->kind == KI_D_F_USTACK || f->kind == KI_D_F_PLACE;
}

/* ... which is none: a statement of its own. */
static inline bool ki_d_has_no_value(const struct ki_d_function *f)
{
	return (ki_d_is_action(f) || f->kind == KI_D_F_SPECULATE) && !ki_d_is_value(f);
}

static inline bool ki_d_ends_speculation(const struct ki_d_function *f)
{
	return f->kind == KI_D_F_COMMIT || f->kind == KI_D_F_DISCARD;
}

enum ki_d_agg_kind {
	KI_D_COUNT,
	KI_D_SUM,
	KI_D_AVG,
	KI_D_MIN,
	KI_D_MAX,
	KI_D_STDDEV,
	KI_D_QUANTIZE,
	KI_D_LQUANTIZE,
	KI_D_LLQUANTIZE,
	KI_D_AGGS
};

/* Of a call that aggregates, how often its value counts; NULL: once. */
struct ki_d_node *ki_d_weight(const struct ki_d_node *call);

extern const struct ki_d_agg_function ki_d_agg_functions[KI_D_AGGS];

static inline enum ki_d_agg_kind ki_d_agg_kind(const struct ki_d_agg *a)
{
	return (enum ki_d_agg_kind)(a->fn - ki_d_agg_functions);
}

/*
 * elsewhere.c: what Linux has for what programs of other systems name: a probe that is not there, a
 * variable of the kernel, a member; NULL: nothing is known of it.
 */
const char *ki_d_elsewhere_probe(const char *const field[4]);
const char *ki_d_elsewhere_variable(const char *name);
const char *ki_d_elsewhere_member(const char *type, const char *member);

#endif
