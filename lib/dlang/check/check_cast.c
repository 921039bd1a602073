// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What becomes another type, and what becomes a string.
 */
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

/* char * and void * */
static bool leads_to_bytes(struct ki_d_type t)
{
	return t.stars == 1 &&
	       (t.base == KI_D_VOID ||
		(t.base == KI_D_INT && ki_d_size(ki_d_int((enum ki_type)t.num)) == 1));
}

/* char (*)[N] */
static bool leads_to_text(struct ki_d_types *types, struct ki_d_type t)
{
	return t.stars-- == 1 && ki_d_is_text(types, t);
}

int ki_d_match_text(struct ki_d_checker *c, struct ki_d_type with, struct ki_d_node *n)
{
	return ki_d_is_string(with) && leads_to_bytes(n->type) && n->type.base != KI_D_VOID &&
			       !ki_d_is_nothing(n)
		       ? ki_d_pointer_to_text(c, n)
		       : 0;
}

int ki_d_match_texts(struct ki_d_checker *c, struct ki_d_node *a, struct ki_d_node *b)
{
	const int ret = ki_d_match_text(c, a->type, b);

	return ret ? ret : ki_d_match_text(c, b->type, a);
}

int ki_d_check_cast(struct ki_d_checker *c, struct ki_d_node *n)
{
	char a[KI_D_TYPE_NAME], b[KI_D_TYPE_NAME];
	const bool translated = n->kid[0]->kind == KI_D_XLATE, bytes = leads_to_bytes(n->about);
	struct ki_d_node *text = bytes ? ki_d_copy(c->d, n->kid[0], NULL, NULL, UINT32_MAX) : NULL;
	int ret = bytes && !text ? ki_d_no_memory(c->err) : ki_d_check_expr(c, n->kid[0]);

	if (!ret && translated && !ki_d_same_type(n->about, n->kid[0]->type))
		return FAIL(c, n, "D_CAST_INVAL", "what is translated has no other type");
	if (!ret && ki_d_is_string(n->about))
		ret = ki_d_to_text(c, n->kid[0]);
	if (!ret && ki_d_is_scalar(n->about))
		ret = ki_d_decay(c, n->kid[0]);
	if (!ret && ki_d_is_string(n->about) &&
	    (leads_to_bytes(n->kid[0]->type) || leads_to_text(&c->d->types, n->kid[0]->type)))
		ret = ki_d_pointer_to_text(c, n->kid[0]);
	if (!ret && bytes && ki_d_is_string(n->kid[0]->type) && n->about.base != KI_D_VOID)
		return ki_d_become_bytes(c, n, text);
	if (ret)
		return ret;
	n->type = n->about;
	n->type.scratch = ki_d_is_scalar(n->type) && n->kid[0]->type.scratch;
	if (ki_d_same_type(n->type, n->kid[0]->type))
		n->type.xlator = n->kid[0]->type.xlator;
	if (ki_d_is_scalar(n->type) && ki_d_is_scalar(n->kid[0]->type))
		return 0;
	c->d->texts_used |= ki_d_is_string(n->type);
	if (ki_d_is_string(n->type) && ki_d_is_string(n->kid[0]->type))
		return 0;
	if (ki_d_has_no_type(n->type))
		return 0;
	return FAIL(c, n, "D_CAST_INVAL", "%s cannot be cast to %s",
		    ki_d_type_name(n->kid[0]->type, a), ki_d_type_name(n->type, b));
}

int ki_d_uncast(struct ki_d_checker *c, struct ki_d_node **of)
{
	struct ki_d_node *cast = *of, *was;
	char a[KI_D_TYPE_NAME], b[KI_D_TYPE_NAME];
	int ret;

	if (cast->kind != KI_D_CAST || !ki_d_is_struct(cast->about))
		return 0;
	was = ki_d_copy(c->d, cast->kid[0], NULL, NULL, UINT32_MAX);
	ret = was ? ki_d_check_expr(c, cast->kid[0]) : ki_d_no_memory(c->err);
	if (ret)
		return ret;
	*of = was;
	return ki_d_same_type(cast->about, cast->kid[0]->type)
		       ? 0
		       : FAIL(c, cast, "D_CAST_INVAL", "%s cannot be cast to %s",
			      ki_d_type_name(cast->kid[0]->type, a),
			      ki_d_type_name(cast->about, b));
}

/* ---- functions of strings ---- */

int ki_d_check_string(struct ki_d_checker *c, struct ki_d_node *n, const char *function)
{
	int ret = ki_d_check_operand(c, n);

	if (ret || ki_d_is_string(n->type) || ki_d_is_nothing(n))
		return ret;
	if (leads_to_bytes(n->type))
		return ki_d_pointer_to_text(c, n);
	return FAIL(c, n, "D_PROTO_ARG", "%s() wants a string here", function);
}

/* What only one function asks of an argument. */
static int check_special(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_node *k)
{
	const uint8_t op = n->sym.function->number;
	const bool first = k == n->kid[0];

	if (op == KI_TEXT_IPV6 && first && !ki_d_is_nothing(k) && k->type.base == KI_D_INT)
		return FAIL(c, k, "D_PROTO_ARG", "inet_ntoa6() wants an in6_addr_t * here");
	if (op == KI_TEXT_IPV6 && !first && k->kind != KI_D_NUMBER)
		return FAIL(c, k, "D_PROTO_ARG", "inet_ntoa6() wants a constant here: 1");
	if (op == KI_TEXT_USER && !first && k->kind == KI_D_NUMBER &&
	    k->value > (uint64_t)c->d->set.scratchsize)
		return FAIL(c, k, "D_ALLOCA_SIZE",
			    "copyinstr() of more than %u bytes: "
			    "option scratchsize",
			    (unsigned int)c->d->set.scratchsize);
	return 0;
}

int ki_d_check_text_call(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_function *f = n->sym.function;
	const bool of = f->number == KI_TEXT_KERNEL;
	const char *want = f->args;
	int ret = 0;

	for (struct ki_d_node *k = n->kid[0]; !ret && k; k = k->next, want++) {
		ret = *want == 's' ? ki_d_check_string(c, k, f->name) : ki_d_check_operand(c, k);
		if (!ret && *want == 'p' && !k->type.stars && !ki_d_is_nothing(k))
			ret = FAIL(c, k, "D_PROTO_ARG", "%s() wants a pointer here", f->name);
		if (!ret)
			ret = check_special(c, n, k);
		if (of && k->is_user) /* it is an address of the process */
			n->sym.function = ki_d_function_find("copyinstr");
		if (ret || *want == 's' || ki_d_is_scalar(k->type))
			continue;
		if (of && ki_d_is_string(k->type))
			ki_d_unwrap(n);
		else
			ret = FAIL(c, k, of ? "D_STRINGOF_TYPE" : "D_PROTO_ARG",
				   "%s() wants a number or an address here", f->name);
		if (of)
			break;
	}
	c->d->texts_used = true;
	c->d->token_used |= f->kind == KI_D_F_TOKEN;
	if (n->kind == KI_D_CALL)
		n->type = ki_d_text_is_number(f) ? ki_d_int(KI_I64)
						 : (struct ki_d_type){.base = KI_D_STRING};
	return ret;
}

bool ki_d_may_be_none(const struct ki_d_node *n)
{
	static const uint8_t searches[] = {KI_TEXT_TOKEN, KI_TEXT_FROM, KI_TEXT_FROM_LAST,
					   KI_TEXT_FROM_TEXT};

	if (n->kind == KI_D_COND)
		return ki_d_may_be_none(n->kid[1]) || ki_d_may_be_none(n->kid[2]);
	if (ki_d_is_string(n->type) && (n->kind == KI_D_SELF || n->kind == KI_D_INDEX))
		return true; /* nothing may have been assigned to it */
	if (n->kind != KI_D_CALL)
		return ki_d_is_nothing(n);
	return memchr(searches, n->sym.function->number, sizeof(searches)) &&
	       (n->sym.function->kind == KI_D_F_TEXT || n->sym.function->kind == KI_D_F_TOKEN);
}

bool ki_d_becomes_rest(struct ki_d_node *n)
{
	const bool right = ki_d_is_string(n->kid[1]->type);
	struct ki_d_node *s = n->kid[right], *by = n->kid[!right];

	if (n->op != KI_ADD || by->type.base != KI_D_INT || by->type.stars ||
	    !(s->kind == KI_D_SELF || s->kind == KI_D_THIS || s->kind == KI_D_INDEX ||
	      (s->kind == KI_D_NAME && !s->is_builtin)))
		return false;
	n->kind = KI_D_CALL;
	n->op = 0;
	n->sym.function = ki_d_function_find("substr");
	n->kid[0] = s;
	n->kid[1] = NULL;
	s->next = by;
	n->type = (struct ki_d_type){.base = KI_D_STRING};
	return true;
}
