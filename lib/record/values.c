// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values are expressions of the predicates' language, with a name before them if one is wanted. How
 * they are shown is written behind that name, as if it were a unit: ip/code:$rdi, len/bytes:arg2.
 * comm is two words, a string up to 16.
 */
#include "record_values.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "snippet/tree.h"

#define DEFAULTS "pid,comm"

static const char *const shows[KI_SHOWS] = {
	[KI_SHOW_DECIMAL] = "dec", [KI_SHOW_HEX] = "hex",    [KI_SHOW_CODE] = "code",
	[KI_SHOW_TICKS] = "ticks", [KI_SHOW_SECONDS] = "ns",
};

char *record_value_end(char *text)
{
	int depth = 0;
	char quote = 0;

	for (; *text; text++) {
		if (quote) {
			if (*text == '\\' && text[1])
				text++;
			else if (*text == quote)
				quote = 0;
		} else if (*text == '"' || *text == '\'') {
			quote = *text;
		} else if (*text == '(' || *text == ')') {
			depth += *text == '(' ? 1 : -1;
		} else if (*text == ',' && depth <= 0) {
			break;
		}
	}
	return text;
}

static size_t word_len(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

void record_field_unit(struct ki_record_field *f, const char *unit)
{
	f->unit = unit;
	for (unsigned int i = 0; i < KI_SHOWS; i++)
		if (shows[i] && !strcmp(unit, shows[i])) {
			f->show = (uint8_t)i;
			f->unit = "";
		}
}

/* NAME: or NAME/UNIT: before the expression, whose beginning is returned. */
static char *cut_name(char *text, struct ki_record_field *f)
{
	size_t name = word_len(text), unit = 0;

	if (text[name] == '/')
		unit = word_len(text + name + 1) + 1;
	if (!name || text[name + unit] != ':' || unit == 1)
		return text;
	text[name] = text[name + unit] = 0;
	f->name = text;
	if (unit)
		record_field_unit(f, text + name + 1);
	return text + name + unit + 1;
}

static int add(struct record_values *v, const struct verb *self, const struct ki_record_field *f,
	       struct record_value value)
{
	if (v->n == KI_RECORD_WORDS) {
		ki_predicate_free(value.expr);
		return cli_misuse(
			self,
			"more than %d words of values; comm is two, a string is 8, or as many as it says: "
			"str(ADDRESS, BYTES)",
			KI_RECORD_WORDS);
	}
	v->fields[v->n] = *f;
	v->values[v->n++] = value;
	return CLI_OK;
}

/* A text of so many words: all but the first have no name. */
static int add_text(struct record_values *v, const struct verb *self, struct ki_record_field *f,
		    struct record_value first, enum record_value_kind more, unsigned int words)
{
	int ret;

	f->show = KI_SHOW_TEXT;
	f->unit = "";
	ret = add(v, self, f, first);
	f->name = "";
	while (!ret && --words)
		ret = add(v, self, f, (struct record_value){.kind = (uint8_t)more});
	return ret;
}

/* stack, ustack, or with a number of frames to leave out behind it: stack(2). */
static bool is_stack(const char *expr, struct record_value *out)
{
	const bool user = *expr == 'u';
	char *end;

	expr += user;
	if (strncmp(expr, "stack", 5) != 0)
		return false;
	expr += 5;
	*out = (struct record_value){.kind = user ? RECORD_USTACK : RECORD_STACK};
	if (!*expr)
		return true;
	if (*expr != '(' || expr[1] < '0' || expr[1] > '9')
		return false;
	out->skip = (uint8_t)strtoul(expr + 1, &end, 10);
	return !strcmp(end, ")") && strtoul(expr + 1, NULL, 10) <= UINT8_MAX;
}

static int add_stack(struct record_values *v, const struct verb *self, struct ki_record_field *f,
		     struct record_value value)
{
	char *paren = strchr(f->name, '(');

	if (paren)
		*paren = 0; /* the name is what stands before it */
	f->show = KI_SHOW_STACK;
	f->unit = "";
	v->stacks = true;
	return add(v, self, f, value);
}

static int add_expr(struct record_values *v, const struct verb *self, struct ki_record_field *f,
		    const char *expr)
{
	struct record_value value = {.kind = RECORD_EXPR};
	struct ki_err err = {0};

	if (ki_predicate_parse_value(expr, &value.expr, &err))
		return cli_misuse(self, "'%s': %s", expr, err.msg);
	if (ki_predicate_inside(value.expr, 0)) {
		ki_predicate_free(value.expr);
		return cli_misuse(self, "'%s': inside() is for --if, not for values", expr);
	}
	if (ki_predicate_is_string(value.expr))
		return add_text(v, self, f, value, RECORD_MORE, ki_predicate_words(value.expr));
	return add(v, self, f, value);
}

static int parse_one(struct record_values *v, const struct verb *self, char *text)
{
	struct ki_record_field f = {.name = text, .unit = ""};
	char *expr = cut_name(text, &f);
	struct record_value value;

	if (!strcmp(expr, "comm") || !strcmp(expr, "execname"))
		return add_text(v, self, &f, (struct record_value){.kind = RECORD_COMM0},
				RECORD_COMM1, 2);
	if (is_stack(expr, &value))
		return add_stack(v, self, &f, value);
	if (*expr == '$' && f.name == text)
		f.show = KI_SHOW_HEX;
	return add_expr(v, self, &f, expr);
}

int record_values_parse(struct record_values *v, const struct verb *self, const char *text)
{
	char *at;
	int ret = CLI_OK;

	*v = (struct record_values){.text = strdup(text ? text : DEFAULTS)};
	at = v->text;
	if (!at)
		return cli_no_memory();
	while (!ret) {
		char *end = record_value_end(at);
		bool more = *end;

		*end = 0;
		ret = parse_one(v, self, at);
		at = end + 1;
		if (!more)
			break;
	}
	return ret ? ret : record_written_find(v, self);
}

void record_values_free(struct record_values *v)
{
	for (unsigned int i = 0; i < v->n; i++)
		ki_predicate_free(v->values[i].expr);
	free(v->text);
	free(v->written.text);
	*v = (struct record_values){0};
}

static int build_one(const struct record_value *v, struct ki_snippet *s, uint32_t stacks,
		     struct ki_node **out, struct ki_err *err)
{
	switch (v->kind) {
	case RECORD_EXPR:
		return ki_predicate_build(v->expr, s, NULL, out, err);
	case RECORD_STACK:
	case RECORD_USTACK:
		*out = ki_expr_stack(s, stacks, v->skip, v->kind == RECORD_USTACK);
		return 0;
	default:
		*out = ki_expr_fact(s, v->kind == RECORD_COMM0 ? KI_FACT_COMM0 : KI_FACT_COMM1);
		return 0;
	}
}

int record_values_build(struct record_values *v, struct ki_snippet *s,
			const struct record_making *to, struct ki_node **nodes, unsigned int *n,
			struct ki_err *err)
{
	int ret = 0;

	*n = 0;
	for (unsigned int i = 0; !ret && i < v->n; i++) {
		v->fields[i].type = KI_U64;
		if (v->values[i].kind == RECORD_MORE)
			continue;
		if (v->values[i].expr)
			ki_predicate_hit(v->values[i].expr, to ? &to->written : NULL);
		ret = build_one(&v->values[i], s, to ? to->stacks : 0, &nodes[*n], err);
		if (!ret && !nodes[*n])
			ret = ki_snippet_check(s, NULL, err);
		if (!ret)
			v->fields[i].type = nodes[*n]->type;
		++*n;
	}
	return ret;
}
