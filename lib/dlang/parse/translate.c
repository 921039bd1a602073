// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * translator TYPE < TYPE NAME > { MEMBER = expression; ... };
 *
 * What is translated is a pointer to the type, whose value is that of what it is translated from:
 * a number, a pointer, or the address of a struct. A member of it is a copy of its expression in
 * the translator, with that value where the expression names the parameter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/parse/parse.h"

/* ---- parsing ---- */

static void free_translator(struct ki_d_translator *t)
{
	for (size_t i = 0; i < t->members.n; i++)
		free(t->members.v[i].name);
	ki_vec_free(&t->members);
	free(t->parameter);
}

void ki_d_translators_free(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->translators.n; i++)
		free_translator(&d->translators.v[i]);
	ki_vec_free(&d->translators);
}

static int fail(const struct ki_d_parser *p, uint32_t at, const char *tag, const char *text,
		const char *name)
{
	return ki_d_fail(p->d, p->lex.err, at, tag, text, name);
}

/* NAME = expression; */
static int member(struct ki_d_parser *p, struct ki_d_translator *t)
{
	struct ki_d_translated m = {0};
	char name[KI_D_NAME_MAX];
	const uint32_t at = p->lex.now.at;
	uint64_t bit;
	int ret = ki_d_parse_name(p, name);

	if (!ret && !ki_d_member_find(&p->d->types, t->to, name, &bit))
		ret = fail(p, at, "D_XLATE_MEMB", "%.60s is no member of what is translated to",
			   name);
	if (!ret)
		ret = ki_lex_take(&p->lex, "=");
	if (!ret)
		ret = ki_d_parse_expr(p, &m.body);
	if (!ret)
		ret = ki_lex_take(&p->lex, ";");
	if (ret)
		return ret;
	m.name = strdup(name);
	if (m.name && !ki_vec_push(&t->members, m))
		return 0;
	free(m.name);
	return ki_d_no_memory(p->lex.err);
}

static int parameter(struct ki_d_parser *p, struct ki_d_translator *t)
{
	struct ki_d_declarator dr = {0};
	bool is_type = false;
	int ret = ki_d_parse_specifiers(p, &dr.type, &is_type);

	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "the type that is translated");
	if (!ret)
		ret = ki_d_parse_declarator(p, &dr);
	if (!ret && !dr.name)
		ret = ki_lex_expected(&p->lex, "a name for what is translated");
	t->from = dr.type;
	t->parameter = dr.name;
	return ret;
}

static int header(struct ki_d_parser *p, struct ki_d_translator *t)
{
	const uint32_t at = p->lex.now.at;
	bool is_type = false;
	int ret = ki_d_parse_specifiers(p, &t->to, &is_type);

	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "a type");
	if (!ret && (!ki_d_is_struct(t->to) || !ki_d_sizeof(&p->d->types, t->to)))
		ret = fail(p, at, "D_XLATE_SOU", "a translator's type is a struct or union%s", "");
	if (!ret)
		ret = ki_lex_take(&p->lex, "<");
	if (!ret)
		ret = parameter(p, t);
	if (!ret)
		ret = ki_lex_take(&p->lex, ">");
	for (size_t i = 0; !ret && i < p->d->translators.n; i++)
		if (ki_d_same_type(p->d->translators.v[i].to, t->to) &&
		    ki_d_same_type(p->d->translators.v[i].from, t->from))
			ret = fail(p, at, "D_XLATE_REDECL", "there is such a translator already%s",
				   "");
	return ret;
}

int ki_d_parse_translator(struct ki_d_parser *p)
{
	struct ki_d_translator t = {.at = p->lex.now.at, .known = p->known};
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = header(p, &t);
	if (!ret)
		ret = ki_lex_take(&p->lex, "{");
	while (!ret && !ki_lex_is(&p->lex, "}"))
		ret = member(p, &t);
	if (!ret)
		ret = ki_lex_next(&p->lex);
	if (!ret)
		ret = ki_lex_take(&p->lex, ";");
	if (!ret && ki_vec_push(&p->d->translators, t))
		ret = ki_d_no_memory(p->lex.err);
	if (ret)
		free_translator(&t);
	return ret;
}

/* xlate < TYPE > ( expression ) */
int ki_d_parse_xlate(struct ki_d_parser *p, struct ki_d_node **out)
{
	struct ki_d_node *n = ki_d_node_new(&p->d->pool, KI_D_XLATE, p->lex.now.at, 0);
	bool is_type = false;
	int ret = n ? ki_lex_next(&p->lex) : ki_d_no_memory(p->lex.err);

	if (!ret)
		ret = ki_lex_take(&p->lex, "<");
	if (!ret)
		ret = ki_d_parse_type(p, &n->about, &is_type);
	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "a type");
	if (!ret)
		ret = ki_lex_take(&p->lex, ">");
	if (!ret)
		ret = ki_lex_take(&p->lex, "(");
	if (!ret)
		ret = ki_d_parse_expr(p, &n->kid[0]);
	if (!ret)
		ret = ki_lex_take(&p->lex, ")");
	if (!ret)
		n->depth = (uint16_t)(n->kid[0]->depth + 1);
	*out = n;
	return ret;
}

/* ---- xlate ---- */

static struct ki_d_node *around(struct ki_d_checker *c, enum ki_d_kind kind, struct ki_d_node *in,
				struct ki_d_type type)
{
	struct ki_d_node *n = ki_d_node_new(&c->d->pool, kind, in->at, 0);

	if (n) {
		n->kid[0] = in;
		n->type = n->about = type;
	}
	return n;
}

/* The exact type is better than another number or pointer. */
static unsigned int find(const struct ki_dlang *d, struct ki_d_type to, struct ki_d_type from)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < d->translators.n; i++) {
		const struct ki_d_translator *t = &d->translators.v[i];

		if (!ki_d_same_type(t->to, to))
			continue;
		if (ki_d_same_type(t->from, from))
			return i + 1;
		if (!t->from.stars && t->from.base == KI_D_INT && !from.stars &&
		    from.base == KI_D_INT)
			found = i + 1;
		if (t->from.stars && from.stars == 1 && from.base == KI_D_VOID)
			found = i + 1;
	}
	return found;
}

/* The address of a struct, of a variable too: all of it. */
static int check_whole(struct ki_d_checker *c, struct ki_d_node *n)
{
	n->value = 1;
	return ki_d_check_address(c, n);
}

int ki_d_check_xlate(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool pointer = n->about.stars == 1;
	struct ki_d_type to = n->about;
	struct ki_d_node *of = n->kid[0];
	struct ki_d_node *was = ki_d_copy(c->d, of, NULL, NULL, UINT32_MAX);
	char a[KI_D_TYPE_NAME], b[KI_D_TYPE_NAME];
	int ret = was ? ki_d_check_expr(c, of) : ki_d_no_memory(c->err);

	if (ret)
		return ret;
	to.stars -= pointer;
	if (!ki_d_is_struct(to))
		return ki_d_fail(c->d, c->err, n->at, "D_XLATE_SOU",
				 "xlate gives a struct, a union, or a pointer to one");
	to.xlator = (uint16_t)find(c->d, to, of->type);
	if (!to.xlator)
		return ki_d_fail(c->d, c->err, n->at, "D_XLATE_NONE",
				 "there is no translator from %s to %s",
				 ki_d_type_name(of->type, a), ki_d_type_name(to, b));
	if (ki_d_is_struct(of->type)) {
		of = around(c, KI_D_ADDRESS, was, of->type);
		ret = of ? check_whole(c, of) : ki_d_no_memory(c->err);
	}
	if (ret)
		return ret;
	to.stars = 1;
	n->kid[0] = of && !pointer ? around(c, KI_D_CAST, of, to) : of;
	if (!n->kid[0])
		return ki_d_no_memory(c->err);
	to.stars = pointer;
	n->type = n->about = to;
	n->kind = pointer ? KI_D_CAST : KI_D_DEREF;
	return 0;
}

/* ---- members ---- */

/* The value that is translated; of: before it was checked. Of a whole struct: where it is. */
static struct ki_d_node *input(struct ki_d_checker *c, const struct ki_d_translator *t,
			       struct ki_d_node *of)
{
	struct ki_d_type type = t->from;
	struct ki_d_node *n = around(c, KI_D_ADDRESS, of, of->type);

	type.stars += ki_d_is_struct(t->from);
	return n ? around(c, KI_D_CAST, n, type) : NULL;
}

/* The member's expression, with that value; *let: what is to be around it, or NULL. */
static int fill(struct ki_d_checker *c, const struct ki_d_translator *t, struct ki_d_node *in,
		const struct ki_d_translated *m, struct ki_d_let *let, struct ki_d_node **body)
{
	int ret = 0;

	let->body = m->body;
	let->name = t->parameter;
	if (in)
		ret = ki_d_let(c, in, let);
	if (!ret && let->let)
		in = let->held;
	if (!ret && in && ki_d_is_struct(t->from))
		in = around(c, KI_D_DEREF, in, t->from);
	*body = !ret && in ? ki_d_copy(c->d, m->body, t->parameter, in, let->at) : NULL;
	return ret ? ret : *body ? 0 : ki_d_no_memory(c->err);
}

/* n becomes the expression, as the member's type has it. */
static int become(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_node *body,
		  struct ki_d_type type, struct ki_d_node *let)
{
	int ret;

	if (let) {
		let->kid[1] = body;
		body = let;
	}
	ret = ki_d_check_expr(c, body);

	if (!ret)
		ret = ki_d_to_text(c, body);
	if (!ret && ki_d_is_scalar(type))
		ret = ki_d_decay(c, body);
	if (ret)
		return ret;
	if (ki_d_is_scalar(type) != ki_d_is_scalar(body->type) ||
	    (type.stars && !body->type.stars && !(body->kind == KI_D_NUMBER && !body->value)))
		return ki_d_fail(c->d, c->err, n->at, "D_XLATE_INCOMPAT",
				 "%.60s: the translator's expression is of another type", n->text);
	c->d->texts_used |= ki_d_is_string(body->type);
	n->kind = KI_D_CAST;
	n->op = 0;
	n->value = 0;
	n->kid[0] = body;
	n->type = n->about = ki_d_is_scalar(type) && !body->type.xlator ? type : body->type;
	return 0;
}

int ki_d_translate(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_node *of,
		   unsigned int number)
{
	const struct ki_d_type to = c->d->translators.v[number - 1].to;
	const struct ki_dlang_where was = c->d->where;
	const struct ki_d_member *m;
	bool found = false;
	uint64_t bit;
	int ret = 0;

	m = ki_d_member_find(&c->d->types, to, n->text, &bit);
	if (!m)
		return ki_d_fail(c->d, c->err, n->at, "D_TYPE_MEMBER",
				 "%.60s is no member of what is translated to", n->text);
	/* Of expressions for different kernels, the first that this one has. */
	for (size_t i = 0; i < c->d->translators.v[number - 1].members.n; i++) {
		const struct ki_d_translator *t = &c->d->translators.v[number - 1];
		struct ki_d_node *body;
		struct ki_d_let let = {.at = t->known ? n->at : UINT32_MAX};

		if (strcmp(t->members.v[i].name, n->text) != 0)
			continue;
		found = true;
		c->d->where = was;
		ki_err_clear(c->err);
		ret = fill(c, t, input(c, t, of), &t->members.v[i], &let, &body);
		if (!ret)
			ret = become(c, n, body, m->type, let.let);
		if (!ret || !t->known)
			return ret;
	}
	return found ? ret
		     : ki_d_fail(c->d, c->err, n->at, "D_XLATE_NOCONV",
				 "the translator says nothing of %.60s", n->text);
}

/* Members of which the program makes no use have to be right, too. */
static int check_one(struct ki_d_checker *c, struct ki_d_node *body, struct ki_d_node *in,
		     const struct ki_d_translator *t, const char *name)
{
	struct ki_d_node *n = ki_d_node_new(&c->d->pool, KI_D_MEMBER, body->at, strlen(name)),
			 *copy = n ? ki_d_copy(c->d, body, t->parameter, in, UINT32_MAX) : NULL;
	uint64_t bit;

	if (!copy)
		return ki_d_no_memory(c->err);
	strcpy(n->text, name);
	return become(c, n, copy, ki_d_member_find(&c->d->types, t->to, name, &bit)->type, NULL);
}

int ki_d_check_translators(struct ki_d_checker *c)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < c->d->translators.n; i++) {
		const struct ki_d_translator t = c->d->translators.v[i];
		struct ki_d_node *zero = ki_d_node_new(&c->d->pool, KI_D_NUMBER, t.at, 0), *in;

		if (!zero)
			return ki_d_no_memory(c->err);
		zero->type = ki_d_int(KI_I64);
		if (ki_d_is_struct(t.from)) {
			struct ki_d_type at = t.from;

			at.stars++;
			in = around(c, KI_D_CAST, zero, at);
			in = in ? around(c, KI_D_DEREF, in, t.from) : NULL;
		} else {
			in = around(c, KI_D_CAST, zero, t.from);
		}
		if (!in)
			return ki_d_no_memory(c->err);
		for (size_t k = 0; !ret && !t.known && k < t.members.n; k++)
			ret = check_one(c, t.members.v[k].body, in, &t, t.members.v[k].name);
	}
	return ret;
}
