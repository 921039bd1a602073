// SPDX-License-Identifier: GPL-2.0-only
#include "common_walk.h"

#include <stdarg.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "kerninst/program.h"

void walk_functions(walk_fn *fn, void *ctx)
{
	const char *image = getenv("KI_TEST_IMAGE");
	struct ki_err err = {0};
	struct ki_target *t;
	size_t n, k = 0;
	const struct ki_symbol *all, **some;

	if (ki_target_new_with_map(image ? image : "/lib/x86_64-linux-gnu/libc.so.6",
				   getenv("KI_TEST_MAP"), &t, &err))
		fail_msg("%s", err.msg);
	all = ki_target_symbols(t, &n);
	some = malloc(n * sizeof(*some));
	for (size_t i = 0; i < n; i++)
		if (!all[i].alias)
			some[k++] = &all[i];
	if (ki_functions_analyze(
		    t,
		    &(struct ki_functions_job){
			    .syms = some, .n = k, .threads = 1, .take = fn, .arg = ctx},
		    &err))
		fail_msg("%s", err.msg);
	free(some);
	ki_target_free(t);
}

uint32_t walk_draw(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33) % n;
}

bool walk_may_stop(const struct ki_function *fn, const struct ki_block *b)
{
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT ||
		    in->kind == KI_INSN_TRAP || in->flags & KI_INSN_EXTABLE)
			return true;
	}
	return false;
}
