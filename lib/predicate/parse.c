// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Precedence climbing: an operand takes all operators to its right that bind at least as strong
 * as asked for, and each of these asks its right operand for what binds stronger than itself.
 *
 * Both the nesting of the text and the depth of the tree are bounded (a + b + c ... is deep, but
 * not nested), so that neither this nor whoever walks the tree runs out of stack.
 */
#include "predicate/parse.h"

#include <errno.h>
#include <string.h>

static int unary(struct ki_parser *p, struct ki_ast **out);

static int no_memory(struct ki_parser *p)
{
	return ki_err_set(p->lex.err, -ENOMEM, 0, "%s: out of memory", p->lex.rules->language);
}

static int too_deep(struct ki_parser *p, uint32_t at)
{
	return ki_lex_error(&p->lex, at,
			    "nested too deep: at most %d levels; a in (...) is one, however long",
			    KI_AST_DEPTH);
}

static int new_node(struct ki_parser *p, enum ki_ast_kind kind, uint32_t at, struct ki_ast **out)
{
	*out = ki_ast_new(&p->pool, kind, at, 0);
	return *out ? 0 : no_memory(p);
}

static int adopt(struct ki_parser *p, struct ki_ast *e, unsigned int i, struct ki_ast *kid)
{
	e->kid[i] = kid;
	if (e->depth <= kid->depth)
		e->depth = (uint16_t)(kid->depth + 1);
	return e->depth < KI_AST_DEPTH ? 0 : too_deep(p, e->at);
}

/* A node of the token's text; past the token. */
static int take_text(struct ki_parser *p, enum ki_ast_kind kind, struct ki_ast **out)
{
	const struct ki_token *t = &p->lex.now;

	*out = ki_ast_new(&p->pool, kind, t->at, t->len);
	if (!*out)
		return no_memory(p);
	if (kind == KI_AST_STRING)
		ki_lex_string(&p->lex, (*out)->text);
	else
		memcpy((*out)->text, t->text, t->len);
	return ki_lex_next(&p->lex);
}

/* ---- primary ---- */

static int number(struct ki_parser *p, struct ki_ast **out)
{
	const struct ki_token *t = &p->lex.now;
	int ret = new_node(p, KI_AST_NUMBER, t->at, out);

	if (ret)
		return ret;
	(*out)->type = t->is_unsigned ? KI_U64 : KI_I64;
	(*out)->base = t->base;
	(*out)->value = t->value;
	return ki_lex_next(&p->lex);
}

static int reg(struct ki_parser *p, struct ki_ast **out)
{
	uint32_t at = p->lex.now.at;
	enum ki_reg r;
	int ret = take_text(p, KI_AST_REGISTER, out);

	if (ret)
		return ret;
	if (ki_reg_named((*out)->text, &r))
		return ki_lex_error(&p->lex, at,
				    "no register $%.16s: those of 64 bits, $rax to $r15; "
				    "(u32)$rax is its lower half",
				    (*out)->text);
	(*out)->op = (uint8_t)r;
	return 0;
}

/* After the expression of str or ustr: how many bytes there is room for. */
static int string_size(struct ki_parser *p, struct ki_ast *e)
{
	int ret = ki_lex_next(&p->lex);

	if (ret || p->lex.now.kind != KI_TOKEN_NUMBER)
		return ret ? ret : ki_lex_expected(&p->lex, "a number of bytes");
	e->value = p->lex.now.value;
	if (!e->value || e->value > 8 * KI_STRING_WORDS)
		return ki_lex_error(&p->lex, p->lex.now.at, "a string has 1 to %d bytes",
				    8 * KI_STRING_WORDS);
	return ki_lex_next(&p->lex);
}

static int starts_with(struct ki_parser *p, struct ki_ast *e)
{
	struct ki_ast *text;
	int ret = ki_lex_take(&p->lex, ",");

	if (!ret && p->lex.now.kind != KI_TOKEN_STRING)
		return ki_lex_expected(&p->lex, "a string");
	if (!ret)
		ret = take_text(p, KI_AST_STRING, &text);
	return ret ? ret : adopt(p, e, 1, text);
}

/* str, ustr or starts, and what stands after it in parentheses. */
static int string_function(struct ki_parser *p, struct ki_ast *e)
{
	struct ki_ast *kid;
	int ret = ki_lex_take(&p->lex, "(");

	e->op = *e->text == 'u';
	e->kind = !strcmp(e->text, "starts") ? KI_AST_STARTS : KI_AST_STR;
	if (!ret)
		ret = ki_parse_expr(p, &kid);
	if (!ret)
		ret = adopt(p, e, 0, kid);
	if (!ret && e->kind == KI_AST_STARTS)
		ret = starts_with(p, e);
	else if (!ret && ki_lex_is(&p->lex, ","))
		ret = string_size(p, e);
	return ret ? ret : ki_lex_take(&p->lex, ")");
}

static bool is_string_function(const char *name)
{
	return !strcmp(name, "str") || !strcmp(name, "ustr") || !strcmp(name, "starts");
}

/* Expressions with commas between them, as kids; up to the parenthesis that ends them. */
static int list(struct ki_parser *p, struct ki_ast *e, unsigned int kid)
{
	struct ki_ast **end = &e->kid[kid], *first = NULL;
	int ret = 0;

	while (!ret) {
		ret = ki_parse_expr(p, end);
		if (ret)
			return ret;
		first = first ? first : *end;
		ret = adopt(p, e, kid, *end);
		e->kid[kid] = first;
		end = &(*end)->next;
		if (ret || !ki_lex_is(&p->lex, ","))
			break;
		ret = ki_lex_next(&p->lex);
	}
	return ret ? ret : ki_lex_take(&p->lex, ")");
}

/* Between parentheses, of inside(): [MODULE:]NAME[@0xADDRESS]. */
static int function_name(struct ki_parser *p, struct ki_ast *e)
{
	struct ki_ast *what;
	int ret;

	ki_lex_until(&p->lex, ')');
	ret = take_text(p, KI_AST_NAME, &what);
	if (!ret)
		ret = adopt(p, e, 0, what);
	return ret ? ret : ki_lex_take(&p->lex, ")");
}

/* A name, or a name with arguments; what stands between the parentheses of inside() is a name. */
static int name(struct ki_parser *p, struct ki_ast **out)
{
	int ret = take_text(p, KI_AST_NAME, out);

	if (ret || !ki_lex_is(&p->lex, "("))
		return ret;
	if (is_string_function((*out)->text))
		return string_function(p, *out);
	(*out)->kind = KI_AST_CALL;
	if (!strcmp((*out)->text, "inside"))
		return function_name(p, *out);
	ret = ki_lex_next(&p->lex);
	if (ret)
		return ret;
	return ki_lex_is(&p->lex, ")") ? ki_lex_next(&p->lex) : list(p, *out, 0);
}

static int in_parentheses(struct ki_parser *p, struct ki_ast **out)
{
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_parse_expr(p, out);
	return ret ? ret : ki_lex_take(&p->lex, ")");
}

static int primary(struct ki_parser *p, struct ki_ast **out)
{
	switch (p->lex.now.kind) {
	case KI_TOKEN_NUMBER:
		return number(p, out);
	case KI_TOKEN_STRING:
		return take_text(p, KI_AST_STRING, out);
	case KI_TOKEN_REGISTER:
		return reg(p, out);
	case KI_TOKEN_NAME:
		return name(p, out);
	default:
		if (ki_lex_is(&p->lex, "("))
			return in_parentheses(p, out);
		return ki_lex_expected(&p->lex, "a number, a name or (");
	}
}

/* ---- types ---- */

#define TYPE_LEN 40

/* Words of a type, as far as they go; text "": here is none. */
static int type_words(struct ki_parser *p, char text[TYPE_LEN])
{
	size_t n = 0;
	int ret = 0;

	for (text[0] = 0; !ret && p->lex.now.kind == KI_TOKEN_NAME; ret = ki_lex_next(&p->lex)) {
		const struct ki_token *t = &p->lex.now;
		enum ki_type type;
		size_t old = n;

		if (n + t->len + 2 > TYPE_LEN)
			break;
		if (n)
			text[n++] = ' ';
		memcpy(text + n, t->text, t->len);
		n += t->len;
		text[n] = 0;
		if (!ki_type_named(text, &type))
			continue;
		text[old] = 0;
		break;
	}
	return ret;
}

/* After a (: TYPE ) or TYPE * ). *is_type false: no type stands there, and nothing was taken. */
static int type_in_parentheses(struct ki_parser *p, bool pointer, bool *is_type, enum ki_type *out)
{
	char text[TYPE_LEN];
	int ret = type_words(p, text);

	*is_type = *text;
	if (ret || !*is_type)
		return ret;
	ki_type_named(text, out);
	if (pointer)
		ret = ki_lex_take(&p->lex, "*");
	else if (ki_lex_is(&p->lex, "*"))
		return ki_lex_error(&p->lex, p->lex.now.at,
				    "a pointer is read through: *(%s *)(...)", text);
	return ret ? ret : ki_lex_take(&p->lex, ")");
}

static int typed(struct ki_parser *p, enum ki_ast_kind kind, uint32_t at, enum ki_type type,
		 struct ki_ast **out)
{
	struct ki_ast *kid;
	int ret = unary(p, &kid);

	if (!ret)
		ret = new_node(p, kind, at, out);
	if (ret)
		return ret;
	(*out)->type = (uint8_t)type;
	return adopt(p, *out, 0, kid);
}

static int load(struct ki_parser *p, struct ki_ast **out)
{
	static const char what[] = "behind * a type, as in *(u32 *)(arg0 + 16),";
	uint32_t at = p->lex.now.at;
	enum ki_type type = KI_U64;
	bool is_type = false;
	int ret = ki_lex_next(&p->lex);

	if (!ret && !ki_lex_is(&p->lex, "("))
		return ki_lex_expected(&p->lex, what);
	if (!ret)
		ret = ki_lex_next(&p->lex);
	if (!ret)
		ret = type_in_parentheses(p, true, &is_type, &type);
	if (ret)
		return ret;
	return is_type ? typed(p, KI_AST_LOAD, at, type, out) : ki_lex_expected(&p->lex, what);
}

/* ---- unary ---- */

/* ( begins a cast or an expression. */
static int cast(struct ki_parser *p, struct ki_ast **out)
{
	const struct ki_lexer before = p->lex;
	enum ki_type type;
	bool is_type;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = type_in_parentheses(p, false, &is_type, &type);
	if (ret)
		return ret;
	if (is_type)
		return typed(p, KI_AST_CAST, before.now.at, type, out);
	p->lex = before;
	return primary(p, out);
}

static int prefixed(struct ki_parser *p, const struct ki_op *op, struct ki_ast **out)
{
	uint32_t at = p->lex.now.at;
	struct ki_ast *kid;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = unary(p, &kid);
	if (!ret)
		ret = new_node(p, KI_AST_UNARY, at, out);
	if (ret)
		return ret;
	(*out)->op = op->op;
	return adopt(p, *out, 0, kid);
}

static const struct ki_op *op_here(const struct ki_parser *p, const struct ki_op *ops)
{
	for (; ops->text; ops++)
		if (ki_lex_is(&p->lex, ops->text))
			return ops;
	return NULL;
}

static int unary_here(struct ki_parser *p, struct ki_ast **out)
{
	const struct ki_op *op = op_here(p, ki_ops_unary);
	int ret;

	if (op)
		return prefixed(p, op, out);
	if (ki_lex_is(&p->lex, "*"))
		return load(p, out);
	if (ki_lex_is(&p->lex, "("))
		return cast(p, out);
	if (!ki_lex_is(&p->lex, "+"))
		return primary(p, out);
	ret = ki_lex_next(&p->lex);
	return ret ? ret : unary(p, out);
}

static int unary(struct ki_parser *p, struct ki_ast **out)
{
	int ret;

	if (++p->level > KI_AST_DEPTH)
		return too_deep(p, p->lex.now.at);
	ret = unary_here(p, out);
	p->level--;
	return ret;
}

/* ---- operators between operands ---- */

static int members(struct ki_parser *p, struct ki_ast *e)
{
	int ret = ki_lex_take(&p->lex, "(");

	return ret ? ret : list(p, e, 1);
}

static int binary(struct ki_parser *p, unsigned int least, struct ki_ast **out);

/* The operator and what is right of it, with *out as its left side. */
static int operation(struct ki_parser *p, const struct ki_op *op, struct ki_ast **out)
{
	struct ki_ast *left = *out, *right;
	enum ki_ast_kind kind = op->op == KI_OP_IN ? KI_AST_IN : KI_AST_BINARY;
	int ret = new_node(p, kind, p->lex.now.at, out);

	if (!ret)
		ret = adopt(p, *out, 0, left);
	if (!ret)
		ret = ki_lex_next(&p->lex);
	if (ret || kind == KI_AST_IN)
		return ret ? ret : members(p, *out);
	(*out)->op = op->op;
	ret = binary(p, op->binds + 1u, &right);
	return ret ? ret : adopt(p, *out, 1, right);
}

/* Only after `in (...)`, which has no right operand, can an operator come that binds stronger than
   the one before: it would seem to belong to the list, and is left for nobody to take. */
static int binary(struct ki_parser *p, unsigned int least, struct ki_ast **out)
{
	unsigned int most = KI_OP_BINDS;
	const struct ki_op *op;
	int ret = unary(p, out);

	while (!ret) {
		op = op_here(p, ki_ops_binary);
		if (!op || op->binds < least || op->binds > most)
			break;
		most = op->binds;
		ret = operation(p, op, out);
	}
	return ret;
}

static int choice(struct ki_parser *p, struct ki_ast **out)
{
	struct ki_ast *c = *out, *yes, *no;
	int ret = new_node(p, KI_AST_COND, p->lex.now.at, out);

	if (!ret)
		ret = ki_lex_next(&p->lex);
	if (!ret)
		ret = ki_parse_expr(p, &yes);
	if (!ret)
		ret = ki_lex_take(&p->lex, ":");
	if (!ret)
		ret = ki_parse_expr(p, &no);
	if (!ret)
		ret = adopt(p, *out, 0, c);
	if (!ret)
		ret = adopt(p, *out, 1, yes);
	return ret ? ret : adopt(p, *out, 2, no);
}

int ki_parse_expr(struct ki_parser *p, struct ki_ast **out)
{
	int ret;

	if (++p->level > KI_AST_DEPTH)
		return too_deep(p, p->lex.now.at);
	ret = binary(p, 0, out);
	if (!ret && ki_lex_is(&p->lex, "?"))
		ret = choice(p, out);
	p->level--;
	return ret;
}
