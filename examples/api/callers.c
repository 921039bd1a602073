// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who calls a function directly, and from where, in all code of the kernel or of a process.
 *
 * usage: callers [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>

#include "kerninst/program.h"

static int show(const struct ki_program *p, uint64_t addr, struct ki_err *err)
{
	const uint32_t number = ki_program_function_at(p, addr);
	struct ki_program_call call;
	const uint32_t *calls;
	const struct ki_program_function *functions;
	uint32_t n;

	functions = ki_program_functions(p, &n);
	if (number == KI_NONE)
		return ki_err_set(err, -1, 0, "nothing is known of it");
	calls = ki_program_callers(p, number, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct ki_symbol *by;

		if (ki_program_call(p, calls[i], &call))
			continue;
		by = functions[call.caller].symbol;
		printf("%s %s+0x%llx\n", ki_edge_kind_name(call.kind), by->name,
		       (unsigned long long)(call.from - by->addr));
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct ki_program_options o = {.size = sizeof(o), .no_liveness = true};
	const char *name = argc > 1 ? argv[argc - 1] : "";
	const struct ki_symbol *sym = NULL;
	struct ki_program *program = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	int ret = argc > 2 ? ki_target_new_process(atoi(argv[1]), &t, &err)
			   : ki_target_new_live(&t, &err);

	if (!ret)
		sym = ki_target_symbol_named(t, NULL, name, NULL);
	if (!ret && !sym)
		ret = ki_err_set(&err, -1, 0, "no function '%s'", name);
	if (!ret)
		ret = ki_program_new(t, &o, &program, &err);
	if (!ret)
		ret = show(program, sym->addr, &err);
	if (ret)
		fprintf(stderr, "callers: %s\n", err.msg);
	ki_program_free(program);
	ki_target_free(t);
	return ret != 0;
}
