// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/names.h"

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
	{"curcpu", KI_D_B_FACT, KI_FACT_CPU, NUM(KI_U32), NULL},
	{"curthread",
	 KI_D_B_FACT,
	 KI_FACT_TASK,
	 {.base = KI_D_VOID, .stars = 1},
	 "struct task_struct *"},
	{"errno", KI_D_B_ERRNO, 0, NUM(KI_I32), NULL},
	{"execname", KI_D_B_COMM, 0, STRING, NULL},
	{"id", KI_D_B_ID, 0, NUM(KI_U32), NULL},
	{"pid", KI_D_B_FACT, KI_FACT_TGID, NUM(KI_I32), NULL},
	{"probeprov", KI_D_B_PROBE, 0, STRING, NULL},
	{"probemod", KI_D_B_PROBE, 1, STRING, NULL},
	{"probefunc", KI_D_B_PROBE, 2, STRING, NULL},
	{"probename", KI_D_B_PROBE, 3, STRING, NULL},
	{"tid", KI_D_B_FACT, KI_FACT_PID, NUM(KI_I32), NULL},
	{"timestamp", KI_D_B_FACT, KI_FACT_NANOTIME, NUM(KI_I64), NULL},
	{"uid", KI_D_B_FACT, KI_FACT_UID, NUM(KI_U32), NULL},
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

#define LATER(name)                                                                                \
	{                                                                                          \
		name, KI_D_F_LATER, 0, 0, UINT8_MAX                                                \
	}

static const struct ki_d_function functions[] = {
	{"printf", KI_D_F_PRINTF, 0, 1, KI_D_ARGS + 1},
	{"trace", KI_D_F_TRACE, 0, 1, 1},
	{"printa", KI_D_F_PRINTA, 0, 1, KI_D_ARGS},
	{"exit", KI_D_F_EXIT, 0, 1, 1},
	{"stack", KI_D_F_STACK, 0, 0, 1},
	{"ustack", KI_D_F_USTACK, 0, 0, 2},
	{"clear", KI_D_F_CLEAR, 0, 1, 1},
	{"trunc", KI_D_F_TRUNC, 0, 1, 2},
	{"normalize", KI_D_F_NORMALIZE, 0, 2, 2},
	{"freopen", KI_D_F_FREOPEN, 0, 1, KI_D_ARGS + 1},
	{"ftruncate", KI_D_F_FTRUNCATE, 0, 0, 0},
	{"setopt", KI_D_F_SETOPT, 0, 1, 2},
	{"system", KI_D_F_SYSTEM, 0, 1, KI_D_ARGS + 1},
	{"denormalize", KI_D_F_DENORMALIZE, 0, 1, 1},
	{"stringof", KI_D_F_STRING, 0, 1, 1},
	{"copyinstr", KI_D_F_STRING, 1, 1, 2},
	{"count", KI_D_F_AGG, KI_D_COUNT, 0, 0},
	{"sum", KI_D_F_AGG, KI_D_SUM, 1, 1},
	{"avg", KI_D_F_AGG, KI_D_AVG, 1, 1},
	{"min", KI_D_F_AGG, KI_D_MIN, 1, 1},
	{"max", KI_D_F_AGG, KI_D_MAX, 1, 1},
	{"stddev", KI_D_F_AGG, KI_D_STDDEV, 1, 1},
	{"quantize", KI_D_F_AGG, KI_D_QUANTIZE, 1, 1},
	{"lquantize", KI_D_F_AGG, KI_D_LQUANTIZE, 3, 4},
	{"llquantize", KI_D_F_AGG, KI_D_LLQUANTIZE, 5, 5},
	LATER("alloca"),
	LATER("basename"),
	LATER("bcopy"),
	LATER("cleanpath"),
	LATER("commit"),
	LATER("copyin"),
	LATER("copyinto"),
	LATER("copyout"),
	LATER("copyoutstr"),
	LATER("dirname"),
	LATER("discard"),
	LATER("func"),
	LATER("index"),
	LATER("inet_ntoa"),
	LATER("inet_ntoa6"),
	LATER("inet_ntop"),
	LATER("lltostr"),
	LATER("mod"),
	LATER("print"),
	LATER("progenyof"),
	LATER("raise"),
	LATER("rand"),
	LATER("rindex"),
	LATER("speculate"),
	LATER("speculation"),
	LATER("stop"),
	LATER("strchr"),
	LATER("strjoin"),
	LATER("strlen"),
	LATER("strrchr"),
	LATER("strstr"),
	LATER("strtok"),
	LATER("substr"),
	LATER("sym"),
	LATER("tracemem"),
	LATER("uaddr"),
	LATER("ufunc"),
	LATER("umod"),
	LATER("usym"),
};

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
	[KI_D_QUANTIZE] = {"quantize", 1, 1, 2 * KI_TABLE_LOG2_WORDS, false},
	[KI_D_LQUANTIZE] = {"lquantize", 3, 4, 0, false},
	[KI_D_LLQUANTIZE] = {"llquantize", 5, 5, 0, false},
};
