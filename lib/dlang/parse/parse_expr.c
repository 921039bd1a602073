// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Expressions by precedence climbing, as lib/predicate/parse.c does it.
 */
#include "dlang/check/check.h"
#include "dlang/parse/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predicate/ast.h"

static int unary(struct ki_d_parser *p, struct ki_d_node **out);
static int conditional(struct ki_d_parser *p, struct ki_d_node **out);

static int new_node(struct ki_d_parser *p, enum ki_d_kind kind, uint32_t at, struct ki_d_node **out)
{
	*out = ki_d_node_new(&p->d->pool, kind, at, 0);
	return *out ? 0 : ki_d_no_memory(p->lex.err);
}

static int adopt(struct ki_d_parser *p, struct ki_d_node *n, unsigned int i, struct ki_d_node *kid)
{
	n->kid[i] = kid;
	if (n->depth <= kid->depth)
		n->depth = (uint16_t)(kid->depth + 1);
	if (n->depth < KI_D_DEPTH)
		return 0;
	return ki_lex_error(&p->lex, n->at, "nested too deep: at most %d levels", KI_D_DEPTH);
}

/* A node of the token's text; past the token. */
static int take_text(struct ki_d_parser *p, enum ki_d_kind kind, struct ki_d_node **out)
{
	const struct ki_token *t = &p->lex.now;

	*out = ki_d_node_new(&p->d->pool, kind, t->at, t->len);
	if (!*out)
		return ki_d_no_memory(p->lex.err);
	if (kind == KI_D_TEXT)
		ki_lex_string(&p->lex, (*out)->text);
	else
		memcpy((*out)->text, t->text, t->len);
	return ki_lex_next(&p->lex);
}

static int expect_name(const struct ki_d_parser *p)
{
	return p->lex.now.kind == KI_TOKEN_NAME ? 0 : ki_lex_expected(&p->lex, "a name");
}

/* ---- primary ---- */

int ki_d_parse_list(struct ki_d_parser *p, const char *close, struct ki_d_node **out)
{
	struct ki_d_node **end = out;
	int ret = ki_lex_next(&p->lex); /* past what opens it */

	*out = NULL;
	if (ret || ki_lex_is(&p->lex, close))
		return ret ? ret : ki_lex_next(&p->lex);
	while (!ret) {
		ret = ki_d_parse_expr(p, end);
		if (ret || !ki_lex_is(&p->lex, ","))
			break;
		end = &(*end)->next;
		ret = ki_lex_next(&p->lex);
	}
	return ret ? ret : ki_lex_take(&p->lex, close);
}

/* Kid i is a list: all of it counts for the depth. */
static int adopt_list(struct ki_d_parser *p, struct ki_d_node *n, unsigned int i,
		      struct ki_d_node *list)
{
	int ret = 0;

	for (struct ki_d_node *k = list; !ret && k; k = k->next)
		ret = adopt(p, n, i, k);
	n->kid[i] = list;
	return ret;
}

static int in_brackets(struct ki_d_parser *p, const char *close, struct ki_d_node *n,
		       unsigned int i)
{
	const bool was = p->in_predicate;
	struct ki_d_node *list;
	int ret;

	p->in_predicate = false;
	ret = ki_d_parse_list(p, close, &list);
	p->in_predicate = was;
	return ret ? ret : adopt_list(p, n, i, list);
}

/* self->NAME, this->NAME */
static int scoped(struct ki_d_parser *p, struct ki_d_node **out)
{
	const enum ki_d_kind kind = ki_lex_is(&p->lex, "self") ? KI_D_SELF : KI_D_THIS;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_lex_take(&p->lex, "->");
	if (!ret)
		ret = expect_name(p);
	return ret ? ret : take_text(p, kind, out);
}

/* @NAME[list] */
static int aggregation(struct ki_d_parser *p, struct ki_d_node **out)
{
	uint32_t at = p->lex.now.at;
	int ret = ki_lex_next(&p->lex);

	if (ret)
		return ret;
	if (p->lex.now.kind == KI_TOKEN_NAME)
		ret = take_text(p, KI_D_AGG, out);
	else
		ret = new_node(p, KI_D_AGG, at, out);
	if (ret || !ki_lex_is(&p->lex, "["))
		return ret;
	return in_brackets(p, "]", *out, 0);
}

/* stringof is an operator, too. */
static int name(struct ki_d_parser *p, struct ki_d_node **out)
{
	const bool returns = ki_lex_is(&p->lex, "return"), text = ki_lex_is(&p->lex, "stringof");
	struct ki_d_node *of;
	int ret;

	if (ki_d_is_reserved(p) && !returns)
		return ki_lex_expected(&p->lex, "an expression");
	if (ki_lex_is(&p->lex, "self") || ki_lex_is(&p->lex, "this"))
		return scoped(p, out);
	if (ki_lex_is(&p->lex, "xlate"))
		return ki_d_parse_xlate(p, out);
	if (ki_lex_is(&p->lex, "offsetof"))
		return ki_d_parse_offset_of(p, out);
	ret = take_text(p, KI_D_NAME, out);
	if (!ret && returns && !ki_lex_is(&p->lex, "("))
		return ki_lex_expected(&p->lex, "'('");
	if (!ret && ki_lex_is(&p->lex, "`"))
		return ki_d_parse_symbol(p, out);
	if (ret || (!text && !ki_lex_is(&p->lex, "(")))
		return ret;
	(*out)->kind = KI_D_CALL;
	if (ki_lex_is(&p->lex, "("))
		return in_brackets(p, ")", *out, 0);
	ret = unary(p, &of);
	return ret ? ret : adopt(p, *out, 0, of);
}

/* In parentheses: a type is a cast. */
static int parentheses(struct ki_d_parser *p, struct ki_d_node **out)
{
	const bool was = p->in_predicate;
	uint32_t at = p->lex.now.at;
	struct ki_lexer first;
	struct ki_d_node *kid;
	struct ki_d_type type;
	bool is_type;
	int ret = ki_lex_next(&p->lex);

	first = p->lex;
	p->in_predicate = false;
	if (!ret)
		ret = ki_d_parse_type(p, &type, &is_type);
	if (!ret && !is_type) {
		ret = ki_d_parse_comma(p, out);
		if (ret)
			ki_d_unknown_type(p, &first);
	}
	if (!ret)
		ret = ki_lex_take(&p->lex, ")");
	p->in_predicate = was;
	if (ret || !is_type)
		return ret;
	ret = unary(p, &kid);
	if (!ret)
		ret = new_node(p, KI_D_CAST, at, out);
	if (ret)
		return ret;
	(*out)->type = (*out)->about = type;
	return adopt(p, *out, 0, kid);
}

static int primary(struct ki_d_parser *p, struct ki_d_node **out)
{
	switch (p->lex.now.kind) {
	case KI_TOKEN_NUMBER:
		return ki_d_parse_integer(p, out);
	case KI_TOKEN_STRING:
		return take_text(p, KI_D_TEXT, out);
	case KI_TOKEN_REGISTER:
		return ki_d_parse_macro(p, out);
	case KI_TOKEN_NAME:
		return name(p, out);
	default:
		*out = NULL;
		if (ki_lex_is(&p->lex, "`"))
			return ki_d_parse_symbol(p, out);
		if (ki_lex_is(&p->lex, "@"))
			return aggregation(p, out);
		if (ki_lex_is(&p->lex, "("))
			return parentheses(p, out);
		return ki_lex_expected(&p->lex, "an expression");
	}
}

/* of.NAME, or of->NAME, which is (*of).NAME */
static int member(struct ki_d_parser *p, struct ki_d_node **out)
{
	struct ki_d_node *of = *out;
	const bool arrow = ki_lex_is(&p->lex, "->");
	int ret = ki_lex_next(&p->lex);

	if (!ret && arrow) {
		ret = new_node(p, KI_D_DEREF, of->at, out);
		if (!ret)
			ret = adopt(p, *out, 0, of);
		of = *out;
		of->op = 1;
	}
	if (!ret)
		ret = expect_name(p);
	if (!ret)
		ret = take_text(p, KI_D_MEMBER, out);
	if (ret)
		return ret;
	(*out)->at = of->at;
	return adopt(p, *out, 0, of);
}

/* Behind an operand: [list] ++ -- */
static int postfix(struct ki_d_parser *p, struct ki_d_node **out)
{
	struct ki_d_node *of;
	int ret = primary(p, out);

	while (!ret) {
		const bool up = ki_lex_is(&p->lex, "++");

		of = *out;
		if (ki_lex_is(&p->lex, "->") || ki_lex_is(&p->lex, ".")) {
			ret = member(p, out);
			continue;
		}
		if (ki_lex_is(&p->lex, "("))
			return ki_d_fail(p->d, p->lex.err, of->at, "D_FUNC_IDENT",
					 "what is called is a function's name");
		if (ki_lex_is(&p->lex, "[") && of->kind == KI_D_AGG && !p->keyed)
			p->keyed = of;
		if (ki_lex_is(&p->lex, "[")) {
			ret = new_node(p, KI_D_INDEX, of->at, out);
			if (!ret)
				ret = adopt(p, *out, 0, of);
			if (!ret)
				ret = in_brackets(p, "]", *out, 1);
			continue;
		}
		if (!up && !ki_lex_is(&p->lex, "--"))
			break;
		ret = new_node(p, KI_D_STEP, of->at, out);
		if (ret)
			break;
		(*out)->op = up ? KI_ADD : KI_SUB;
		(*out)->value = 1;
		ret = adopt(p, *out, 0, of);
		if (!ret)
			ret = ki_lex_next(&p->lex);
	}
	return ret;
}

/* ---- operators ---- */

static int prefix(struct ki_d_parser *p, enum ki_d_kind kind, uint8_t op, struct ki_d_node **out)
{
	uint32_t at = p->lex.now.at;
	struct ki_d_node *kid;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = unary(p, &kid);
	if (!ret)
		ret = new_node(p, kind, at, out);
	if (ret)
		return ret;
	(*out)->op = op;
	return adopt(p, *out, 0, kid);
}

/* sizeof (TYPE), sizeof EXPRESSION */
static int size_of(struct ki_d_parser *p, struct ki_d_node **out)
{
	const struct ki_lexer before = (ki_lex_next(&p->lex), p->lex);
	struct ki_d_node *n, *kid;
	bool is_type = false;
	int ret = new_node(p, KI_D_SIZEOF, p->lex.now.at, &n);

	if (ret)
		return ret;
	*out = n;
	if (ki_lex_is(&p->lex, "(")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = ki_d_parse_type(p, &n->about, &is_type);
		if (ret || is_type)
			return ret ? ret : ki_lex_take(&p->lex, ")");
		p->lex = before;
	}
	ret = unary(p, &kid);
	return ret ? ret : adopt(p, n, 0, kid);
}

/* +x is - -x: what cannot be negated has no plus. */
static int plus(struct ki_d_parser *p, struct ki_d_node **out)
{
	struct ki_d_node *negative;
	int ret = prefix(p, KI_D_UNARY, KI_NEG, &negative);

	if (!ret)
		ret = new_node(p, KI_D_UNARY, negative->at, out);
	if (ret)
		return ret;
	(*out)->op = KI_NEG;
	return adopt(p, *out, 0, negative);
}

static int unary_inside(struct ki_d_parser *p, struct ki_d_node **out)
{
	if (ki_lex_is(&p->lex, "++") || ki_lex_is(&p->lex, "--"))
		return prefix(p, KI_D_STEP, ki_lex_is(&p->lex, "++") ? KI_ADD : KI_SUB, out);
	if (ki_lex_is(&p->lex, "*"))
		return prefix(p, KI_D_DEREF, 0, out);
	if (ki_lex_is(&p->lex, "&"))
		return prefix(p, KI_D_ADDRESS, 0, out);
	if (ki_lex_is(&p->lex, "sizeof"))
		return size_of(p, out);
	if (ki_lex_is(&p->lex, "+"))
		return plus(p, out);
	for (const struct ki_op *o = ki_ops_unary; o->text; o++)
		if (ki_lex_is(&p->lex, o->text))
			return prefix(p, KI_D_UNARY, o->op, out);
	return postfix(p, out);
}

static int unary(struct ki_d_parser *p, struct ki_d_node **out)
{
	int ret;

	if (++p->level > KI_D_DEPTH)
		return ki_lex_error(&p->lex, p->lex.now.at, "nested too deep: at most %d levels",
				    KI_D_DEPTH);
	ret = unary_inside(p, out);
	p->level--;
	return ret;
}

#define BINDS_XOR_LOGIC 2 /* as || does, one below && */

static const struct ki_op *operator(const struct ki_d_parser *p)
{
	static const struct ki_op xor_logic = {"^^", KI_D_XOR_LOGIC, BINDS_XOR_LOGIC};

	if (p->lex.now.kind != KI_TOKEN_MARK || ki_d_ends_predicate(p))
		return NULL;
	if (ki_lex_is(&p->lex, "^^"))
		return &xor_logic;
	for (const struct ki_op *o = ki_ops_binary; o->text; o++)
		if (ki_lex_is(&p->lex, o->text))
			return o;
	return NULL;
}

static int binary(struct ki_d_parser *p, unsigned int binds, struct ki_d_node **out)
{
	const struct ki_op *o;
	int ret = unary(p, out);

	while (!ret && (o = operator(p)) && o->binds >= binds) {
		struct ki_d_node *left = *out, *right;

		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = binary(p, o->binds + 1u, &right);
		if (!ret)
			ret = new_node(p, KI_D_BINARY, left->at, out);
		if (ret)
			return ret;
		(*out)->op = o->op;
		ret = adopt(p, *out, 0, left);
		if (!ret)
			ret = adopt(p, *out, 1, right);
	}
	return ret;
}

static int conditional(struct ki_d_parser *p, struct ki_d_node **out)
{
	struct ki_d_node *kid[3];
	int ret = binary(p, 0, &kid[0]);

	*out = ret ? NULL : kid[0];
	if (ret || !ki_lex_is(&p->lex, "?"))
		return ret;
	ret = ki_lex_next(&p->lex);
	if (!ret)
		ret = ki_d_parse_expr(p, &kid[1]);
	if (!ret)
		ret = ki_lex_take(&p->lex, ":");
	if (!ret)
		ret = conditional(p, &kid[2]);
	if (!ret)
		ret = new_node(p, KI_D_COND, kid[0]->at, out);
	for (unsigned int i = 0; !ret && i < 3; i++)
		ret = adopt(p, *out, i, kid[i]);
	return ret;
}

static const struct {
	const char *text;
	uint8_t op;
} assignments[] = {
	{"=", KI_BINARIES}, {"+=", KI_ADD}, {"-=", KI_SUB},  {"*=", KI_MUL},
	{"/=", KI_DIV},	    {"%=", KI_MOD}, {"<<=", KI_SHL}, {">>=", KI_SHR},
	{"&=", KI_AND},	    {"|=", KI_OR},  {"^=", KI_XOR},
};

static int assignment(struct ki_d_parser *p, struct ki_d_node **out)
{
	struct ki_d_node *left, *right;
	int ret = conditional(p, out);

	for (size_t i = 0; !ret && i < sizeof(assignments) / sizeof(*assignments); i++) {
		if (!ki_lex_is(&p->lex, assignments[i].text))
			continue;
		left = *out;
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = ki_d_parse_expr(p, &right);
		if (!ret && left->kind == KI_D_AGG && assignments[i].op == KI_BINARIES) {
			*out = left;
			return adopt(p, left, 1, right);
		}
		if (!ret)
			ret = new_node(p, KI_D_ASSIGN, left->at, out);
		if (ret)
			return ret;
		(*out)->op = assignments[i].op;
		ret = adopt(p, *out, 0, left);
		return ret ? ret : adopt(p, *out, 1, right);
	}
	return ret;
}

int ki_d_parse_expr(struct ki_d_parser *p, struct ki_d_node **out)
{
	int ret;

	if (++p->level > KI_D_DEPTH)
		return ki_lex_error(&p->lex, p->lex.now.at, "nested too deep: at most %d levels",
				    KI_D_DEPTH);
	ret = assignment(p, out);
	p->level--;
	return ret;
}

int ki_d_parse_comma(struct ki_d_parser *p, struct ki_d_node **out)
{
	int ret = ki_d_parse_expr(p, out);

	while (!ret && ki_lex_is(&p->lex, ",")) {
		struct ki_d_node *left = *out, *right;

		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = ki_d_parse_expr(p, &right);
		if (!ret)
			ret = new_node(p, KI_D_COMMA, left->at, out);
		if (!ret)
			ret = adopt(p, *out, 0, left);
		if (!ret)
			ret = adopt(p, *out, 1, right);
	}
	return ret;
}

int ki_d_parse_constant(struct ki_d_parser *p, struct ki_d_node **out)
{
	int ret = conditional(p, out);

	return ret ? ret : ki_d_fold(p->d, *out, p->lex.err);
}
