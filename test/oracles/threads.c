// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same program by one thread, two, and seven.
 */
#include <xxhash.h>

#include "oracles.h"

static void hash_functions(XXH64_state_t *h, const struct ki_program *p)
{
	uint32_t n;
	const struct ki_program_function *f = ki_program_functions(p, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t ncallers;
		const uint32_t *callers = ki_program_callers(p, i, &ncallers);
		const uint64_t words[] = {(uintptr_t)f[i].symbol,
					  f[i].parent,
					  f[i].first_block,
					  f[i].nblocks,
					  f[i].ninsns,
					  f[i].first_call,
					  f[i].ncalls,
					  f[i].code_size,
					  f[i].reason,
					  f[i].flags,
					  ncallers};

		XXH64_update(h, words, sizeof(words));
		XXH64_update(h, callers, ncallers * sizeof(*callers));
	}
}

static void hash_rest(XXH64_state_t *h, const struct ki_program *p)
{
	struct ki_program_block b;
	struct ki_program_edge e;
	struct ki_program_call c;

	for (uint32_t i = 0; !ki_program_block(p, i, &b); i++)
		XXH64_update(h,
			     (const uint64_t[]){b.start, b.end, b.function, b.first_edge, b.nedges},
			     40);
	for (uint32_t i = 0; !ki_program_edge(p, i, &e); i++)
		XXH64_update(h, (const uint64_t[]){e.from, e.to, e.to_block, e.kind}, 32);
	for (uint32_t i = 0; !ki_program_call(p, i, &c); i++)
		XXH64_update(h, (const uint64_t[]){c.from, c.to, c.caller, c.callee, c.kind}, 40);
}

/* Of some functions: it takes much longer to ask for all than to find it out. */
static void hash_live(XXH64_state_t *h, struct ki_target *t, const struct ki_program *p)
{
	uint32_t n;
	const struct ki_program_function *f = ki_program_functions(p, &n);

	for (uint32_t i = 0; i < n; i += 1 + n / 4000) {
		struct ki_function *fn;
		ki_regset *live;

		if (ki_function_analyze(t, f[i].symbol, &fn, NULL))
			continue;
		live = calloc(fn->ninsns + 1ull, sizeof(*live));
		if (live && !ki_program_live(p, fn, live, NULL))
			XXH64_update(h, live, fn->ninsns * sizeof(*live));
		free(live);
		ki_function_free(fn);
	}
}

static uint64_t hash_program(struct ki_target *t, const struct ki_program *p)
{
	XXH64_state_t *h = XXH64_createState();
	uint64_t digest;

	XXH64_reset(h, 0);
	hash_functions(h, p);
	hash_rest(h, p);
	hash_live(h, t, p);
	digest = XXH64_digest(h);
	XXH64_freeState(h);
	return digest;
}

void check_threads(struct oracles *o)
{
	static const unsigned int counts[] = {1, 2, 7};
	uint64_t want = hash_program(o->t, o->p);

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		const struct ki_program_options options = {.size = sizeof(options),
							   .threads = counts[i]};
		struct ki_program *p;

		looked(o, 1);
		if (ki_program_new(o->t, &options, &p, NULL)) {
			differ(o, CAUSE_THREADS, 0, "%u threads: it fails", counts[i]);
			continue;
		}
		if (hash_program(o->t, p) != want)
			differ(o, CAUSE_THREADS, 0, "%u threads: another result", counts[i]);
		ki_program_free(p);
	}
}
