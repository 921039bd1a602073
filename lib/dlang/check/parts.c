// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Variables that have parts: structs, unions, arrays. What is a part of one, and which types can be
 * a variable's.
 */
#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

#define MOST_BYTES   1024 /* of such a variable, or of one element of an associative array */
#define MOST_CLEARED 256  /* of this->, if it is indexed: each firing begins with zeros */

static bool has_parts(struct ki_d_type t)
{
	return ki_d_is_struct(t) || ki_d_is_array(t);
}

bool ki_d_in_variable(const struct ki_d_node *n)
{
	switch (n->kind) {
	case KI_D_MEMBER:
		return ki_d_in_variable(n->kid[0]);
	case KI_D_ELEMENT:
		return true;
	case KI_D_NAME:
	case KI_D_SELF:
	case KI_D_THIS:
	case KI_D_INDEX:
		return !n->is_builtin && has_parts(n->type) && !n->type.xlator;
	default:
		return false;
	}
}

const struct ki_d_node *ki_d_part_root(const struct ki_d_node *n)
{
	while (n->kind == KI_D_MEMBER || n->kind == KI_D_ELEMENT)
		n = n->kid[0];
	return n;
}

const struct ki_d_node *ki_d_copied(struct ki_dlang *d, const struct ki_d_node *n)
{
	const struct ki_d_node *root = ki_d_part_root(n);

	return ki_d_sizeof(&d->types, root->type) <= KI_D_COPIED ? root : n;
}

bool ki_d_part_moves(const struct ki_d_node *n)
{
	for (; n->kind == KI_D_MEMBER || n->kind == KI_D_ELEMENT; n = n->kid[0])
		if (n->kind == KI_D_ELEMENT && n->kid[1]->kind != KI_D_NUMBER)
			return true;
	return false;
}

static bool moves_inside(const struct ki_d_node *n)
{
	bool found = (n->kind == KI_D_MEMBER || n->kind == KI_D_ELEMENT) && ki_d_part_moves(n);

	for (unsigned int i = 0; !found && i < 3; i++)
		for (const struct ki_d_node *k = n->kid[i]; !found && k; k = k->next)
			found = moves_inside(k);
	return found;
}

unsigned int ki_d_var_words(struct ki_dlang *d, const struct ki_d_var *v)
{
	return has_parts(v->type) ? (unsigned int)((ki_d_sizeof(&d->types, v->type) + 7) / 8) : 0;
}

/* No part reaches from one word into the next one. */
static bool is_aligned(struct ki_d_types *t, struct ki_d_type type, uint64_t bit)
{
	const struct ki_d_def *d = ki_d_def_of(t, type);
	const uint64_t bits = 8 * ki_d_sizeof(t, type);

	if (ki_d_is_array(type)) {
		const uint64_t step = d ? 8 * ki_d_sizeof(t, d->of) : 0, n = d ? d->n : 0;
		bool ok = step;

		for (uint64_t i = 0; ok && i < n && i < 64; i++)
			ok = is_aligned(t, d->of, bit + i * step);
		return ok;
	}
	if (!ki_d_is_struct(type))
		return bits && bit % 64 + bits <= 64;
	for (size_t i = 0; d && i < d->members.n; i++) {
		const struct ki_d_member m = d->members.v[i];
		const uint64_t at = bit + m.bit;

		if (m.width ? at % 64 + m.width > 64 : !is_aligned(t, m.type, at))
			return false;
		d = ki_d_def_of(t, type);
	}
	return d;
}

const char *ki_d_no_parts(struct ki_d_types *t, struct ki_d_type type)
{
	const uint64_t size = ki_d_sizeof(t, type);

	if (!has_parts(type))
		return NULL;
	if (!size)
		return "its type has no size";
	if (size > MOST_BYTES)
		return "it is larger than 1024 bytes: keep its address";
	return is_aligned(t, type, 0) ? NULL : "its members are packed: keep its address";
}

int ki_d_check_part(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_node *root = ki_d_part_root(n);
	struct ki_d_var *v = root->sym.var;

	if (ki_d_part_moves(n)) {
		v->indexed = true;
		if (v->scope == KI_D_THIS_SCOPE &&
		    ki_d_sizeof(&c->d->types, v->type) > MOST_CLEARED)
			return ki_d_fail(c->d, c->err, n->at, "D_UNKNOWN",
					 "this->%.40s is larger than %d bytes: with a variable as "
					 "its index it must be global or of self->",
					 v->name, MOST_CLEARED);
		if (root->kind == KI_D_INDEX)
			for (const struct ki_d_node *k = root->kid[1]; k; k = k->next)
				if (moves_inside(k))
					return ki_d_fail(
						c->d, c->err, k->at, "D_UNKNOWN",
						"a key and an index that both vary: assign "
						"the key to a variable before");
	}
	return 0;
}

int ki_d_no_member(struct ki_d_checker *c, const struct ki_d_node *n, const char *type)
{
	const char *hint = ki_d_elsewhere_member(type, n->text);

	return FAIL(c, n, "D_TYPE_MEMBER", "%.60s is no member of %.60s%s%s", n->text, type,
		    hint ? "; " : "", hint ? hint : "");
}
