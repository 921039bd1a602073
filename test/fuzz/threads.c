/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads IMAGE [SYSTEM_MAP]: its program, built by four threads and asked by four; for the thread
 * sanitizer. Built twice, since what is read when it is first asked for is there the second time.
 */
#include <pthread.h>
#include <stdio.h>

#include "common_program.h"

#define THREADS 4
#define ASKED	64

static void *ask(void *arg)
{
	const struct ki_program *p = arg;
	uint32_t n, asked = 0;
	const struct ki_program_function *pf = ki_program_functions(p, &n);

	for (uint32_t f = 0; f < n; f++) {
		uint64_t addr = pf[f].symbol->addr;
		ki_regset live;

		check(ki_program_function_at(p, addr) == f);
		check(!pf[f].nblocks || ki_program_insn_at(p, addr));
		if (pf[f].nblocks && pf[f].ninsns < 100 && asked++ < ASKED)
			check(!ki_live_at(p, addr, &live, NULL));
	}
	return NULL;
}

static void build(struct ki_target *t)
{
	struct ki_program_options o = {.size = sizeof(o), .threads = THREADS};
	pthread_t threads[THREADS];
	struct ki_program *p;

	check(!ki_program_new(t, &o, &p, NULL));
	for (int i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, ask, p));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ki_program_free(p);
}

int main(int argc, char **argv)
{
	struct ki_err err = {0};
	struct ki_target *t;
	int ret = argc > 2 ? ki_target_new_with_map(argv[1], argv[2], &t, &err)
			   : ki_target_new_image(argc > 1 ? argv[1] : "", &t, &err);

	if (ret) {
		fprintf(stderr, "threads: %s\n", err.msg);
		return 1;
	}
	build(t);
	build(t);
	ki_target_free(t);
	return 0;
}
