// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the names in a predicate mean, and where strings may stand: only beside the names that
 * know what to do with them, in ==, != and in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/callable.h"
#include "predicate/predicate.h"

#define COMM_MOST 15

/* What strings are to a name. */
struct strings {
	int (*find)(const char *text, uint64_t *out); /* its number */
	const char *none;			      /* there is no such */
	bool only;				      /* it can do nothing else */
};

static int is_comm(const char *text, uint64_t *out)
{
	*out = 0;
	return strlen(text) <= COMM_MOST ? 0 : -ENOENT;
}

static const struct strings comms = {is_comm, "a thread's name has at most 15 bytes", true};
static const struct strings users = {ki_host_user, "there is no such user", false};
static const struct strings cgroups = {
	ki_host_cgroup, "no directory of that name below /sys/fs/cgroup (/sys/fs/cgroup/unified)",
	false};

static const struct name {
	const char *text;
	uint8_t meaning; /* enum ki_meaning */
	uint8_t fact;
	const struct strings *strings;
} names[] = {
	{"pid", KI_MEANS_FACT, KI_FACT_TGID, NULL},
	{"tid", KI_MEANS_FACT, KI_FACT_PID, NULL},
	{"comm", KI_MEANS_COMM, 0, &comms},
	{"execname", KI_MEANS_COMM, 0, &comms},
	{"uid", KI_MEANS_FACT, KI_FACT_UID, &users},
	{"cgroup", KI_MEANS_FACT, KI_FACT_CGROUP, &cgroups},
	{"cpu", KI_MEANS_FACT, KI_FACT_CPU, NULL},
	{"retval", KI_MEANS_RETVAL, 0, NULL},
};

#define NNAMES (sizeof(names) / sizeof(*names))

struct checker {
	struct ki_predicate *p;
	struct ki_parser *parser;
	struct ki_callables *loaded; /* once they have been asked for */
};

static int check(struct checker *c, struct ki_ast *e);

static int refuse(struct checker *c, const struct ki_ast *e, const char *why)
{
	return ki_lex_error(&c->parser->lex, e->at, "%s", why);
}

static const struct name *name_of(const struct ki_ast *e)
{
	for (size_t i = 0; e->kind == KI_AST_NAME && i < NNAMES; i++)
		if (!strcmp(e->text, names[i].text))
			return &names[i];
	return NULL;
}

/* arg0, arg1, ... */
static bool is_param(const char *text, uint64_t *number)
{
	char *end;

	if (strncmp(text, "arg", 3) != 0 || text[3] < '0' || text[3] > '9')
		return false;
	*number = strtoul(text + 3, &end, 10);
	return !*end && (text[3] != '0' || !text[4]) && *number < KI_PARAMS;
}

static int check_name(struct checker *c, struct ki_ast *e)
{
	const struct name *n = name_of(e);

	if (n) {
		e->meaning = n->meaning;
		e->value = n->fact;
		if (n->strings && n->strings->only)
			return refuse(c, e,
				      "comm can only be compared with a string: comm == \"tar\"");
		return 0;
	}
	e->meaning = KI_MEANS_PARAM;
	if (is_param(e->text, &e->value))
		return 0;
	return ki_lex_error(&c->parser->lex, e->at,
			    "no name '%.32s': pid, tid, comm, execname, uid, cgroup, cpu, "
			    "arg0 .. arg%d, retval, $register or inside(FUNCTION)",
			    e->text, KI_PARAMS - 1);
}

/* ---- inside(FUNCTION) ---- */

static int note_function(struct checker *c, struct ki_ast *e)
{
	struct ki_predicate *p = c->p;
	const char *name = e->kid[0]->text;

	for (e->value = 0; e->value < p->inside.n; e->value++)
		if (!strcmp(p->inside.v[e->value], name))
			return 0;
	if (!ki_vec_push(&p->inside, name))
		return 0;
	return ki_err_set(c->parser->lex.err, -ENOMEM, 0, "predicate: out of memory");
}

/* [MODULE:]FUNCTION[@0xADDRESS] */
static bool is_function(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				      "0123456789"; /* of a module, 8021q: */
	size_t n = strspn(text, letters);

	return n &&
	       !text[n + strspn(text + n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_.:@$-")];
}

static int check_instrument(struct checker *c, struct ki_ast *e)
{
	int ret = ki_predicate_find_instrument(c->p, c->parser, &c->loaded, e);

	for (struct ki_ast *a = e->kid[0]; !ret && a; a = a->next)
		ret = check(c, a);
	return ret;
}

/* ntohs(x) and the like: the bytes in the other order. */
static bool is_swap(const char *text, uint8_t *type)
{
	static const struct {
		const char *text;
		uint8_t type;
	} swaps[] = {{"ntohs", KI_U16}, {"htons", KI_U16},  {"ntohl", KI_U32},
		     {"htonl", KI_U32}, {"ntohll", KI_U64}, {"htonll", KI_U64}};

	for (size_t i = 0; i < sizeof(swaps) / sizeof(*swaps); i++) {
		if (strcmp(text, swaps[i].text) != 0)
			continue;
		*type = swaps[i].type;
		return true;
	}
	return false;
}

static int check_swap(struct checker *c, struct ki_ast *e)
{
	e->meaning = KI_MEANS_SWAP;
	if (!e->kid[0] || e->kid[0]->next)
		return ki_lex_error(&c->parser->lex, e->at, "%s takes one number: %s(arg1)",
				    e->text, e->text);
	return check(c, e->kid[0]);
}

static int check_call(struct checker *c, struct ki_ast *e)
{
	if (is_swap(e->text, &e->type))
		return check_swap(c, e);
	if (strcmp(e->text, "inside") != 0)
		return check_instrument(c, e);
	e->meaning = KI_MEANS_INSIDE;
	if (!is_function(e->kid[0]->text))
		return refuse(c, e->kid[0], "a function's name is expected: inside(vfs_read)");
	return note_function(c, e);
}

/* ---- strings ---- */

/* Text that a string from memory is compared with: one that was cut off is not taken for it. */
static int check_text(struct checker *c, const struct ki_ast *string, const struct ki_ast *text,
		      bool prefix)
{
	size_t most = 8 * ki_ast_words(string, KI_STRING_WORDS) - 1 - !(prefix && string->value);

	if (strlen(text->text) <= most)
		return 0;
	return ki_lex_error(&c->parser->lex, text->at, "at most %zu bytes of %s are compared", most,
			    string->value ? "a string of that size" : "a string");
}

static int check_string(struct checker *c, const struct ki_ast *left, struct ki_ast *string)
{
	const struct name *n = name_of(left);

	if (left->kind == KI_AST_STR)
		return check_text(c, left, string, false);
	if (!n || !n->strings)
		return refuse(
			c, string,
			"only comm, execname, uid, cgroup, str() and ustr() can be compared with a "
			"string, by ==, != or in");
	return n->strings->find(string->text, &string->value) ? refuse(c, string, n->strings->none)
							      : 0;
}

/* The name beside a string has nothing more to say to it. */
static int check_beside(struct checker *c, struct ki_ast *name)
{
	const struct name *n = name_of(name);

	if (name->kind == KI_AST_STR)
		return check(c, name->kid[0]);
	if (!n || !n->strings)
		return check(c, name);
	name->meaning = n->meaning;
	name->value = n->fact;
	return 0;
}

static int check_binary(struct checker *c, struct ki_ast *e)
{
	bool equal = e->op == KI_EQ || e->op == KI_NE;
	int ret;

	for (int i = 0; equal && i < 2; i++) {
		if (e->kid[i]->kind != KI_AST_STRING)
			continue;
		ret = check_string(c, e->kid[!i], e->kid[i]);
		return ret ? ret : check_beside(c, e->kid[!i]);
	}
	ret = check(c, e->kid[0]);
	return ret ? ret : check(c, e->kid[1]);
}

static int check_in(struct checker *c, struct ki_ast *e)
{
	struct ki_ast *left = e->kid[0];
	bool strings = true;
	int ret = 0;

	if (left->kind == KI_AST_UNARY && left->op == KI_LNOT)
		return refuse(c, left, "! is of what stands next to it: !(... in (...))");
	for (struct ki_ast *m = e->kid[1]; !ret && m; m = m->next) {
		ret = m->kind == KI_AST_STRING ? check_string(c, left, m) : check(c, m);
		strings &= m->kind == KI_AST_STRING;
	}
	if (ret)
		return ret;
	return strings ? check_beside(c, left) : check(c, left);
}

static int check(struct checker *c, struct ki_ast *e)
{
	int ret = 0;

	switch (e->kind) {
	case KI_AST_NAME:
		return check_name(c, e);
	case KI_AST_CALL:
		return check_call(c, e);
	case KI_AST_STR:
		return refuse(c, e,
			      "a string is no number: str(arg1) == \"text\", "
			      "starts(str(arg1), \"text\")");
	case KI_AST_STARTS:
		if (e->kid[0]->kind != KI_AST_STR)
			return refuse(c, e->kid[0], "str() or ustr() is expected");
		ret = check_text(c, e->kid[0], e->kid[1], true);
		return ret ? ret : check(c, e->kid[0]->kid[0]);
	case KI_AST_STRING:
		return refuse(c, e, "a string can only stand beside ==, != or in (...)");
	case KI_AST_BINARY:
		return check_binary(c, e);
	case KI_AST_IN:
		return check_in(c, e);
	default:
		for (unsigned int i = 0; !ret && i < 3 && e->kid[i]; i++)
			ret = check(c, e->kid[i]);
		return ret;
	}
}

int ki_predicate_check(struct ki_predicate *p, struct ki_parser *parser)
{
	struct checker c = {.p = p, .parser = parser};
	bool string = p->value && p->root->kind == KI_AST_STR;
	int ret = check(&c, string ? p->root->kid[0] : p->root);

	ki_callables_free(c.loaded);
	return ret;
}
