// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values are expressions of the predicates' language, with a name before them if one is wanted. How
 * they are shown is written behind that name, as if it were a unit: ip/code:$rdi, len/bytes:arg2.
 * comm is two words.
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

/* The comma that ends the first value, outside of parentheses and strings; or the end. */
static char *value_end(char *text)
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
	       struct ki_predicate *expr)
{
	if (v->n == KI_RECORD_WORDS) {
		ki_predicate_free(expr);
		return cli_misuse(self, "a record has at most %d values; comm is two",
				  KI_RECORD_WORDS);
	}
	v->fields[v->n] = *f;
	v->exprs[v->n++] = expr;
	return CLI_OK;
}

static int add_comm(struct record_values *v, const struct verb *self, struct ki_record_field *f)
{
	int ret;

	f->show = KI_SHOW_TEXT;
	f->unit = "";
	ret = add(v, self, f, NULL);
	f->name = "";
	return ret ? ret : add(v, self, f, NULL);
}

static int parse_one(struct record_values *v, const struct verb *self, char *text)
{
	struct ki_record_field f = {.name = text, .unit = ""};
	char *expr = cut_name(text, &f);
	struct ki_predicate *p;
	struct ki_err err = {0};

	if (!strcmp(expr, "comm") || !strcmp(expr, "execname"))
		return add_comm(v, self, &f);
	if (*expr == '$' && f.name == text)
		f.show = KI_SHOW_HEX;
	if (ki_predicate_parse(expr, &p, &err))
		return cli_misuse(self, "'%s': %s", expr, err.msg);
	if (ki_predicate_inside(p, 0)) {
		ki_predicate_free(p);
		return cli_misuse(self, "'%s': inside() is for --if, not for values", expr);
	}
	return add(v, self, &f, p);
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
		char *end = value_end(at);
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
		ki_predicate_free(v->exprs[i]);
	free(v->text);
	free(v->written.text);
	*v = (struct record_values){0};
}

int record_values_build(struct record_values *v, struct ki_snippet *s, const struct ki_hit *hit,
			struct ki_node **nodes, struct ki_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < v->n; i++) {
		if (v->exprs[i])
			ki_predicate_hit(v->exprs[i], hit);
		if (v->exprs[i])
			ret = ki_predicate_build(v->exprs[i], s, NULL, &nodes[i], err);
		else
			nodes[i] =
				ki_expr_fact(s, *v->fields[i].name ? KI_FACT_COMM0 : KI_FACT_COMM1);
		if (!ret && !nodes[i])
			ret = ki_snippet_check(s, NULL, err);
		if (!ret)
			v->fields[i].type = nodes[i]->type;
	}
	return ret;
}
