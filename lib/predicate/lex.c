// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "predicate/lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	char letter, means;
} escapes[] = {
	{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'a', '\a'},  {'b', '\b'},
	{'f', '\f'}, {'v', '\v'}, {'"', '"'},  {'\'', '\''}, {'\\', '\\'},
};

#define LONGEST (1u << 20)

int ki_lex_error(const struct ki_lexer *l, uint32_t at, const char *fmt, ...)
{
	unsigned int line = 1, column = 1;
	char why[KI_ERR_MSG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	for (uint32_t i = 0; i < at; i++, column++)
		if (l->text[i] == '\n') {
			line++;
			column = 0;
		}
	if (line > 1)
		return ki_err_set(l->err, -EINVAL, 0, "%s: line %u, column %u: %s",
				  l->rules->language, line, column, why);
	return ki_err_set(l->err, -EINVAL, 0, "%s: column %u: %s", l->rules->language, column, why);
}

/* A piece of the source that can be shown: of sane length, and printable. */
static const char *shown(const char *text, size_t len, char out[32])
{
	size_t n = len < 28 ? len : 24;

	for (size_t i = 0; i < n; i++)
		out[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	strcpy(out + n, len > n ? "..." : "");
	return out;
}

int ki_lex_expected(const struct ki_lexer *l, const char *what)
{
	const struct ki_token *t = &l->now;
	char text[32];

	if (t->kind == KI_TOKEN_END)
		return ki_lex_error(l, t->at, "%s is expected, but here is the end", what);
	if (t->kind == KI_TOKEN_STRING)
		return ki_lex_error(l, t->at, "%s is expected, not a string", what);
	if (ki_lex_is(l, "="))
		return ki_lex_error(l, t->at, "%s is expected, not =; equal is ==", what);
	return ki_lex_error(l, t->at, "%s is expected, not '%s%s'", what,
			    t->kind == KI_TOKEN_REGISTER ? "$" : "", shown(t->text, t->len, text));
}

bool ki_lex_is(const struct ki_lexer *l, const char *text)
{
	const struct ki_token *t = &l->now;

	return (t->kind == KI_TOKEN_MARK || t->kind == KI_TOKEN_NAME) && t->len == strlen(text) &&
	       !memcmp(t->text, text, t->len);
}

int ki_lex_take(struct ki_lexer *l, const char *mark)
{
	char what[16];

	if (ki_lex_is(l, mark))
		return ki_lex_next(l);
	snprintf(what, sizeof(what), "'%s'", mark);
	return ki_lex_expected(l, what);
}

/* ---- characters ---- */

static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c |= 32;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 99;
}

/* Digits of a base, at most `most`; how many there are. */
static size_t digits(const char *p, unsigned int base, size_t most, unsigned int *value)
{
	size_t n = 0;

	for (*value = 0; n < most && digit(p[n]) < base; n++)
		*value = *value * base + digit(p[n]);
	return n;
}

/* One character, or an escape for it: its length; 0: there is no such escape. */
static size_t character(const char *p, unsigned int *value)
{
	size_t n;

	*value = (unsigned char)*p;
	if (*p != '\\')
		return 1;
	p++;
	if (*p == 'x') {
		n = digits(p + 1, 16, 2, value);
		return n ? n + 2 : 0;
	}
	n = digits(p, 8, 3, value);
	if (n)
		return *value < 256 ? n + 1 : 0;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++)
		if (*p == escapes[i].letter) {
			*value = (unsigned char)escapes[i].means;
			return 2;
		}
	return 0;
}

/* The same; a backslash that begins no escape is itself, as that before a ' of long characters is.
 */
static size_t one(const struct ki_lexer *l, const char *p, unsigned int *value)
{
	size_t n = character(p, value);

	if (n && !(l->rules->long_chars && n == 2 && p[1] == '\''))
		return n;
	*value = '\\';
	return 1;
}

/* Characters up to a quote. */
static int quoted(struct ki_lexer *l, char quote)
{
	const char *p = l->next + 1;
	unsigned int value;
	size_t n;

	for (; *p != quote; p += n) {
		if (!*p || *p == '\n') {
			l->wrong = quote == '"' ? KI_LEX_STRING_END : KI_LEX_CHAR_END;
			return ki_lex_error(l, l->now.at, "a %c without an end", quote);
		}
		n = character(p, &value);
		if (!n && l->rules->long_chars)
			n = 1;
		if (!n)
			return ki_lex_error(l, (uint32_t)(p - l->text), "no such escape: \\%.1s",
					    isprint((unsigned char)p[1]) ? p + 1 : "?");
		if (!value && quote == '"' && !l->rules->long_chars)
			return ki_lex_error(l, (uint32_t)(p - l->text), "a 0 in a string");
	}
	l->now.text = l->next + 1;
	l->now.len = (size_t)(p - l->now.text);
	l->next = p + 1;
	return 0;
}

void ki_lex_string(const struct ki_lexer *l, char *to)
{
	const struct ki_token *t = &l->now;
	unsigned int value;

	for (const char *p = t->text; p < t->text + t->len; *to++ = (char)value)
		p += one(l, p, &value);
	*to = 0;
}

/* ---- tokens ---- */

static int take_string(struct ki_lexer *l)
{
	l->now.kind = KI_TOKEN_STRING;
	return quoted(l, '"');
}

static int take_char(struct ki_lexer *l)
{
	unsigned int value = 0, count = 0;
	uint64_t all = 0;
	size_t at = 0;
	int ret = quoted(l, '\'');

	if (ret)
		return ret;
	for (; at < l->now.len; count++) {
		at += one(l, l->now.text + at, &value);
		all = all << 8 | (uint8_t)value;
	}
	if (!count || count > (l->rules->long_chars ? 8 : 1)) {
		l->wrong = count ? KI_LEX_CHAR_LONG : KI_LEX_CHAR_EMPTY;
		return ki_lex_error(l, l->now.at, "between two ' is one character%s",
				    l->rules->long_chars ? ", or up to 8" : "");
	}
	l->now.kind = KI_TOKEN_NUMBER;
	l->now.value = all;
	l->now.base = 10;
	return 0;
}

static size_t word(const char *p, const char *more)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || (p[n] && strchr(more, p[n])))
		n++;
	return n;
}

/* Digits, then u and l as C allows them. */
static int take_number(struct ki_lexer *l)
{
	struct ki_token *t = &l->now;
	char *end, text[32];

	t->kind = KI_TOKEN_NUMBER;
	t->len = word(l->next, "_.");
	t->base = *t->text != '0' || t->len == 1 ? 10 : (t->text[1] | 32) == 'x' ? 16 : 8;
	errno = 0;
	t->value = strtoull(t->text, &end, t->base);
	l->wrong = KI_LEX_NUMBER_LARGE;
	if (errno)
		return ki_lex_error(l, t->at, "%s has more than 64 bits",
				    shown(t->text, t->len, text));
	l->wrong = *t->text == '0' && isdigit((unsigned char)*end) ? KI_LEX_NUMBER_DIGIT
								   : KI_LEX_SYNTAX;
	if (end == t->text + 1 && t->base == 8)
		t->base = 10;
	for (; strchr("uUlL", *end) && *end; end++) {
		t->is_unsigned |= (*end | 32) == 'u';
		t->is_long |= (*end | 32) == 'l';
	}
	if (end != t->text + t->len)
		return ki_lex_error(l, t->at, "'%s' is no number: decimal, 0x.., 0.. or 'c'",
				    shown(t->text, t->len, text));
	l->wrong = KI_LEX_SYNTAX;
	t->is_unsigned |= t->value > INT64_MAX;
	l->next = end;
	return 0;
}

static int take_name(struct ki_lexer *l)
{
	l->now.kind = KI_TOKEN_NAME;
	l->now.len = word(l->next, "_");
	l->next += l->now.len;
	return 0;
}

static int take_register(struct ki_lexer *l)
{
	const bool macro = l->rules->macros && l->next[1] == '$';

	l->next += 1 + macro;
	l->now.text++;
	take_name(l);
	l->now.len += macro;
	l->now.kind = KI_TOKEN_REGISTER;
	return l->now.len > macro ? 0 : ki_lex_error(l, l->now.at, "$ without a register's name");
}

static int take_mark(struct ki_lexer *l)
{
	const char *p = l->next;

	for (const char *const *mark = l->rules->marks; *mark; mark++) {
		size_t n = strlen(*mark);

		if (strncmp(p, *mark, n) != 0)
			continue;
		l->now.kind = KI_TOKEN_MARK;
		l->now.len = n;
		l->next += n;
		return 0;
	}
	if (isprint((unsigned char)*p))
		return ki_lex_error(l, l->now.at, "'%c' means nothing here", *p);
	return ki_lex_error(l, l->now.at, "the byte 0x%02x means nothing here", (unsigned char)*p);
}

/* Past one comment, if one begins here: 1; 0: none does; -EINVAL: it does not end. */
static int skip_comment(struct ki_lexer *l)
{
	const char *end;

	if (!l->rules->comments || l->next[0] != '/')
		return 0;
	if (l->next[1] == '/') {
		l->next += strcspn(l->next, "\n");
		return 1;
	}
	if (l->next[1] != '*')
		return 0;
	end = strstr(l->next + 2, "*/");
	if (!end)
		return ki_lex_error(l, (uint32_t)(l->next - l->text), "a comment without an end");
	for (const char *p = l->next + 2; p < end; p++)
		if (p[0] == '/' && p[1] == '*')
			return ki_lex_error(l, (uint32_t)(p - l->text), "a comment in a comment");
	l->next = end + 2;
	return 1;
}

static int skip_space(struct ki_lexer *l)
{
	int ret;

	do {
		while (isspace((unsigned char)*l->next))
			l->next++;
		ret = skip_comment(l);
	} while (ret > 0);
	return ret;
}

int ki_lex_next(struct ki_lexer *l)
{
	int ret = skip_space(l);

	if (ret)
		return ret;
	l->now = (struct ki_token){.text = l->next, .at = (uint32_t)(l->next - l->text)};
	if (!*l->next)
		return 0;
	if (isdigit((unsigned char)*l->next))
		return take_number(l);
	if (isalpha((unsigned char)*l->next) || *l->next == '_')
		return take_name(l);
	switch (*l->next) {
	case '"':
		return take_string(l);
	case '\'':
		return take_char(l);
	case '$':
		return take_register(l);
	default:
		return take_mark(l);
	}
}

void ki_lex_until(struct ki_lexer *l, char mark)
{
	const char *end;

	while (isspace((unsigned char)*l->next))
		l->next++;
	l->now = (struct ki_token){.text = l->next, .at = (uint32_t)(l->next - l->text)};
	end = strchr(l->next, mark);
	if (!end)
		end = l->next + strlen(l->next);
	l->next = end;
	while (end > l->now.text && isspace((unsigned char)end[-1]))
		end--;
	l->now.kind = KI_TOKEN_NAME;
	l->now.len = (size_t)(end - l->now.text);
}

void ki_lex_widen(struct ki_lexer *l, const char *stops)
{
	const char *p = l->now.text;

	while (*p && !isspace((unsigned char)*p) && !strchr(stops, *p))
		p++;
	l->now.kind = KI_TOKEN_NAME;
	l->now.len = (size_t)(p - l->now.text);
	l->next = p;
}

int ki_lex_start(struct ki_lexer *l, const struct ki_lex_rules *rules, const char *text,
		 struct ki_err *err)
{
	*l = (struct ki_lexer){.rules = rules, .text = text, .next = text, .err = err};
	if (strlen(text) > LONGEST)
		return ki_lex_error(l, 0, "longer than %u bytes", LONGEST);
	return ki_lex_next(l);
}
