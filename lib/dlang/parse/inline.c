// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * inline TYPE NAME = expression; inline TYPE NAME[TYPE PARAMETER, ...] = expression;
 *
 * Where the name is used stands a copy of the expression, with copies of the arguments where it
 * names its parameters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/parse/parse.h"

/* ---- parsing ---- */

static int parameter(struct ki_d_parser *p, struct ki_d_inline *in)
{
	struct ki_d_declarator dr = {0};
	bool is_type = false;
	int ret = ki_d_parse_specifiers(p, &dr.type, &is_type);

	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "a parameter's type");
	if (!ret)
		ret = ki_d_parse_declarator(p, &dr);
	if (!ret && !dr.name)
		ret = ki_lex_expected(&p->lex, "a parameter's name");
	if (!ret && in->n == KI_D_KEYS)
		ret = ki_lex_error(&p->lex, dr.at, "more than %d parameters", KI_D_KEYS);
	if (ret) {
		free(dr.name);
		return ret;
	}
	in->types[in->n] = dr.type;
	in->names[in->n++] = dr.name;
	return 0;
}

static int parameters(struct ki_d_parser *p, struct ki_d_inline *in)
{
	int ret;

	do {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = parameter(p, in);
	} while (!ret && ki_lex_is(&p->lex, ","));
	return ret ? ret : ki_lex_take(&p->lex, "]");
}

static void free_inline(struct ki_d_inline *in)
{
	for (unsigned int i = 0; i < in->n; i++)
		free(in->names[i]);
	free(in->name);
}

int ki_d_parse_inline(struct ki_d_parser *p)
{
	struct ki_d_declarator dr = {.keys = true};
	struct ki_d_inline in = {0};
	bool is_type = false;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_d_parse_specifiers(p, &dr.type, &is_type);
	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "a type");
	if (!ret)
		ret = ki_d_parse_declarator(p, &dr);
	in.name = dr.name;
	in.type = dr.type;
	if (!ret && !in.name)
		ret = ki_lex_expected(&p->lex, "a name");
	if (!ret && ki_lex_is(&p->lex, "["))
		ret = parameters(p, &in);
	if (!ret)
		ret = ki_lex_take(&p->lex, "=");
	if (!ret)
		ret = ki_d_parse_comma(p, &in.body);
	if (!ret)
		ret = ki_lex_take(&p->lex, ";");
	if (!ret && in.type.base == KI_D_VOID && !in.type.stars)
		ret = ki_d_fail(p->d, p->lex.err, dr.at, "D_DECL_VOIDOBJ", "%s cannot be void",
				in.name);
	if (!ret && !p->known && ki_d_is_taken(p->d, in.name, NULL))
		ret = ki_d_fail(p->d, p->lex.err, dr.at, "D_DECL_IDRED", "%s is declared twice",
				in.name);
	if (!ret && ki_vec_push(&p->d->inlines, in))
		ret = ki_d_no_memory(p->lex.err);
	if (ret)
		free_inline(&in);
	return ret;
}

struct ki_d_inline *ki_d_inline_find(const struct ki_dlang *d, const char *name)
{
	for (size_t i = 0; i < d->inlines.n; i++)
		if (!strcmp(d->inlines.v[i].name, name))
			return &d->inlines.v[i];
	return NULL;
}

void ki_d_inlines_free(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->inlines.n; i++)
		free_inline(&d->inlines.v[i]);
	ki_vec_free(&d->inlines);
}

/* ---- use ---- */

struct copying {
	struct ki_dlang *d;
	unsigned int n; /* parameters: */
	char *const *names;
	struct ki_d_node *args[KI_D_KEYS];
	unsigned int nodes; /* that have been copied */
	bool moved;	    /* all nodes are said to stand at */
	uint32_t at;	    /* the use, since the text is not the program's */
};

#define MOST_NODES 65536
#define DEEPEST	   8 /* uses of one inside of each other */

static struct ki_d_node *copy(struct copying *c, const struct ki_d_node *n);

static int parameter_of(const struct copying *c, const struct ki_d_node *n)
{
	for (unsigned int i = 0; n->kind == KI_D_NAME && i < c->n; i++)
		if (!strcmp(c->names[i], n->text))
			return (int)i;
	return -1;
}

static struct ki_d_node *copy_list(struct copying *c, const struct ki_d_node *list)
{
	struct ki_d_node *first = NULL, **end = &first;

	for (; list; list = list->next) {
		*end = copy(c, list);
		if (!*end)
			return NULL;
		end = &(*end)->next;
	}
	return first;
}

/* An argument stands there without parameters of this inline. */
static struct ki_d_node *copy_argument(struct copying *c, unsigned int i)
{
	struct copying plain = {.d = c->d, .nodes = c->nodes};
	struct ki_d_node *n = copy(&plain, c->args[i]);

	c->nodes = plain.nodes;
	return n;
}

static struct ki_d_node *copy(struct copying *c, const struct ki_d_node *n)
{
	int i = parameter_of(c, n);
	struct ki_d_node *to, *all;

	if (i >= 0)
		return copy_argument(c, (unsigned int)i);
	if (c->nodes++ == MOST_NODES)
		return NULL;
	to = ki_d_node_new(&c->d->pool, (enum ki_d_kind)n->kind, n->at, strlen(n->text));
	if (!to)
		return NULL;
	all = to->all;
	memcpy(to, n, sizeof(*to) + strlen(n->text) + 1);
	to->all = all;
	to->next = NULL;
	if (c->moved)
		to->at = c->at;
	for (unsigned int k = 0; k < 3; k++) {
		to->kid[k] = n->kid[k] ? copy_list(c, n->kid[k]) : NULL;
		if (n->kid[k] && !to->kid[k])
			return NULL;
	}
	return to;
}

struct ki_d_node *ki_d_copy(struct ki_dlang *d, const struct ki_d_node *n, char *name,
			    struct ki_d_node *in, uint32_t at)
{
	struct copying c = {.d = d,
			    .n = name != NULL,
			    .names = &name,
			    .args = {in},
			    .moved = at != UINT32_MAX,
			    .at = at};

	return copy(&c, n);
}

/* Arguments that are computed once; *lets: what is to be around the body, the last one first. */
static int hold_arguments(struct ki_d_checker *c, const struct ki_d_inline *in, struct copying *to,
			  struct ki_d_node **lets)
{
	struct ki_d_let let = {.body = in->body};
	int ret = 0;

	if (!ki_d_is_scalar(in->type) && !ki_d_is_string(in->type))
		return 0;
	for (unsigned int i = 0; !ret && i < in->n; i++) {
		let.name = in->names[i];
		ret = ki_d_let(c, to->args[i], &let);
		if (ret || !let.let)
			continue;
		to->args[i] = let.held;
		let.let->kid[1] = *lets;
		*lets = let.let;
	}
	return ret;
}

static struct ki_d_node *around_body(struct ki_d_node *lets, struct ki_d_node *body)
{
	while (body && lets) {
		struct ki_d_node *outer = lets->kid[1];

		lets->kid[1] = body;
		body = lets;
		lets = outer;
	}
	return body;
}

/* A struct's body: *&body. */
static int stand_in_memory(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *at = ki_d_node_new(&c->d->pool, KI_D_ADDRESS, n->at, 0);

	if (!at)
		return -ENOMEM;
	at->kid[0] = n->kid[0];
	at->value = 1;
	n->kid[0] = at;
	n->kind = KI_D_DEREF;
	return 0;
}

static int wrong_count(const struct ki_d_checker *c, const struct ki_d_node *n,
		       const struct ki_d_inline *in, unsigned int count)
{
	return ki_d_fail(c->d, c->err, n->at, "D_PROTO_LEN", "%.40s takes %u arguments, not %u",
			 in->name, in->n, count);
}

int ki_d_inline_use(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_inline *in)
{
	struct copying to = {
		.d = c->d, .n = in->n, .names = in->names, .moved = in->known, .at = n->at};
	struct ki_d_node *next = n->next;
	struct ki_d_node *lets = NULL;
	unsigned int count = 0;

	for (struct ki_d_node *k = n->kind == KI_D_INDEX ? n->kid[1] : NULL; k; k = k->next)
		if (count++ < KI_D_KEYS)
			to.args[count - 1] = k;
	if (count != in->n)
		return wrong_count(c, n, in, count);
	if (in->busy > DEEPEST)
		return ki_d_fail(c->d, c->err, n->at, "D_IDENT_UNDEF", "%.40s names itself",
				 in->name);
	count = (unsigned int)hold_arguments(c, in, &to, &lets);
	if (count)
		return (int)count;
	n->kid[0] = around_body(lets, copy(&to, in->body));
	if (!n->kid[0])
		return ki_d_fail(c->d, c->err, n->at, "D_UNKNOWN", "%.40s becomes too large",
				 in->name);
	n->kind = KI_D_CAST;
	if (ki_d_is_struct(in->type) && stand_in_memory(c, n))
		return ki_d_no_memory(c->err);
	n->kid[1] = n->kid[2] = NULL;
	n->about = in->type;
	n->is_builtin = false;
	n->next = next;
	in->busy++;
	count = (unsigned int)ki_d_check_expr(c, n);
	in->busy--;
	return (int)count;
}

/* Its body, where the definition stands. */
static int check_definition(struct ki_d_checker *c, const struct ki_d_inline *in)
{
	struct ki_d_node *n = ki_d_copy(c->d, in->body, NULL, NULL, UINT32_MAX);
	const struct ki_d_type type = in->type;
	int ret = n ? ki_d_check_expr(c, n) : ki_d_no_memory(c->err);

	if (!ret && ki_d_is_string(type))
		ret = ki_d_to_text(c, n);
	if (!ret && ki_d_is_scalar(type))
		ret = ki_d_decay(c, n);
	return ret ? ret : ki_d_check_defined(c, n, type);
}

int ki_d_check_inlines(struct ki_d_checker *c)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < c->d->inlines.n; i++) {
		const struct ki_d_inline in = c->d->inlines.v[i];

		if (!in.known && !in.n)
			ret = check_definition(c, &in);
	}
	return ret;
}

int ki_d_inline_call(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_inline *in)
{
	struct copying plain = {.d = c->d};
	const unsigned int count = ki_d_count(n->kid[0]);
	unsigned int i = 0;

	if (count != in->n)
		return wrong_count(c, n, in, count);
	for (struct ki_d_node *k = n->kid[0]; k; k = k->next, i++) {
		struct ki_d_node *seen = copy(&plain, k);
		int ret = seen ? ki_d_check_expr(c, seen) : ki_d_no_memory(c->err);

		if (!ret)
			ret = ki_d_decay(c, seen);
		if (ret)
			return ret;
		if (!ki_d_is_scalar(seen->type) || (in->types[i].stars && !seen->type.stars &&
						    (seen->kind != KI_D_NUMBER || seen->value)))
			return ki_d_fail(c->d, c->err, k->at, "D_PROTO_ARG",
					 "%.40s() wants a %s here", in->name,
					 in->types[i].stars ? "pointer" : "number");
		if (ki_d_steps(seen))
			return ki_d_fail(c->d, c->err, k->at, "D_UNKNOWN",
					 "%.40s() of what changes a variable is not supported: "
					 "change it in a statement before",
					 in->name);
	}
	n->kind = KI_D_INDEX;
	n->kid[1] = n->kid[0];
	n->kid[0] = NULL;
	return ki_d_inline_use(c, n, in);
}
