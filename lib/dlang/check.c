// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What names stand for, and the type of each expression. A variable's type is that of its first
 * assignment in the program's text, unless it was declared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check.h"
#include "dlang/names.h"

#define ERR(c, n, ...) ki_d_error((c)->d, (c)->err, (n)->at, __VA_ARGS__)

/* ---- variables ---- */

static enum ki_d_scope scope_of(const struct ki_d_node *n)
{
	return n->kind == KI_D_SELF   ? KI_D_SELF_SCOPE
	       : n->kind == KI_D_THIS ? KI_D_THIS_SCOPE
				      : KI_D_GLOBAL_SCOPE;
}

static const char *const prefixes[] = {"", "self->", "this->"};

static struct ki_d_var *find_var(const struct ki_dlang *d, const struct ki_d_node *n)
{
	for (size_t i = 0; i < d->vars.n; i++)
		if (d->vars.v[i]->scope == scope_of(n) && !strcmp(d->vars.v[i]->name, n->text))
			return d->vars.v[i];
	return NULL;
}

static int new_var(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_var **out)
{
	struct ki_d_var *v = calloc(1, sizeof(*v));

	if (v)
		v->name = strdup(n->text);
	if (!v || !v->name || ki_vec_push(&c->d->vars, v)) {
		if (v)
			free(v->name);
		free(v);
		return ki_d_no_memory(c->err);
	}
	v->scope = (uint8_t)scope_of(n);
	*out = v;
	return 0;
}

/* A variable that is read, or that stands alone. */
static int check_var(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_builtin *b = n->kind == KI_D_NAME ? ki_d_builtin_find(n->text) : NULL;

	n->is_builtin = b;
	if (b) {
		n->sym.builtin = b;
		n->type = b->type;
		c->d->clock_used |= b->kind == KI_D_B_VTIME;
		c->clause->asks_return |=
			b->kind == KI_D_B_ERRNO || (b->kind == KI_D_B_ARG && b->number == 1);
		return 0;
	}
	n->sym.var = find_var(c->d, n);
	if (!n->sym.var)
		return ERR(c, n, "%s%.40s has no value: nothing is assigned to it before",
			   prefixes[scope_of(n)], n->text);
	n->type = n->sym.var->type;
	return n->sym.var->nkeys ? ERR(c, n, "%s is an array: %s[...]", n->text, n->text) : 0;
}

static int check_keys(struct ki_d_checker *c, struct ki_d_node *list, struct ki_d_type *types,
		      unsigned int *n)
{
	int ret = 0;

	*n = 0;
	for (struct ki_d_node *k = list; !ret && k; k = k->next) {
		if (*n == KI_D_KEYS)
			return ERR(c, k, "more than %d keys", KI_D_KEYS);
		ret = ki_d_check_expr(c, k);
		types[(*n)++] = k->type;
	}
	return ret;
}

static bool same_kind(struct ki_d_type a, struct ki_d_type b)
{
	return ki_d_is_scalar(a) ? ki_d_is_scalar(b) : a.base == b.base && a.stars == b.stars;
}

/* The variable of NAME[...]; new: it is assigned to, and may not be known. */
static int check_index(struct ki_d_checker *c, struct ki_d_node *n, bool new)
{
	struct ki_d_node *name = n->kid[0];
	struct ki_d_type keys[KI_D_KEYS];
	struct ki_d_var *v;
	unsigned int nkeys;
	int ret = check_keys(c, n->kid[1], keys, &nkeys);

	if (!ret && (scope_of(name) != KI_D_GLOBAL_SCOPE || name->kind != KI_D_NAME))
		ret = ERR(c, n, "arrays are global: NAME[...]");
	if (!ret && ki_d_builtin_find(name->text))
		ret = ERR(c, n, "%s is no array", name->text);
	v = find_var(c->d, name);
	if (!ret && !v && !new)
		ret = ERR(c, n, "%.40s has no value: nothing is assigned to it before", name->text);
	if (!ret && !v) {
		ret = new_var(c, name, &v);
		if (!ret) {
			memcpy(v->keys, keys, sizeof(keys));
			v->nkeys = nkeys;
		}
	}
	if (ret)
		return ret;
	if (v->nkeys != nkeys)
		return ERR(c, n, "%.40s has %u keys elsewhere, here %u", name->text, v->nkeys,
			   nkeys);
	for (unsigned int i = 0; i < nkeys; i++)
		if (!same_kind(v->keys[i], keys[i]) || keys[i].base == KI_D_STACK)
			return ERR(c, n, "key %u of %.40s has another type elsewhere", i + 1,
				   name->text);
	n->sym.var = v;
	n->type = v->type;
	return 0;
}

/* ---- assignment ---- */

static bool is_variable(const struct ki_d_node *n)
{
	return n->kind == KI_D_SELF || n->kind == KI_D_THIS || n->kind == KI_D_INDEX ||
	       (n->kind == KI_D_NAME && !ki_d_builtin_find(n->text));
}

/* What is assigned to: a variable that may be new, whose type then is that of the value. */
static int check_target(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_type value)
{
	struct ki_d_var *v = NULL;
	int ret = 0;

	if (!is_variable(n))
		return ERR(c, n, "only variables can be assigned to");
	if (n->kind == KI_D_INDEX)
		ret = check_index(c, n, true);
	v = n->kind == KI_D_INDEX ? n->sym.var : find_var(c->d, n);
	if (!ret && !v)
		ret = new_var(c, n, &v);
	if (ret)
		return ret;
	if (n->kind != KI_D_INDEX && v->nkeys)
		return ERR(c, n, "%s is an array: %s[...]", n->text, n->text);
	if (v->type.base == KI_D_VOID && !v->type.stars)
		v->type = value;
	n->sym.var = v;
	n->type = v->type;
	if (!ki_d_is_scalar(v->type))
		return ERR(c, n, "a variable of a string is not supported yet");
	return ki_d_is_scalar(value) ? 0 : ERR(c, n, "a string is assigned to a number");
}

static int check_assign(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[1]);

	if (!ret && n->op != KI_BINARIES && is_variable(n->kid[0]) &&
	    n->kid[0]->kind != KI_D_INDEX && !find_var(c->d, n->kid[0]))
		return check_target(c, n->kid[0], ki_d_int(KI_I64))
			       ? -EINVAL
			       : (n->type = n->kid[0]->type, 0);
	if (!ret)
		ret = check_target(c, n->kid[0], n->kid[1]->type);
	n->type = n->kid[0]->type;
	return ret;
}

static int check_step(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = check_target(c, n->kid[0], ki_d_int(KI_I64));

	n->type = n->kid[0]->type;
	return ret;
}

/* ---- operators ---- */

static bool is_comparison(uint8_t op)
{
	return op >= KI_EQ && op <= KI_GE;
}

/* C's usual conversions: to int at least, then to the larger, then to unsigned. */
static struct ki_d_type usual(struct ki_d_type a, struct ki_d_type b)
{
	const unsigned int size = ki_d_size(a) > ki_d_size(b) ? ki_d_size(a) : ki_d_size(b);
	const struct ki_d_type both[] = {a, b};
	bool is_unsigned = false;

	for (int i = 0; i < 2; i++)
		is_unsigned |= ki_d_num(both[i]) >= KI_U8 && ki_d_size(both[i]) == size;
	if (size < 4)
		return ki_d_int(KI_I32);
	if (size == 4)
		return ki_d_int(is_unsigned ? KI_U32 : KI_I32);
	return ki_d_int(is_unsigned ? KI_U64 : KI_I64);
}

static int check_strings(struct ki_d_checker *c, struct ki_d_node *n)
{
	if (!ki_d_is_string(n->kid[0]->type) || !ki_d_is_string(n->kid[1]->type))
		return ERR(c, n, "a string is compared with a number");
	if (!ki_d_is_constant(n->kid[0]) && !ki_d_is_constant(n->kid[1]))
		return ERR(c, n, "a string is compared with a constant, so far");
	if (n->op != KI_EQ && n->op != KI_NE)
		return ERR(c, n, "strings can be compared by == and != only, so far");
	n->type = ki_d_int(KI_I32);
	return 0;
}

static int check_binary(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_type a, b;
	const bool was = c->sometimes;
	int ret = ki_d_check_expr(c, n->kid[0]);

	c->sometimes |= n->op == KI_LAND || n->op == KI_LOR;
	if (!ret)
		ret = ki_d_check_expr(c, n->kid[1]);
	c->sometimes = was;
	if (ret)
		return ret;
	a = n->kid[0]->type;
	b = n->kid[1]->type;
	if (ki_d_is_string(a) || ki_d_is_string(b))
		return check_strings(c, n);
	if (!ki_d_is_scalar(a) || !ki_d_is_scalar(b))
		return ERR(c, n, "numbers are expected on both sides");
	if (is_comparison(n->op) || n->op == KI_LAND || n->op == KI_LOR || n->op == KI_D_XOR_LOGIC)
		n->type = ki_d_int(KI_I32);
	else if (a.stars || b.stars)
		n->type = a.stars ? a : b;
	else if (n->op == KI_SHL || n->op == KI_SHR)
		n->type = usual(a, ki_d_int(KI_I32));
	else
		n->type = usual(a, b);
	if ((n->op == KI_DIV || n->op == KI_MOD) && n->kid[1]->kind == KI_D_NUMBER &&
	    !n->kid[1]->value)
		return ERR(c, n->kid[1], "division by zero");
	return 0;
}

static int check_cond(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool was = c->sometimes;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < 3; i++) {
		ret = ki_d_check_expr(c, n->kid[i]);
		c->sometimes = true;
		if (!ret && !ki_d_is_scalar(n->kid[i]->type))
			ret = ERR(c, n->kid[i], "a number is expected%s",
				  i ? "; strings by condition are not supported yet" : "");
	}
	c->sometimes = was;
	if (!ret)
		n->type = n->kid[1]->type.stars ? n->kid[1]->type
						: usual(n->kid[1]->type, n->kid[2]->type);
	return ret;
}

static int check_deref(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[0]);

	if (ret)
		return ret;
	n->type = n->kid[0]->type;
	if (!n->type.stars)
		return ERR(c, n, "* wants a pointer: *(uint64_t *)arg0");
	n->type.stars--;
	return ki_d_is_scalar(n->type) ? 0 : ERR(c, n, "what a void * leads to has no value");
}

static int check_unary(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[0]);

	if (ret)
		return ret;
	if (!ki_d_is_scalar(n->kid[0]->type))
		return ERR(c, n, "a number is expected");
	n->type = n->op == KI_LNOT ? ki_d_int(KI_I32) : usual(n->kid[0]->type, ki_d_int(KI_I32));
	return 0;
}

static int check_cast(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[0]);

	if (ret)
		return ret;
	if (ki_d_is_scalar(n->type) && ki_d_is_scalar(n->kid[0]->type))
		return 0;
	return ERR(c, n, "only numbers and pointers are cast");
}

int ki_d_check_expr(struct ki_d_checker *c, struct ki_d_node *n)
{
	switch (n->kind) {
	case KI_D_NUMBER:
		return 0;
	case KI_D_TEXT:
		n->type = (struct ki_d_type){.base = KI_D_STRING};
		return 0;
	case KI_D_NAME:
	case KI_D_SELF:
	case KI_D_THIS:
		return check_var(c, n);
	case KI_D_INDEX:
		return check_index(c, n, false);
	case KI_D_AGG:
		return ERR(c, n, "an aggregation has no value: @name = count()");
	case KI_D_CALL:
		return ki_d_check_call(c, n);
	case KI_D_UNARY:
		return check_unary(c, n);
	case KI_D_BINARY:
		return check_binary(c, n);
	case KI_D_ASSIGN:
		return c->statement == n
			       ? check_assign(c, n)
			       : ERR(c, n, "an assignment is a statement of its own here");
	case KI_D_STEP:
		if (c->statement && !c->sometimes)
			return check_step(c, n);
		return ERR(c, n, "%s is a statement of its own here",
			   n->op == KI_ADD ? "++" : "--");
	case KI_D_COND:
		return check_cond(c, n);
	case KI_D_CAST:
		return check_cast(c, n);
	default:
		return check_deref(c, n);
	}
}

bool ki_d_steps(const struct ki_d_node *n)
{
	bool found = n->kind == KI_D_STEP;

	for (unsigned int i = 0; !found && i < 3; i++)
		for (const struct ki_d_node *k = n->kid[i]; !found && k; k = k->next)
			found = ki_d_steps(k);
	return found;
}

/* ---- clauses ---- */

static int check_statement(struct ki_d_checker *c, struct ki_d_node *n)
{
	c->statement = n;
	if (n->kind == KI_D_AGG)
		return ki_d_check_agg(c, n);
	return ki_d_check_expr(c, n);
}

static int check_clause(struct ki_d_checker *c, struct ki_d_clause *clause)
{
	int ret = 0;

	c->clause = clause;
	c->statement = NULL;
	if (clause->predicate) {
		ret = ki_d_check_expr(c, clause->predicate);
		if (!ret && !ki_d_is_scalar(clause->predicate->type))
			ret = ERR(c, clause->predicate,
				  "a predicate is a number: execname == \"name\"");
	}
	for (struct ki_d_node *n = clause->body; !ret && n; n = n->next)
		ret = check_statement(c, n);
	return ret;
}

int ki_d_check(struct ki_dlang *d, struct ki_err *err)
{
	struct ki_d_checker c = {.d = d, .err = err};
	int ret = 0;

	for (size_t i = 0; !ret && i < d->vars.n; i++)
		if (!ki_d_is_scalar(d->vars.v[i]->type))
			ret = ki_d_error(d, err, 0,
					 "%s: a variable of a string is not supported yet",
					 d->vars.v[i]->name);
	for (size_t i = 0; !ret && i < d->clauses.n; i++)
		ret = check_clause(&c, &d->clauses.v[i]);
	return ret ? ret : ki_d_batches(d, err);
}
