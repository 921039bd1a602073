// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/check/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlang/words/names.h"

#define STEP	2 /* blanks of a level */
#define UNKNOWN "(type=<-1> attr=[s/s/c] flags=0)\n"

struct printer {
	FILE *out;
	bool known; /* types and names are */
	int64_t strsize;
};

enum flag { SIGN = 1, COOK = 2, REF = 4, DPTR = 8, LVAL = 16, WRITE = 32, ALLOCA = 64 };

static bool aggregates(const struct ki_d_node *call)
{
	const struct ki_d_function *f = ki_d_function_find(call->text);

	return f && f->kind == KI_D_F_AGG;
}

static void line(const struct printer *p, int depth, const char *what, const char *text)
{
	fprintf(p->out, "%*s%s%s%s", depth * STEP, "", what, *text ? " " : "", text);
}

/* ---- flags ---- */

static bool is_variable(const struct ki_d_node *n)
{
	return (n->kind == KI_D_NAME && !n->is_builtin) || n->kind == KI_D_SELF ||
	       n->kind == KI_D_THIS;
}

static bool is_by_reference(const struct ki_d_node *n)
{
	return n->kind == KI_D_TEXT ||
	       (!ki_d_is_scalar(n->type) && n->type.base != KI_D_VOID && n->type.base != KI_D_INT);
}

static unsigned int flags_of(const struct printer *p, const struct ki_d_node *n)
{
	unsigned int flags = 0;

	if (!p->known && n->kind != KI_D_NUMBER && n->kind != KI_D_TEXT)
		return 0;
	if (n->type.base == KI_D_INT && !n->type.stars && ki_d_num(n->type) <= KI_I64)
		flags |= SIGN;
	if (n->kind == KI_D_CALL)
		flags |= SIGN;
	if (is_by_reference(n) || (n->kind == KI_D_CALL && aggregates(n)))
		flags |= REF;
	if (n->kind == KI_D_TEXT)
		flags |= DPTR;
	if (is_variable(n))
		flags |= LVAL | WRITE;
	if (n->kind == KI_D_ASSIGN || n->kind == KI_D_STEP)
		flags |= WRITE;
	if (n->type.scratch)
		flags |= ALLOCA;
	return flags | COOK;
}

static void print_flags(const struct printer *p, unsigned int flags)
{
	static const char *const names[] = {"SIGN", "COOK",  "REF",   "DPTR",
					    "LVAL", "WRITE", "ALLOCA"};
	const char *before = "";

	fputs(" flags=", p->out);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (flags >> i & 1) {
			fprintf(p->out, "%s%s", before, names[i]);
			before = ",";
		}
	fputs(flags ? ")\n" : "0)\n", p->out);
}

/* ---- nodes ---- */

/* What stands behind each node. */
static void print_type(const struct printer *p, const struct ki_d_node *n)
{
	const unsigned int flags = flags_of(p, n);
	char name[KI_D_TYPE_NAME];
	const char *type = n->kind == KI_D_TEXT ? "string" : ki_d_type_name(n->type, name);

	if (n->kind == KI_D_CALL && p->known && aggregates(n))
		type = "<DYN>";
	fprintf(p->out, " (type=<%s> attr=[s/s/c]", flags ? type : "-1");
	print_flags(p, flags);
}

static void print_node(const struct printer *p, const struct ki_d_node *n, int depth);

static void print_list(const struct printer *p, const struct ki_d_node *n, int depth)
{
	for (; n; n = n->next) {
		print_node(p, n, depth);
		if (n->next)
			fprintf(p->out, "%*s,\n", (depth - 1) * STEP, "");
	}
}

static void print_text(const struct printer *p, const struct ki_d_node *n, int depth)
{
	line(p, depth, "STRING", "\"");
	for (const char *c = n->text; *c; c++)
		if (*c == '\n')
			fputs("\\n", p->out);
		else if (*c == '\t')
			fputs("\\t", p->out);
		else
			fprintf(p->out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
	fputc('"', p->out);
	print_type(p, n);
}

static void print_name(const struct printer *p, const struct ki_d_node *n, int depth)
{
	const char *scope = n->kind == KI_D_SELF ? "self->" : n->kind == KI_D_THIS ? "this->" : "";
	const char *class = n->is_builtin || n->kind == KI_D_SYMBOL ? "(never-assigned) "
								    : "(normally-assigned) ";

	line(p, depth, p->known ? "VARIABLE" : "IDENT", p->known ? class : scope);
	fprintf(p->out, "%s%s%s", p->known || *scope ? "" : " ", p->known ? scope : "", n->text);
	print_type(p, n);
}

/* An aggregation with its keys, and what is added to it. */
static void print_known_agg(const struct printer *p, const struct ki_d_node *n, int depth)
{
	fprintf(p->out, "%*sAGGREGATE @%s attr=[s/s/c]%s\n", depth * STEP, "", n->text,
		n->kid[0] ? " [" : "");
	print_list(p, n->kid[0], depth + 1);
	if (n->kid[0])
		fprintf(p->out, "%*s]\n", depth * STEP, "");
	if (n->kid[1])
		fprintf(p->out, "%*s=\n", depth * STEP, "");
	print_list(p, n->kid[1], depth + 1);
}

static void print_agg(const struct printer *p, const struct ki_d_node *n, int depth)
{
	const int within = depth + 1;

	fprintf(p->out, "%*sOP2 = " UNKNOWN, depth * STEP, "");
	if (n->kid[0])
		fprintf(p->out, "%*sOP2 [ " UNKNOWN, within * STEP, "");
	fprintf(p->out, "%*sIDENT @%s " UNKNOWN, (within + !!n->kid[0]) * STEP, "", n->text);
	if (n->kid[0])
		print_node(p, n->kid[0], within + 1);
	print_list(p, n->kid[1], within);
}

static const char *binary_name(uint8_t op)
{
	static const char *const names[] = {
		"+",  "-",  "*", "/",  "%", "&",  "|",	"^",  "<<", ">>",
		"==", "!=", "<", "<=", ">", ">=", "&&", "||", "^^"};

	return op < sizeof(names) / sizeof(*names) ? names[op] : "?";
}

/* Operators of one name. */
static const struct {
	uint8_t operands;
	const char *name;
} operators[] = {
	[KI_D_INDEX] = {2, "OP2 ["},	   [KI_D_COND] = {3, "OP3 ?:"},
	[KI_D_CAST] = {1, "OP1 (cast)"},   [KI_D_DEREF] = {1, "OP1 *"},
	[KI_D_MEMBER] = {1, "OP1 ."},	   [KI_D_ADDRESS] = {1, "OP1 &"},
	[KI_D_SIZEOF] = {1, "OP1 sizeof"}, [KI_D_COMMA] = {2, "OP2 ,"},
	[KI_D_ELEMENT] = {2, "OP2 ["},	   [KI_D_IF] = {0, NULL},
};

/* What it is called, and how many operands it has; 0: it is none. */
static unsigned int operator_of(const struct ki_d_node *n, char name[160])
{
	static const char *const unary[] = {"-", "~", "!"};
	const char *step = n->op == KI_ADD ? "++" : "--";

	switch (n->kind) {
	case KI_D_ASSIGN:
		snprintf(name, 160, "OP2 %s=", n->op == KI_BINARIES ? "" : binary_name(n->op));
		return 2;
	case KI_D_BINARY:
		snprintf(name, 160, "OP2 %s", binary_name(n->op));
		return 2;
	case KI_D_UNARY:
		snprintf(name, 160, "OP1 %s", n->op < KI_UNARIES ? unary[n->op] : "?");
		return 1;
	case KI_D_STEP:
		snprintf(name, 160, "OP1 %s%s", n->value ? "post" : "pre", step);
		return 1;
	default:
		if (n->kind >= sizeof(operators) / sizeof(*operators) ||
		    !operators[n->kind].operands)
			return 0;
		snprintf(name, 160, "%s%.100s", operators[n->kind].name,
			 n->kind == KI_D_MEMBER ? n->text : "");
		return operators[n->kind].operands;
	}
}

static void print_operator(const struct printer *p, const struct ki_d_node *n, int depth)
{
	char name[160];
	const unsigned int operands = operator_of(n, name);

	if (!operands)
		snprintf(name, sizeof(name), "NODE %u %.100s", n->kind, n->text);
	line(p, depth, name, "");
	print_type(p, n);
	for (unsigned int i = 0; i < (operands ? operands : 3); i++)
		print_list(p, n->kid[i], depth + 1);
}

/* What copyinstr() takes at most is an argument, whether it is written or not. */
static void print_call(const struct printer *p, const struct ki_d_node *n, int depth)
{
	const bool has_size = !p->known || strcmp(n->text, "copyinstr") != 0 || n->kid[0]->next;

	line(p, depth, "FUNC", n->text);
	print_type(p, n);
	print_list(p, n->kid[0], depth + 1);
	if (!has_size)
		fprintf(p->out,
			"%*s,\n%*sINT 0x%" PRIx64 " (type=<size_t> attr=[s/s/c] flags=COOK)\n",
			depth * STEP, "", (depth + 1) * STEP, "", (uint64_t)p->strsize);
}

static void print_node(const struct printer *p, const struct ki_d_node *n, int depth)
{
	switch (n->kind) {
	case KI_D_NUMBER:
		line(p, depth, "INT", "");
		fprintf(p->out, " 0x%" PRIx64, n->value);
		print_type(p, n);
		break;
	case KI_D_TEXT:
		print_text(p, n, depth);
		break;
	case KI_D_NAME:
	case KI_D_SYMBOL:
	case KI_D_SELF:
	case KI_D_THIS:
		print_name(p, n, depth);
		break;
	case KI_D_AGG:
		(p->known ? print_known_agg : print_agg)(p, n, depth);
		break;
	case KI_D_CALL:
		print_call(p, n, depth);
		break;
	default:
		print_operator(p, n, depth);
	}
}

/* ---- clauses ---- */

/* A statement whose function records something, or changes the system. */
static bool is_action(const struct ki_d_node *n)
{
	const struct ki_d_function *f = n->kind == KI_D_CALL ? ki_d_function_find(n->text) : NULL;

	return f && ki_d_is_action(f);
}

static void print_clause(const struct printer *p, const struct ki_dlang *d,
			 const struct ki_d_clause *c, int depth)
{
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		char *const *f = d->patterns.v[i].field;

		fprintf(p->out, "%*sPDESC %s:%s:%s:%s [0]\n", (depth + 1) * STEP, "", f[0], f[1],
			f[2], f[3]);
	}
	fprintf(p->out, "%*sCTXATTR [%s]\n", depth * STEP, "", p->known ? "u/u/c" : "i/i/u");
	if (c->predicate) {
		fprintf(p->out, "%*sPREDICATE attr=[s/s/c]\n", depth * STEP, "");
		print_node(p, c->predicate, depth + 1);
	}
	fprintf(p->out, "%*sACTION\n", depth * STEP, "");
	for (const struct ki_d_node *n = c->body; n; n = n->next) {
		fprintf(p->out, "%*sD %s attr=[s/s/c]\n", (depth + 1) * STEP, "",
			is_action(n) ? "PRODUCER" : "EXPRESSION");
		print_node(p, n, depth + 2);
	}
}

void ki_d_tree_print(const struct ki_dlang *d, unsigned int pass)
{
	const struct printer p = {d->o.trees, pass != KI_D_TREE_READ, d->set.strsize};
	const int number = pass == KI_D_TREE_COOKED ? 3 : (int)pass;

	if (!(d->set.tree & pass) || !p.out)
		return;
	for (size_t i = 0; i < d->clauses.n; i++) {
		fprintf(p.out, "Parse tree (Pass %d):\n", number);
		print_clause(&p, d, &d->clauses.v[i], pass == KI_D_TREE_CHECKED ? 1 : 2);
	}
	fprintf(p.out, "Parse tree (Pass %d): %zu clause%s\n", number, d->clauses.n,
		d->clauses.n == 1 ? "" : "s");
}
