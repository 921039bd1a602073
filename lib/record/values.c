// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Values are expressions of the predicates' language, with a name before them if one is wanted. How
 * they are shown is written after that name, as if it were a unit: ip/code:$rdi, len/bytes:arg2.
 * comm is two words, a string up to 16.
 */
#include "kerninst/record_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snippet/tree.h"

#define DEFAULTS "pid,comm"

static const char *const shows[KI_SHOWS] = {
	[KI_SHOW_DECIMAL] = "dec", [KI_SHOW_HEX] = "hex",    [KI_SHOW_CODE] = "code",
	[KI_SHOW_TICKS] = "ticks", [KI_SHOW_SECONDS] = "ns",
};

char *ki_record_value_end(char *text)
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

void ki_record_field_unit(struct ki_record_field *f, const char *unit)
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
		ki_record_field_unit(f, text + name + 1);
	return text + name + unit + 1;
}

static int add(struct ki_record_values *v, const struct ki_record_field *f,
	       struct ki_record_value value, struct ki_err *err)
{
	if (v->n == KI_RECORD_WORDS) {
		ki_predicate_free(value.expr);
		return ki_err_set(
			err, -EINVAL, 0,
			"more than %d words of values; comm is two, a string is 8, or as many as it says: "
			"str(ADDRESS, BYTES)",
			KI_RECORD_WORDS);
	}
	v->fields[v->n] = *f;
	v->values[v->n++] = value;
	return 0;
}

/* A text of so many words: all but the first have no name. */
static int add_text(struct ki_record_values *v, struct ki_record_field *f,
		    struct ki_record_value first, enum ki_record_value_kind more,
		    unsigned int words, struct ki_err *err)
{
	int ret;

	f->show = KI_SHOW_TEXT;
	f->unit = "";
	ret = add(v, f, first, err);
	f->name = "";
	while (!ret && --words)
		ret = add(v, f, (struct ki_record_value){.kind = (uint8_t)more}, err);
	return ret;
}

/* stack, ustack, or with a number of frames to leave out after it: stack(2). */
static bool is_stack(const char *expr, struct ki_record_value *out)
{
	const bool user = *expr == 'u';
	char *end;

	expr += user;
	if (strncmp(expr, "stack", 5) != 0)
		return false;
	expr += 5;
	*out = (struct ki_record_value){.kind = user ? KI_RECORD_USTACK : KI_RECORD_STACK};
	if (!*expr)
		return true;
	if (*expr != '(' || expr[1] < '0' || expr[1] > '9')
		return false;
	out->skip = (uint8_t)strtoul(expr + 1, &end, 10);
	return !strcmp(end, ")") && strtoul(expr + 1, NULL, 10) <= UINT8_MAX;
}

static int add_stack(struct ki_record_values *v, struct ki_record_field *f,
		     struct ki_record_value value, struct ki_err *err)
{
	char *paren = strchr(f->name, '(');

	if (paren)
		*paren = 0; /* the name is what stands before it */
	f->show = KI_SHOW_STACK;
	f->unit = "";
	v->stacks = true;
	return add(v, f, value, err);
}

static int add_expr(struct ki_record_values *v, struct ki_record_field *f, const char *expr,
		    struct ki_err *err)
{
	struct ki_record_value value = {.kind = KI_RECORD_EXPR};
	struct ki_err why = {0};

	if (ki_predicate_new_value(expr, &value.expr, &why))
		return ki_err_set(err, -EINVAL, 0, "'%s': %s", expr, why.msg);
	if (ki_predicate_inside(value.expr, 0)) {
		ki_predicate_free(value.expr);
		return ki_err_set(err, -EINVAL, 0, "'%s': inside() is for --if, not for values",
				  expr);
	}
	if (ki_predicate_is_string(value.expr))
		return add_text(v, f, value, KI_RECORD_MORE, ki_predicate_words(value.expr), err);
	return add(v, f, value, err);
}

static int parse_one(struct ki_record_values *v, char *text, struct ki_err *err)
{
	struct ki_record_field f = {.name = text, .unit = ""};
	char *expr = cut_name(text, &f);
	struct ki_record_value value;

	if (!strcmp(expr, "comm") || !strcmp(expr, "execname"))
		return add_text(v, &f, (struct ki_record_value){.kind = KI_RECORD_COMM0},
				KI_RECORD_COMM1, 2, err);
	if (is_stack(expr, &value))
		return add_stack(v, &f, value, err);
	if (*expr == '$' && f.name == text)
		f.show = KI_SHOW_HEX;
	return add_expr(v, &f, expr, err);
}

int ki_record_values_new(struct ki_record_values *v, const char *text, struct ki_err *err)
{
	char *at;
	int ret = 0;

	*v = (struct ki_record_values){.text = strdup(text ? text : DEFAULTS)};
	at = v->text;
	if (!at)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	while (!ret) {
		char *end = ki_record_value_end(at);
		bool more = *end;

		*end = 0;
		ret = parse_one(v, at, err);
		at = end + 1;
		if (!more)
			break;
	}
	return ret ? ret : ki_record_written_find(v, err);
}

void ki_record_values_free(struct ki_record_values *v)
{
	for (unsigned int i = 0; i < v->n; i++)
		ki_predicate_free(v->values[i].expr);
	free(v->text);
	free(v->written.text);
	*v = (struct ki_record_values){0};
}

static int build_one(const struct ki_record_value *v, struct ki_snippet *s, uint32_t stacks,
		     struct ki_node **out, struct ki_err *err)
{
	const bool user = v->kind == KI_RECORD_USTACK;

	switch (v->kind) {
	case KI_RECORD_EXPR:
		return ki_predicate_build(v->expr, s, NULL, out, err);
	case KI_RECORD_STACK:
	case KI_RECORD_USTACK:
		*out = ki_expr_stack(s, stacks,
				     user && v->skip > KI_STACK_FRAMES ? KI_STACK_FRAMES : v->skip,
				     user);
		return 0;
	default:
		*out = ki_expr_fact(s, v->kind == KI_RECORD_COMM0 ? KI_FACT_COMM0 : KI_FACT_COMM1);
		return 0;
	}
}

int ki_record_values_build(struct ki_record_values *v, struct ki_snippet *s,
			   const struct ki_record_making *to, struct ki_node **nodes,
			   unsigned int *n, struct ki_err *err)
{
	int ret = 0;

	*n = 0;
	for (unsigned int i = 0; !ret && i < v->n; i++) {
		v->fields[i].type = KI_U64;
		if (v->values[i].kind == KI_RECORD_MORE)
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
