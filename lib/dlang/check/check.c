// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What names stand for, and the type of each expression. A variable's type is that of its first
 * assignment in the program's text, unless it was declared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

#define UREGS_LAST 25 /* R_TRAPNO */

/* ---- variables ---- */

static enum ki_d_scope scope_of(const struct ki_d_node *n)
{
	return n->kind == KI_D_SELF   ? KI_D_SELF_SCOPE
	       : n->kind == KI_D_THIS ? KI_D_THIS_SCOPE
				      : KI_D_GLOBAL_SCOPE;
}

static const char *const prefixes[] = {"", "self->", "this->"};

struct ki_d_var *ki_d_var_find(const struct ki_dlang *d, const struct ki_d_node *n)
{
	for (size_t i = 0; i < d->vars.n; i++)
		if (d->vars.v[i]->scope == scope_of(n) && !strcmp(d->vars.v[i]->name, n->text))
			return d->vars.v[i];
	return NULL;
}

int ki_d_var_new(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_var **out)
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

/* A name that is no variable's: a constant of an enum. */
static int constant(struct ki_d_checker *c, struct ki_d_node *n)
{
	int64_t value;

	if (n->kind == KI_D_NAME && (!ki_d_constant_find(n->text, &n->type, &value) ||
				     !ki_d_enumerator(&c->d->types, n->text, &n->type, &value))) {
		n->kind = KI_D_NUMBER;
		n->value = (uint64_t)value;
		return 0;
	}
	if (n->kind == KI_D_NAME && !strcmp(n->text, "args"))
		return FAIL(c, n, "D_IDENT_BADREF", "args is an array: args[0]");
	if (n->kind == KI_D_NAME && ki_d_function_find(n->text))
		return FAIL(c, n, "D_IDENT_BADREF", "%.40s is a function: %.40s(...)", n->text,
			    n->text);
	return FAIL(c, n, n->kind == KI_D_NAME ? "D_IDENT_UNDEF" : "D_VAR_UNDEF",
		    "%s%.40s has no value: nothing is assigned to it before", prefixes[scope_of(n)],
		    n->text);
}

/* Of a process's function these parameters, and who called it, are read from its stack. */
static void note_stack_use(struct ki_dlang *d, const struct ki_d_builtin *b)
{
	const bool uses = (b->kind == KI_D_B_ARG && b->number >= 6) ||
			  (b->kind == KI_D_B_FRAMES && b->number == KI_HELPER_UCALLER &&
			   ki_dlang_wants_process(d));

	d->scratch_used |= uses;
	d->texts_used |= uses;
}

/* A variable that is read, or that stands alone. */
static int check_var(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_builtin *b = n->kind == KI_D_NAME ? ki_d_builtin_find(n->text) : NULL;
	struct ki_d_inline *in;
	int ret = n->kind == KI_D_NAME ? ki_d_known(c->d, n->text, c->err) : 0;

	if (ret)
		return ret;
	in = n->kind == KI_D_NAME ? ki_d_inline_find(c->d, n->text) : NULL;
	if (in)
		return ki_d_inline_use(c, n, in);
	if (b && b->kind == KI_D_B_ARG && !b->number && ki_d_arg_is_meant(c))
		return ki_d_check_meant(c, n);
	n->is_builtin = b;
	if (b) {
		n->sym.builtin = b;
		n->type = b->type;
		if (b->written)
			ki_d_type_written(c->d, b->written, &n->type);
		c->d->clock_used |= b->kind == KI_D_B_VTIME;
		c->d->stacks_used |= b->kind == KI_D_B_FRAMES && b->number == KI_HELPER_DEPTH;
		c->clause->asks_return |=
			b->kind == KI_D_B_ERRNO || (b->kind == KI_D_B_ARG && b->number == 1);
		c->clause->asks_first |= b->kind == KI_D_B_ARG && !b->number;
		note_stack_use(c->d, b);
		return 0;
	}
	n->sym.var = ki_d_var_find(c->d, n);
	if (!n->sym.var)
		return constant(c, n);
	n->type = n->sym.var->type;
	c->d->texts_used |= ki_d_is_string(n->type);
	return n->sym.var->nkeys
		       ? FAIL(c, n, "D_IDENT_BADREF", "%s is an array: %s[...]", n->text, n->text)
		       : 0;
}

/* One key, or those that a struct becomes: so many. */
static int check_key(struct ki_d_checker *c, struct ki_d_node *k, struct ki_d_type *type)
{
	struct ki_d_node *was = ki_d_copy(c->d, k, NULL, NULL, UINT32_MAX);
	int ret = was ? ki_d_check_expr(c, k) : ki_d_no_memory(c->err);

	if (!ret)
		ret = ki_d_to_text(c, k);
	if (!ret)
		ret = ki_d_decay(c, k);
	if (ret)
		return ret;
	*type = k->type;
	return ki_d_is_struct(k->type) ? ki_d_spread_key(c, k, was) : 1;
}

static int check_keys(struct ki_d_checker *c, struct ki_d_node *list, struct ki_d_type *types,
		      unsigned int *n)
{
	int ret = ki_d_check_key_kinds(c, list);
	struct ki_d_node *k = list;

	*n = 0;
	while (!ret && k) {
		struct ki_d_type type = {0};
		int count = check_key(c, k, &type);

		if (count < 0)
			return count;
		for (; count-- > 0; k = k->next) {
			if (*n == KI_D_KEYS)
				return FAIL(c, k, "D_PROTO_LEN", "more than %d keys", KI_D_KEYS);
			types[*n] = ki_d_is_struct(type) ? ki_d_int(KI_U64) : k->type;
			if (ki_d_is_struct(type)) /* of which struct it is */
				types[*n].xlator = (uint16_t)type.def;
			++*n;
		}
	}
	return ret;
}

static bool same_kind(struct ki_d_type a, struct ki_d_type b)
{
	if (!ki_d_is_scalar(a))
		return a.base == b.base && a.stars == b.stars;
	return ki_d_is_scalar(b) && (a.stars ? 0 : a.xlator) == (b.stars ? 0 : b.xlator);
}

/* A name that nobody knows. */
static bool is_unknown(const struct ki_d_checker *c, const struct ki_d_node *n)
{
	return (n->kind == KI_D_NAME || n->kind == KI_D_SELF || n->kind == KI_D_THIS) &&
	       !(n->kind == KI_D_NAME && ki_d_builtin_find(n->text)) && !ki_d_var_find(c->d, n);
}

static int new_array(struct ki_d_checker *c, const struct ki_d_node *name,
		     const struct ki_d_type *keys, unsigned int nkeys, struct ki_d_var **out)
{
	int ret = 0;

	if (ki_d_builtin_find(name->text) && name->kind == KI_D_NAME)
		return FAIL(c, name, "D_OP_WRITE", "%s is no array", name->text);
	if (name->kind == KI_D_THIS)
		return FAIL(c, name, "D_ARR_LOCAL", "this->%s cannot be an associative array",
			    name->text);
	ret = ki_d_var_new(c, name, out);
	if (ret)
		return ret;
	memcpy((*out)->keys, keys, nkeys * sizeof(*keys));
	(*out)->nkeys = nkeys;
	return 0;
}

static int same_keys(struct ki_d_checker *c, const struct ki_d_node *n, const struct ki_d_var *v,
		     const struct ki_d_type *keys, unsigned int nkeys)
{
	if (v->nkeys != nkeys)
		return FAIL(c, n, "D_PROTO_LEN", "%.40s has %u keys elsewhere, here %u", v->name,
			    v->nkeys, nkeys);
	for (unsigned int i = 0; i < nkeys; i++) {
		c->d->texts_used |= ki_d_is_string(keys[i]);
		if (!ki_d_is_scalar(keys[i]) && !ki_d_is_string(keys[i]))
			return FAIL(c, n, "D_KEY_TYPE", "key %u of %.40s cannot be a key", i + 1,
				    v->name);
		if (!same_kind(v->keys[i], keys[i]))
			return FAIL(c, n, "D_PROTO_ARG",
				    "key %u of %.40s has another type elsewhere", i + 1, v->name);
	}
	return 0;
}

/* Is it an associative array's name, or can it become one? */
static bool is_array_name(const struct ki_d_checker *c, const struct ki_d_node *n, bool new)
{
	const struct ki_d_var *v;

	if (n->kind != KI_D_NAME && n->kind != KI_D_SELF && n->kind != KI_D_THIS)
		return false;
	if (n->kind == KI_D_NAME && ki_d_builtin_find(n->text))
		return false;
	v = ki_d_var_find(c->d, n);
	return v ? v->nkeys : new;
}

/* regs[R_RAX]: of the kernel, where the probe is. */
static int check_register(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *index = n->kid[1];
	int ret = index && !index->next ? ki_d_check_expr(c, index)
					: FAIL(c, n, "D_PROTO_LEN", "regs[] has one index");

	if (ret)
		return ret;
	n->sym.builtin = ki_d_fold_checked(index) ? ki_d_builtin_register(index->value) : NULL;
	if (!n->sym.builtin)
		return FAIL(c, index, "D_PROTO_ARG",
			    "regs[] wants the constant of a register: regs[R_RAX]");
	n->kind = KI_D_NAME;
	n->is_builtin = true;
	n->kid[0] = n->kid[1] = NULL;
	n->type = n->sym.builtin->type;
	return 0;
}

/* uregs[R_RAX]: of the process. */
static int check_user_register(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_inline *in)
{
	struct ki_d_node *index = n->kid[1];
	int ret;

	if (!index || index->next)
		return ki_d_inline_use(c, n, in);
	ret = ki_d_check_expr(c, index);
	if (!ret && !ki_d_fold_checked(index))
		ret = FAIL(c, index, "D_PROTO_ARG",
			   "uregs[] wants the constant of a register: uregs[R_RAX]");
	if (!ret && index->value > UREGS_LAST)
		ret = FAIL(c, n, "D_UNKNOWN", "uregs[] has registers 0 to %d", UREGS_LAST);
	return ret ? ret : ki_d_inline_use(c, n, in);
}

/* An array that is read before the program's text assigns to it holds numbers. */
static int known_array(struct ki_d_checker *c, struct ki_d_node *n, const struct ki_d_type *keys,
		       unsigned int nkeys, bool new, struct ki_d_var **v)
{
	const struct ki_d_node *name = n->kid[0];
	int ret;

	*v = ki_d_var_find(c->d, name);
	if (*v && new)
		(*v)->read = NULL;
	if (*v)
		return 0;
	if (!new && (c->is_first || name->kind == KI_D_THIS))
		return ki_d_never_assigned(c, n);
	ret = new_array(c, name, keys, nkeys, v);
	if (ret || new)
		return ret;
	(*v)->type = ki_d_int(KI_I64);
	(*v)->read = n;
	return 0;
}

/* The variable of NAME[...]; new: it is assigned to, and may not be known. */
int ki_d_check_index(struct ki_d_checker *c, struct ki_d_node *n, bool new)
{
	struct ki_d_node *name = n->kid[0];
	struct ki_d_type keys[KI_D_KEYS];
	struct ki_d_var *v;
	struct ki_d_inline *in;
	unsigned int nkeys;
	int ret = name->kind == KI_D_NAME ? ki_d_known(c->d, name->text, c->err) : 0;

	if (ret)
		return ret;
	if (name->kind == KI_D_NAME && !strcmp(name->text, "args"))
		return ki_d_check_args(c, n);
	in = name->kind == KI_D_NAME ? ki_d_inline_find(c->d, name->text) : NULL;
	if (in && in->known && !strcmp(in->name, "uregs"))
		return check_user_register(c, n, in);
	if (in && in->n)
		return ki_d_inline_use(c, n, in);
	if (name->kind == KI_D_NAME && !strcmp(name->text, "regs") && !new &&
	    !ki_d_var_find(c->d, name))
		return check_register(c, n);
	if (!is_array_name(c, name, new) && !(n->kid[1] && is_unknown(c, name)))
		return n->kid[1] ? ki_d_check_element(c, n)
				 : FAIL(c, n, "D_SYNTAX", "an index is expected in []");
	ret = check_keys(c, n->kid[1], keys, &nkeys);
	if (!ret)
		ret = known_array(c, n, keys, nkeys, new, &v);
	if (!ret)
		ret = same_keys(c, n, v, keys, nkeys);
	if (!ret)
		ret = ki_d_check_key_count(c, n, nkeys);
	if (ret)
		return ret;
	n->sym.var = v;
	n->type = v->type;
	c->d->texts_used |= ki_d_is_string(n->type);
	return 0;
}

static int check_number(struct ki_d_checker *c, struct ki_d_node *n)
{
	(void)c, (void)n;
	return 0;
}

static int check_text(struct ki_d_checker *c, struct ki_d_node *n)
{
	(void)c;
	n->type = (struct ki_d_type){.base = KI_D_STRING};
	return 0;
}

static int check_known_index(struct ki_d_checker *c, struct ki_d_node *n)
{
	return ki_d_check_index(c, n, false);
}

static int check_agg_value(struct ki_d_checker *c, struct ki_d_node *n)
{
	return FAIL(c, n, ki_d_agg_find(c->d, n->text) ? "D_OP_INCOMPAT" : "D_IDENT_UNDEF",
		    "an aggregation has no value: @name = count()");
}

static int check_comma(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[0]);

	if (!ret)
		ret = ki_d_check_expr(c, n->kid[1]);
	if (!ret)
		ret = ki_d_to_text(c, n->kid[1]);
	n->type = n->kid[1]->type;
	return ret;
}

int ki_d_check_expr(struct ki_d_checker *c, struct ki_d_node *n)
{
	static int (*const by_kind[])(struct ki_d_checker *, struct ki_d_node *) = {
		[KI_D_NUMBER] = check_number,
		[KI_D_TEXT] = check_text,
		[KI_D_NAME] = check_var,
		[KI_D_SELF] = check_var,
		[KI_D_THIS] = check_var,
		[KI_D_INDEX] = check_known_index,
		[KI_D_AGG] = check_agg_value,
		[KI_D_CALL] = ki_d_check_call,
		[KI_D_UNARY] = ki_d_check_unary,
		[KI_D_BINARY] = ki_d_check_binary,
		[KI_D_ASSIGN] = ki_d_check_assign,
		[KI_D_STEP] = ki_d_check_step,
		[KI_D_COND] = ki_d_check_cond,
		[KI_D_CAST] = ki_d_check_cast,
		[KI_D_DEREF] = ki_d_check_deref,
		[KI_D_MEMBER] = ki_d_check_member,
		[KI_D_ADDRESS] = ki_d_check_address,
		[KI_D_SYMBOL] = ki_d_check_symbol,
		[KI_D_SIZEOF] = ki_d_check_sizeof,
		[KI_D_OFFSETOF] = ki_d_check_offsetof,
		[KI_D_COMMA] = check_comma,
		[KI_D_LET] = ki_d_check_let,
		[KI_D_HELD] = check_number,
		[KI_D_XLATE] = ki_d_check_xlate,
	};

	return by_kind[n->kind](c, n);
}

bool ki_d_steps(const struct ki_d_node *n)
{
	bool found = n->kind == KI_D_STEP || n->kind == KI_D_ASSIGN;

	for (unsigned int i = 0; !found && i < 3; i++)
		for (const struct ki_d_node *k = n->kid[i]; !found && k; k = k->next)
			found = ki_d_steps(k);
	return found;
}
