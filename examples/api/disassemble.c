// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function's instructions: address, bytes as they stand there now, text. Where the bytes are not
 * the original ones (something has been put in), the line begins with '*'.
 *
 * usage: disassemble [PID] FUNCTION
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/code.h"

static int show(const struct ki_function *fn, const struct ki_insn *in, struct ki_err *err)
{
	uint8_t now[16];
	char text[160];
	int ret = ki_target_read(fn->target, in->addr, now, in->len, KI_VIEW_LIVE, err);

	if (ret)
		return ret;
	printf("%c %016llx ", memcmp(now, fn->bytes + (in->addr - fn->start), in->len) ? '*' : ' ',
	       (unsigned long long)in->addr);
	for (unsigned int i = 0; i < in->len; i++)
		printf(" %02x", now[i]);
	ki_insn_format(fn, in, text, sizeof(text));
	printf("%*s  %s\n", 3 * (15 - in->len), "", text);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[argc - 1] : "";
	const struct ki_symbol *sym = NULL;
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
	for (uint32_t i = 0; !ret && i < fn->ninsns; i++)
		ret = show(fn, &fn->insns[i], &err);
	if (ret)
		fprintf(stderr, "disassemble: %s\n", err.msg);
	ki_function_free(fn);
	ki_target_free(t);
	return ret != 0;
}
