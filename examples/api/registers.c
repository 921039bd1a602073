// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may be overwritten before each instruction of a function: registers and flags that nothing
 * uses any more, wherever control goes from there.
 *
 * usage: registers [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>

#include "kerninst/program.h"

static int show(const struct ki_program *p, const struct ki_function *fn, struct ki_err *err)
{
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];
		char text[160], set[160];
		ki_regset live;
		int ret;

		if (in->kind == KI_INSN_PAD)
			continue;
		ret = ki_live_at(p, in->addr, &live, err);
		if (ret)
			return ret;
		ki_insn_format(fn, in, text, sizeof(text));
		printf("+0x%-5llx %-44s free: %s\n", (unsigned long long)(in->addr - fn->start),
		       text, ki_regset_format(KI_REGSET_ALL & ~live, set, sizeof(set)));
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[argc - 1] : "";
	const struct ki_symbol *sym = NULL;
	struct ki_program *program = NULL;
	struct ki_function *fn = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = argc > 2 ? ki_target_new_process(atoi(argv[1]), &t, &err)
			   : ki_target_new_live(&t, &err);

	if (!ret)
		sym = ki_target_symbol_named(t, NULL, name, NULL);
	if (!ret && !sym)
		ret = ki_err_set(&err, -1, 0, "no function '%s'", name);
	if (!ret)
		ret = ki_function_analyze(t, sym, &fn, &err);
	if (!ret)
		ret = ki_program_new(t, NULL, &program, &err);
	if (!ret)
		ret = show(program, fn, &err);
	if (ret)
		fprintf(stderr, "registers: %s\n", err.msg);
	ki_program_free(program);
	ki_function_free(fn);
	ki_target_free(t);
	return ret != 0;
}
