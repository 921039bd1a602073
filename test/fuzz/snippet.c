/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as calls of the snippet's builders, with right arguments and wrong ones.
 * Either it is refused in one voice by all, or it can be run, printed, compiled and listed; what is
 * compiled is let pass by the driver's own check.
 *
 * The bytes are a program for a stack of nodes: an operation, then its arguments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common_drv.h"
#include "kerninst/snippet.h"

#define STACK 16
#define SLOTS 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct input {
	const uint8_t *p, *end;
	struct ki_snippet *s;
	struct ki_node *stack[STACK];
	unsigned int n;
} in;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static uint8_t byte(void)
{
	return in.p < in.end ? *in.p++ : 0;
}

static uint64_t word(void)
{
	uint64_t v = 0;

	for (unsigned int n = byte() % 9; n; n--)
		v = v << 8 | byte();
	return v;
}

/* One of the nodes, which may have been used, or be none. */
static struct ki_node *pop(void)
{
	return in.n ? in.stack[--in.n] : NULL;
}

static void push(struct ki_node *n)
{
	in.stack[in.n % STACK] = n;
	in.n = in.n % STACK + 1;
}

static struct ki_var var(void)
{
	struct ki_var v = {.name = byte() & 1 ? "v" : NULL, .kind = byte() % 5};

	v.type = byte() % 9;
	v.first = byte();
	if (v.kind == KI_VAR_LOCAL)
		v.first %= KI_LOCALS + 1;
	v.count = byte() % 70;
	return v;
}

static void expression(unsigned int op)
{
	struct ki_node *a = pop(), *b = pop(), *c = pop(),
		       *args[8] = {a, b, c, pop(), pop(), pop()};
	struct ki_var v = var();

	switch (op % 12) {
	case 0:
		push(ki_expr_cast(in.s, byte() % 9, a));
		break;
	case 1:
		push(ki_expr_unary(in.s, byte() % 4, a));
		break;
	case 2:
		push(ki_expr_cond(in.s, a, b, c));
		break;
	case 3:
		push(ki_expr_index(in.s, &v, a));
		break;
	case 4:
		push(ki_expr_load(in.s, byte() % 9, a));
		break;
	case 5:
		push(ki_expr_helper(in.s, byte() % (KI_HELPERS + 1), args, byte() % 4));
		break;
	case 6:
		push(ki_expr_call(in.s, byte() % 9, word(), NULL, args, byte() % 8));
		break;
	default:
		push(ki_expr_binary(in.s, byte() % 19, a, b));
	}
}

static void leaf(unsigned int op)
{
	static const char *const names[] = {"", "nginx", "kworker/u8:1", "longer than a name",
					    NULL};
	struct ki_var v;

	switch (op % 8) {
	case 0:
		push(ki_expr_reg(in.s, byte() % 17));
		break;
	case 1:
		push(ki_expr_param(in.s, byte() % 33));
		break;
	case 2:
		push(ki_expr_fact(in.s, byte() % (KI_FACTS + 1)));
		break;
	case 3:
		push(ki_expr_comm_is(in.s, names[byte() % 5]));
		break;
	case 4:
		v = var();
		push(ki_expr_var(in.s, &v));
		break;
	default:
		push(ki_expr_const(in.s, byte() % 9, word()));
	}
}

static void statement(unsigned int op)
{
	struct ki_node *a = pop(), *b = byte() & 1 ? pop() : NULL;
	struct ki_linear l = {(int8_t)byte(), (int8_t)byte(), byte()};
	struct ki_var v = var();

	switch (op % 8) {
	case 0:
		push(ki_stmt_append(in.s, b, a));
		break;
	case 1:
		push(ki_stmt_if(in.s, a, pop(), b));
		break;
	case 2:
		push(ki_stmt_eval(in.s, a));
		break;
	case 3:
		push(ki_stmt_log2(in.s, &v, a));
		break;
	case 4:
		push(ki_stmt_linear(in.s, &v, &l, a));
		break;
	default:
		push(ki_stmt_update(in.s, byte() % 8, &v, b, a));
	}
}

static void build(void)
{
	while (in.p < in.end) {
		uint8_t op = byte();

		if (op < 96)
			leaf(op);
		else if (op < 192)
			expression(op);
		else if (op < 250)
			statement(op);
		else
			ki_snippet_body(in.s, pop());
	}
	ki_snippet_body(in.s, pop()); /* mostly the first one */
}

static void use(const struct ki_site_regs *site)
{
	uint64_t slots[SLOTS] = {0};
	uint64_t words[SLOTS] = {0};
	struct ki_machine m = {.counters = slots,
			       .ncounters = SLOTS,
			       .thread = words,
			       .nthread = site->pushed & 1 ? SLOTS : 0,
			       .may_call = true};
	struct ki_err err = {0};
	struct ki_long_code code;
	char *text = NULL;
	int ret = ki_snippet_check(in.s, site, &err);

	check(!ret == !ki_snippet_run(in.s, site, &m, NULL));
	check(ret == err.code && !ret == !err.msg[0]);
	ki_err_clear(&err);
	if (ki_snippet_compile(in.s, site, &code, &err)) {
		check(ret ? err.code == ret : err.code == -E2BIG);
		return;
	}
	check(!ret);
	check(!ki_snippet_listing(in.s, &code, &text, NULL) && text);
	free(text);
	check(!code.len || !drv_vet_long(code.code, code.len, code.fix, code.nfix, 400, 400));
	ki_long_code_free(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ki_site_regs site = {0}, nowhere = {0};

	in = (struct input){.p = data, .end = data + size};
	site.dead = word();
	site.pushed = byte();
	site.at_entry = byte() & 1;
	site.at_exit = byte() & 1;
	check(!ki_snippet_new(&in.s));
	build();
	use(&site);
	use(&nowhere);
	ki_snippet_free(in.s);
	return 0;
}
