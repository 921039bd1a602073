// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What leads into memory: members, pointers, arrays, variables of the kernel; and what is known of
 * types without any.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"
#include "snippet/tree.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

/* ---- one kind becomes another ---- */

/* n becomes a node of this kind, around what it was. */
static struct ki_d_node *wrap(struct ki_d_checker *c, struct ki_d_node *n, enum ki_d_kind kind)
{
	struct ki_d_node *in = ki_d_node_new(&c->d->pool, (enum ki_d_kind)n->kind, n->at,
					     strlen(n->text)),
			 *all;

	if (!in)
		return NULL;
	all = in->all;
	memcpy(in, n, sizeof(*in) + strlen(n->text) + 1);
	in->all = all;
	in->next = NULL;
	n->kind = (uint8_t)kind;
	n->kid[0] = in;
	n->kid[1] = n->kid[2] = NULL;
	n->is_builtin = false;
	n->op = 0;
	n->value = 0;
	for (size_t i = 0; i < c->d->symbols.n; i++)
		if (c->d->symbols.v[i] == n)
			c->d->symbols.v[i] = in;
	return in;
}

bool ki_d_in_scratch(const struct ki_d_node *n)
{
	if (n->kind == KI_D_MEMBER)
		return ki_d_in_scratch(n->kid[0]);
	return n->kind == KI_D_DEREF && n->kid[0]->type.scratch;
}

int ki_d_check_copy(struct ki_d_checker *c, const struct ki_d_node *n)
{
	if (!ki_d_in_variable(n))
		return 0;
	c->d->scratch_used = c->d->texts_used = true;
	return ki_d_sizeof(&c->d->types, n->type) <= KI_D_COPIED
		       ? 0
		       : FAIL(c, n, "D_UNKNOWN",
			      "a variable's array of more than %d bytes has no "
			      "value: name its elements",
			      KI_D_COPIED);
}

/* The address of a variable's part, or of all of it, is wanted. A global has one, others a copy. */
static int check_placed(struct ki_d_checker *c, const struct ki_d_node *n,
			const struct ki_d_node *copied)
{
	struct ki_d_var *v = ki_d_in_variable(n) ? ki_d_part_root(n)->sym.var : NULL;

	if (!v || v->scope != KI_D_GLOBAL_SCOPE || v->nkeys)
		return ki_d_check_copy(c, copied);
	v->in_memory = true;
	c->d->scratch_used = c->d->texts_used = true;
	return 0;
}

int ki_d_decay(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool scratch = ki_d_in_scratch(n) || ki_d_in_variable(n);

	if (!ki_d_is_array(n->type))
		return 0;
	if (check_placed(c, n, n))
		return -EINVAL;
	if (!wrap(c, n, KI_D_CAST))
		return ki_d_no_memory(c->err);
	n->type = ki_d_pointed(&c->d->types, n->type);
	n->type.stars++;
	n->type.scratch = scratch;
	n->about = n->type;
	return 0;
}

int ki_d_to_text(struct ki_d_checker *c, struct ki_d_node *n)
{
	if (!ki_d_is_text(&c->d->types, n->type))
		return 0;
	if (ki_d_check_copy(c, n))
		return -EINVAL;
	if (!wrap(c, n, KI_D_CALL))
		return ki_d_no_memory(c->err);
	n->sym.function = ki_d_function_find(n->kid[0]->is_user ? "copyinstr" : "stringof");
	n->type = (struct ki_d_type){.base = KI_D_STRING};
	c->d->texts_used = true;
	return 0;
}

int ki_d_pointer_to_text(struct ki_d_checker *c, struct ki_d_node *n)
{
	if (!wrap(c, n, KI_D_CALL))
		return ki_d_no_memory(c->err);
	n->sym.function = ki_d_function_find("stringof");
	n->type = (struct ki_d_type){.base = KI_D_STRING};
	c->d->texts_used = true;
	return 0;
}

void ki_d_unwrap(struct ki_d_node *n)
{
	n->kind = KI_D_CAST;
	n->type = n->about = (struct ki_d_type){.base = KI_D_STRING};
}

/* ---- members ---- */

int ki_d_check_member(struct ki_d_checker *c, struct ki_d_node *n)
{
	const int bad = ki_d_uncast(c, &n->kid[0]);
	struct ki_d_node *of = n->kid[0], *was = ki_d_copy(c->d, of, NULL, NULL, UINT32_MAX);
	const struct ki_d_member *m;
	char name[KI_D_TYPE_NAME];
	int ret = bad ? bad : was ? ki_d_check_expr(c, of) : ki_d_no_memory(c->err);
	uint64_t bit;

	if (ret)
		return ret;
	if (of->type.base == KI_D_STACK && !of->type.stars)
		return ki_d_check_stack_member(c, n);
	if (ki_d_is_struct(of->type) && of->type.xlator)
		return ki_d_translate(c, n, was, of->type.xlator);
	if (!ki_d_is_struct(of->type))
		return FAIL(c, n, "D_OP_SOU", "'.%.40s': a struct or union is expected, not %s",
			    n->text, ki_d_type_name(of->type, name));
	if (!ki_d_sizeof(&c->d->types, of->type))
		return FAIL(c, n, "D_OP_INCOMPLETE",
			    "%.40s: the struct is not known: neither the program nor the kernel's "
			    "types (BTF) declare it",
			    n->text);
	m = ki_d_member_find(&c->d->types, of->type, n->text, &bit);
	if (!m)
		return ki_d_no_member(c, n, ki_d_def_of(&c->d->types, of->type)->name);
	n->type = m->type;
	n->value = bit;
	n->op = (uint8_t)m->width;
	if (!ki_d_in_variable(n))
		return 0;
	n->type.scratch = n->type.stars;
	return ki_d_check_part(c, n);
}

/* ---- pointers and arrays ---- */

/* Of an array whose length is known; n: 0: it is not. */
static int check_bounds(struct ki_d_checker *c, struct ki_d_node *index, uint64_t n)
{
	if (!n || !ki_d_is_scalar(index->type) || !ki_d_fold_checked(index) || index->value < n)
		return 0;
	return FAIL(c, index, "D_ARR_BOUNDS", "index %lld is outside of the array: 0 to %llu",
		    (long long)index->value, (unsigned long long)n - 1);
}

/* STRING[n] */
static int check_byte(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[1]);

	if (!ret && (!ki_d_is_scalar(n->kid[1]->type) || n->kid[1]->type.stars))
		ret = FAIL(c, n->kid[1], "D_ARR_BADREF", "the index of a string is a number");
	if (!ret)
		ret = check_bounds(c, n->kid[1], ki_d_strsize(c->d));
	n->kid[0]->next = n->kid[1];
	n->kid[1] = NULL;
	n->kind = KI_D_CALL;
	n->sym.function = ki_d_function_find("[]");
	n->type = ki_d_int(KI_I8);
	c->d->texts_used = true;
	return ret;
}

/* *STRING is STRING[0] */
static int check_first_byte(struct ki_d_checker *c, struct ki_d_node *n)
{
	n->kid[1] = ki_d_node_new(&c->d->pool, KI_D_NUMBER, n->at, 0);
	if (!n->kid[1])
		return ki_d_no_memory(c->err);
	n->kid[1]->type = ki_d_int(KI_I32);
	return check_byte(c, n);
}

int ki_d_check_deref(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret = ki_d_check_expr(c, n->kid[0]);
	struct ki_d_type t;

	if (!ret)
		ret = ki_d_decay(c, n->kid[0]);
	if (ret)
		return ret;
	t = n->kid[0]->type;
	if (ki_d_is_string(t) && !n->op)
		return check_first_byte(c, n);
	if (!t.stars)
		return n->op ? FAIL(c, n, "D_OP_PTR", "-> wants a pointer on its left")
			     : FAIL(c, n, "D_DEREF_NONPTR", "* wants a pointer: *(uint64_t *)arg0");
	t.stars--;
	t.scratch = false;
	n->type = t;
	if (ki_d_is_string(t)) {
		n->kind = KI_D_CALL;
		n->sym.function = ki_d_function_find("stringof");
		c->d->texts_used = true;
	}
	if (!t.stars && t.base == KI_D_FUNCTION)
		return FAIL(c, n, "D_DEREF_FUNC",
			    "what a function's address leads to has no value");
	if (!t.stars && t.base == KI_D_VOID)
		return FAIL(c, n, "D_DEREF_VOID", "what a void * leads to has no value");
	return 0;
}

static uint64_t length_of(struct ki_d_checker *c, struct ki_d_type t)
{
	const struct ki_d_def *def = ki_d_is_array(t) ? ki_d_def_of(&c->d->types, t) : NULL;

	return def ? def->n : 0;
}

/* ARRAY[n] in a variable. */
static int check_part_element(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *index = n->kid[1];
	int ret = index->next ? FAIL(c, n, "D_ARR_BADREF", "one index is expected in []")
			      : ki_d_check_expr(c, index);

	if (!ret && (!ki_d_is_scalar(index->type) || index->type.stars))
		ret = FAIL(c, index, "D_ARR_BADREF", "the index of an array is a number");
	if (!ret) /* the address behind the last one is one, too */
		ret = check_bounds(c, index, length_of(c, n->kid[0]->type) + n->op);
	if (ret)
		return ret;
	n->op = 0;
	n->kind = KI_D_ELEMENT;
	n->type = ki_d_pointed(&c->d->types, n->kid[0]->type);
	n->type.scratch = n->type.stars;
	return ki_d_check_part(c, n);
}

/* POINTER[n] or ARRAY[n] becomes *(POINTER + n). */
int ki_d_check_element(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *of = n->kid[0], *index = n->kid[1], *sum;
	const bool is_frame = of->kind == KI_D_MEMBER && !strcmp(of->text, "addrs") &&
			      of->kid[0]->kind == KI_D_CALL;
	int ret = ki_d_check_expr(c, is_frame ? of->kid[0] : of);
	uint64_t length;

	if (ret)
		return ret;
	if (is_frame && ki_d_is_stack_call(of->kid[0]))
		return ki_d_check_frame(c, n);
	ret = is_frame ? ki_d_check_expr(c, of) : 0;
	if (ret)
		return ret;
	if (ki_d_is_array(of->type) && ki_d_in_variable(of))
		return check_part_element(c, n);
	length = length_of(c, of->type);
	ret = ki_d_decay(c, of);
	if (ret)
		return ret;
	if (ki_d_is_string(of->type) && !index->next)
		return check_byte(c, n);
	if (!of->type.stars || index->next)
		return FAIL(
			c, n, of->kind == KI_D_NAME ? "D_IDENT_BADREF" : "D_ARR_BADREF",
			of->kind == KI_D_SYMBOL
				? "of this variable of the kernel no type is known: it is a number"
				: "this is no array: NAME[...]");
	sum = ki_d_node_new(&c->d->pool, KI_D_BINARY, n->at, 0);
	if (!sum)
		return ki_d_no_memory(c->err);
	sum->op = KI_ADD;
	sum->kid[0] = of;
	sum->kid[1] = index;
	n->kind = KI_D_DEREF;
	n->op = 0;
	n->kid[0] = sum;
	n->kid[1] = NULL;
	ret = ki_d_check_deref(c, n);
	return ret ? ret : check_bounds(c, index, length);
}

static bool has_address(const struct ki_d_node *n)
{
	return n->kind == KI_D_MEMBER || n->kind == KI_D_DEREF || n->kind == KI_D_SYMBOL;
}

/* A variable's part. Or all of it, that an inline stands for. */
static int check_copied(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_node *of = n->kid[0], *root = ki_d_part_root(of);
	int ret;

	if ((root == of && !n->value) || ki_d_is_string(of->type))
		return FAIL(c, n, "D_ADDROF_VAR", "a variable of D has no address");
	ret = check_placed(c, of, ki_d_copied(c->d, of));
	n->type = of->type;
	n->type.stars++;
	n->type.scratch = !n->value;
	return ret;
}

int ki_d_check_address(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool is_member = n->kid[0]->kind == KI_D_MEMBER;
	struct ki_d_node *of = n->kid[0];
	int ret;

	of->op = of->kind == KI_D_INDEX ? 1 : of->op;
	ret = of->kind == KI_D_AGG ? FAIL(c, n, "D_ADDROF_VAR", "an aggregation has no address")
				   : ki_d_check_expr(c, of);
	if (ret)
		return ret;
	if (is_member && of->kind == KI_D_CAST && has_address(of->kid[0])) /* it was translated */
		n->kid[0] = of = of->kid[0];
	if (of->kind == KI_D_MEMBER && of->op)
		return FAIL(c, n, "D_ADDROF_BITFIELD", "a bit-field has no address");
	if (ki_d_in_variable(of))
		return check_copied(c, n);
	if (of->kind == KI_D_NAME || of->kind == KI_D_SELF || of->kind == KI_D_THIS ||
	    of->kind == KI_D_INDEX)
		return FAIL(c, n, "D_ADDROF_VAR", "a variable of D has no address");
	if (!has_address(of))
		return FAIL(c, n, "D_ADDROF_LVAL", "& wants what stands in memory");
	n->type = of->type;
	n->type.stars++;
	n->type.scratch = ki_d_in_scratch(of);
	return 0;
}

/* ---- variables of the kernel ---- */

int ki_d_check_symbol(struct ki_d_checker *c, struct ki_d_node *n)
{
	const char *mark = strchr(n->text, '`');
	char *module = strndup(n->text, (size_t)(mark - n->text));
	int ret;

	if (!module)
		return ki_d_no_memory(c->err);
	if (c->d->set.late && c->d->set.kdefs) {
		free(module);
		return FAIL(
			c, n, "D_ASRELO",
			"%.80s has no address yet, as linkmode=dynamic says: leave that out, or "
			"say knodefs",
			n->text);
	}
	ret = ki_d_variable_type(&c->d->types, *module ? module : NULL, mark + 1, &n->type);
	free(module);
	if (ret) /* its address, and a word there, can be had all the same */
		n->type = ki_d_int(KI_U64);
	if (!ki_vec_push(&c->d->symbols, n))
		return 0;
	return ki_d_no_memory(c->err);
}

/* ---- sizes ---- */

static void become_number(struct ki_d_node *n, enum ki_type type, uint64_t value)
{
	n->kind = KI_D_NUMBER;
	n->type = ki_d_int(type);
	n->value = value;
}

int ki_d_check_sizeof(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_type t = n->about;
	uint64_t size;
	int ret = n->kid[0] ? ki_d_check_expr(c, n->kid[0]) : 0;

	if (ret)
		return ret;
	if (n->kid[0]) {
		t = n->kid[0]->type;
		if (n->kid[0]->kind == KI_D_MEMBER && n->kid[0]->op)
			return FAIL(c, n, "D_SIZEOF_BITFIELD", "a bit-field has no size in bytes");
	}
	if (n->kid[0] && n->kid[0]->kind == KI_D_TEXT)
		size = strlen(n->kid[0]->text) + 1;
	else
		size = ki_d_is_string(t) ? ki_d_strsize(c->d) : ki_d_sizeof(&c->d->types, t);
	if (!size)
		return FAIL(c, n, "D_SIZEOF_TYPE", "sizeof: the type has no size");
	n->kid[0] = NULL;
	become_number(n, KI_U64, size);
	return 0;
}

int ki_d_check_offsetof(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_type t = n->about;
	uint64_t bit = 0, inside;

	for (char *name = strtok(n->text, "."); name; name = strtok(NULL, ".")) {
		const struct ki_d_member *m;

		if (!ki_d_is_struct(t) || !ki_d_sizeof(&c->d->types, t))
			return FAIL(c, n, "D_OFFSETOF_TYPE",
				    "offsetof wants a struct or union whose members are known");
		m = ki_d_member_find(&c->d->types, t, name, &inside);
		if (!m)
			return FAIL(c, n, "D_UNKNOWN", "%.60s is no member of it", name);
		if (m->width)
			return FAIL(c, n, "D_OFFSETOF_BITFIELD",
				    "a bit-field has no offset in bytes");
		bit += inside;
		t = m->type;
	}
	become_number(n, KI_U64, bit / 8);
	return 0;
}

/* ---- constants ---- */

static bool fold(struct ki_d_node *n)
{
	uint64_t v;

	for (unsigned int i = 0; i < 3 && n->kid[i]; i++)
		if (!fold(n->kid[i]))
			return false;
	switch (n->kind) {
	case KI_D_NUMBER:
		return true;
	case KI_D_UNARY:
		v = ki_arith_unary((enum ki_unary)n->op, n->kid[0]->value);
		break;
	case KI_D_CAST:
		v = n->kid[0]->value;
		break;
	case KI_D_COND:
		v = n->kid[n->kid[0]->value ? 1 : 2]->value;
		break;
	case KI_D_BINARY:
		if (n->op >= KI_LAND)
			return false;
		v = ki_arith_binary((enum ki_binary)n->op, ki_d_num(n->kid[0]->type) < KI_U8,
				    n->kid[0]->value, n->kid[1]->value);
		if (n->op == KI_MOD && ki_d_num(n->type) < KI_U8 && (int64_t)n->kid[1]->value < 0)
			v = 0 - v; /* a rest has the quotient's sign */
		break;
	default:
		return false;
	}
	n->value = ki_type_extend(ki_d_num(n->type), v);
	n->kind = KI_D_NUMBER;
	memset(n->kid, 0, sizeof(n->kid));
	return true;
}

bool ki_d_fold_checked(struct ki_d_node *n)
{
	return fold(n);
}

int ki_d_check_swap(struct ki_d_checker *c, struct ki_d_node *n)
{
	const enum ki_type type = (enum ki_type)n->sym.function->number;
	struct ki_d_node *of = n->kid[0];
	int ret = ki_d_check_numbers(c, of, "D_PROTO_ARG");

	n->type = ki_d_int(type);
	if (ret || !fold(of))
		return ret;
	n->kid[0] = NULL;
	become_number(n, type, __builtin_bswap64(of->value) >> (64 - 8 * ki_types[type].size));
	return 0;
}

int ki_d_fold(struct ki_dlang *d, struct ki_d_node *n, struct ki_err *err)
{
	struct ki_d_clause none = {0};
	struct ki_d_checker c = {.d = d, .err = err, .clause = &none};
	int ret = ki_d_check_expr(&c, n);

	if (ret || fold(n))
		return ret;
	return FAIL(&c, n, "D_SYNTAX", "a constant is expected");
}
