// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/words/names.h"

#include <string.h>

#define NUM(t)                                                                                     \
	{                                                                                          \
		.base = KI_D_INT, .num = (t)                                                       \
	}
#define STRING                                                                                     \
	{                                                                                          \
		.base = KI_D_STRING                                                                \
	}
#define ARG(n)                                                                                     \
	{                                                                                          \
		"arg" #n, KI_D_B_ARG, n, NUM(KI_I64), NULL                                         \
	}

static const struct ki_d_builtin builtins[] = {
	ARG(0),
	ARG(1),
	ARG(2),
	ARG(3),
	ARG(4),
	ARG(5),
	ARG(6),
	ARG(7),
	ARG(8),
	ARG(9),
	{"caller", KI_D_B_CALLER, 0, NUM(KI_U64), NULL},
	{"cpu", KI_D_B_FACT, KI_FACT_CPU, NUM(KI_U32), NULL},
	{"curthread",
	 KI_D_B_FACT,
	 KI_FACT_TASK,
	 {.base = KI_D_VOID, .stars = 1},
	 "struct task_struct *"},
	{"epid", KI_D_B_EPID, 0, NUM(KI_U32), NULL},
	{"errno", KI_D_B_ERRNO, 0, NUM(KI_I32), NULL},
	{"execname", KI_D_B_COMM, 0, STRING, NULL},
	{"id", KI_D_B_ID, 0, NUM(KI_U32), NULL},
	{"pid", KI_D_B_FACT, KI_FACT_TGID, NUM(KI_I32), NULL},
	{"probeprov", KI_D_B_PROBE, 0, STRING, NULL},
	{"probemod", KI_D_B_PROBE, 1, STRING, NULL},
	{"probefunc", KI_D_B_PROBE, 2, STRING, NULL},
	{"probename", KI_D_B_PROBE, 3, STRING, NULL},
	{"stackdepth", KI_D_B_FRAMES, KI_HELPER_DEPTH, NUM(KI_U32), NULL},
	{"tid", KI_D_B_FACT, KI_FACT_PID, NUM(KI_I32), NULL},
	{"timestamp", KI_D_B_TIME, 0, NUM(KI_I64), NULL},
	{"ucaller", KI_D_B_FRAMES, KI_HELPER_UCALLER, NUM(KI_U64), NULL},
	{"uid", KI_D_B_FACT, KI_FACT_UID, NUM(KI_U32), NULL},
	{"ustackdepth", KI_D_B_FRAMES, KI_HELPER_UDEPTH, NUM(KI_U32), NULL},
	{"vtimestamp", KI_D_B_VTIME, 0, NUM(KI_I64), NULL},
	{"walltimestamp", KI_D_B_WALL, 0, NUM(KI_I64), NULL},
};

const struct ki_d_builtin *ki_d_builtin_find(const char *name)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++)
		if (!strcmp(name, builtins[i].name))
			return &builtins[i];
	return NULL;
}

#define REG(r)                                                                                     \
	{                                                                                          \
		"regs", KI_D_B_REG, r, NUM(KI_U64), NULL                                           \
	}

static const struct ki_d_builtin registers[] = {
	REG(KI_R15),	    REG(KI_R14),
	REG(KI_R13),	    REG(KI_R12),
	REG(KI_RBP),	    REG(KI_RBX),
	REG(KI_R11),	    REG(KI_R10),
	REG(KI_R9),	    REG(KI_R8),
	REG(KI_RAX),	    REG(KI_RCX),
	REG(KI_RDX),	    REG(KI_RSI),
	REG(KI_RDI),	    [16] = {"regs", KI_D_B_ADDR, 0, NUM(KI_U64), NULL},
	[19] = REG(KI_RSP),
};

const struct ki_d_builtin *ki_d_builtin_register(uint64_t i)
{
	const bool is_one = i < sizeof(registers) / sizeof(*registers) && registers[i].name;

	return is_one ? &registers[i] : NULL;
}

static const struct ki_d_function functions[] = {
	{"printf", KI_D_F_PRINTF, 0, 1, KI_D_ARGS + 1, NULL, {0}},
	{"trace", KI_D_F_TRACE, 0, 1, 1, NULL, {0}},
	{"print", KI_D_F_PRINT, 0, 1, 1, NULL, {0}},
	{"printa", KI_D_F_PRINTA, 0, 1, KI_D_ARGS, NULL, {0}},
	{"exit", KI_D_F_EXIT, 0, 1, 1, NULL, {0}},
	{"stack", KI_D_F_STACK, 0, 0, 1, NULL, {0}},
	{"ustack", KI_D_F_USTACK, 0, 0, 2, NULL, {0}},
	{"jstack", KI_D_F_USTACK, 0, 0, 2, NULL, {0}},
	{"sym", KI_D_F_PLACE, KI_D_SYM, 1, 1, NULL, {0}},
	{"func", KI_D_F_PLACE, KI_D_SYM, 1, 1, NULL, {0}},
	{"mod", KI_D_F_PLACE, KI_D_MOD, 1, 1, NULL, {0}},
	{"usym", KI_D_F_PLACE, KI_D_USYM, 1, 1, NULL, {0}},
	{"ufunc", KI_D_F_PLACE, KI_D_USYM, 1, 1, NULL, {0}},
	{"umod", KI_D_F_PLACE, KI_D_UMOD, 1, 1, NULL, {0}},
	{"uaddr", KI_D_F_PLACE, KI_D_UADDR, 1, 1, NULL, {0}},
	{"clear", KI_D_F_CLEAR, 0, 1, 1, NULL, {0}},
	{"trunc", KI_D_F_TRUNC, 0, 1, 2, NULL, {0}},
	{"normalize", KI_D_F_NORMALIZE, 0, 2, 2, NULL, {0}},
	{"freopen", KI_D_F_FREOPEN, 0, 1, KI_D_ARGS + 1, NULL, {0}},
	{"ftruncate", KI_D_F_FTRUNCATE, 0, 0, 0, NULL, {0}},
	{"setopt", KI_D_F_SETOPT, 0, 1, 2, NULL, {0}},
	{"system", KI_D_F_SYSTEM, 0, 1, KI_D_ARGS + 1, NULL, {0}},
	{"denormalize", KI_D_F_DENORMALIZE, 0, 1, 1, NULL, {0}},
	{"raise", KI_D_F_RAISE, 0, 1, 1, NULL, {0}},
	{"stop", KI_D_F_RAISE, 0, 0, 0, NULL, {0}},
	{"chill", KI_D_F_NEVER, 0, 1, 1, NULL, {0}},
	{"panic", KI_D_F_NEVER, 0, 0, 0, NULL, {0}},
	{"return", KI_D_F_NEVER, 0, 1, 1, NULL, {0}},
	{"breakpoint", KI_D_F_NEVER, 0, 0, 0, NULL, {0}},
	{"progenyof", KI_D_F_PROGENY, 0, 1, 1, NULL, {0}},
	{"rand", KI_D_F_RANDOM, 0, 0, 0, NULL, {0}},
	{"__swap16", KI_D_F_SWAP, KI_U16, 1, 1, NULL, {0}}, /* prelude.c */
	{"__swap32", KI_D_F_SWAP, KI_U32, 1, 1, NULL, {0}},
	{"__swap64", KI_D_F_SWAP, KI_U64, 1, 1, NULL, {0}},
	{"tracemem", KI_D_F_TRACEMEM, 0, 2, 3, NULL, {0}},
	{"pcap", KI_D_F_PCAP, 0, 2, 2, NULL, {0}},
	{"alloca", KI_D_F_MEMORY, KI_TEXT_ALLOCA, 1, 1, NULL, {0}},
	{"bcopy", KI_D_F_MEMORY, KI_TEXT_COPY, 3, 3, NULL, {0}},
	{"copyin", KI_D_F_MEMORY, KI_TEXT_ALLOCA_USER, 2, 2, NULL, {0}},
	{"copyinto", KI_D_F_MEMORY, KI_TEXT_COPY_USER, 3, 3, NULL, {0}},
	{"copyout", KI_D_F_MEMORY, KI_TEXT_COPY_OUT, 3, 3, NULL, {0}},
	{"copyoutstr", KI_D_F_MEMORY, KI_TEXT_COPY_OUT_TEXT, 3, 3, NULL, {0}},
	{"commit", KI_D_F_COMMIT, 0, 1, 1, NULL, {0}},
	{"discard", KI_D_F_DISCARD, 0, 1, 1, NULL, {0}},
	{"speculate", KI_D_F_SPECULATE, 0, 1, 1, NULL, {0}},
	{"speculation", KI_D_F_SPECULATION, 0, 0, 0, NULL, {0}},
	{"stringof", KI_D_F_TEXT, KI_TEXT_KERNEL, 1, 1, "n", {0}},
	{"copyinstr", KI_D_F_TEXT, KI_TEXT_USER, 1, 2, "nn", {0}},
	{"strjoin", KI_D_F_TEXT, KI_TEXT_JOIN, 2, 2, "ss", {0}},
	{"substr", KI_D_F_TEXT, KI_TEXT_PART, 2, 3, "snn", {0, 0, INT32_MAX}},
	{"index", KI_D_F_TEXT, KI_TEXT_FIRST, 2, 3, "ssn", {0}},
	{"rindex", KI_D_F_TEXT, KI_TEXT_LAST, 2, 3, "ssn", {0, 0, INT32_MAX}},
	{"strchr", KI_D_F_TEXT, KI_TEXT_FROM, 2, 2, "sn", {0}},
	{"strrchr", KI_D_F_TEXT, KI_TEXT_FROM_LAST, 2, 2, "sn", {0}},
	{"strstr", KI_D_F_TEXT, KI_TEXT_FROM_TEXT, 2, 2, "ss", {0}},
	{"json", KI_D_F_TEXT, KI_TEXT_JSON, 2, 2, "ss", {0}},
	{"strtok", KI_D_F_TOKEN, KI_TEXT_TOKEN, 2, 2, "ss", {0}},
	{"basename", KI_D_F_TEXT, KI_TEXT_BASE, 1, 1, "s", {0}},
	{"dirname", KI_D_F_TEXT, KI_TEXT_DIR, 1, 1, "s", {0}},
	{"cleanpath", KI_D_F_TEXT, KI_TEXT_CLEAN, 1, 1, "s", {0}},
	{"lltostr", KI_D_F_TEXT, KI_TEXT_NUMBER, 1, 2, "nn", {0, 10}},
	{"toupper", KI_D_F_TEXT, KI_TEXT_UPPER, 1, 1, "s", {0}},
	{"tolower", KI_D_F_TEXT, KI_TEXT_LOWER, 1, 1, "s", {0}},
	{"strtoll", KI_D_F_TEXT, KI_TEXT_VALUE, 1, 2, "sn", {0, 10}},
	{"strlen", KI_D_F_TEXT, KI_TEXT_LENGTH, 1, 1, "s", {0}},
	{"[]", KI_D_F_TEXT, KI_TEXT_BYTE, 2, 2, "sn", {0}}, /* of a string */
	{"inet_ntoa", KI_D_F_TEXT, KI_TEXT_IPV4, 1, 1, "p", {0}},
	{"inet_ntoa6", KI_D_F_TEXT, KI_TEXT_IPV6, 1, 2, "pc", {0}},
	{"d_path", KI_D_F_TEXT, KI_TEXT_PATH, 1, 1, "pn", {0}},
	{"__d_path", KI_D_F_TEXT, KI_TEXT_PATH, 2, 2, "pn", {0}}, /* known.c */
	{"__execargs", KI_D_F_TEXT, KI_TEXT_ARGUMENTS, 0, 0, "", {0}},
	{"count", KI_D_F_AGG, KI_D_COUNT, 0, 0, NULL, {0}},
	{"sum", KI_D_F_AGG, KI_D_SUM, 1, 1, NULL, {0}},
	{"avg", KI_D_F_AGG, KI_D_AVG, 1, 1, NULL, {0}},
	{"min", KI_D_F_AGG, KI_D_MIN, 1, 1, NULL, {0}},
	{"max", KI_D_F_AGG, KI_D_MAX, 1, 1, NULL, {0}},
	{"stddev", KI_D_F_AGG, KI_D_STDDEV, 1, 1, NULL, {0}},
	{"quantize", KI_D_F_AGG, KI_D_QUANTIZE, 1, 2, NULL, {0}},
	{"lquantize", KI_D_F_AGG, KI_D_LQUANTIZE, 3, 5, NULL, {0}},
	{"llquantize", KI_D_F_AGG, KI_D_LLQUANTIZE, 5, 6, NULL, {0}},
};

struct ki_d_node *ki_d_weight(const struct ki_d_node *call)
{
	const struct ki_d_function *f = ki_d_function_find(call->text);
	const unsigned int before = f->number == KI_D_QUANTIZE	   ? 1
				    : f->number == KI_D_LQUANTIZE  ? 4
				    : f->number == KI_D_LLQUANTIZE ? 5
								   : UINT8_MAX;
	struct ki_d_node *k = call->kid[0];

	for (unsigned int i = 0; k && i < before; i++)
		k = k->next;
	return k;
}

const struct ki_d_function *ki_d_function_find(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(name, functions[i].name))
			return &functions[i];
	return NULL;
}

/* quantize: the values from 0 on, then those below, as their absolute value. */
const struct ki_d_agg_function ki_d_agg_functions[KI_D_AGGS] = {
	[KI_D_COUNT] = {"count", 0, 0, 1, true},
	[KI_D_SUM] = {"sum", 1, 1, 1, false},
	[KI_D_AVG] = {"avg", 1, 1, KI_TABLE_STATS_WORDS, false},
	[KI_D_MIN] = {"min", 1, 1, 1, false},
	[KI_D_MAX] = {"max", 1, 1, 1, false},
	[KI_D_STDDEV] = {"stddev", 1, 1, KI_TABLE_STATS_WORDS, false},
	[KI_D_QUANTIZE] = {"quantize", 1, 2, 2 * KI_TABLE_LOG2_WORDS, false},
	[KI_D_LQUANTIZE] = {"lquantize", 3, 5, 0, false},
	[KI_D_LLQUANTIZE] = {"llquantize", 5, 6, 0, false},
};
