// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 4

static const char *const marks[] = {
	"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
	"||",  "^^",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+",  "-",  "*",
	"/",   "%",   "&",   "|",  "^",	 "~",  "!",  "<",  ">",	 "?",  ":",  "(",  ")",
	"[",   "]",   "{",   "}",  ",",	 ";",  "=",  "@",  "`",	 ".",  NULL,
};

static const struct ki_lex_rules rules = {
	.language = "D", .marks = marks, .comments = true, .macros = true};

/* ---- types ---- */

/* Words of a type, as far as they go together. */
int ki_d_parse_type(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type)
{
	char text[40] = "";
	struct ki_d_type more;
	int ret = 0;

	*is_type = false;
	while (!ret && p->lex.now.kind == KI_TOKEN_NAME) {
		const struct ki_token *t = &p->lex.now;
		size_t n = strlen(text);

		if (ki_lex_is(&p->lex, "const") && !n) {
			ret = ki_lex_next(&p->lex);
			continue;
		}
		if (ki_lex_is(&p->lex, "struct") || ki_lex_is(&p->lex, "union") ||
		    ki_lex_is(&p->lex, "enum"))
			return ki_lex_error(&p->lex, t->at, "%.*s is not supported yet",
					    (int)t->len, t->text);
		if (n + t->len + 2 > sizeof(text))
			break;
		if (n)
			text[n++] = ' ';
		memcpy(text + n, t->text, t->len);
		text[n + t->len] = 0;
		if (ki_d_type_named(text, &more))
			break;
		*out = more;
		*is_type = true;
		ret = ki_lex_next(&p->lex);
	}
	while (!ret && *is_type && ki_lex_is(&p->lex, "*")) {
		if (out->stars++ == 8)
			return ki_lex_error(&p->lex, p->lex.now.at, "too many stars");
		ret = ki_lex_next(&p->lex);
	}
	return ret;
}

/* ---- descriptions of probes ---- */

/* What stands there with macros in their place. Free it. */
static char *expand(const struct ki_d_parser *p, const struct ki_token *t, bool *unknown)
{
	char *out = NULL;
	size_t len, i = 0;
	FILE *f = open_memstream(&out, &len);

	while (f && i < t->len) {
		char name[24] = "", buf[24];
		const char *value = NULL;
		size_t n = 0;

		if (t->text[i] != '$') {
			fputc(t->text[i++], f);
			continue;
		}
		while (++i < t->len && isalnum((unsigned char)t->text[i]) && n + 1 < sizeof(name))
			name[n++] = t->text[i];
		value = ki_d_macro(p->d, name, buf);
		*unknown |= !value;
		fputs(value ? value : "", f);
	}
	if (f)
		fclose(f);
	return out;
}

/* Fields are aligned to the right: one alone is the name. */
static int split(struct ki_d_parser *p, struct ki_d_pattern *to, char *text)
{
	char *part[FIELDS] = {NULL}, *next = text;
	unsigned int n = 0;

	while (next) {
		char *colon = strchr(next, ':');

		if (n == FIELDS)
			return ki_lex_error(
				&p->lex, to->at,
				"a probe is PROVIDER:MODULE:FUNCTION:NAME, or the last of "
				"these fields");
		part[n++] = next;
		if (colon)
			*colon++ = 0;
		next = colon;
	}
	for (unsigned int i = 0; i < FIELDS; i++) {
		const char *from = i < FIELDS - n ? "" : part[i - (FIELDS - n)];

		to->field[i] = strdup(from);
		if (!to->field[i])
			return ki_d_no_memory(p->lex.err);
	}
	return 0;
}

static int pattern(struct ki_d_parser *p)
{
	struct ki_d_pattern *to;
	bool unknown = false;
	char *text;
	int ret;

	if (p->lex.now.kind == KI_TOKEN_END)
		return ki_lex_expected(&p->lex, "a probe");
	ki_lex_widen(&p->lex, ",/{};");
	if (!p->lex.now.len)
		return ki_lex_error(&p->lex, p->lex.now.at, "a probe is expected, not '%.1s'",
				    p->lex.now.text);
	if (ki_vec_push(&p->d->patterns, (struct ki_d_pattern){.at = p->lex.now.at}))
		return ki_d_no_memory(p->lex.err);
	to = &p->d->patterns.v[p->d->patterns.n - 1];
	text = expand(p, &p->lex.now, &unknown);
	if (!text)
		return ki_d_no_memory(p->lex.err);
	ret = unknown ? ki_lex_error(&p->lex, to->at, "a $macro of the probe has no value")
		      : split(p, to, text);
	free(text);
	return ret ? ret : ki_lex_next(&p->lex);
}

/* ---- clauses ---- */

static int predicate(struct ki_d_parser *p, struct ki_d_clause *c)
{
	int ret;

	if (!ki_lex_is(&p->lex, "/"))
		return 0;
	ret = ki_lex_next(&p->lex);
	p->in_predicate = true;
	if (!ret)
		ret = ki_d_parse_expr(p, &c->predicate);
	p->in_predicate = false;
	return ret ? ret : ki_lex_take(&p->lex, "/");
}

static int statement(struct ki_d_parser *p, struct ki_d_node ***end)
{
	int ret;

	if (ki_lex_is(&p->lex, ";"))
		return ki_lex_next(&p->lex);
	if (ki_lex_is(&p->lex, "if"))
		return ki_lex_error(&p->lex, p->lex.now.at, "if is not supported yet");
	ret = ki_d_parse_expr(p, *end);
	if (ret)
		return ret;
	*end = &(**end)->next;
	return ki_lex_is(&p->lex, "}") ? 0 : ki_lex_take(&p->lex, ";");
}

static int body(struct ki_d_parser *p, struct ki_d_clause *c)
{
	struct ki_d_node **end = &c->body;
	int ret;

	c->no_body = !ki_lex_is(&p->lex, "{");
	if (c->no_body)
		return 0;
	ret = ki_lex_next(&p->lex);
	while (!ret && !ki_lex_is(&p->lex, "}")) {
		if (p->lex.now.kind == KI_TOKEN_END)
			return ki_lex_expected(&p->lex, "'}'");
		ret = statement(p, &end);
	}
	return ret ? ret : ki_lex_next(&p->lex);
}

static int clause(struct ki_d_parser *p)
{
	struct ki_d_clause c = {.first = (uint32_t)p->d->patterns.n, .at = p->lex.now.at};
	int ret = pattern(p);

	while (!ret && ki_lex_is(&p->lex, ",")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = pattern(p);
	}
	c.n = (uint32_t)p->d->patterns.n - c.first;
	if (!ret)
		ret = predicate(p, &c);
	if (!ret)
		ret = body(p, &c);
	if (!ret && ki_lex_is(&p->lex, ";"))
		ret = ki_lex_next(&p->lex);
	if (!ret && ki_vec_push(&p->d->clauses, c))
		ret = ki_d_no_memory(p->lex.err);
	return ret;
}

/* ---- declarations ---- */

static int new_var(struct ki_d_parser *p, enum ki_d_scope scope, struct ki_d_type type)
{
	struct ki_d_var *v = calloc(1, sizeof(*v));
	int ret = 0;

	if (v)
		v->name = strndup(p->lex.now.text, p->lex.now.len);
	if (!v || !v->name || ki_vec_push(&p->d->vars, v)) {
		if (v)
			free(v->name);
		free(v);
		return ki_d_no_memory(p->lex.err);
	}
	v->scope = (uint8_t)scope;
	v->type = type;
	ret = ki_lex_next(&p->lex);
	if (ret || !ki_lex_is(&p->lex, "["))
		return ret;
	do {
		bool is_type;

		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = ki_d_parse_type(p, &v->keys[v->nkeys], &is_type);
		if (!ret && !is_type)
			ret = ki_lex_expected(&p->lex, "a type");
		if (!ret && ++v->nkeys == KI_D_KEYS)
			ret = ki_lex_error(&p->lex, p->lex.now.at, "more than %d keys",
					   KI_D_KEYS - 1);
	} while (!ret && ki_lex_is(&p->lex, ","));
	return ret ? ret : ki_lex_take(&p->lex, "]");
}

/* *is_one false: here is none, and nothing was taken. */
static int declaration(struct ki_d_parser *p, bool *is_one)
{
	static const char *const later[] = {"inline", "typedef", "translator",
					    "struct", "union",	 "enum"};
	enum ki_d_scope scope = ki_lex_is(&p->lex, "self")   ? KI_D_SELF_SCOPE
				: ki_lex_is(&p->lex, "this") ? KI_D_THIS_SCOPE
							     : KI_D_GLOBAL_SCOPE;
	struct ki_d_type type;
	int ret = 0;

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (ki_lex_is(&p->lex, later[i]))
			return ki_lex_error(&p->lex, p->lex.now.at, "%s is not supported yet",
					    later[i]);
	if (scope != KI_D_GLOBAL_SCOPE)
		ret = ki_lex_next(&p->lex);
	if (!ret)
		ret = ki_d_parse_type(p, &type, is_one);
	if (!ret && !*is_one && scope != KI_D_GLOBAL_SCOPE)
		ret = ki_lex_expected(&p->lex, "a type");
	if (ret || !*is_one)
		return ret;
	if (p->lex.now.kind != KI_TOKEN_NAME)
		return ki_lex_expected(&p->lex, "a variable's name");
	ret = new_var(p, scope, type);
	return ret ? ret : ki_lex_take(&p->lex, ";");
}

int ki_d_parse(struct ki_dlang *d, struct ki_err *err)
{
	struct ki_d_parser p = {.d = d};
	int ret = ki_lex_start(&p.lex, &rules, d->text, err);

	while (!ret && p.lex.now.kind != KI_TOKEN_END) {
		bool is_declaration = false;

		if (p.lex.now.kind == KI_TOKEN_NAME && *p.lex.next != ':')
			ret = declaration(&p, &is_declaration);
		if (!ret && !is_declaration)
			ret = clause(&p);
	}
	if (!ret && !d->clauses.n)
		ret = ki_d_error(d, err, 0, "the program has no clause");
	return ret;
}
