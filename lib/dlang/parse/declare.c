// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Declarations: variables, typedefs, and types that stand alone.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/words/names.h"
#include "dlang/parse/parse.h"

static int fail(const struct ki_d_parser *p, uint32_t at, const char *tag, const char *text,
		const char *name)
{
	return ki_d_fail(p->d, p->lex.err, at, tag, text, name);
}

static struct ki_d_var *find(const struct ki_dlang *d, enum ki_d_scope scope, const char *name)
{
	for (size_t i = 0; i < d->vars.n; i++)
		if (d->vars.v[i]->scope == scope && !strcmp(d->vars.v[i]->name, name))
			return d->vars.v[i];
	return NULL;
}

/* ---- keys ---- */

static int check_key(const struct ki_d_parser *p, uint32_t at, struct ki_d_type t, bool alone)
{
	if (t.base == KI_D_VOID && !t.stars)
		return fail(p, at, alone ? "D_DECL_PROTO_VOID" : "D_DECL_PROTO_TYPE",
			    "a key cannot be void%s", "");
	return ki_d_is_scalar(t) || ki_d_is_string(t) || t.base == KI_D_STACK
		       ? 0
		       : fail(p, at, "D_DECL_PROTO_TYPE",
			      "a key is a number, a pointer or a string%s", "");
}

/* 1: the first is no type, and nothing was taken. */
static int keys(struct ki_d_parser *p, struct ki_d_var *v)
{
	int ret = 0;

	do {
		const uint32_t at = p->lex.now.at;
		bool is_type = false;

		if (v->nkeys)
			ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = ki_d_parse_type(p, &v->keys[v->nkeys], &is_type);
		if (!ret && !is_type && !v->nkeys && !ki_lex_is(&p->lex, "..."))
			return 1;
		if (!ret && !is_type && ki_lex_is(&p->lex, "..."))
			ret = fail(p, at, "D_DECL_PROTO_VARARGS", "keys are named one by one%s",
				   "");
		if (!ret && !is_type)
			ret = ki_lex_expected(&p->lex, "a type");
		if (!ret)
			ret = check_key(p, at, v->keys[v->nkeys],
					!v->nkeys && ki_lex_is(&p->lex, "]"));
		if (!ret && ++v->nkeys == KI_D_KEYS)
			ret = ki_lex_error(&p->lex, p->lex.now.at, "more than %d keys",
					   KI_D_KEYS - 1);
	} while (!ret && ki_lex_is(&p->lex, ","));
	return ret ? ret : ki_lex_take(&p->lex, "]");
}

/* Behind a variable's name: [TYPE, ...] of an associative array, [N] of C's. */
static int brackets(struct ki_d_parser *p, struct ki_d_var *v, uint32_t at)
{
	const struct ki_lexer before = p->lex;
	int ret = ki_lex_next(&p->lex);

	if (ret)
		return ret;
	if (ki_lex_is(&p->lex, "]") && !p->elsewhere)
		return fail(p, at, "D_DECL_ARRNULL", "%s is an array of what?", v->name);
	if (p->lex.now.kind == KI_TOKEN_NAME || ki_lex_is(&p->lex, "...")) {
		ret = keys(p, v);
		if (!ret && v->scope == KI_D_THIS_SCOPE)
			return fail(p, at, "D_DECL_LOCASSC",
				    "this->%s cannot be an associative array", v->name);
		if (ret <= 0)
			return ret;
	}
	p->lex = before;
	return ki_d_parse_dimensions(p, &v->type);
}

/* ---- variables ---- */

bool ki_d_is_taken(struct ki_dlang *d, const char *name, const struct ki_d_type *type)
{
	const struct ki_d_builtin *b = ki_d_builtin_find(name);
	const struct ki_d_function *f = b ? NULL : ki_d_function_find(name);

	if (b && !b->written)
		return !type || !ki_d_same_type(*type, b->type);
	return (f && f->kind != KI_D_F_AGG) || (!type && b) || ki_d_inline_find(d, name);
}

static int check_new(const struct ki_d_parser *p, const struct ki_d_var *v, uint32_t at)
{
	const struct ki_d_var *old = find(p->d, (enum ki_d_scope)v->scope, v->name);
	const char *why;

	if (v->scope == KI_D_GLOBAL_SCOPE && ki_d_is_taken(p->d, v->name, &v->type))
		return fail(p, at, "D_DECL_IDRED", "%s is the language's", v->name);
	if (v->type.base == KI_D_VOID && !v->type.stars)
		return fail(p, at, "D_DECL_VOIDOBJ", "%s cannot be void", v->name);
	if (v->type.base == KI_D_STRUCT && !v->type.stars && !ki_d_sizeof(&p->d->types, v->type))
		return fail(p, at, "D_DECL_INCOMPLETE", "the type of %s has no size", v->name);
	why = ki_d_no_parts(&p->d->types, v->type);
	if (why && v->type.base != KI_D_FUNCTION)
		return ki_d_fail(p->d, p->lex.err, at, "D_UNKNOWN", "%.40s: %s", v->name, why);
	if (old && (!ki_d_same_type(old->type, v->type) || old->nkeys != v->nkeys))
		return fail(p, at, "D_DECL_IDRED", "%s has another type elsewhere", v->name);
	return 0;
}

/* What is extern is elsewhere: it may be an array of any size. */
static bool cannot_be_kept(const struct ki_d_parser *p, const struct ki_d_var *v)
{
	return ki_d_no_parts(&p->d->types, v->type) ||
	       (ki_d_is_array(v->type) && !ki_d_sizeof(&p->d->types, v->type));
}

static int variable(struct ki_d_parser *p, enum ki_d_scope scope, struct ki_d_type type)
{
	struct ki_d_declarator dr = {.type = type, .keys = true, .at = p->lex.now.at};
	struct ki_d_var *v = calloc(1, sizeof(*v));
	int ret = v ? ki_d_parse_declarator(p, &dr) : ki_d_no_memory(p->lex.err);

	if (!ret && !dr.name && ki_lex_is(&p->lex, "`"))
		ret = fail(p, dr.at, "D_DECL_SCOPE", "a variable of D is in no module%s", "");
	if (!ret && !dr.name)
		ret = ki_lex_expected(&p->lex, "a variable's name");
	if (!ret && scope == KI_D_GLOBAL_SCOPE && ki_lex_is(&p->lex, "(")) {
		ret = ki_d_skip_parameters(p); /* of a function of C, which D cannot call */
		free(dr.name);
		free(v);
		return ret;
	}
	if (!ret) {
		v->name = dr.name;
		v->scope = (uint8_t)scope;
		v->type = dr.type;
		v->declared = true;
		if (ki_lex_is(&p->lex, "["))
			ret = brackets(p, v, dr.at);
	}
	if (!ret && ki_lex_is(&p->lex, "(")) { /* a prototype: nothing can call it */
		free(dr.name);
		free(v);
		return ki_d_skip_parameters(p);
	}
	if (!ret && !(p->elsewhere && cannot_be_kept(p, v)))
		ret = check_new(p, v, dr.at);
	if (!ret && !find(p->d, scope, v->name) && !(p->elsewhere && cannot_be_kept(p, v))) {
		if (!ki_vec_push(&p->d->vars, v))
			return 0;
		ret = ki_d_no_memory(p->lex.err);
	}
	free(dr.name);
	free(v);
	return ret;
}

static int variables(struct ki_d_parser *p, enum ki_d_scope scope, struct ki_d_type type)
{
	int ret = variable(p, scope, type);

	while (!ret && ki_lex_is(&p->lex, ",")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = variable(p, scope, type);
	}
	return ret ? ret : ki_lex_take(&p->lex, ";");
}

/* ---- typedef ---- */

static int type_name(struct ki_d_parser *p, struct ki_d_type type)
{
	struct ki_d_declarator dr = {.type = type};
	struct ki_d_def *d;
	int ret = ki_d_parse_declarator(p, &dr);

	if (!ret && !dr.name)
		ret = ki_lex_expected(&p->lex, "the type's name");
	for (size_t i = 0; !ret && i < p->d->types.defs.n; i++) {
		d = p->d->types.defs.v[i];
		if (d->kind == KI_D_DEF_TYPEDEF && !d->btf && !strcmp(d->name, dr.name))
			ret = fail(p, dr.at, "D_DECL_IDRED", "the type %s is declared twice",
				   dr.name);
	}
	if (!ret) {
		d = ki_d_def_new(&p->d->types, KI_D_DEF_TYPEDEF, dr.name);
		if (d)
			d->of = dr.type;
		else
			ret = ki_d_no_memory(p->lex.err);
	}
	free(dr.name);
	return ret;
}

static int type_names(struct ki_d_parser *p)
{
	struct ki_d_type type;
	bool is_type = false;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_d_parse_specifiers(p, &type, &is_type);
	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "a type");
	if (!ret)
		ret = type_name(p, type);
	while (!ret && ki_lex_is(&p->lex, ",")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = type_name(p, type);
	}
	return ret ? ret : ki_lex_take(&p->lex, ";");
}

/* ---- what begins a declaration ---- */

/* NAME NAME, NAME *NAME: a description of probes has colons, commas or a body behind its first. */
static bool names_follow(const struct ki_d_parser *p)
{
	const char *c = p->lex.next;

	if (*c == '`')
		for (c++; isalnum((unsigned char)*c) || *c == '_';)
			c++;
	c += strspn(c, " \t\n");
	while (*c == '*')
		c += 1 + strspn(c + 1, " \t\n");
	if (!isalpha((unsigned char)*c) && *c != '_')
		return false;
	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	c += strspn(c, " \t\n");
	return *c && strchr(";,[", *c);
}

/* NAME; of a variable whose type is not said */
static bool name_alone(const struct ki_d_parser *p)
{
	const char *c = p->lex.next;

	return p->lex.now.kind == KI_TOKEN_NAME && strchr(";,[", c[strspn(c, " \t\n")]);
}

static bool is_word(const struct ki_d_parser *p)
{
	static const char *const words[] = {
		"struct", "union", "enum", "const",  "volatile", "unsigned", "signed",
		"long",	  "short", "int",  "char",   "float",	 "double",   "void",
		"string", "self",  "this", "static", "extern",	 "auto",     "register"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (ki_lex_is(&p->lex, words[i]))
			return true;
	return false;
}

static bool is_class(const struct ki_d_parser *p)
{
	return ki_lex_is(&p->lex, "static") || ki_lex_is(&p->lex, "auto") ||
	       ki_lex_is(&p->lex, "register");
}

static int bad_class(struct ki_d_parser *p)
{
	const uint32_t at = p->lex.now.at;
	int ret = ki_lex_next(&p->lex);

	if (ret)
		return ret;
	if (is_class(p) || ki_lex_is(&p->lex, "extern") || ki_lex_is(&p->lex, "typedef"))
		return fail(p, at, "D_DECL_CLASS", "a declaration has one storage class%s", "");
	return fail(p, at, "D_DECL_BADCLASS", "variables of D have no storage class of C%s", "");
}

/* provider NAME {: a description has something else behind its first word. */
static bool is_provider(const struct ki_d_parser *p)
{
	const char *name = p->lex.next + strspn(p->lex.next, " \t\n"), *c = name;

	while (isalnum((unsigned char)*c) || *c == '_')
		c++;
	return ki_lex_is(&p->lex, "provider") && c > name && c[strspn(c, " \t\n")] == '{';
}

/* self, this or extern, and the type; extern and what is of a thread or a clause may have none. */
static int variables_type(struct ki_d_parser *p, enum ki_d_scope scope, struct ki_d_type *type)
{
	bool is_type = false;
	int ret = 0;

	if (scope != KI_D_GLOBAL_SCOPE) {
		ret = ki_lex_next(&p->lex);
		if (!ret && (ki_lex_is(&p->lex, "self") || ki_lex_is(&p->lex, "this")))
			ret = fail(p, p->lex.now.at, "D_DECL_CLASS", "%s",
				   "a variable is of a thread or of a clause");
	}
	p->elsewhere = ki_lex_is(&p->lex, "extern");
	if (!ret)
		ret = ki_d_parse_specifiers(p, type, &is_type);
	if (!ret && !is_type && (scope != KI_D_GLOBAL_SCOPE || p->elsewhere) && name_alone(p)) {
		*type = ki_d_int(KI_I32);
		is_type = true;
	}
	return ret || is_type ? ret
			      : fail(p, p->lex.now.at, "D_DECL_IDENT", "a type is expected%s", "");
}

int ki_d_parse_declaration(struct ki_d_parser *p, bool *is_one)
{
	enum ki_d_scope scope = ki_lex_is(&p->lex, "self")   ? KI_D_SELF_SCOPE
				: ki_lex_is(&p->lex, "this") ? KI_D_THIS_SCOPE
							     : KI_D_GLOBAL_SCOPE;
	struct ki_d_type type;
	int ret;

	*is_one = true;
	p->elsewhere = false;
	if (ki_lex_is(&p->lex, "translator"))
		return ki_d_parse_translator(p);
	if (ki_lex_is(&p->lex, "inline"))
		return ki_d_parse_inline(p);
	if (is_provider(p))
		return ki_d_parse_provider(p);
	*is_one = is_word(p) || ki_lex_is(&p->lex, "typedef") || names_follow(p);
	if (!*is_one)
		return 0;
	if (is_class(p))
		return bad_class(p);
	if (ki_lex_is(&p->lex, "typedef"))
		return type_names(p);
	ret = variables_type(p, scope, &type);
	if (ret)
		return ret;
	if (ki_lex_is(&p->lex, ";"))
		return type.base == KI_D_STRUCT || type.def
			       ? ki_lex_next(&p->lex)
			       : fail(p, p->lex.now.at, "D_DECL_USELESS", "this declares nothing%s",
				      "");
	return variables(p, scope, type);
}

int ki_d_type_written(struct ki_dlang *d, const char *text, struct ki_d_type *out)
{
	struct ki_d_parser p = {.d = d};
	struct ki_err err = {0};
	const struct ki_dlang_where was = d->where;
	struct ki_d_type type;
	bool is_type = false;
	int ret = ki_d_lex(&p, text, &err);

	if (!ret)
		ret = ki_d_parse_type(&p, &type, &is_type);
	d->where = was;
	if (ret || !is_type || p.lex.now.kind != KI_TOKEN_END)
		return -ENOENT;
	*out = type;
	return 0;
}
