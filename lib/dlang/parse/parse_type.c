// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Types as C writes them: specifiers and declarators.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/parse/parse.h"

#define MOST_STARS 8
#define MOST_DIMS  8

static int fail(const struct ki_d_parser *p, const char *tag, const char *fmt, const char *what)
{
	return ki_d_fail(p->d, p->lex.err, p->lex.now.at, tag, fmt, what);
}

/* ---- specifiers ---- */

static bool is_any(const struct ki_d_parser *p, const char *const *words)
{
	for (; *words; words++)
		if (ki_lex_is(&p->lex, *words))
			return true;
	return false;
}

/* A name that a program uses as a variable is no type, whatever the kernel calls so. */
static bool is_used(const struct ki_d_parser *p)
{
	const struct ki_token *t = &p->lex.now;

	for (const struct ki_d_node *n = p->d->pool.all; n; n = n->all)
		if ((n->kind == KI_D_NAME || n->kind == KI_D_CALL) && strlen(n->text) == t->len &&
		    !memcmp(n->text, t->text, t->len))
			return true;
	return false;
}

/* MODULE`NAME or NAME: of a typedef. *is_type false: nothing was taken. */
static int named(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type)
{
	const struct ki_lexer before = p->lex;
	char name[KI_D_NAME_MAX], module[KI_D_NAME_MAX];
	int ret;

	*is_type = false;
	if (is_used(p) || p->lex.now.len >= KI_D_NAME_MAX)
		return 0;
	ret = ki_d_parse_name(p, name);
	if (!ret && ki_lex_is(&p->lex, "`")) {
		strcpy(module, name);
		ret = ki_lex_next(&p->lex);
		if (!ret && p->lex.now.kind == KI_TOKEN_NAME)
			ret = ki_d_parse_name(p, name);
		*is_type = !ret && !(strcmp(module, "D") != 0
					     ? ki_d_typedef_in(&p->d->types, module, name, out)
					     : ki_d_typedef(&p->d->types, name, out));
	} else {
		if (!ret)
			ret = ki_d_known(p->d, name, p->lex.err);
		if (ret)
			return ret;
		*is_type = !ki_d_typedef(&p->d->types, name, out);
	}
	if (!*is_type)
		p->lex = before;
	return *is_type ? ret : 0;
}

/* Words of C's numbers, in any order: which, and how often. */
struct words {
	unsigned int is_signed, is_unsigned, is_long, is_short, is_char, is_int, any;
};

static bool take_word(struct ki_d_parser *p, struct words *w)
{
	const struct {
		const char *text;
		unsigned int *n;
	} rows[] = {{"signed", &w->is_signed}, {"unsigned", &w->is_unsigned}, {"long", &w->is_long},
		    {"short", &w->is_short},   {"char", &w->is_char},	      {"int", &w->is_int}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (ki_lex_is(&p->lex, rows[i].text)) {
			++*rows[i].n;
			w->any++;
			return true;
		}
	return false;
}

static int number_of(const struct ki_d_parser *p, const struct words *w, struct ki_d_type *out)
{
	enum ki_type num = w->is_char ? KI_I8 : w->is_short ? KI_I16 : w->is_long ? KI_I64 : KI_I32;

	if (w->is_long && w->is_short)
		return fail(p, "D_UNKNOWN", "a number is not both long and short%s", "");
	if (w->is_char && (w->is_long || w->is_short))
		return fail(p, "D_DECL_CHARATTR", "a char is neither long nor short%s", "");
	if ((w->is_signed && w->is_unsigned) || w->is_long > 2 || w->is_char + w->is_int > 1 ||
	    w->is_short > 1 || w->is_signed > 1 || w->is_unsigned > 1)
		return fail(p, "D_DECL_COMBO", "these words make no type%s", "");
	*out = ki_d_int(w->is_unsigned ? (enum ki_type)(num + (KI_U8 - KI_I8)) : num);
	out->called = w->is_char && w->is_signed      ? "signed char"
		      : w->is_char && !w->is_unsigned ? "char"
		      : w->is_long < 2		      ? NULL
		      : w->is_unsigned		      ? "unsigned long long"
						      : "long long";
	return 0;
}

static int floating(struct ki_d_parser *p, struct ki_d_type *out, bool is_long)
{
	*out = (struct ki_d_type){.base = KI_D_FLOAT};
	out->num = ki_lex_is(&p->lex, "float") ? 4 : is_long ? 16 : 8;
	return ki_lex_next(&p->lex);
}

static int words(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type)
{
	static const char *const floats[] = {"float", "double", NULL};
	static const char *const others[] = {"float", "double", "struct", "union",
					     "enum",  "string", NULL};
	struct words w = {0};
	int ret = 0;

	while (!ret && p->lex.now.kind == KI_TOKEN_NAME && take_word(p, &w))
		ret = ki_lex_next(&p->lex);
	*is_type = w.any || is_any(p, floats);
	if (ret || !*is_type)
		return ret;
	if (w.any && ki_lex_is(&p->lex, "void"))
		return fail(p, "D_DECL_VOIDATTR", "void has no sign and no length%s", "");
	if ((w.is_signed || w.is_unsigned) && is_any(p, others))
		return fail(p, "D_DECL_SIGNINT", "only integers are signed or unsigned%s", "");
	if ((w.is_long || w.is_short) && is_any(p, others) && !ki_lex_is(&p->lex, "double"))
		return fail(p, "D_DECL_LONGINT", "only numbers are long or short%s", "");
	if (is_any(p, floats))
		return floating(p, out, w.is_long);
	return number_of(p, &w, out);
}

static int builtin(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type)
{
	char name[KI_D_NAME_MAX];

	*is_type = false;
	if (p->lex.now.len >= sizeof(name))
		return 0;
	memcpy(name, p->lex.now.text, p->lex.now.len);
	name[p->lex.now.len] = 0;
	*is_type = *p->lex.next != '`' && !ki_d_type_named(name, out);
	return *is_type ? ki_lex_next(&p->lex) : 0;
}

static int qualifiers(struct ki_d_parser *p)
{
	static const char *const all[] = {"const",  "volatile", "restrict", "static",
					  "extern", "register", "auto",	    NULL};
	int ret = 0;

	while (!ret && is_any(p, all))
		ret = ki_lex_next(&p->lex);
	return ret;
}

int ki_d_parse_specifiers(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type)
{
	static const char *const tags[] = {"struct", "union", "enum", NULL};
	static const char *const types[] = {"struct", "union",	"enum",	 "void", "char",
					    "int",    "double", "float", NULL};
	int ret = qualifiers(p);

	*is_type = false;
	*out = (struct ki_d_type){0};
	if (ret || p->lex.now.kind != KI_TOKEN_NAME)
		return ret;
	if (is_any(p, tags)) {
		*is_type = true;
		ret = ki_d_parse_tagged(p, out);
	} else {
		ret = words(p, out, is_type);
		if (!ret && !*is_type)
			ret = builtin(p, out, is_type);
		if (!ret && !*is_type)
			ret = named(p, out, is_type);
	}
	if (!ret && *is_type)
		ret = qualifiers(p);
	return !ret && *is_type && is_any(p, types)
		       ? fail(p, "D_DECL_COMBO",
			      "a second type stands behind one: ';' before it?%s", "")
		       : ret;
}

/* ---- declarators ---- */

static int stars(struct ki_d_parser *p, struct ki_d_type *type)
{
	int ret = 0;

	while (!ret && ki_lex_is(&p->lex, "*")) {
		if (type->stars++ == MOST_STARS)
			return ki_lex_error(&p->lex, p->lex.now.at, "too many stars");
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = qualifiers(p);
	}
	return ret;
}

/* Of a parameter no word says where it is kept; C's `register` means nothing. */
static bool is_storage_class(const struct ki_lexer *l)
{
	static const char *const words[] = {"static", "extern", "auto", "typedef", "self", "this"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (ki_lex_is(l, words[i]))
			return true;
	return false;
}

/* void, and the next one of a list; or the next one, and void. */
static int check_lone_void(const struct ki_d_parser *p, bool *is_void, unsigned int commas)
{
	static const char *const qualifying[] = {"const", "volatile", "restrict", NULL};
	const bool was = *is_void, comma = ki_lex_is(&p->lex, ",");
	const bool ends = comma || ki_lex_is(&p->lex, ")");

	*is_void = ki_lex_is(&p->lex, "void");
	if (was && !ends && p->lex.now.kind == KI_TOKEN_NAME && !is_any(p, qualifying))
		return ki_d_fail(p->d, p->lex.err, p->lex.now.at, "D_DECL_PROTO_NAME",
				 "a parameter that is void has no name");
	if (!was || !ends || !(comma || commas))
		return 0;
	return ki_d_fail(p->d, p->lex.err, p->lex.now.at, "D_DECL_PROTO_VOID",
			 "void is alone, or a function has parameters");
}

/* At [: an array that has keys. */
static int check_no_keys(struct ki_d_parser *p)
{
	const struct ki_lexer before = p->lex;
	struct ki_d_type type;
	bool is_type = false;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_d_parse_specifiers(p, &type, &is_type);
	p->lex = before;
	return !ret && is_type ? fail(p, "D_DECL_PROTO_TYPE",
				      "a function of C takes no associative array%s", "")
			       : ret;
}

int ki_d_skip_parameters(struct ki_d_parser *p)
{
	unsigned int depth = 0, commas = 0;
	bool is_void = false;
	int ret = 0;

	do {
		if (p->lex.now.kind == KI_TOKEN_END)
			return ki_lex_expected(&p->lex, "')'");
		if (is_storage_class(&p->lex))
			return ki_d_fail(p->d, p->lex.err, p->lex.now.at, "D_DECL_PARMCLASS",
					 "%.*s is no word of a function's parameter",
					 (int)p->lex.now.len, p->lex.now.text);
		ret = check_lone_void(p, &is_void, commas);
		if (!ret && ki_lex_is(&p->lex, "["))
			ret = check_no_keys(p);
		if (ret)
			return ret;
		commas += ki_lex_is(&p->lex, ",");
		depth += ki_lex_is(&p->lex, "(");
		depth -= ki_lex_is(&p->lex, ")");
		ret = ki_lex_next(&p->lex);
	} while (!ret && depth);
	return ret;
}

int ki_d_parse_dimensions(struct ki_d_parser *p, struct ki_d_type *type)
{
	int64_t n[MOST_DIMS];
	unsigned int count = 0;
	int ret = 0;

	while (!ret && ki_lex_is(&p->lex, "[")) {
		if (count == MOST_DIMS)
			return ki_lex_error(&p->lex, p->lex.now.at, "too many dimensions");
		n[count] = 0;
		ret = ki_lex_next(&p->lex);
		if (!ret && !ki_lex_is(&p->lex, "]"))
			ret = ki_d_parse_number(p, &n[count], "D_DECL_ARRSUB");
		if (!ret && (n[count] < 0 || n[count] > INT32_MAX))
			ret = fail(p, n[count] < 0 ? "D_DECL_ARRSUB" : "D_DECL_ARRBIG",
				   "an array cannot have so many elements%s", "");
		count++;
		if (!ret)
			ret = ki_lex_take(&p->lex, "]");
	}
	while (!ret && count--)
		*type = ki_d_array_of(&p->d->types, *type, (uint64_t)n[count]);
	return ret;
}

/* Behind (: the declarator inside, which is a pointer to a function or an array. */
static int inner(struct ki_d_parser *p, struct ki_d_declarator *d)
{
	struct ki_d_declarator in = {0};
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_d_parse_declarator(p, &in);
	d->name = in.name;
	if (!ret)
		ret = ki_lex_take(&p->lex, ")");
	if (!ret && ki_lex_is(&p->lex, "(")) {
		ret = ki_d_skip_parameters(p);
		d->type = (struct ki_d_type){.base = KI_D_FUNCTION};
	} else if (!ret) {
		ret = ki_d_parse_dimensions(p, &d->type);
	}
	d->type.stars = (uint8_t)(d->type.stars + in.type.stars);
	return ret;
}

int ki_d_parse_declarator(struct ki_d_parser *p, struct ki_d_declarator *d)
{
	int ret = stars(p, &d->type);

	if (ret)
		return ret;
	if (ki_lex_is(&p->lex, "(") && (*p->lex.next == '*' || *p->lex.next == ' '))
		return inner(p, d);
	if (p->lex.now.kind == KI_TOKEN_NAME) {
		d->at = p->lex.now.at;
		d->name = strndup(p->lex.now.text, p->lex.now.len);
		if (!d->name)
			return ki_d_no_memory(p->lex.err);
		ret = ki_lex_next(&p->lex);
	}
	if (!ret && d->keys && d->name)
		return 0; /* what [ means is for the caller */
	return ret ? ret : ki_d_parse_dimensions(p, &d->type);
}

int ki_d_parse_type(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type)
{
	struct ki_d_declarator d = {0};
	int ret = ki_d_parse_specifiers(p, &d.type, is_type);

	if (!ret && *is_type)
		ret = ki_d_parse_declarator(p, &d);
	if (d.name) {
		free(d.name);
		return ret ? ret : ki_lex_expected(&p->lex, "a type without a name");
	}
	*out = d.type;
	return ret;
}

void ki_d_unknown_type(struct ki_d_parser *p, const struct ki_lexer *name)
{
	const char *text = name->now.text + name->now.len;

	if (name->now.kind != KI_TOKEN_NAME || !ki_lex_is(&p->lex, ")") ||
	    *p->lex.now.text != ')' || (size_t)(p->lex.now.text - text) != strspn(text, " \t*"))
		return;
	ki_err_clear(p->lex.err);
	ki_lex_error(
		&p->lex, name->now.at,
		"no type %.*s is known: neither the program nor the kernel's types (BTF) declare it",
		(int)(name->now.len < 60 ? name->now.len : 60), name->now.text);
}
