// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Nodes, and the tables of operators, types and registers. One table of operators is both the
 * parser's and the writer's.
 */
#include "predicate/ast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct ki_op ki_ops_binary[] = {
	{"||", KI_LOR, 2}, {"&&", KI_LAND, 3}, {"|", KI_OR, 4},	  {"^", KI_XOR, 5},
	{"&", KI_AND, 6},  {"==", KI_EQ, 7},   {"!=", KI_NE, 7},  {"<", KI_LT, 8},
	{"<=", KI_LE, 8},  {">", KI_GT, 8},    {">=", KI_GE, 8},  {"in", KI_OP_IN, 8},
	{"<<", KI_SHL, 9}, {">>", KI_SHR, 9},  {"+", KI_ADD, 10}, {"-", KI_SUB, 10},
	{"*", KI_MUL, 11}, {"/", KI_DIV, 11},  {"%", KI_MOD, 11}, {NULL},
};

const struct ki_op ki_ops_unary[] = {
	{"-", KI_NEG, KI_OP_BINDS},
	{"~", KI_NOT, KI_OP_BINDS},
	{"!", KI_LNOT, KI_OP_BINDS},
	{NULL},
};

/* The first name of a type is how it is written. */
static const struct {
	const char *name;
	uint8_t type;
} types[] = {
	{"i8", KI_I8},
	{"i16", KI_I16},
	{"i32", KI_I32},
	{"i64", KI_I64},
	{"u8", KI_U8},
	{"u16", KI_U16},
	{"u32", KI_U32},
	{"u64", KI_U64},
	{"char", KI_I8},
	{"signed char", KI_I8},
	{"unsigned char", KI_U8},
	{"short", KI_I16},
	{"short int", KI_I16},
	{"unsigned short", KI_U16},
	{"unsigned short int", KI_U16},
	{"int", KI_I32},
	{"signed", KI_I32},
	{"signed int", KI_I32},
	{"unsigned", KI_U32},
	{"unsigned int", KI_U32},
	{"long", KI_I64},
	{"long int", KI_I64},
	{"long long", KI_I64},
	{"long long int", KI_I64},
	{"unsigned long", KI_U64},
	{"unsigned long int", KI_U64},
	{"unsigned long long", KI_U64},
	{"unsigned long long int", KI_U64},
};

static const char *const regs[16] = {
	[KI_RAX] = "rax", [KI_RCX] = "rcx", [KI_RDX] = "rdx", [KI_RBX] = "rbx",
	[KI_RSP] = "rsp", [KI_RBP] = "rbp", [KI_RSI] = "rsi", [KI_RDI] = "rdi",
	[KI_R8] = "r8",	  [KI_R9] = "r9",   [KI_R10] = "r10", [KI_R11] = "r11",
	[KI_R12] = "r12", [KI_R13] = "r13", [KI_R14] = "r14", [KI_R15] = "r15",
};

struct ki_ast *ki_ast_new(struct ki_ast_pool *p, enum ki_ast_kind kind, uint32_t at, size_t len)
{
	struct ki_ast *e = calloc(1, sizeof(*e) + len + 1);

	if (!e)
		return NULL;
	e->kind = (uint8_t)kind;
	e->at = at;
	e->all = p->all;
	p->all = e;
	return e;
}

void ki_ast_free(struct ki_ast_pool *p)
{
	while (p->all) {
		struct ki_ast *next = p->all->all;

		free(p->all);
		p->all = next;
	}
}

int ki_type_named(const char *name, enum ki_type *out)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(name, types[i].name)) {
			*out = (enum ki_type)types[i].type;
			return 0;
		}
	return -ENOENT;
}

const char *ki_type_name(enum ki_type type)
{
	size_t i = 0;

	while (types[i].type != type)
		i++;
	return types[i].name;
}

int ki_reg_named(const char *name, enum ki_reg *out)
{
	for (unsigned int i = 0; i < 16; i++)
		if (!strcmp(name, regs[i])) {
			*out = (enum ki_reg)i;
			return 0;
		}
	return -ENOENT;
}

const char *ki_reg_name(enum ki_reg reg)
{
	return regs[reg];
}
