// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the operations of snippets mean: once, for folding constants and for the interpreter.
 */
#include <errno.h>

#include "snippet/tree.h"

const struct ki_type_row ki_types[KI_TYPES] = {
	[KI_I8] = {"i8", 1, true},    [KI_I16] = {"i16", 2, true},  [KI_I32] = {"i32", 4, true},
	[KI_I64] = {"i64", 8, true},  [KI_U8] = {"u8", 1, false},   [KI_U16] = {"u16", 2, false},
	[KI_U32] = {"u32", 4, false}, [KI_U64] = {"u64", 8, false},
};

const uint8_t ki_param_regs[6] = {KI_RDI, KI_RSI, KI_RDX, KI_RCX, KI_R8, KI_R9};

const char *const ki_fact_names[KI_FACTS] = {
	[KI_FACT_RETVAL] = "retval", [KI_FACT_TSC] = "tsc",	  [KI_FACT_NANOTIME] = "nanotime",
	[KI_FACT_CPU] = "cpu",	     [KI_FACT_PID] = "pid",	  [KI_FACT_TGID] = "tgid",
	[KI_FACT_TASK] = "task",     [KI_FACT_COMM0] = "comm0",	  [KI_FACT_COMM1] = "comm1",
	[KI_FACT_CLOCK] = "clock",   [KI_FACT_MINFLT] = "minflt", [KI_FACT_MAJFLT] = "majflt",
	[KI_FACT_NVCSW] = "nvcsw",   [KI_FACT_NIVCSW] = "nivcsw", [KI_FACT_UID] = "uid",
	[KI_FACT_CGROUP] = "cgroup", [KI_FACT_ADDR] = "addr",	  [KI_FACT_PLACE] = "place",
};

const uint8_t ki_fact_types[KI_FACTS] = {
	[KI_FACT_RETVAL] = KI_U64, [KI_FACT_TSC] = KI_U64,    [KI_FACT_NANOTIME] = KI_U64,
	[KI_FACT_CPU] = KI_U32,	   [KI_FACT_PID] = KI_U32,    [KI_FACT_TGID] = KI_U32,
	[KI_FACT_TASK] = KI_U64,   [KI_FACT_COMM0] = KI_U64,  [KI_FACT_COMM1] = KI_U64,
	[KI_FACT_CLOCK] = KI_U64,  [KI_FACT_MINFLT] = KI_U64, [KI_FACT_MAJFLT] = KI_U64,
	[KI_FACT_NVCSW] = KI_U64,  [KI_FACT_NIVCSW] = KI_U64, [KI_FACT_UID] = KI_U32,
	[KI_FACT_CGROUP] = KI_U64, [KI_FACT_ADDR] = KI_U64,   [KI_FACT_PLACE] = KI_U64,
};

static const struct {
	const char *name;
	uint8_t args;
} helpers[KI_HELPERS] = {
#define KI_HELPER(tag, args, entry, vet, cost, text) {#tag, args},
#include "uapi/kerninst_helpers.def"
#undef KI_HELPER
};

unsigned int ki_helper_args(unsigned int helper)
{
	return helpers[helper].args;
}

const char *ki_helper_name(unsigned int helper)
{
	return helpers[helper].name;
}

uint64_t ki_type_extend(enum ki_type type, uint64_t value)
{
	unsigned int drop = 64 - 8u * ki_types[type].size;

	if (ki_types[type].sign)
		return (uint64_t)((int64_t)(value << drop) >> drop);
	return value << drop >> drop;
}

bool ki_type_covers(enum ki_type to, enum ki_type from)
{
	const struct ki_type_row *t = &ki_types[to], *f = &ki_types[from];

	if (t->size == 8)
		return true;
	return t->sign == f->sign ? t->size >= f->size : t->sign && t->size > f->size;
}

enum ki_type ki_type_common(enum ki_type l, enum ki_type r)
{
	return ki_types[l].sign && ki_types[r].sign ? KI_I64 : KI_U64;
}

uint64_t ki_arith_unary(enum ki_unary op, uint64_t x)
{
	switch (op) {
	case KI_NEG:
		return 0 - x;
	case KI_NOT:
		return ~x;
	default:
		return !x;
	}
}

static uint64_t divide(bool sign, uint64_t l, uint64_t r)
{
	if (!r)
		return 0;
	if (!sign)
		return l / r;
	return r == UINT64_MAX ? 0 - l : (uint64_t)((int64_t)l / (int64_t)r);
}

static uint64_t compare(enum ki_binary op, bool sign, uint64_t l, uint64_t r)
{
	bool less = sign ? (int64_t)l < (int64_t)r : l < r;

	switch (op) {
	case KI_EQ:
		return l == r;
	case KI_NE:
		return l != r;
	case KI_LT:
		return less;
	case KI_GE:
		return !less;
	case KI_LE:
		return less || l == r;
	default:
		return !less && l != r;
	}
}

static uint64_t shift_right(bool sign, uint64_t l, unsigned int count)
{
	return sign ? (uint64_t)((int64_t)l >> count) : l >> count;
}

uint64_t ki_arith_binary(enum ki_binary op, bool sign, uint64_t l, uint64_t r)
{
	switch (op) {
	case KI_ADD:
		return l + r;
	case KI_SUB:
		return l - r;
	case KI_MUL:
		return l * r;
	case KI_DIV:
		return divide(sign, l, r);
	case KI_MOD:
		return l - divide(sign, l, r) * r;
	case KI_AND:
		return l & r;
	case KI_OR:
		return l | r;
	case KI_XOR:
		return l ^ r;
	case KI_SHL:
		return l << (r & 63);
	case KI_SHR:
		return shift_right(sign, l, r & 63);
	case KI_LAND:
		return l && r;
	case KI_LOR:
		return l || r;
	default:
		return compare(op, sign, l, r);
	}
}

uint32_t ki_log2_bucket(uint64_t value)
{
	return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

int ki_log2_bounds(unsigned int bucket, uint64_t *low, uint64_t *high)
{
	if (bucket >= KI_LOG2_BUCKETS)
		return -EINVAL;
	*low = bucket ? 1ull << (bucket - 1) : 0;
	*high = bucket ? *low + (*low - 1) : 0;
	return 0;
}

uint32_t ki_linear_buckets(const struct ki_linear *l)
{
	uint64_t width = (uint64_t)l->high - (uint64_t)l->low, n;

	if (l->low >= l->high || !l->step)
		return 0;
	n = width / l->step + (width % l->step != 0);
	return n + 2 > 1u << 20 ? 0 : (uint32_t)n + 2;
}

uint32_t ki_linear_bucket(const struct ki_linear *l, bool sign, uint64_t value)
{
	uint64_t low = (uint64_t)l->low, high = (uint64_t)l->high;

	if (compare(KI_LT, sign, value, low))
		return 0;
	if (compare(KI_GE, sign, value, high))
		return ki_linear_buckets(l) - 1;
	return 1 + (uint32_t)((value - low) / l->step);
}

int ki_linear_bounds(const struct ki_linear *l, uint32_t bucket, int64_t *low, int64_t *high)
{
	uint32_t n = ki_linear_buckets(l);

	if (bucket >= n)
		return -EINVAL;
	*low = bucket ? (int64_t)((uint64_t)l->low + (bucket - 1) * l->step) : INT64_MIN;
	*high = (int64_t)((uint64_t)l->low + bucket * l->step - 1);
	if (bucket + 2 == n)
		*high = l->high - 1;
	if (bucket + 1 == n) {
		*low = l->high;
		*high = INT64_MAX;
	}
	return 0;
}
