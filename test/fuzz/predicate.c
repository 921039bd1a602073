/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as a predicate. It is refused with one line that says where, or it is
 * written, read again as the same, and compiled to code that the driver's own check lets pass.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common_drv.h"
#include "kerninst/predicate.h"

#define INSIDE_MOST 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void is_written_and_read(const struct ki_predicate *p)
{
	struct ki_predicate *again;
	char *first, *second;

	check(!ki_predicate_format(p, &first, NULL));
	check(!ki_predicate_new(first, &again, NULL));
	check(!ki_predicate_format(again, &second, NULL));
	check(!strcmp(first, second));
	ki_predicate_free(again);
	free(first);
	free(second);
}

static void compile(const struct ki_snippet *s)
{
	static const struct ki_site_regs site = {.at_entry = true, .at_exit = true};
	struct ki_err err = {0};
	struct ki_long_code code;
	char *text;
	int ret = ki_snippet_compile(s, &site, &code, &err);

	check(!ret || (ret == -E2BIG && err.code == ret));
	if (ret)
		return;
	check(!ki_snippet_listing(s, &code, &text, NULL));
	free(text);
	check(!code.len || !drv_vet_long(code.code, code.len, code.fix, code.nfix, 400, 400));
	ki_long_code_free(&code);
}

/* As an expression, or as a guard. */
static void is_compiled(const struct ki_predicate *p, bool guard)
{
	static const struct ki_var out = {.kind = KI_VAR_CPU, .type = KI_U64};
	struct ki_var inside[INSIDE_MOST];
	struct ki_err err = {0};
	struct ki_snippet *s;
	struct ki_node *n;
	int ret;

	for (uint32_t i = 0; i < INSIDE_MOST; i++)
		inside[i] = (struct ki_var){.kind = KI_VAR_THREAD, .type = KI_U64, .first = i};
	check(!ki_snippet_new(&s));
	if (guard) {
		n = ki_stmt_update(s, KI_SET, &out, NULL, ki_expr_const(s, KI_U64, 1));
		ret = ki_predicate_guard(p, s, inside, n, &n, &err);
	} else {
		ret = ki_predicate_build(p, s, inside, &n, &err);
		if (!ret)
			n = ki_stmt_update(s, KI_SET, &out, NULL, n);
	}
	check(!ret == !!n && ret == err.code);
	check(!ret || ret == -E2BIG || ret == -EINVAL || (ret == -EOPNOTSUPP && !guard));
	if (!ret) {
		ki_snippet_body(s, n);
		check(!ki_snippet_check(s, NULL, NULL));
		compile(s);
	}
	ki_snippet_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ki_err err = {0};
	struct ki_predicate *p;
	char *text = malloc(size + 1);
	int ret;

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = 0;
	ret = ki_predicate_new(text, &p, &err);
	free(text);
	check(!ret == !!p && ret == err.code);
	if (ret) {
		check(ret == -EINVAL && strstr(err.msg, "column ") && !strchr(err.msg, '\n'));
		return 0;
	}
	is_written_and_read(p);
	if (!ki_predicate_inside(p, INSIDE_MOST)) {
		is_compiled(p, true);
		is_compiled(p, false);
	}
	ki_predicate_free(p);
	return 0;
}
