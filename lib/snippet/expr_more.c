// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Builders of strings and stacks.
 */
#include <errno.h>
#include <string.h>

#include "snippet/tree.h"

#define SKIP_MOST 255

struct ki_node *ki_expr_string(struct ki_snippet *s, struct ki_node *addr, unsigned int words,
			       bool user)
{
	struct ki_node *n = ki_tree_node(s, NODE_STRING);

	if (!n)
		return NULL;
	if (!words || words > KI_STRING_WORDS)
		return ki_tree_fail(s, -EINVAL, "a string of %u words: 1 to %d", words,
				    KI_STRING_WORDS);
	n->op = user || s->thread;
	n->width = (uint8_t)words;
	return ki_tree_adopt(n, 0, addr, false) ? n : NULL;
}

struct ki_node *ki_expr_string_is(struct ki_snippet *s, struct ki_node *string, const char *text,
				  bool prefix)
{
	struct ki_node *n = ki_tree_node(s, NODE_STRING_IS);

	if (!n || !ki_tree_adopt(n, 0, string, false))
		return NULL;
	if (!text)
		return ki_tree_fail(s, -EINVAL, "no text to compare a string with");
	if (strlen(text) > string->width * sizeof(uint64_t) - (prefix ? 1 : 2))
		return ki_tree_fail(s, -EINVAL, "a text longer than the string of %u words",
				    string->width);
	n->op = prefix;
	n->type = KI_I64;
	n->name = ki_tree_string(s, text);
	return n->name ? n : NULL;
}

static struct ki_node *stack(struct ki_snippet *s, uint32_t table, unsigned int skip,
			     enum ki_helper helper)
{
	struct ki_node *n = ki_tree_node(s, NODE_STACK);

	if (!n)
		return NULL;
	if (s->thread && helper != KI_HELPER_USTACK)
		return ki_tree_fail(
			s, -EOPNOTSUPP,
			"a thread in its process has no stack of the kernel's: use ustack");
	if (skip > SKIP_MOST || table > UINT32_MAX >> 8)
		return ki_tree_fail(s, -EINVAL, "no such table, or more than %d frames left out",
				    SKIP_MOST);
	n->op = helper;
	n->value = KI_STACK(table, skip);
	n->effects = true;
	return n;
}

struct ki_node *ki_expr_stack(struct ki_snippet *s, uint32_t table, unsigned int skip, bool user)
{
	return stack(s, table, skip, user ? KI_HELPER_USTACK : KI_HELPER_STACK);
}

struct ki_node *ki_expr_depth(struct ki_snippet *s, uint32_t table, unsigned int skip)
{
	return stack(s, table, skip, KI_HELPER_DEPTH);
}

#define TEXT_ARGS 3

static bool is_number(enum ki_text_op op)
{
	return op == KI_TEXT_FIRST || op == KI_TEXT_LAST || op == KI_TEXT_COMPARE ||
	       op == KI_TEXT_VALUE || op == KI_TEXT_LENGTH;
}

struct ki_node *ki_expr_text(struct ki_snippet *s, uint32_t table, enum ki_text_op op,
			     struct ki_node *const *args, unsigned int nargs)
{
	struct ki_node *n = ki_tree_node(s, NODE_TEXT);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_TEXT_OPS || nargs > TEXT_ARGS || table > UINT32_MAX >> 8)
		return ki_tree_fail(s, -EINVAL, "no such operation on strings");
	for (unsigned int i = 0; i < nargs; i++)
		if (!ki_tree_adopt(n, i, args[i], false))
			return NULL;
	n->what = KI_TEXT(table, op);
	n->type = is_number(op) ? KI_I64 : KI_U64;
	n->effects = true;
	return n;
}

struct ki_node *ki_expr_behind(struct ki_snippet *s, struct ki_node *stmt, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_BEHIND);

	if (!n || !ki_tree_adopt(n, 0, stmt, true) || !ki_tree_adopt(n, 1, value, false))
		return NULL;
	if (stmt->kind == NODE_LIST || stmt->kind == NODE_IF)
		return ki_tree_fail(s, -EINVAL, "a list or an `if` inside of an expression");
	n->type = value->type;
	n->effects = true;
	return n;
}
