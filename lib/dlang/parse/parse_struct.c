// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What struct, union and enum declare.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/parse/parse.h"

static int fail(const struct ki_d_parser *p, const char *tag, const char *fmt, const char *what)
{
	return ki_d_fail(p->d, p->lex.err, p->lex.now.at, tag, fmt, what);
}

/* ---- alignment ---- */

static uint64_t align_of(struct ki_d_types *t, struct ki_d_type type, unsigned int depth)
{
	const struct ki_d_def *d = ki_d_def_of(t, type);
	uint64_t most = 1;

	if (type.stars || depth > KI_D_DEPTH)
		return 8;
	if (type.base == KI_D_ARRAY && d)
		return align_of(t, d->of, depth + 1);
	if (type.base != KI_D_STRUCT || !d)
		return ki_d_sizeof(t, type) ? ki_d_sizeof(t, type) : 1;
	for (size_t i = 0; i < d->members.n; i++) {
		uint64_t a = align_of(t, d->members.v[i].type, depth + 1);

		most = a > most ? a : most;
	}
	return most;
}

static uint64_t up(uint64_t x, uint64_t to)
{
	return (x + to - 1) / to * to;
}

/* Where the next member begins; *end: of what is laid out, in bits. */
static void place(struct ki_d_parser *p, struct ki_d_def *d, struct ki_d_member *m, uint64_t *end)
{
	const uint64_t size = 8 * ki_d_sizeof(&p->d->types, m->type);
	const uint64_t align = 8 * align_of(&p->d->types, m->type, 0);
	const bool is_union = d->kind == KI_D_DEF_UNION;
	uint64_t at = is_union ? 0 : *end, last;

	if (!m->width)
		at = up(at, align);
	else if (at / size != (at + m->width - 1) / size)
		at = up(at, size);
	m->bit = at;
	last = at + (m->width ? m->width : size);
	*end = last > *end ? last : *end;
}

/* ---- struct, union, enum ---- */

int ki_d_parse_number(struct ki_d_parser *p, int64_t *value, const char *tag)
{
	struct ki_d_node *n;
	int ret = ki_d_parse_constant(p, &n);

	if (!ret)
		*value = (int64_t)n->value;
	else if (p->d->where.tag)
		p->d->where.tag = tag;
	return ret;
}

static int bit_field(struct ki_d_parser *p, struct ki_d_member *m)
{
	int64_t width = 0;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_d_parse_number(p, &width, "D_DECL_BFCONST");
	if (ret)
		return ret;
	if (m->type.stars || m->type.base != KI_D_INT)
		return fail(p, "D_DECL_BFTYPE", "a bit-field is an integer, not %s",
			    m->name ? m->name : "this");
	if (width < 0 || (!width && *m->name))
		return fail(p, "D_DECL_BFCONST", "the width of a bit-field is above 0%s", "");
	if ((uint64_t)width > 8 * ki_d_sizeof(&p->d->types, m->type))
		return fail(p, "D_DECL_BFSIZE", "a bit-field is not wider than its type%s", "");
	m->width = (unsigned int)width;
	return 0;
}

static int add_member(struct ki_d_parser *p, struct ki_d_def *d, struct ki_d_member *m,
		      uint64_t *end)
{
	if (!m->type.stars && !ki_d_sizeof(&p->d->types, m->type) &&
	    !(ki_d_is_array(m->type) || m->type.base == KI_D_FUNCTION)) {
		int ret =
			fail(p, m->type.base == KI_D_VOID ? "D_DECL_VOIDOBJ" : "D_DECL_INCOMPLETE",
			     "the member %s has a type without a size", m->name);

		free(m->name);
		return ret;
	}
	for (size_t i = 0; *m->name && i < d->members.n; i++)
		if (!strcmp(d->members.v[i].name, m->name)) {
			int ret = fail(p, "D_UNKNOWN", "a second member %s", m->name);

			free(m->name);
			return ret;
		}
	place(p, d, m, end);
	if (!ki_vec_push(&d->members, *m))
		return 0;
	free(m->name);
	return ki_d_no_memory(p->lex.err);
}

/* Declarators of one line of members, behind its type. */
static int members(struct ki_d_parser *p, struct ki_d_def *d, struct ki_d_type type, uint64_t *end)
{
	int ret = 0;

	for (bool more = true; !ret && more;) {
		struct ki_d_member m = {.type = type};
		struct ki_d_declarator dr = {.type = type};
		bool is_field;

		if (!ki_lex_is(&p->lex, ";") && !ki_lex_is(&p->lex, ":"))
			ret = ki_d_parse_declarator(p, &dr);
		m.type = dr.type;
		m.name = dr.name ? dr.name : strdup("");
		if (!ret && !m.name)
			ret = ki_d_no_memory(p->lex.err);
		if (!ret && dr.name && ki_lex_is(&p->lex, "("))
			ret = fail(p, "D_DECL_VOIDOBJ", "the member %s is a function", dr.name);
		is_field = !ret && ki_lex_is(&p->lex, ":");
		if (is_field)
			ret = bit_field(p, &m);
		if (!ret && !is_field && !*m.name && !ki_d_is_struct(m.type))
			ret = fail(p, "D_DECL_MNAME", "a member has a name%s", "");
		if (ret || (is_field && !m.width))
			free(m.name);
		else
			ret = add_member(p, d, &m, end);
		more = !ret && ki_lex_is(&p->lex, ",");
		if (more)
			ret = ki_lex_next(&p->lex);
	}
	return ret ? ret : ki_lex_take(&p->lex, ";");
}

static int struct_body(struct ki_d_parser *p, struct ki_d_def *d)
{
	uint64_t end = 0, most = 1;
	int ret = ki_lex_next(&p->lex);

	while (!ret && !ki_lex_is(&p->lex, "}")) {
		struct ki_d_type type;
		bool is_type;

		ret = ki_d_parse_specifiers(p, &type, &is_type);
		if (!ret && !is_type)
			ret = ki_lex_expected(&p->lex, "a member's type");
		if (!ret)
			ret = members(p, d, type, &end);
	}
	for (size_t i = 0; i < d->members.n; i++) {
		uint64_t a = align_of(&p->d->types, d->members.v[i].type, 0);

		most = a > most ? a : most;
	}
	d->size = up((end + 7) / 8, most);
	d->complete = true;
	return ret ? ret : ki_lex_next(&p->lex);
}

/* Is it a constant of an enum of the program's? */
static bool is_constant(const struct ki_d_parser *p)
{
	for (size_t i = 0; i < p->d->types.defs.n; i++) {
		const struct ki_d_def *d = p->d->types.defs.v[i];

		for (size_t k = 0; d->kind == KI_D_DEF_ENUM && !d->btf && k < d->members.n; k++)
			if (ki_lex_is(&p->lex, d->members.v[k].name))
				return true;
	}
	return false;
}

static int constant_name(struct ki_d_parser *p, struct ki_d_def *d)
{
	struct ki_d_member m = {0};

	if (p->lex.now.kind != KI_TOKEN_NAME || ki_d_is_reserved(p))
		return ki_lex_expected(&p->lex, "a constant's name");
	m.name = strndup(p->lex.now.text, p->lex.now.len);
	if (m.name && is_constant(p)) {
		int ret = fail(p, "D_DECL_IDRED", "a second constant %s", m.name);

		free(m.name);
		return ret;
	}
	if (m.name && !ki_vec_push(&d->members, m))
		return ki_lex_next(&p->lex);
	free(m.name);
	return ki_d_no_memory(p->lex.err);
}

static int enum_body(struct ki_d_parser *p, struct ki_d_def *d)
{
	int64_t value = 0;
	int ret = ki_lex_next(&p->lex);

	while (!ret && !ki_lex_is(&p->lex, "}")) {
		ret = constant_name(p, d);
		if (ret)
			return ret;
		if (ki_lex_is(&p->lex, "=")) {
			ret = ki_lex_next(&p->lex);
			if (!ret)
				ret = ki_d_parse_number(p, &value, "D_DECL_ENCONST");
		}
		if (!ret && (value > INT32_MAX || value < INT32_MIN))
			ret = fail(p, "D_DECL_ENOFLOW", "the value of %s does not fit into an int",
				   d->members.v[d->members.n - 1].name);
		d->members.v[d->members.n - 1].value = value++;
		if (!ret && ki_lex_is(&p->lex, ","))
			ret = ki_lex_next(&p->lex);
		else if (!ret && !ki_lex_is(&p->lex, "}"))
			ret = ki_lex_expected(&p->lex, "',' or '}'");
	}
	d->size = 4;
	d->complete = true;
	return ret ? ret : ki_lex_next(&p->lex);
}

static struct ki_d_def *find_incomplete(struct ki_d_types *t, enum ki_d_def_kind kind,
					const char *name)
{
	for (size_t i = 0; *name && i < t->defs.n; i++)
		if (t->defs.v[i]->kind == kind && !t->defs.v[i]->btf &&
		    !strcmp(t->defs.v[i]->name, name))
			return t->defs.v[i];
	return NULL;
}

/* Behind the tag: { ... } */
static int define(struct ki_d_parser *p, enum ki_d_def_kind kind, const char *tag,
		  struct ki_d_type *out)
{
	struct ki_d_def *d = find_incomplete(&p->d->types, kind, tag);

	if (d && d->complete)
		return fail(p, "D_DECL_TYPERED", "%s is declared twice", tag);
	if (!d)
		d = ki_d_def_new(&p->d->types, kind, tag);
	if (!d)
		return ki_d_no_memory(p->lex.err);
	*out = kind == KI_D_DEF_ENUM ? ki_d_int(KI_I32) : (struct ki_d_type){.base = KI_D_STRUCT};
	out->def = d->number;
	return kind == KI_D_DEF_ENUM ? enum_body(p, d) : struct_body(p, d);
}

int ki_d_parse_name(struct ki_d_parser *p, char name[KI_D_NAME_MAX])
{
	if (p->lex.now.len >= KI_D_NAME_MAX)
		return fail(p, "D_ID_OFLOW", "a name is at most %s characters long", "127");
	memcpy(name, p->lex.now.text, p->lex.now.len);
	name[p->lex.now.len] = 0;
	return ki_lex_next(&p->lex);
}

/* struct TAG, with what declares it, or the kernel's, or one that is declared later. */
int ki_d_parse_tagged(struct ki_d_parser *p, struct ki_d_type *out)
{
	const enum ki_d_def_kind kind = ki_lex_is(&p->lex, "struct")  ? KI_D_DEF_STRUCT
					: ki_lex_is(&p->lex, "union") ? KI_D_DEF_UNION
								      : KI_D_DEF_ENUM;
	char tag[KI_D_NAME_MAX] = "", module[KI_D_NAME_MAX] = "";
	struct ki_d_def *d;
	int ret = ki_lex_next(&p->lex);

	if (!ret && p->lex.now.kind == KI_TOKEN_NAME)
		ret = ki_d_parse_name(p, tag);
	if (!ret && ki_lex_is(&p->lex, "`")) {
		strcpy(module, tag);
		ret = ki_lex_next(&p->lex);
		if (!ret && p->lex.now.kind == KI_TOKEN_NAME)
			ret = ki_d_parse_name(p, tag);
	}
	if (ret)
		return ret;
	if (ki_lex_is(&p->lex, "{") && *module)
		return fail(p, "D_SYNTAX", "a type is declared without a module: %s", tag);
	if (ki_lex_is(&p->lex, "{"))
		return define(p, kind, tag, out);
	if (!*tag)
		return ki_lex_expected(&p->lex, "a tag or '{'");
	if (!strcmp(module, "D")) /* the program's own */
		*module = 0;
	if (!ki_d_tagged(&p->d->types, kind, *module ? module : NULL, tag, out))
		return 0;
	*out = ki_d_int(KI_U32);
	if (kind == KI_D_DEF_ENUM)
		return p->elsewhere ? 0 : fail(p, "D_DECL_INCOMPLETE", "no enum %s is known", tag);
	d = ki_d_def_new(&p->d->types, kind, tag);
	if (!d)
		return ki_d_no_memory(p->lex.err);
	*out = (struct ki_d_type){.base = KI_D_STRUCT, .def = d->number};
	return 0;
}
