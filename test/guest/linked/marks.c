// SPDX-License-Identifier: GPL-2.0-only
/*
 * marks: which short chunks that write global variables the driver accepts. Prints "ok NAME" or
 * "not ok NAME" for each case; nothing is installed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/splice.h"

static struct {
	struct ki_target *t;
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_place *place;
	uint32_t own;
} at;

static void die(const struct ki_err *err)
{
	printf("# %s\n", err->msg);
	exit(125);
}

static unsigned int refusal(const struct ki_code *code)
{
	struct ki_err err = {0};
	struct ki_plan *p;
	unsigned int reason;
	uint32_t id;

	if (ki_plan_new(&p) ||
	    ki_plan_add(p, &(struct ki_insertion){at.fn, &at.spans, at.place, 0}, code, &id, &err))
		die(&err);
	if (ki_plan_check(p, at.t, &err))
		die(&err);
	reason = ki_plan_refusal(p, id);
	ki_plan_free(p);
	return reason;
}

static void expect(const char *name, const struct ki_code *code, unsigned int want)
{
	unsigned int got = refusal(code);

	printf("%s %s\n", got == want ? "ok" : "not ok", name);
	if (got != want)
		printf("# %s, wanted %s\n", ki_reason_tag(got), ki_reason_tag(want));
}

static struct ki_code mark(uint64_t target)
{
	struct ki_code code;

	ki_snippet_mark(&code, at.own, 0);
	code.fix[0].target = target;
	return code;
}

static void marks(void)
{
	struct ki_code code = mark(at.own);

	expect("a byte of ours", &code, KI_R_OK);
	code = mark(at.own | 7ull << 32);
	expect("the last one of the word", &code, KI_R_OK);
	code = mark(at.own | 8ull << 32);
	expect("one behind it", &code, KI_R_NOT_YOUR_COUNTER);
	code = mark(at.own + 1);
	expect("another's word", &code, KI_R_NOT_YOUR_COUNTER);
	code = mark(UINT32_MAX);
	expect("no word", &code, KI_R_NOT_YOUR_COUNTER);
	code = mark(at.own);
	code.code[code.len - 1] = 2;
	expect("another value", &code, KI_R_BAD_CHUNK);
	code = mark(at.own);
	code.fix[0].tail = 0;
	expect("a field that ends elsewhere", &code, KI_R_BAD_FIXUP);
	code = mark(at.own);
	code.fix[0].off--;
	expect("a field elsewhere", &code, KI_R_BAD_FIXUP);
	code = mark(at.own);
	code.fix[0].kind = KI_FIX_PERCPU;
	expect("a field of another kind", &code, KI_R_BAD_FIXUP);
	code = mark(at.own);
	code.nfix = 0;
	memset(code.fix, 0, sizeof(code.fix));
	expect("no field", &code, KI_R_BAD_FIXUP);
	code = mark(at.own);
	code.len--;
	expect("cut off", &code, KI_R_BAD_CHUNK);
}

static void counts(void)
{
	struct ki_code code;

	ki_snippet_count_global(&code, at.own, false);
	expect("a count", &code, KI_R_OK);
	ki_snippet_count_global(&code, at.own, true);
	expect("that keeps the flags", &code, KI_R_OK);
	code.fix[0].target |= 1ull << 32;
	expect("in the middle of the word", &code, KI_R_NOT_YOUR_COUNTER);
	ki_snippet_count_global(&code, at.own + 1, false);
	expect("of another", &code, KI_R_NOT_YOUR_COUNTER);
	ki_snippet_count_global(&code, at.own, false);
	memmove(code.code, code.code + 1, --code.len);
	code.fix[0].off--;
	expect("without a lock", &code, KI_R_BAD_CHUNK);
}

int main(void)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	const struct ki_symbol *sym;
	struct ki_err err = {0};
	size_t n;

	if (ki_target_new_live(&at.t, &err))
		die(&err);
	sym = ki_target_symbol_named(at.t, "", "vfs_read", NULL);
	if (ki_function_analyze(at.t, sym, &at.fn, &err) || ki_spans_find(at.fn, &at.spans, &err) ||
	    ki_point_places(at.fn, &at.spans, &entry, &at.place, &n, &err) ||
	    ki_globals_take(at.t, 1, &at.own, &err))
		die(&err);
	marks();
	counts();
	free(at.place);
	ki_spans_free(&at.spans);
	ki_function_free(at.fn);
	ki_target_free(at.t);
	return 0;
}
