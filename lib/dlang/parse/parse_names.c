// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Numbers, macros, names of the kernel, words that are none.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlang/parse/parse.h"

#define PATH_LONGEST 256 /* of offsetof() */

const char *ki_d_macro(struct ki_dlang *d, const char *name, char buf[24])
{
	const struct {
		const char *name;
		long value;
	} numbers[] = {
		{"pid", getpid()},   {"ppid", getppid()}, {"uid", getuid()},
		{"gid", getgid()},   {"euid", geteuid()}, {"egid", getegid()},
		{"pgid", getpgrp()}, {"sid", getsid(0)},  {"target", d->o.target},
		{"projid", 0},	     {"taskid", 0},	  {"zoneid", 0},
	};
	char *end;
	unsigned long i = strtoul(name, &end, 10);

	if (!*end && i >= 1 && i <= d->o.nargs) {
		d->args_used |= UINT64_C(1) << ((i - 1) & 63);
		return d->args[i - 1];
	}
	if (!strcmp(name, "0"))
		return d->name ? d->name : "dtrace";
	if (!*end && i >= 1 && d->set.defaultargs)
		return "";
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(name, numbers[i].name) &&
		    (numbers[i].value || strcmp(name, "target"))) {
			snprintf(buf, 24, "%ld", numbers[i].value);
			return buf;
		}
	return NULL;
}

static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

/* -12, 0x1f */
static bool is_number(const char *text)
{
	const char *digits = text + (*text == '-' || *text == '+');

	if (digits[0] == '0' && (digits[1] | 32) == 'x')
		return digits[2] && !digits[2 + strspn(digits + 2, "0123456789abcdefABCDEF")];
	return *digits && !digits[strspn(digits, *digits == '0' ? "01234567" : "0123456789")];
}

/* What is neither is a string, from which quotes around it are taken. */
static bool quotes(const char *text)
{
	const size_t len = strlen(text);

	return len > 1 && *text == '"' && text[len - 1] == '"';
}

/* As an integer that is written in the program. */
static int macro_number(struct ki_d_parser *p, struct ki_d_node *n, const char *name)
{
	int64_t value;

	errno = 0;
	n->value = strtoull(n->text, NULL, 0);
	if (errno == ERANGE)
		return ki_d_fail(p->d, p->lex.err, n->at, "D_MACRO_OFLOW",
				 "$%s is '%.32s': more than 64 bits", name, n->text);
	value = (int64_t)n->value;
	n->type = ki_d_int(value < INT32_MIN || value > INT32_MAX ? KI_I64 : KI_I32);
	return ki_lex_next(&p->lex);
}

/* $1 is a number, a name or a string; $$1 a string. */
int ki_d_parse_macro(struct ki_d_parser *p, struct ki_d_node **out)
{
	const struct ki_token t = p->lex.now;
	const bool text = t.len && *t.text == '$';
	char name[24], buf[24];
	const char *value;

	snprintf(name, sizeof(name), "%.*s", (int)t.len - text, t.text + text);
	value = ki_d_macro(p->d, name, buf);
	if (!value && !strcmp(name, "target"))
		value = "0"; /* there is none */
	if (!value)
		return ki_d_fail(
			p->d, p->lex.err, t.at, "D_MACRO_UNDEF",
			"$%s has no value: it is the program's argument of that number, or "
			"$pid, $target (with -c or -p), $uid ...",
			name);
	if (!text && !*value)
		value = "0";
	*out = ki_d_node_new(&p->d->pool,
			     !text && is_number(value) ? KI_D_NUMBER
			     : !text && is_name(value) ? KI_D_NAME
						       : KI_D_TEXT,
			     t.at, strlen(value));
	if (!*out)
		return ki_d_no_memory(p->lex.err);
	strcpy((*out)->text, value);
	if ((*out)->kind == KI_D_NUMBER)
		return macro_number(p, *out, name);
	if ((*out)->kind == KI_D_TEXT && !text && quotes(value))
		sprintf((*out)->text, "%.*s", (int)strlen(value) - 2, value + 1);
	return ki_lex_next(&p->lex);
}

/* Its type is as C says: of what is not decimal, also an unsigned one. */
int ki_d_parse_integer(struct ki_d_parser *p, struct ki_d_node **out)
{
	const struct ki_token *t = &p->lex.now;

	*out = ki_d_node_new(&p->d->pool, KI_D_NUMBER, t->at, 0);
	if (!*out)
		return ki_d_no_memory(p->lex.err);
	(*out)->value = t->value;
	if (t->is_unsigned)
		(*out)->type = ki_d_int(t->is_long || t->value > UINT32_MAX ? KI_U64 : KI_U32);
	else if (!t->is_long && t->base != 10 && t->value > INT32_MAX && t->value <= UINT32_MAX)
		(*out)->type = ki_d_int(KI_U32);
	else
		(*out)->type = ki_d_int(t->is_long || t->value > INT32_MAX ? KI_I64 : KI_I32);
	return ki_lex_next(&p->lex);
}

/* A / that ends the predicate: a clause's body stands behind it, or nothing. */
bool ki_d_ends_predicate(const struct ki_d_parser *p)
{
	const char *next = p->lex.next;

	if (!p->in_predicate || !ki_lex_is(&p->lex, "/"))
		return false;
	next += strspn(next, " \t\r\n");
	return !*next || *next == '{' || *next == ';' || (next[0] == '/' && next[1] == '*');
}

/* `NAME, or behind a module's name. It is kept as MODULE`NAME. */
int ki_d_parse_symbol(struct ki_d_parser *p, struct ki_d_node **out)
{
	const struct ki_d_node *module = *out;
	const uint32_t at = module ? module->at : p->lex.now.at;
	int ret = ki_lex_next(&p->lex);

	if (!ret && p->lex.now.kind != KI_TOKEN_NAME)
		ret = ki_d_fail(p->d, p->lex.err, at, "D_IDENT_UNDEF",
				"a name of the kernel's is expected behind `");
	if (ret)
		return ret;
	*out = ki_d_node_new(&p->d->pool, KI_D_SYMBOL, at,
			     p->lex.now.len + (module ? strlen(module->text) : 0) + 1);
	if (!*out)
		return ki_d_no_memory(p->lex.err);
	sprintf((*out)->text, "%s`%.*s", module ? module->text : "", (int)p->lex.now.len,
		p->lex.now.text);
	return ki_lex_next(&p->lex);
}

/* Words of C that D keeps for itself. */
bool ki_d_is_reserved(const struct ki_d_parser *p)
{
	static const char *const words[] = {
		"auto",	  "break",  "case",	  "continue", "counter",  "default",  "do",
		"else",	  "enum",   "extern",	  "for",      "goto",	  "if",	      "import",
		"inline", "probe",  "provider",	  "register", "restrict", "return",   "static",
		"struct", "switch", "translator", "typedef",  "union",	  "volatile", "while",
		"const",  "int",    "char",	  "long",     "short",	  "unsigned", "signed",
		"void",	  "float",  "double"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (ki_lex_is(&p->lex, words[i]))
			return true;
	return false;
}

/* offsetof(TYPE, MEMBER) */
/* NAME.NAME... */
static int member_path(struct ki_d_parser *p, char path[PATH_LONGEST])
{
	size_t n = 0;
	int ret = 0;

	*path = 0;
	while (!ret) {
		if (p->lex.now.kind != KI_TOKEN_NAME)
			return ki_lex_expected(&p->lex, "a member's name");
		if (n + p->lex.now.len + 2 > PATH_LONGEST)
			return ki_lex_error(&p->lex, p->lex.now.at, "too long");
		n += (size_t)sprintf(path + n, "%.*s", (int)p->lex.now.len, p->lex.now.text);
		ret = ki_lex_next(&p->lex);
		if (ret || !ki_lex_is(&p->lex, "."))
			return ret;
		path[n++] = '.';
		ret = ki_lex_next(&p->lex);
	}
	return ret;
}

int ki_d_parse_offset_of(struct ki_d_parser *p, struct ki_d_node **out)
{
	char path[PATH_LONGEST] = "";
	uint32_t at = p->lex.now.at;
	struct ki_d_type type;
	bool is_type = false;
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_lex_take(&p->lex, "(");
	if (!ret)
		ret = ki_d_parse_type(p, &type, &is_type);
	if (!ret && !is_type)
		ret = ki_lex_expected(&p->lex, "a type");
	if (!ret)
		ret = ki_lex_take(&p->lex, ",");
	if (ret)
		return ret;
	*out = ki_d_node_new(&p->d->pool, KI_D_OFFSETOF, at, sizeof(path));
	if (!*out)
		return ki_d_no_memory(p->lex.err);
	ret = member_path(p, path);
	memcpy((*out)->text, path, sizeof(path));
	(*out)->about = type;
	return ret ? ret : ki_lex_take(&p->lex, ")");
}
