// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "dlang/print/format.h"
#include "dlang/words/types.h"

#define MARGIN	44 /* as wide as the columns of a firing */
#define DEEPEST 16 /* structures in each other */
#define NAME	192

/* What is being printed: its bytes, and how deep it lies in what is printed. */
struct printing {
	struct ki_dlang *d;
	FILE *f;
	const uint8_t *bytes;
	size_t n;
	unsigned int depth;
	unsigned int dots; /* how deep "..." stands that is to end what is printed; 0: none */
};

/* A value in it; width: bits of a bit-field, or 0. */
struct value {
	const char *name; /* of a member; NULL: it has none */
	struct ki_d_type type;
	uint64_t bit;
	unsigned int width;
};

/* ---- types ---- */

/* As it is written, or as a typedef has named it, or its tag. */
void ki_d_type_base(struct ki_d_types *t, struct ki_d_type type, char *text, size_t size)
{
	static const char *const kinds[] = {[KI_D_DEF_STRUCT] = "struct ",
					    [KI_D_DEF_UNION] = "union ",
					    [KI_D_DEF_ENUM] = "enum "};
	static const char *const nums[KI_TYPES] = {
		[KI_I8] = "char",	   [KI_I16] = "short",	      [KI_I32] = "int",
		[KI_I64] = "long",	   [KI_U8] = "unsigned char", [KI_U16] = "unsigned short",
		[KI_U32] = "unsigned int", [KI_U64] = "unsigned long"};
	const struct ki_d_def *d;
	char plain[KI_D_TYPE_NAME];

	if (type.called) {
		snprintf(text, size, "%s", type.called);
		return;
	}
	type.stars = 0;
	for (size_t i = 0; type.def && i < t->defs.n; i++) {
		d = t->defs.v[i];
		if (d->kind == KI_D_DEF_TYPEDEF && !d->btf && ki_d_same_type(d->of, type)) {
			snprintf(text, size, "%s", d->name);
			return;
		}
	}
	d = ki_d_def_of(t, type);
	if (d && d->kind <= KI_D_DEF_ENUM)
		snprintf(text, size, "%s%s", kinds[d->kind], d->name);
	else
		snprintf(text, size, "%s",
			 type.base == KI_D_INT ? nums[type.num] : ki_d_type_name(type, plain));
	if (*text && text[strlen(text) - 1] == ' ') /* it has no name */
		text[strlen(text) - 1] = 0;
}

/* "int [4][2]", "struct s *" */
static void type_name(struct printing *p, struct ki_d_type type, char *text, size_t size)
{
	char dims[64] = "";
	size_t len;

	while (ki_d_is_array(type)) {
		const struct ki_d_def *d = ki_d_def_of(&p->d->types, type);

		len = strlen(dims);
		snprintf(dims + len, sizeof(dims) - len, "[%" PRIu64 "]", d ? d->n : 0);
		type = ki_d_pointed(&p->d->types, type);
	}
	ki_d_type_base(&p->d->types, type, text, size);
	len = strlen(text);
	snprintf(text + len, size - len, "%s%.*s%s%s", type.stars ? " " : "", type.stars,
		 "****************", *dims ? " " : "", dims);
}

/* ---- bytes ---- */

static uint64_t bits_of(const struct printing *p, const struct value *v)
{
	return v->width ? v->width : 8 * ki_d_sizeof(&p->d->types, v->type);
}

static bool has_bytes(const struct printing *p, const struct value *v)
{
	return v->bit + bits_of(p, v) <= 8 * (uint64_t)p->n;
}

/* What begins before the end of what option printsize allows is printed as a whole. */
static bool is_there(const struct printing *p, const struct value *v)
{
	return has_bytes(p, v) && v->bit < 8 * (uint64_t)p->d->set.printsize;
}

static uint64_t word_of(const struct printing *p, const struct value *v)
{
	const uint64_t bits = bits_of(p, v);
	uint64_t word = 0;

	for (uint64_t i = 0; i < bits && i < 64; i++)
		word |= (uint64_t)(p->bytes[(v->bit + i) / 8] >> (v->bit + i) % 8 & 1) << i;
	if (bits && bits < 64 && ki_d_num(v->type) < KI_U8 && word >> (bits - 1) & 1)
		word |= ~UINT64_C(0) << bits;
	return word;
}

/* So it is left out. */
static bool is_zero(const struct printing *p, const struct value *v)
{
	const uint64_t bits = bits_of(p, v);

	for (uint64_t i = 0; i < bits && (v->bit + i) / 8 < p->n; i++)
		if (p->bytes[(v->bit + i) / 8] >> (v->bit + i) % 8 & 1)
			return false;
	return true;
}

/* ---- values ---- */

static void indent(const struct printing *p)
{
	fprintf(p->f, "%*s", (int)(MARGIN + p->depth), "");
}

static bool is_character(struct ki_d_type type)
{
	return !type.stars && type.base == KI_D_INT && !type.def &&
	       (type.called ? !strcmp(type.called, "char") : type.num == KI_I8);
}

static void put_word(struct printing *p, struct ki_d_type type, uint64_t word)
{
	const struct ki_d_def *d = ki_d_def_of(&p->d->types, type);

	if (type.stars)
		fprintf(p->f, "0x%" PRIx64, word);
	else if (is_character(type) && isprint((uint8_t)word))
		fprintf(p->f, "'%c'", (uint8_t)word);
	if (type.stars || (is_character(type) && isprint((uint8_t)word)))
		return;
	for (size_t i = 0; d && d->kind == KI_D_DEF_ENUM && i < d->members.n; i++)
		if (d->members.v[i].value == (int64_t)word) {
			fputs(d->members.v[i].name, p->f);
			return;
		}
	if (ki_d_num(type) >= KI_U8)
		fprintf(p->f, "%" PRIu64, word);
	else
		fprintf(p->f, "%" PRId64, (int64_t)word);
}

static void put(struct printing *p, const struct value *v);

static void put_dots(struct printing *p, unsigned int depth)
{
	fprintf(p->f, "%*s...\n", (int)(MARGIN + depth), "");
}

static struct value member_of(const struct value *v, const struct ki_d_member *m)
{
	return (struct value){.name = *m->name ? m->name : NULL,
			      .type = m->type,
			      .bit = v->bit + m->bit,
			      .width = m->width};
}

/* Dots behind a struct stand in it, before its end. */
static void put_members(struct printing *p, const struct value *v)
{
	const struct ki_d_def *d = ki_d_def_of(&p->d->types, v->type);
	const unsigned int outer = p->dots;

	for (size_t i = 0; d && i < d->members.n; i++) {
		const struct value in = member_of(v, &d->members.v[i]);
		const bool last = i + 1 == d->members.n, inner = ki_d_is_struct(in.type);
		struct value next = in;

		if (!is_there(p, &in)) {
			put_dots(p, p->depth);
			return;
		}
		if (!last)
			next = member_of(v, &d->members.v[i + 1]);
		p->dots = last ? outer : inner && !is_there(p, &next) ? p->depth : 0;
		if (is_zero(p, &in))
			continue;
		put(p, &in);
		if (!last && inner && !is_there(p, &next))
			break;
	}
}

static void put_elements(struct printing *p, const struct value *v)
{
	const struct ki_d_def *d = ki_d_def_of(&p->d->types, v->type);
	struct value in = {.type = ki_d_pointed(&p->d->types, v->type), .bit = v->bit};
	const uint64_t size = 8 * ki_d_sizeof(&p->d->types, in.type);
	const unsigned int outer = p->dots;
	const bool inside = p->depth > 1; /* it is a member */

	p->dots = 0;
	for (uint64_t i = 0; size && d && i < d->n; i++, in.bit += size) {
		if (!(inside ? has_bytes(p, &in) : is_there(p, &in))) {
			if (!i || !is_character(in.type)) /* a string ends there */
				put_dots(p, p->depth);
			break;
		}
		if (!is_zero(p, &in))
			put(p, &in);
		else if (is_character(in.type)) /* the string has ended */
			break;
	}
	p->dots = outer;
}

static void put_inside(struct printing *p, const struct value *v)
{
	const bool array = ki_d_is_array(v->type);

	fputs(array ? "[\n" : "{\n", p->f);
	p->depth++;
	if (p->depth > DEEPEST)
		put_dots(p, p->depth);
	else if (array)
		put_elements(p, v);
	else
		put_members(p, v);
	p->depth--;
	if (p->dots && !array) {
		put_dots(p, p->dots);
		p->dots = 0;
	}
	indent(p);
	fputs(array ? "]" : "}", p->f);
}

static void put(struct printing *p, const struct value *v)
{
	const bool whole = ki_d_is_struct(v->type) || ki_d_is_array(v->type);
	char name[NAME];

	type_name(p, v->type, name, sizeof(name));
	indent(p);
	if (v->name)
		fprintf(p->f, ".%s = ", v->name);
	fprintf(p->f, "(%s)%s", name, whole ? " " : "");
	if (whole)
		put_inside(p, v);
	else
		put_word(p, v->type, word_of(p, v));
	fputs(p->depth ? ",\n" : "\n", p->f);
}

void ki_d_print_at(struct ki_dlang *d, FILE *f, struct ki_d_type type, uint64_t addr,
		   const uint8_t *bytes, size_t n)
{
	struct printing p = {.d = d, .f = f, .bytes = bytes, .n = n};
	const struct value v = {.type = type};

	fprintf(f, "0x%" PRIx64 " = *\n", addr);
	put(&p, &v);
}
