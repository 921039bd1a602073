// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random predicates: written with all parentheses there can be, read, written anew with as few as
 * possible, read again: the same tree, the same value, and no parenthesis too much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_predicate.h"

#ifdef __SANITIZE_ADDRESS__
#define PREDICATES 1000
#else
#define PREDICATES 4000
#endif

static uint64_t seed = 88172645463325252;

static uint64_t number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)(number() >> 33) % n;
}

#define ONE_OF(v) ((v)[below(sizeof(v) / sizeof(*(v)))])

static void some_space(FILE *f)
{
	static const char *const spaces[] = {"", "", "", " ", "  ", "\t", "\n"};

	fputs(ONE_OF(spaces), f);
}

static void leaf(FILE *f)
{
	static const char *const leaves[] = {"pid",
					     "tid",
					     "cpu",
					     "uid",
					     "cgroup",
					     "retval",
					     "arg0",
					     "arg1",
					     "arg5",
					     "arg6",
					     "$rax",
					     "$rdi",
					     "$rsp",
					     "$r15",
					     "'a'",
					     "'\\n'",
					     "0",
					     "1",
					     "7u",
					     "0x10",
					     "0777",
					     "4096",
					     "0xffffffffffffffff",
					     "0x8000000000000000",
					     "9223372036854775807",
					     "18446744073709551615",
					     "12345678901ul",
					     "0x7fffffffffffffffu",
					     "inside(f)",
					     "inside( mod:g.part.0 )",
					     "inside(h@0xffffffff81000000)"};

	if (below(4))
		fputs(ONE_OF(leaves), f);
	else
		fprintf(f, "%u", below(300));
}

static void with_string(FILE *f)
{
	static const char *const texts[] = {
		"comm == \"nginx\"",	"comm != \"a\\\\b\\\"c\"", "\"kworker/u8:12\" == execname",
		"uid == \"root\"",	"\"root\" != uid",	   "execname in (\"\", \"x y\")",
		"uid in (\"root\", 5)", "comm in (\"nginx\")",	   "\"\\x01\\377\" == comm"};

	fputs(ONE_OF(texts), f);
}

static void expression(FILE *f, unsigned int nodes);

static void members(FILE *f, unsigned int nodes)
{
	unsigned int n = 1 + below(4);

	for (unsigned int i = 0; i < n; i++) {
		fputs(i ? "," : " in (", f);
		some_space(f);
		expression(f, nodes / n);
	}
	fputc(')', f);
}

static void prefixed(FILE *f, unsigned int nodes)
{
	static const char *const marks[] = {"-",	 "~",	     "!",	 "+",
					    "- ",	 "(u8)",     "(i32)",	 "(unsigned long)",
					    "( short )", "*(u32 *)", "*(char*)", "*(u64 *)"};

	fputs(ONE_OF(marks), f);
	expression(f, nodes - 1);
}

static void operation(FILE *f, unsigned int nodes)
{
	static const char *const marks[] = {"+",  "-",	"*",  "/", "%", "&",  "|",  "^",  "<<",
					    ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
	unsigned int left = below(nodes);

	expression(f, left);
	some_space(f);
	fputs(ONE_OF(marks), f);
	some_space(f);
	expression(f, nodes - 1 - left);
}

static void choice(FILE *f, unsigned int nodes)
{
	expression(f, nodes / 3);
	fputs("?", f);
	expression(f, nodes / 3);
	fputs(" :", f);
	expression(f, nodes / 3);
}

/* Everything is in parentheses. */
static void expression(FILE *f, unsigned int nodes)
{
	fputc('(', f);
	some_space(f);
	if (!nodes) {
		if (below(12))
			leaf(f);
		else
			with_string(f);
	} else {
		switch (below(8)) {
		case 0 ... 1:
			prefixed(f, nodes);
			break;
		case 2:
			choice(f, nodes);
			break;
		case 3:
			fputs("0+", f); /* there may be a ! */
			expression(f, nodes / 2);
			members(f, nodes / 2);
			break;
		default:
			operation(f, nodes);
		}
	}
	fputc(')', f);
}

static char *random_text(void)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	expression(f, below(25));
	assert_int_equal(fclose(f), 0);
	return text;
}

static uint64_t load(void *arg, uint64_t addr, unsigned int size)
{
	(void)arg;
	return (addr + size) * 0x9e3779b97f4a7c15;
}

static void fill(struct ki_machine *m, uint64_t words[8])
{
	*m = (struct ki_machine){.thread = words, .nthread = 8, .load = load};
	for (int i = 0; i < 8; i++)
		words[i] = below(2);
	for (int r = 0; r < 16; r++)
		m->regs[r] = below(2) ? number() : below(300);
	m->pid = below(300);
	m->tgid = below(300);
	m->cpu = below(4);
	m->uid = below(3);
	m->cgroup = below(300);
	strcpy(m->comm, below(2) ? "nginx" : "kworker/u8:12");
}

static void same_values(const struct ki_predicate *a, const struct ki_predicate *b)
{
	uint64_t words[8];
	struct ki_machine m;

	for (int i = 0; i < 10; i++) {
		fill(&m, words);
		assert_int_equal(pred_value(a, &m), pred_value(b, &m));
	}
}

static void written_and_read(void **state)
{
	(void)state;
	for (int i = 0; i < PREDICATES; i++) {
		char *full = random_text(), *text, *again;
		struct ki_predicate *a = pred_parse(full), *b;

		text = pred_format(a);
		b = pred_parse(text);
		if (!pred_is_same(a->root, b->root))
			fail_msg("%s: written as %s", full, text);
		again = pred_format(b);
		assert_string_equal(text, again);
		same_values(a, b);
		ki_predicate_free(a);
		ki_predicate_free(b);
		free(full);
		free(text);
		free(again);
	}
}

static size_t partner(const char *text, size_t open)
{
	size_t depth = 0;

	for (size_t i = open;; i++) {
		depth += text[i] == '(';
		depth -= text[i] == ')';
		if (!depth)
			return i;
	}
}

static void no_parenthesis_too_much(void **state)
{
	unsigned int tried = 0;

	(void)state;
	for (int i = 0; i < PREDICATES; i++) {
		char *full = random_text(), *text;
		struct ki_predicate *a = pred_parse(full), *b;

		text = pred_format(a);
		for (size_t k = 0; text[k] && !strchr(text, '"'); k++) {
			size_t end = text[k] == '(' ? partner(text, k) : 0;

			if (!end)
				continue;
			tried++;
			text[k] = text[end] = ' ';
			if (!ki_predicate_new(text, &b, NULL) && pred_is_same(a->root, b->root))
				fail_msg("%s: needs no parentheses in %s", full, text);
			ki_predicate_free(b);
			text[k] = '(';
			text[end] = ')';
		}
		ki_predicate_free(a);
		free(full);
		free(text);
	}
	assert_true(tried > PREDICATES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_and_read),
		cmocka_unit_test(no_parenthesis_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
