// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A snippet as text. Each simple statement is a line; `if`, `} else {` and `}` are lines of their
 * own (stmt.c numbers them in the same way).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "snippet/tree.h"
#include "util/text.h"

/* How an operator is written, and how strongly it binds, as in C. */
static const struct {
	const char *text;
	uint8_t binds;
} binaries[KI_BINARIES] = {
	[KI_ADD] = {"+", 10},  [KI_SUB] = {"-", 10}, [KI_MUL] = {"*", 11}, [KI_DIV] = {"/", 11},
	[KI_MOD] = {"%", 11},  [KI_AND] = {"&", 6},  [KI_OR] = {"|", 4},   [KI_XOR] = {"^", 5},
	[KI_SHL] = {"<<", 9},  [KI_SHR] = {">>", 9}, [KI_EQ] = {"==", 7},  [KI_NE] = {"!=", 7},
	[KI_LT] = {"<", 8},    [KI_LE] = {"<=", 8},  [KI_GT] = {">", 8},   [KI_GE] = {">=", 8},
	[KI_LAND] = {"&&", 3}, [KI_LOR] = {"||", 2},
};

#define BINDS_COND  1
#define BINDS_UNARY 12

static void expr(FILE *f, const struct ki_node *n, unsigned int outside);

static void konst(FILE *f, const struct ki_node *n)
{
	if (ki_types[n->type].sign)
		fprintf(f, "%" PRId64, (int64_t)n->value);
	else if (n->value < 65536)
		fprintf(f, "%" PRIu64 "u", n->value);
	else
		fprintf(f, "0x%" PRIx64, n->value);
}

static void list(FILE *f, const struct ki_node *n, const char *before)
{
	for (unsigned int i = 0; i < n->nkids; i++) {
		fputs(i ? ", " : before, f);
		expr(f, n->kid[i], 0);
	}
	fputc(')', f);
}

static void args(FILE *f, const struct ki_node *n)
{
	fputc('(', f);
	list(f, n, "");
}

static void var(FILE *f, const struct ki_node *n, const struct ki_node *index)
{
	fputs(n->var.name, f);
	if (!index)
		return;
	fputc('[', f);
	expr(f, index, 0);
	fputc(']', f);
}

static void reg(FILE *f, unsigned int r)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

	fprintf(f, "%%%s", names[r]);
}

static void helper_name(FILE *f, unsigned int helper)
{
	for (const char *c = ki_helper_name(helper); *c; c++)
		fputc(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c, f);
}

static void operator(FILE *f, const struct ki_node *n, unsigned int outside)
{
	unsigned int binds = n->kind == NODE_BINARY ? binaries[n->op].binds : BINDS_COND;

	if (binds <= outside)
		fputc('(', f);
	if (n->kind == NODE_COND) {
		expr(f, n->kid[0], BINDS_COND);
		fputs(" ? ", f);
		expr(f, n->kid[1], BINDS_COND);
		fputs(" : ", f);
		expr(f, n->kid[2], BINDS_COND);
	} else {
		expr(f, n->kid[0], binds - 1);
		fprintf(f, " %s ", binaries[n->op].text);
		expr(f, n->kid[1], binds);
	}
	if (binds <= outside)
		fputc(')', f);
}

static void prefixed(FILE *f, const struct ki_node *n)
{
	if (n->kind == NODE_UNARY) {
		fputc("-~!"[n->op], f);
		expr(f, n->kid[0], BINDS_UNARY);
		return;
	}
	fprintf(f, n->kind == NODE_LOAD ? "*(%s *)" : "(%s)", ki_types[n->type].name);
	expr(f, n->kid[0], BINDS_UNARY - 1);
}

/* The key, and which of the row's values. */
static void table_at(FILE *f, const struct ki_node *n)
{
	fprintf(f, "%s", n->var.name);
	for (unsigned int i = 0; i < n->nkeys; i++) {
		fputs(i ? ", " : "[", f);
		expr(f, n->kid[i], 0);
	}
	fprintf(f, "].%u", n->what & 0xffff);
}

static void table(FILE *f, const struct ki_node *n)
{
	static const char *const ops[KI_TABLE_OPS] = {
		[KI_TABLE_SET] = "set",	    [KI_TABLE_DELETE] = "delete", [KI_TABLE_ADD] = "add",
		[KI_TABLE_MIN] = "min",	    [KI_TABLE_MAX] = "max",	  [KI_TABLE_UMIN] = "umin",
		[KI_TABLE_UMAX] = "umax",   [KI_TABLE_COUNT] = "count",	  [KI_TABLE_LOG2] = "log2",
		[KI_TABLE_STATS] = "stats",
	};

	table_at(f, n);
	fprintf(f, ".%s(", n->lowered ? "linear" : ops[ki_what_op(n->what)]);
	if (n->nkids > n->nkeys)
		expr(f, n->kid[n->nkeys], 0);
	if (n->lowered)
		fprintf(f, ", %" PRId64 ", %" PRId64 ", %" PRIu64, n->linear.low, n->linear.high,
			n->linear.step);
	fputc(')', f);
}

static void string(FILE *f, const struct ki_node *n)
{
	fputs(n->op ? "ustr(" : "str(", f);
	expr(f, n->kid[0], 0);
	fprintf(f, ", %u)", n->width * 8u);
}

static void string_is(FILE *f, const struct ki_node *n)
{
	fputs(n->op ? "starts(" : "(", f);
	expr(f, n->kid[0], 0);
	fputs(n->op ? ", " : " == ", f);
	ki_text_quote(f, n->name);
	fputc(')', f);
}

static void stack(FILE *f, const struct ki_node *n)
{
	fputs(n->op == KI_HELPER_USTACK	 ? "ustack"
	      : n->op == KI_HELPER_DEPTH ? "stackdepth"
					 : "stack",
	      f);
	if (n->value & 0xff)
		fprintf(f, "(%u)", (unsigned int)n->value & 0xff);
}

/* What is there before the snippet runs. */
static void given(FILE *f, const struct ki_node *n)
{
	if (n->kind == NODE_FACT)
		fputs(ki_fact_names[n->op], f);
	else if (n->kind == NODE_REG)
		reg(f, n->op);
	else
		fprintf(f, "arg%u", (unsigned int)n->value);
}

static void call(FILE *f, const struct ki_node *n)
{
	if (n->kind == NODE_HELPER)
		helper_name(f, n->op);
	else if (n->name)
		fputs(n->name, f);
	else
		fprintf(f, "0x%" PRIx64, n->value);
	args(f, n);
}

static void text(FILE *f, const struct ki_node *n)
{
	fprintf(f, "text%u", n->what & 0xff);
	args(f, n);
}

static void simple(FILE *f, const struct ki_node *n, const char *end);

static void behind(FILE *f, const struct ki_node *n)
{
	fputc('(', f);
	simple(f, n->kid[0], ", ");
	expr(f, n->kid[1], 0);
	fputc(')', f);
}

/* What is no operator. */
static void (*const writers[])(FILE *f, const struct ki_node *n) = {
	[NODE_CONST] = konst,	 [NODE_LOAD] = prefixed, [NODE_CAST] = prefixed,
	[NODE_UNARY] = prefixed, [NODE_STRING] = string, [NODE_STRING_IS] = string_is,
	[NODE_STACK] = stack,	 [NODE_TEXT] = text,	 [NODE_BEHIND] = behind,
	[NODE_FACT] = given,	 [NODE_REG] = given,	 [NODE_PARAM] = given,
	[NODE_HELPER] = call,	 [NODE_CALL] = call,	 [NODE_TABLE_GET] = table_at,
};

static void expr(FILE *f, const struct ki_node *n, unsigned int outside)
{
	if (n->kind == NODE_VAR)
		var(f, n, n->nkids ? n->kid[0] : NULL);
	else if (n->kind < sizeof(writers) / sizeof(*writers) && writers[n->kind])
		writers[n->kind](f, n);
	else
		operator(f, n, outside);
}

static void indent(FILE *f, unsigned int depth)
{
	while (depth--)
		fputc('\t', f);
}

static void update(FILE *f, const struct ki_node *n)
{
	static const char *const texts[KI_UPDATES] = {
		[KI_SET] = " = ",	    [KI_UPDATE_ADD] = " += ",	[KI_UPDATE_SUB] = " -= ",
		[KI_UPDATE_MIN] = " min= ", [KI_UPDATE_MAX] = " max= ", [KI_UPDATE_OR] = " |= ",
		[KI_UPDATE_AND] = " &= ",
	};

	var(f, n, n->nkids > 1 ? n->kid[1] : NULL);
	fputs(texts[n->op], f);
	expr(f, n->kid[0], 0);
}

/* A statement that contains no others; what stands behind it. */
static void simple(FILE *f, const struct ki_node *n, const char *end)
{
	if (n->unless)
		fprintf(f, "unless (local%u) ", n->unless - 1u);
	switch (n->kind) {
	case NODE_UPDATE:
		update(f, n);
		break;
	case NODE_LOG2:
		fprintf(f, "%s[log2(", n->var.name);
		expr(f, n->kid[0], 0);
		fputs(")] += 1", f);
		break;
	case NODE_LINEAR:
		fprintf(f, "%s[linear(", n->var.name);
		expr(f, n->kid[0], 0);
		fprintf(f, ", %" PRId64 ", %" PRId64 ", %" PRIu64 ")] += 1", n->linear.low,
			n->linear.high, n->linear.step);
		break;
	case NODE_RECORD:
		fprintf(f, "record(%u", (unsigned int)n->value);
		list(f, n, ": ");
		break;
	case NODE_TABLE:
		table(f, n);
		break;
	default:
		expr(f, n->kid[0], 0);
	}
	fputs(end, f);
}

static void stmt(FILE *f, const struct ki_node *n, unsigned int depth)
{
	if (n->kind == NODE_LIST) {
		for (const struct ki_node *k = n->first; k; k = k->next)
			stmt(f, k, depth);
		return;
	}
	indent(f, depth);
	if (n->kind != NODE_IF) {
		simple(f, n, ";\n");
		return;
	}
	fputs("if (", f);
	expr(f, n->kid[0], 0);
	fputs(") {\n", f);
	stmt(f, n->kid[1], depth + 1);
	if (n->nkids > 2) {
		indent(f, depth);
		fputs("} else {\n", f);
		stmt(f, n->kid[2], depth + 1);
	}
	indent(f, depth);
	fputs("}\n", f);
}

int ki_snippet_format(const struct ki_snippet *s, char **out, struct ki_err *err)
{
	int ret = ki_snippet_check(s, NULL, err);
	size_t len;
	FILE *f;

	*out = NULL;
	if (ret)
		return ret;
	f = open_memstream(out, &len);
	if (!f)
		return ki_err_set(err, -ENOMEM, 0, "snippet: out of memory");
	stmt(f, s->body, 0);
	ret = ferror(f);
	if (fclose(f) || ret) {
		free(*out);
		*out = NULL;
		return ki_err_set(err, -ENOMEM, 0, "snippet: out of memory");
	}
	return 0;
}
