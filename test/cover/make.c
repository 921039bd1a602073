/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes coverages without a kernel.
 *
 *	make run MODE SHIFT OUT PROGRAM [ARG...]	what a program, static and not
 *			position-independent, executes: one step of ptrace after the other, so
 *			nothing is guessed. Addresses in OUT are SHIFT higher than they were.
 *	make image MODE SEED OUT FILE [SYSTEM-MAP]	all functions of a file, with counts drawn
 *			by lot
 *
 * Functions of which no block can be told apart are left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cover/coverage.h"
#include "util/vec.h"

struct maker {
	struct ki_coverage *c;
	uint64_t shift, random;
	bool edges;
	ki_vec(struct ki_cover_block) blocks;
	ki_vec(struct ki_cover_edge) edge;
	ki_vec(uint64_t)
		leaves; /* of each edge: the instruction it leaves from, and where it goes */
	ki_vec(uint64_t) leads;
	ki_vec(bool) calls; /* it leaves from a call: when that has come back */
	struct ki_err err;
};

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "make: %s: %s\n", what, err ? err->msg : strerror(errno));
	exit(1);
}

static void must(bool good, const char *what)
{
	if (!good)
		die(what, NULL);
}

static uint64_t draw(struct maker *m)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return m->random >> 33;
}

/* Half of the functions are not executed; counts are of very different sizes. */
static uint64_t draw_count(struct maker *m, bool executed)
{
	if (!executed || draw(m) % 3 == 0)
		return 0;
	return m->c->mode == KI_COVER_HIT ? 1 : 1 + draw(m) % (1u << draw(m) % 20);
}

static bool is_call(const struct ki_insn *in)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT;
}

static int add(void *arg, size_t i, const struct ki_function *fn)
{
	struct maker *m = arg;
	struct ki_cover_function f = {.name = fn->symbol->name,
				      .module = *fn->symbol->module ? fn->symbol->module : NULL,
				      .addr = fn->start + m->shift,
				      .size = (uint32_t)(fn->end - fn->start),
				      .reason = fn->reason,
				      .nblocks = fn->nblocks};
	bool executed = m->random && draw(m) % 2;

	(void)i;
	if (!fn->nblocks)
		return 0;
	m->blocks.n = m->edge.n = 0;
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		struct ki_cover_block k = {
			.off = (uint32_t)(fn->blocks[b].start - fn->start),
			.len = (uint32_t)(fn->blocks[b].end - fn->blocks[b].start)};

		if (fn->reason && m->random) {
			k.how = KI_COVER_UNKNOWN;
			k.reason = fn->reason;
		} else if (m->random && draw(m) % 100 == 0) {
			k.how = KI_COVER_UNKNOWN;
			k.reason = KI_R_FTRACE_SITE;
		} else if (m->random) {
			k.how = draw(m) % 3 ? KI_COVER_PROBED : KI_COVER_IMPLIED;
			k.count = draw_count(m, executed);
		}
		must(!ki_vec_push(&m->blocks, k), "memory");
	}
	for (uint32_t e = 0; e < fn->nedges && m->edges; e++) {
		const struct ki_edge *from = &fn->edges[e];
		struct ki_cover_edge k = {
			.from = from->block, .to = from->to_block, .kind = from->kind};

		if (from->kind > KI_EDGE_FIXUP)
			continue;
		if (m->random)
			k.count = m->c->mode == KI_COVER_EDGES ? m->blocks.v[k.from].count : 0;
		must(!ki_vec_push(&m->edge, k) &&
			     !ki_vec_push(&m->leaves, fn->insns[from->insn].addr) &&
			     !ki_vec_push(&m->leads, from->to) &&
			     !ki_vec_push(&m->calls, is_call(&fn->insns[from->insn])),
		     "memory");
	}
	f.nedges = (uint32_t)m->edge.n;
	return ki_coverage_append(m->c, &f, m->blocks.v, m->edge.v, &m->err);
}

static void make(struct maker *m, const char *mode, const char *image, const char *map)
{
	const struct ki_symbol *all, **own;
	struct ki_target *t;
	size_t n, count = 0;
	int ret, number = 0;

	while (number < KI_COVER_MODES &&
	       strcmp(ki_cover_mode_name((unsigned int)number), mode) != 0)
		number++;
	must(number < KI_COVER_MODES && !ki_coverage_new(number, &m->c, NULL), mode);
	m->edges = number == KI_COVER_EDGES;
	ret = map ? ki_target_new_with_map(image, map, &t, &m->err)
		  : ki_target_new_image(image, &t, &m->err);
	if (ret)
		die(image, &m->err);
	all = ki_target_symbols(t, &n);
	own = calloc(n + 1, sizeof(*own));
	must(own != NULL, "memory");
	for (size_t i = 0; i < n; i++)
		if (!all[i].alias && all[i].size && all[i].size < UINT32_MAX)
			own[count++] = &all[i];
	if (ki_functions_analyze(
		    t,
		    &(struct ki_functions_job){
			    .syms = own, .n = count, .threads = 2, .take = add, .arg = m},
		    &m->err))
		die(image, &m->err);
	free(own);
	ki_target_free(t);
}

static struct ki_cover_function *function_at(struct ki_coverage *c, uint64_t addr)
{
	size_t low = 0, high = c->nfunctions;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c->functions[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr - c->functions[low - 1].addr < c->functions[low - 1].size
		       ? &c->functions[low - 1]
		       : NULL;
}

static bool count_edge(struct maker *m, const struct ki_cover_function *f, uint64_t before,
		       uint64_t addr, bool back)
{
	for (uint32_t e = f ? f->first_edge : 0; f && e < f->first_edge + f->nedges; e++)
		if (m->leads.v[e] == addr && (back ? m->calls.v[e] : m->leaves.v[e] == before)) {
			m->c->edges[e].count++;
			return true;
		}
	return false;
}

/* The instruction at `addr` is executed next; the one before it was at `before`. */
static void step(struct maker *m, uint64_t before, uint64_t addr)
{
	struct ki_coverage *c = m->c;
	struct ki_cover_function *f = function_at(c, addr + m->shift);
	uint64_t most = c->mode == KI_COVER_HIT ? 1 : UINT64_MAX;

	for (uint32_t b = f ? f->first_block : 0; f && b < f->first_block + f->nblocks; b++)
		if (f->addr + c->blocks[b].off == addr + m->shift && c->blocks[b].count < most)
			c->blocks[b].count++;
	if (c->mode != KI_COVER_EDGES ||
	    count_edge(m, function_at(c, before + m->shift), before, addr, false))
		return;
	if (function_at(c, before + m->shift) != f)
		count_edge(m, f, before, addr, true);
}

static void run(struct maker *m, char **program)
{
	pid_t pid = fork();
	uint64_t before = 0;
	int status;

	must(pid >= 0, "fork");
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(*program, program);
		_exit(127);
	}
	for (;;) {
		struct user_regs_struct regs;

		must(waitpid(pid, &status, 0) == pid, "waitpid");
		if (!WIFSTOPPED(status))
			break;
		must(!ptrace(PTRACE_GETREGS, pid, NULL, &regs), "ptrace");
		step(m, before, regs.rip);
		before = regs.rip;
		must(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "ptrace");
	}
	must(WIFEXITED(status) && WEXITSTATUS(status) == 0, *program);
}

int main(int argc, char **argv)
{
	struct maker m = {0};
	bool runs = argc > 5 && !strcmp(argv[1], "run");
	struct timespec start, end;
	FILE *out;

	if (!runs && (argc < 6 || strcmp(argv[1], "image") != 0)) {
		fputs("usage: see the file's head\n", stderr);
		return 2;
	}
	if (runs)
		m.shift = strtoull(argv[3], NULL, 0);
	else
		m.random = strtoull(argv[3], NULL, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	make(&m, argv[2], argv[5], runs ? NULL : argv[6]);
	if (runs)
		run(&m, argv + 5);
	clock_gettime(CLOCK_MONOTONIC, &end);
	m.c->release = "6.1.0-example";
	m.c->command = ki_coverage_intern(m.c, argv[5]);
	m.c->totals.seconds_run =
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	ki_coverage_total(m.c);
	out = fopen(argv[4], "we");
	must(out && !ki_coverage_write_json(m.c, out) && !fclose(out), argv[4]);
	ki_coverage_free(m.c);
	return 0;
}
