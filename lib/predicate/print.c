// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A tree as text. What is written is read as the same tree: numbers keep their base, and their u if
 * they need one.
 */
#include <inttypes.h>

#include "predicate/ast.h"
#include "util/text.h"

#define BINDS_COND 1

static void print(FILE *f, const struct ki_ast *e, unsigned int outside);

static void number(FILE *f, const struct ki_ast *e)
{
	if (e->base == 16)
		fprintf(f, "0x%" PRIx64, e->value);
	else if (e->base == 8)
		fprintf(f, "0%" PRIo64, e->value);
	else
		fprintf(f, "%" PRIu64, e->value);
	if (e->type == KI_U64 && e->value <= INT64_MAX)
		fputc('u', f);
}

static void members(FILE *f, const struct ki_ast *e)
{
	for (const struct ki_ast *m = e->kid[1]; m; m = m->next) {
		fputs(m == e->kid[1] ? " in (" : ", ", f);
		print(f, m, 0);
	}
	fputc(')', f);
}

static const struct ki_op *find(const struct ki_op *ops, unsigned int op)
{
	while (ops->op != op)
		ops++;
	return ops;
}

static void operation(FILE *f, const struct ki_ast *e, unsigned int outside)
{
	const struct ki_op *op =
		find(ki_ops_binary, e->kind == KI_AST_IN ? (unsigned int)KI_OP_IN : e->op);
	bool wrap = op->binds <= outside;

	if (wrap)
		fputc('(', f);
	print(f, e->kid[0], op->binds - 1u);
	if (e->kind == KI_AST_IN) {
		members(f, e);
	} else {
		fprintf(f, " %s ", op->text);
		print(f, e->kid[1], op->binds);
	}
	if (wrap)
		fputc(')', f);
}

static void choice(FILE *f, const struct ki_ast *e, unsigned int outside)
{
	if (outside)
		fputc('(', f);
	print(f, e->kid[0], BINDS_COND);
	fputs(" ? ", f);
	print(f, e->kid[1], 0);
	fputs(" : ", f);
	print(f, e->kid[2], 0);
	if (outside)
		fputc(')', f);
}

static void prefixed(FILE *f, const struct ki_ast *e)
{
	const struct ki_ast *kid = e->kid[0];

	if (e->kind == KI_AST_CAST)
		fprintf(f, "(%s)", ki_type_name(e->type));
	else if (e->kind == KI_AST_LOAD)
		fprintf(f, "*(%s *)", ki_type_name(e->type));
	else
		fputs(find(ki_ops_unary, e->op)->text, f);
	/* two signs are no -- */
	if (e->kind == KI_AST_UNARY && e->op == KI_NEG && kid->kind == KI_AST_UNARY &&
	    kid->op == KI_NEG)
		fputc(' ', f);
	print(f, kid, KI_OP_BINDS - 1);
}

static void call(FILE *f, const struct ki_ast *e)
{
	fprintf(f, "%s(", e->text);
	for (const struct ki_ast *a = e->kid[0]; a; a = a->next) {
		print(f, a, 0);
		fputs(a->next ? ", " : "", f);
	}
	fputc(')', f);
}

static void print(FILE *f, const struct ki_ast *e, unsigned int outside)
{
	switch (e->kind) {
	case KI_AST_NUMBER:
		number(f, e);
		break;
	case KI_AST_STRING:
		ki_text_quote(f, e->text);
		break;
	case KI_AST_REGISTER:
	case KI_AST_NAME:
		fprintf(f, "%s%s", e->kind == KI_AST_REGISTER ? "$" : "", e->text);
		break;
	case KI_AST_STR:
		fprintf(f, "%s(", e->text);
		print(f, e->kid[0], 0);
		if (e->value)
			fprintf(f, ", %" PRIu64, e->value);
		fputc(')', f);
		break;
	case KI_AST_STARTS:
		fputs("starts(", f);
		print(f, e->kid[0], 0);
		fputs(", ", f);
		ki_text_quote(f, e->kid[1]->text);
		fputc(')', f);
		break;
	case KI_AST_CALL:
		call(f, e);
		break;
	case KI_AST_UNARY:
	case KI_AST_CAST:
	case KI_AST_LOAD:
		prefixed(f, e);
		break;
	case KI_AST_COND:
		choice(f, e, outside);
		break;
	default:
		operation(f, e, outside);
	}
}

void ki_ast_print(FILE *f, const struct ki_ast *e)
{
	print(f, e, 0);
}
