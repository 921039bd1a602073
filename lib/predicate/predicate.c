// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Predicates: text to tree (parse.c), names to what they mean (names.c), tree to nodes (build.c),
 * and back to text (print.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "predicate/predicate.h"

static const char *const marks[] = {
	"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%",  "&",
	"|",  "^",  "~",  "!",	"<",  ">",  "?",  ":",	"(", ")", ",", "=", NULL,
};

static const struct ki_lex_rules rules = {.language = "predicate", .marks = marks};

static int parse(struct ki_predicate *p, const char *text, struct ki_err *err)
{
	struct ki_parser parser = {0};
	int ret = ki_lex_start(&parser.lex, &rules, text, err);

	if (!ret)
		ret = ki_parse_expr(&parser, &p->root);
	if (!ret && parser.lex.now.kind != KI_TOKEN_END)
		ret = ki_lex_expected(&parser.lex, "an operator or the end");
	p->pool = parser.pool;
	return ret ? ret : ki_predicate_check(p, &parser);
}

static int parse_new(const char *text, bool value, struct ki_predicate **out, struct ki_err *err)
{
	int ret;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return ki_err_set(err, -ENOMEM, 0, "predicate: out of memory");
	(*out)->value = value;
	ret = parse(*out, text, err);
	if (ret) {
		ki_predicate_free(*out);
		*out = NULL;
	}
	return ret;
}

int ki_predicate_new(const char *text, struct ki_predicate **out, struct ki_err *err)
{
	return parse_new(text, false, out, err);
}

int ki_predicate_new_value(const char *text, struct ki_predicate **out, struct ki_err *err)
{
	return parse_new(text, true, out, err);
}

unsigned int ki_predicate_words(const struct ki_predicate *p)
{
	return p->root->kind == KI_AST_STR ? ki_ast_words(p->root, KI_STRING_USUAL) : 1;
}

bool ki_predicate_is_string(const struct ki_predicate *p)
{
	return p->root->kind == KI_AST_STR;
}

void ki_predicate_free(struct ki_predicate *p)
{
	if (!p)
		return;
	ki_ast_free(&p->pool);
	ki_vec_free(&p->inside);
	free(p->recording);
	free(p->records);
	free(p);
}

const char *ki_predicate_inside(const struct ki_predicate *p, size_t n)
{
	return n < p->inside.n ? p->inside.v[n] : NULL;
}

const char *ki_predicate_recording(const struct ki_predicate *p, const char **records)
{
	*records = p->records;
	return p->recording;
}

void ki_predicate_hit(struct ki_predicate *p, const struct ki_hit *hit)
{
	p->hit = hit;
}

int ki_predicate_format(const struct ki_predicate *p, char **out, struct ki_err *err)
{
	size_t len;
	FILE *f = open_memstream(out, &len);
	int ret;

	if (!f) {
		*out = NULL;
		return ki_err_set(err, -ENOMEM, 0, "predicate: out of memory");
	}
	ki_ast_print(f, p->root);
	ret = ferror(f);
	if (!fclose(f) && !ret)
		return 0;
	free(*out);
	*out = NULL;
	return ki_err_set(err, -ENOMEM, 0, "predicate: out of memory");
}
