// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Strings: as values, and compared with a text.
 *
 * A string is words on the stack: pushed, then filled by the helper, which the driver wants to see
 * told how many there are the moment before. In a record they stay there as its values. Compared
 * ones are compared word by word, and popped on both ways.
 */
#include <errno.h>
#include <string.h>

#include "snippet/node.h"
#include "util/text.h"

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

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return ki_gen_fixed_args(2);
}

static void push_string(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c)
{
	ki_gen_claim(g, KI_RDI, dest, c);
	ki_gen_expr(g, n->kid[0], KI_RDI);
	ki_gen_claim(g, KI_RSI, dest, c);
	ki_gen_claim(g, KI_RAX, dest, c);
	for (unsigned int i = 0; i < n->width; i++)
		ki_gen_push(g, KI_RAX);
	ki_gen_number(g, KI_RSI, n->width);
	ki_asm_call(&g->a, KI_FIX_HELPER, n->op ? KI_HELPER_USTRING : KI_HELPER_STRING);
}

/* What a string takes is given back, so that those after it may have it. */
static void push_string_value(struct gen *g, const struct ki_node *n, unsigned int dest,
			      struct claims *c)
{
	const uint16_t taken = c->taken;

	push_string(g, n, dest, c);
	g->busy &= (uint16_t) ~(c->taken & ~taken);
	c->taken = taken;
}

static void run_words(const struct run *r, const struct ki_node *n, uint64_t *to)
{
	uint64_t addr = ki_run_node(r, n->kid[0]);
	size_t size = n->width * sizeof(*to);

	memset(to, 0, size);
	if (r->m->string)
		r->m->string(r->m->arg, addr, n->op, (char *)to, size - 1);
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fputs(n->op ? "ustr(" : "str(", f);
	ki_format_expr(f, n->kid[0], 0);
	fprintf(f, ", %u)", n->width * 8u);
}

const struct ki_node_ops ki_node_string = {
	.foreign = "a string",
	.fixed = fixed,
	.push = push_string_value,
	.run_words = run_words,
	.write = write,
};

/* ---- is it that text? ---- */

/* Words of text that must be looked at: with its 0, if all of the string is compared. */
static unsigned int words_of(const struct ki_node *n)
{
	size_t len = strlen(n->name) + !n->op;

	return (unsigned int)((len + 7) / 8);
}

/* Word i of the string, which is uppermost on the stack, and of the text; different ones: out. */
static void compare_word(struct gen *g, const struct ki_node *n, unsigned int i, unsigned int a,
			 unsigned int b, uint32_t out)
{
	size_t len = strlen(n->name), left = len > 8 * i ? len - 8 * i : 0;
	struct rm m = {.mode = RM_STACK, .disp = 8 * (int32_t)(n->kid[0]->width - 1 - i)};
	struct rm rb = rm_reg(b);
	unsigned int drop = n->op && left < 8 ? 64 - 8 * (unsigned int)left : 0;
	uint64_t word = 0;

	memcpy(&word, n->name + 8 * i, left < 8 ? left : 8);
	ki_asm_mov(&g->a, 8, a, &m);
	if (drop)
		ki_asm_shift_imm(&g->a, SHIFT_SHL, a, drop);
	ki_asm_const(&g->a, b, word << drop);
	ki_asm_alu_load(&g->a, ALU_CMP, 8, a, &rb);
	ki_asm_branch(&g->a, CC_NE, out);
}

/* Two of the three that the helper's call has taken, but dest. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	const struct ki_node *string = n->kid[0];
	unsigned int a = dest == KI_RDI ? KI_RAX : KI_RDI, b = dest == KI_RSI ? KI_RAX : KI_RSI;
	uint32_t out = ki_asm_label(&g->a);
	struct claims c = {0};

	push_string(g, string, dest, &c);
	ki_asm_const(&g->a, dest, 0);
	for (unsigned int i = 0; i < words_of(n); i++)
		compare_word(g, n, i, a, b, out);
	ki_asm_const(&g->a, dest, 1);
	ki_asm_here(&g->a, out);
	for (unsigned int i = 0; i < string->width; i++)
		ki_gen_pop(g, a);
	ki_gen_unclaim(g, &c);
}

static uint64_t run_is(const struct run *r, const struct ki_node *n)
{
	uint64_t words[KI_STRING_WORDS];
	size_t len = strlen(n->name);

	run_words(r, n->kid[0], words);
	return !memcmp(words, n->name, len + !n->op);
}

static void write_is(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fputs(n->op ? "starts(" : "(", f);
	ki_format_expr(f, n->kid[0], 0);
	fputs(n->op ? ", " : " == ", f);
	ki_text_quote(f, n->name);
	fputc(')', f);
}

const struct ki_node_ops ki_node_string_is = {
	.takes = TAKES_STRINGS,
	.value = value,
	.run = run_is,
	.write = write_is,
};
