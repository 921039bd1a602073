// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The arena of a snippet, and what is asked of a node before it gets a parent. The first failure
 * sticks: every builder begins by looking for it, so that callers need not.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snippet/node.h"

#define BLOCK 16384

struct arena_block {
	struct arena_block *next;
	size_t used;
	_Alignas(16) uint8_t data[BLOCK];
};

int ki_snippet_new(struct ki_snippet **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void ki_snippet_free(struct ki_snippet *s)
{
	if (!s)
		return;
	while (s->blocks) {
		struct arena_block *next = s->blocks->next;

		free(s->blocks);
		s->blocks = next;
	}
	free(s);
}

static void *arena_take(struct ki_snippet *s, size_t size)
{
	struct arena_block *b = s->blocks;

	size = (size + 15) & ~(size_t)15;
	if (!b || b->used + size > BLOCK) {
		b = size <= BLOCK ? malloc(sizeof(*b)) : NULL;
		if (!b)
			return NULL;
		b->used = 0;
		b->next = s->blocks;
		s->blocks = b;
	}
	b->used += size;
	return memset(b->data + b->used - size, 0, size);
}

struct ki_node *ki_tree_fail(struct ki_snippet *s, int code, const char *fmt, ...)
{
	char text[KI_ERR_MSG - 40];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ki_err_set(&s->err, code, 0, "snippet: node %u: %s", s->nnodes, text);
	return NULL;
}

struct ki_node *ki_tree_node(struct ki_snippet *s, enum node_kind kind)
{
	struct ki_node *n;

	if (s->err.code)
		return NULL;
	if (s->nnodes >= TREE_NODES)
		return ki_tree_fail(s, -E2BIG, "more than %d nodes", TREE_NODES);
	n = arena_take(s, sizeof(*n));
	if (!n)
		return ki_tree_fail(s, -ENOMEM, "out of memory");
	s->nnodes++;
	n->snippet = s;
	n->kind = kind;
	n->type = KI_U64;
	n->need = 1;
	return n;
}

const char *ki_tree_string(struct ki_snippet *s, const char *text)
{
	size_t len = strlen(text);
	char *copy = arena_take(s, len + 1);

	if (!copy) {
		ki_tree_fail(s, len < BLOCK ? -ENOMEM : -E2BIG, "no room for a name");
		return NULL;
	}
	memcpy(copy, text, len + 1);
	return copy;
}

static const char *misuse(const struct ki_node *parent, const struct ki_node *kid, bool statement)
{
	if (!kid)
		return "a child is missing";
	if (kid->snippet != parent->snippet)
		return "a child is of another snippet";
	if (kid->used)
		return "a child is used twice";
	if (kid->width && ki_ops(parent)->takes == TAKES_NUMBERS)
		return "a string where a number must be";
	if (!kid->width && ki_ops(parent)->takes == TAKES_STRINGS)
		return "a number where a string must be";
	if (ki_node_is_statement(kid) != statement)
		return statement ? "an expression where a statement must be"
				 : "a statement where an expression must be";
	if (kid->depth >= TREE_DEPTH)
		return "nested too deep";
	return NULL;
}

/* Registers for one more child, evaluated after those before it. */
static uint8_t need_with(const struct ki_node *parent, unsigned int i, const struct ki_node *kid)
{
	unsigned int a = parent->need, b = kid->need;

	if (!i)
		return (uint8_t)b;
	return (uint8_t)(a == b && a < 100 ? a + 1 : a > b ? a : b);
}

bool ki_tree_adopt(struct ki_node *parent, unsigned int i, struct ki_node *kid, bool statement)
{
	const char *why = misuse(parent, kid, statement);

	if (why) {
		ki_tree_fail(parent->snippet, -EINVAL, "%s", why);
		return false;
	}
	kid->used = true;
	parent->need = need_with(parent, i, kid);
	parent->effects |= kid->effects;
	if (parent->depth <= kid->depth)
		parent->depth = kid->depth + 1;
	if (ki_ops(parent)->chains)
		return true;
	parent->kid[i] = kid;
	if (parent->nkids <= i)
		parent->nkids = (uint8_t)(i + 1);
	return true;
}

/* All uses of a local have the type of the first. */
static const char *local_misuse(struct ki_snippet *s, const struct ki_var *v)
{
	uint8_t *type;

	if (v->first >= KI_LOCALS)
		return "there are not that many locals";
	type = &s->local_types[v->first];
	if (*type && *type != v->type + 1)
		return "a local has one type";
	*type = (uint8_t)(v->type + 1);
	return NULL;
}

static const char *var_misuse(struct ki_snippet *s, const struct ki_var *v, bool indexed)
{
	if (!v || v->kind >= KI_VAR_KINDS || v->type >= KI_TYPES)
		return "no such kind or type of variable";
	if (ki_var_is_vector(v) != indexed)
		return indexed ? "a scalar has no index" : "a vector needs an index";
	if (!indexed)
		return v->kind == KI_VAR_LOCAL ? local_misuse(s, v) : NULL;
	if (v->kind != KI_VAR_CPU)
		return "vectors are per CPU";
	if (ki_types[v->type].size != 8)
		return "vectors are of u64 or i64";
	if (v->count > INT32_MAX || v->count > UINT32_MAX - v->first)
		return "a vector that long cannot be";
	return NULL;
}

bool ki_tree_var(struct ki_node *n, const struct ki_var *v, bool indexed)
{
	static const char *const kinds[KI_VAR_KINDS] = {"counter", "global", "thread", "local"};
	const char *why = var_misuse(n->snippet, v, indexed);
	char name[32];

	if (why) {
		ki_tree_fail(n->snippet, -EINVAL, "%s: %s", v && v->name ? v->name : "variable",
			     why);
		return false;
	}
	n->var = *v;
	if (!v->name)
		snprintf(name, sizeof(name), "%s%u", kinds[v->kind], v->first);
	n->var.name = ki_tree_string(n->snippet, v->name ? v->name : name);
	n->type = v->type;
	return n->var.name != NULL;
}
