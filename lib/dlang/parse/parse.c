// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/parse/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/words/names.h"

#define FIELDS 4

static const char *const marks[] = {
	"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
	"||",  "^^",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+",  "-",  "*",
	"/",   "%",   "&",   "|",  "^",	 "~",  "!",  "<",  ">",	 "?",  ":",  "(",  ")",
	"[",   "]",   "{",   "}",  ",",	 ";",  "=",  "@",  "`",	 ".",  NULL,
};

static const struct ki_lex_rules rules = {
	.language = "D", .marks = marks, .comments = true, .macros = true, .long_chars = true};

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
			return ki_d_fail(p->d, p->lex.err, to->at, "D_PDESC_INVAL",
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
		ret = ki_d_parse_comma(p, &c->predicate);
	p->in_predicate = false;
	return ret ? ret : ki_lex_take(&p->lex, "/");
}

static int statements(struct ki_d_parser *p, struct ki_d_node ***end);

static int branch(struct ki_d_parser *p, struct ki_d_node ***end)
{
	struct ki_d_node *n = ki_d_node_new(&p->d->pool, KI_D_IF, p->lex.now.at, 0);
	int ret = n ? ki_lex_next(&p->lex) : ki_d_no_memory(p->lex.err);

	if (!ret)
		ret = ki_lex_take(&p->lex, "(");
	if (!ret)
		ret = ki_d_parse_comma(p, &n->kid[0]);
	if (!ret)
		ret = ki_lex_take(&p->lex, ")");
	if (!ret)
		ret = ki_d_parse_block(p, &n->kid[1]);
	if (!ret && ki_lex_is(&p->lex, "else")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = ki_d_parse_block(p, &n->kid[2]);
	}
	if (ret)
		return ret;
	**end = n;
	*end = &n->next;
	return 0;
}

/* Is it done for what it does, not for a value? */
static bool is_action(const struct ki_d_node *n)
{
	const struct ki_d_function *f = n->kind == KI_D_CALL ? ki_d_function_find(n->text) : NULL;

	if (n->kind == KI_D_COND)
		return is_action(n->kid[1]) || is_action(n->kid[2]);
	return f ? ki_d_is_action(f) || ki_d_has_no_value(f) : n->kind == KI_D_AGG && n->kid[1];
}

/* As a statement, CONDITION ? ACTION : 1 is if. */
static struct ki_d_node *choice(struct ki_d_node *n)
{
	if (n->kind == KI_D_NUMBER)
		return NULL;
	if (n->kind != KI_D_COND || !is_action(n))
		return n;
	n->kind = KI_D_IF;
	n->is_choice = true;
	n->kid[1] = choice(n->kid[1]);
	n->kid[2] = choice(n->kid[2]);
	return n;
}

static int statement(struct ki_d_parser *p, struct ki_d_node ***end)
{
	int ret;

	if (ki_lex_is(&p->lex, ";"))
		return ki_lex_next(&p->lex);
	if (ki_lex_is(&p->lex, "if"))
		return branch(p, end);
	if (ki_lex_is(&p->lex, "for"))
		return ki_d_parse_for(p, end);
	ret = ki_d_parse_comma(p, *end);
	if (!ret && p->keyed)
		ret = ki_d_fail(p->d, p->lex.err, p->keyed->at, "D_AGG_MDIM",
				"an aggregation has one list of keys: @%.40s[1, 2]",
				p->keyed->text);
	if (ret)
		return ret;
	if ((**end)->kind == KI_D_COND)
		**end = choice(**end);
	*end = &(**end)->next;
	return ki_lex_is(&p->lex, "}") ? 0 : ki_lex_take(&p->lex, ";");
}

int ki_d_parse_block(struct ki_d_parser *p, struct ki_d_node **out)
{
	int ret;

	if (++p->level > KI_D_DEPTH)
		return ki_lex_error(&p->lex, p->lex.now.at, "nested too deep: at most %d levels",
				    KI_D_DEPTH);
	ret = ki_lex_is(&p->lex, "{") ? statements(p, &out) : statement(p, &out);
	p->level--;
	return ret;
}

static int statements(struct ki_d_parser *p, struct ki_d_node ***end)
{
	int ret = ki_lex_next(&p->lex);

	while (!ret && !ki_lex_is(&p->lex, "}")) {
		if (p->lex.now.kind == KI_TOKEN_END)
			return ki_lex_expected(&p->lex, "'}'");
		ret = statement(p, end);
	}
	return ret ? ret : ki_lex_next(&p->lex);
}

/* Does a program end here: the text, or one of several? */
static bool is_end(const struct ki_d_parser *p, uint32_t last)
{
	for (size_t i = 0; i < p->d->marks.n; i++)
		if (p->d->marks.v[i].at > last && p->d->marks.v[i].at <= p->lex.now.at)
			return true;
	return p->lex.now.kind == KI_TOKEN_END || ki_lex_is(&p->lex, ";");
}

static int body(struct ki_d_parser *p, struct ki_d_clause *c)
{
	struct ki_d_node **end = &c->body;

	c->no_body = !ki_lex_is(&p->lex, "{");
	if (!c->no_body)
		return statements(p, &end);
	if (c->predicate || is_end(p, p->d->patterns.v[c->first + c->n - 1].at))
		return 0;
	return ki_lex_expected(&p->lex, "a predicate or a body");
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

int ki_d_lex(struct ki_d_parser *p, const char *text, struct ki_err *err)
{
	return ki_lex_start(&p->lex, &rules, text, err);
}

/* May a declaration begin here? int*x is one, unless option pspec says that it is a probe. */
static bool may_declare(const struct ki_d_parser *p)
{
	const char next = *p->lex.next;

	return p->lex.now.kind == KI_TOKEN_NAME && next != ':' &&
	       !(p->d->set.pspec && next && strchr("*?[]!.-", next));
}

/* #pragma D attributes and binding are about names that are declared. */
static int about_nothing(struct ki_dlang *d, struct ki_err *err)
{
	for (size_t i = 0; i < d->abouts.n; i++) {
		const char *name = d->abouts.v[i].name;
		bool known = ki_d_is_taken(d, name, NULL);

		for (size_t k = 0; !known && k < d->vars.n; k++)
			known = !strcmp(d->vars.v[k]->name, name);
		if (!known)
			return ki_d_fail(d, err, d->abouts.v[i].at, "D_PRAGMA_UNUSED",
					 "nothing of the name %.40s is declared", name);
	}
	return 0;
}

int ki_d_parse(struct ki_dlang *d, struct ki_err *err)
{
	struct ki_d_parser p = {.d = d};
	int ret = ki_d_lex(&p, d->text, err);

	while (!ret && p.lex.now.kind != KI_TOKEN_END) {
		bool is_declaration = false;

		if (may_declare(&p))
			ret = ki_d_parse_declaration(&p, &is_declaration);
		if (!ret && !is_declaration)
			ret = clause(&p);
	}
	for (unsigned int i = 0; !ret && !d->set.argref && i < d->o.nargs && i < 64; i++)
		if (!(d->args_used >> i & 1))
			return ki_d_fail(d, err, 0, "D_MACRO_UNUSED",
					 "argument $%u is not used: option argref allows that",
					 i + 1);
	if (!ret)
		ret = about_nothing(d, err);
	if (ret)
		ki_d_where(d, p.lex.now.at, p.lex.wrong);
	return ret;
}
