// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let a function of the kernel, or of a process, be another one for a second; or, of one caller,
 * only its direct calls, while all others go where they went. Both functions must take and return
 * the same: that cannot be checked, and the kernel (or the process) crashes if they do not.
 *
 * usage: replace [PID] [CALLER] FUNCTION OTHER
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kerninst/process.h"

static void told(void *arg, const struct ki_replacement *r, const struct ki_place *place)
{
	(void)arg;
	if (r->callee)
		printf("%s+0x%llx\n", r->in->name, (unsigned long long)(place->addr - r->in->addr));
}

int main(int argc, char **argv)
{
	const int pid = argc > 1 && isdigit((unsigned char)*argv[1]) ? atoi(argv[1]) : 0;
	struct ki_splice_process *s = NULL;
	struct ki_target *t = NULL;
	struct ki_plan *p = NULL;
	struct ki_err err = {0};
	int ret = pid ? ki_target_new_process(pid, &t, &err) : ki_target_new_live(&t, &err);
	struct ki_replacement r = {.told = told};

	argc -= pid != 0;
	argv += pid != 0;
	r.text = argc > 1 ? argv[1] : "";
	if (!ret && (argc == 3 || argc == 4)) {
		r.in = ki_target_symbol_named(t, NULL, argv[1], NULL);
		r.callee = argc == 4 ? ki_target_symbol_named(t, NULL, argv[2], NULL) : NULL;
		r.to = ki_target_symbol_named(t, NULL, argv[argc - 1], NULL);
	}
	if (!ret && (!r.in || !r.to || (argc == 4 && !r.callee)))
		ret = ki_err_set(&err, -ENOENT, 0, "%s: no such functions", r.text);
	ret = ret ? ret : ki_plan_new(&p);
	if (!ret)
		ret = ki_plan_replacement(p, t, &r, &err);
	if (!ret)
		ret = pid ? ki_process_new_whole(t, p, 0, &s, &err)
			  : ki_plan_apply(p, t, false, &err);
	if (!ret) {
		sleep(1);
		ret = pid ? ki_process_remove(s, &err) : ki_plan_remove(p, t, &err);
	}
	if (ret)
		fprintf(stderr, "replace: %s\n", err.msg);
	ki_process_free(s);
	ki_plan_free(p); /* this takes out what is still installed */
	ki_target_free(t);
	return ret != 0;
}
