// SPDX-License-Identifier: GPL-2.0-only
/*
 * destroy SEED POINTS STEP LOAD [FUNCTION]: liveness proved by destruction.
 *
 * At POINTS random instructions of every STEPth function that can be touched, every bit of every
 * register and flag that ki_program_live does not report as live is inverted, each time the
 * instruction is executed, while LOAD runs. If something dead was alive, the load's results
 * change or the kernel dies. So many functions at a time as the text heap holds. LOAD is run
 * once before, and its output is what that of all later runs must be. With FUNCTION only %rax
 * after its returns is destroyed, which is alive: that must be noticed.
 *
 * A driver that takes any code is needed (KI_TEST_ANY_CODE). The code at a point:
 *
 *	pushfq				9c		in pieces of 8 registers
 *	xor  $mask, %reg		rex.w 81 /6	the mask sign-extended: dead parts are
 *	...					1, and all combinations can be said so
 *	popfq				9d
 *	pushfq; xorl $mask, (%rsp); popfq		dead flags
 *	counter						was it executed?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/program.h"
#include "kerninst/splice.h"

#define COUNTERS  32000
#define MAX_BATCH 9000 /* points that are installed together: what the text heap holds */
#define REGS_EACH 8

struct spot {
	uint32_t chunk, function;
};

static struct ki_target *target;
static struct ki_program *program;
static struct ki_plan *plan;
static struct ki_counter_map *map;
static struct spot spots[MAX_BATCH];
static uint32_t nspots, first, npoints;
static uint64_t state;
static uint8_t *hit; /* by function: some point of it was executed */
static uint64_t planted, executed, executions, dead_registers, dead_flags;
static struct ki_err err;

static void die(const char *what)
{
	fprintf(stderr, "destroy: %s: %s\n", what, err.msg);
	exit(1);
}

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((state >> 33) % n);
}

static void put(struct ki_code *c, const void *bytes, unsigned int n)
{
	memcpy(c->code + c->len, bytes, n);
	c->len = (uint8_t)(c->len + n);
}

static uint32_t dead_mask(ki_regset live, unsigned int r)
{
	uint32_t mask = 0;

	if (!(live & KI_REGSET_LOW(r)))
		mask |= 0xff;
	if (!(live & KI_REGSET_HIGH(r)))
		mask |= 0xff00;
	if (!(live & KI_REGSET_UPPER(r)))
		mask |= 0xffff0000;
	return mask;
}

/* The next few registers from *r on; false: there are none. */
static bool code_registers(struct ki_code *c, ki_regset live, unsigned int *r)
{
	static const uint8_t pushfq = 0x9c, popfq = 0x9d;
	unsigned int n = 0;

	memset(c, 0, sizeof(*c));
	put(c, &pushfq, 1);
	for (; *r < 16 && n < REGS_EACH; (*r)++) {
		uint32_t mask = dead_mask(live, *r);
		uint8_t xor
			[] = {(uint8_t)(*r < 8 ? 0x48 : 0x49), 0x81, (uint8_t)(0xf0 | (*r & 7))};

		if (!mask)
			continue;
		put(c, xor, sizeof(xor));
		put(c, &mask, 4);
		dead_registers += mask == UINT32_MAX;
		n++;
	}
	put(c, &popfq, 1);
	return n;
}

/* CF PF AF ZF SF OF in their places in RFLAGS. */
static bool code_flags(struct ki_code *c, ki_regset live)
{
	static const uint32_t bits[] = {1, 4, 16, 64, 128, 2048};
	static const uint8_t head[] = {0x9c, 0x81, 0x34, 0x24}, popfq = 0x9d;
	uint32_t mask = 0;

	for (unsigned int i = 0; i < 6; i++)
		if (!(live & KI_REGSET_CF << i))
			mask |= bits[i];
	memset(c, 0, sizeof(*c));
	put(c, head, sizeof(head));
	put(c, &mask, 4);
	put(c, &popfq, 1);
	dead_flags += mask != 0;
	return mask;
}

static bool plant(const struct ki_function *fn, const struct ki_spans *spans, uint32_t insn,
		  ki_regset live, uint32_t function)
{
	const struct ki_place at = {.addr = fn->insns[insn].addr};
	struct spot *s = &spots[nspots];
	struct ki_code code;
	unsigned int r = 0;
	uint32_t id;

	ki_snippet_count(&code, first + nspots, true);
	if (ki_plan_add(plan, &(struct ki_insertion){fn, spans, &at, 0}, &code, &s->chunk, NULL))
		return false;
	s->function = function;
	nspots++;
	while (code_registers(&code, live, &r))
		if (ki_plan_add(plan, &(struct ki_insertion){fn, spans, &at, 0}, &code, &id, &err))
			die("plan");
	if (code_flags(&code, live) &&
	    ki_plan_add(plan, &(struct ki_insertion){fn, spans, &at, 0}, &code, &id, &err))
		die("plan");
	return true;
}

/* npoints instructions of a function, or as many as can be touched in some tries. */
static void plant_function(uint32_t f, const struct ki_program_function *pf)
{
	struct ki_function *fn;
	struct ki_spans spans;
	ki_regset *live;
	uint32_t done = 0;

	if (pf->reason || !pf->ninsns || !(pf->flags & KI_FUNCTION_PARSED))
		return;
	if (ki_function_analyze(target, pf->symbol, &fn, &err) || ki_spans_find(fn, &spans, &err))
		die("analyse");
	live = malloc((fn->ninsns + 1) * sizeof(*live));
	if (!live || ki_program_live(program, fn, live, &err))
		die("liveness");
	for (uint32_t i = 0; i < 4 * npoints && done < npoints; i++) {
		uint32_t insn = pick(fn->ninsns);

		/* The first tries go to where a call of the function comes by. */
		if (i < npoints)
			insn = pick(fn->blocks[0].count);
		if (fn->insns[insn].reason || !ki_spans_at(&spans, fn, fn->insns[insn].addr))
			continue;
		done += plant(fn, &spans, insn, live[insn], f);
	}
	free(live);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

/* A lie: that nobody needs %rax after the returns of a function. */
static void plant_lie(const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(target, "", name, NULL);
	struct ki_point pt = {.kind = KI_POINT_EXIT};
	struct ki_place *places;
	struct ki_function *fn;
	struct ki_spans spans;
	size_t n;

	if (!sym || ki_function_analyze(target, sym, &fn, &err) ||
	    ki_spans_find(fn, &spans, &err) || ki_point_places(fn, &spans, &pt, &places, &n, &err))
		die(name);
	for (size_t i = 0; i < n; i++) {
		const struct ki_insn *in = ki_function_insn_at(fn, places[i].addr);

		if (!places[i].reason)
			plant(fn, &spans, (uint32_t)(in - fn->insns),
			      KI_REGSET_ALL & ~KI_REGSET_REG(KI_RAX), 0);
	}
	free(places);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static char *run_load(const char *load)
{
	static char out[2][4096];
	static int which;
	char *buf = out[which ^= 1];
	FILE *p = popen(load, "r");
	size_t n = p ? fread(buf, 1, sizeof(out[0]) - 1, p) : 0;

	buf[n] = 0;
	if (!p || pclose(p) || !n) {
		fprintf(stderr, "destroy: the load fails\n");
		exit(1);
	}
	return buf;
}

static void finish_batch(const char *load, const char *expected)
{
	static uint64_t before[MAX_BATCH];
	const char *got;

	for (uint32_t i = 0; i < nspots; i++)
		before[i] = ki_counter_read(map, first + i);
	if (ki_plan_apply(plan, target, true, &err))
		die("apply");
	got = run_load(load);
	if (ki_plan_remove(plan, target, &err))
		die("remove");
	if (strcmp(got, expected) != 0) {
		fprintf(stderr, "destroy: the load's results have changed:\n%s", got);
		exit(1);
	}
	for (uint32_t i = 0; i < nspots; i++) {
		uint64_t n = ki_counter_read(map, first + i) - before[i];

		planted += !ki_plan_refusal(plan, spots[i].chunk);
		executed += n != 0;
		executions += n;
		if (n)
			hit[spots[i].function] = 1;
	}
	fprintf(stderr, "destroy: %llu points, %llu executed\n", (unsigned long long)planted,
		(unsigned long long)executed);
	ki_plan_free(plan);
	nspots = 0;
	if (ki_plan_new(&plan))
		die("plan");
}

int main(int argc, char **argv)
{
	const struct ki_program_function *functions;
	uint32_t n, nhit = 0, step;
	static char expected[4096];

	if (argc < 5) {
		fprintf(stderr, "usage: destroy SEED POINTS STEP LOAD [FUNCTION]\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0);
	npoints = (uint32_t)atoi(argv[2]);
	step = (uint32_t)atoi(argv[3]);
	snprintf(expected, sizeof(expected), "%s", run_load(argv[4]));
	if (strcmp(run_load(argv[4]), expected) != 0) {
		fprintf(stderr, "destroy: the load is not the same twice\n");
		return 1;
	}
	if (ki_target_new_live(&target, &err) || ki_program_new(target, NULL, &program, &err) ||
	    ki_counters_take(target, COUNTERS, &first, &err) ||
	    ki_counter_map_new(target, &map, &err) || ki_plan_new(&plan))
		die("open");
	functions = ki_program_functions(program, &n);
	hit = calloc(n, 1);
	if (argc > 5)
		plant_lie(argv[5]);
	for (uint32_t f = (uint32_t)state % step; argc == 5 && f < n; f += step) {
		plant_function(f, &functions[f]);
		if (nspots + npoints > MAX_BATCH)
			finish_batch(argv[4], expected);
	}
	finish_batch(argv[4], expected);
	for (uint32_t f = 0; f < n; f++)
		nhit += hit[f];
	printf("planted %llu executed %llu executions %llu functions %u registers %llu flags %llu\n",
	       (unsigned long long)planted, (unsigned long long)executed,
	       (unsigned long long)executions, nhit, (unsigned long long)dead_registers,
	       (unsigned long long)dead_flags);
	ki_plan_free(plan);
	ki_counter_map_free(map);
	ki_program_free(program);
	ki_target_free(target);
	return 0;
}
