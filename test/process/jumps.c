// SPDX-License-Identifier: GPL-2.0-only
/*
 * jumps STEPS PID: where indirect jumps inside functions really lead. The process is executed
 * instruction by instruction, so many of its first thread's, and let go. Each jump that stays in a
 * function must be one of the edges that the library has found. A function that is refused is
 * passed over.
 *
 * Prints "jumps N" that were executed, "ways N" of them that are different ones, "guessed N"
 * functions with some whose tables nothing bounds, and "wrong N"; and each of the wrong ones. Each
 * function with such jumps is named with how many ways it was seen to take: "FUNCTION N of N".
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "kerninst/code.h"
#include "kerninst/process.h"

struct seen {
	struct ki_function *fn; /* NULL: refused, or cannot be read */
	bool looked_at;
	uint8_t *taken; /* by edge */
	unsigned long ways;
};

struct stepper {
	struct ki_target *t;
	struct seen *seen; /* by symbol */
	const struct ki_symbol *symbols;
	size_t nsymbols;
	unsigned long jumps, ways, wrong;
};

static struct seen *seen_at(struct stepper *s, uint64_t addr)
{
	const struct ki_symbol *sym = ki_target_symbol_at(s->t, addr);
	struct seen *f;

	if (!sym)
		return NULL;
	f = &s->seen[sym - s->symbols];
	if (!f->looked_at) {
		struct ki_err err = {0};

		f->looked_at = true;
		if (!ki_function_analyze(s->t, sym, &f->fn, &err) && f->fn->reason) {
			ki_function_free(f->fn);
			f->fn = NULL;
		}
		f->taken = f->fn ? calloc(f->fn->nedges + 1, 1) : NULL;
	}
	return f->fn ? f : NULL;
}

/* Instruction `insn` of f has jumped to a place in f. */
static void look_at(struct stepper *s, struct seen *f, uint32_t insn, uint64_t to)
{
	const struct ki_function *fn = f->fn;

	s->jumps++;
	for (uint32_t e = 0; e < fn->nedges; e++) {
		if (fn->edges[e].insn != insn || fn->edges[e].to != to)
			continue;
		f->ways += !f->taken[e];
		s->ways += !f->taken[e];
		f->taken[e] = 1;
		return;
	}
	if (s->wrong++ < 20)
		printf("%s+0x%" PRIx64 " leads to +0x%" PRIx64 "\n", fn->symbol->name,
		       fn->insns[insn].addr - fn->start, to - fn->start);
}

static void look_back(struct stepper *s, uint64_t from, uint64_t to)
{
	struct seen *f = seen_at(s, from);
	const struct ki_insn *in = f ? ki_function_insn_at(f->fn, from) : NULL;

	if (in && in->kind == KI_INSN_JMP_INDIRECT && to > f->fn->start && to < f->fn->end)
		look_at(s, f, (uint32_t)(in - f->fn->insns), to);
}

static int step(struct stepper *s, pid_t pid, unsigned long steps)
{
	struct user_regs_struct regs;
	uint64_t last = 0;
	int status, sig = 0;

	while (steps--) {
		if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
			return -1;
		if (last)
			look_back(s, last, regs.rip);
		last = regs.rip;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)sig) ||
		    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return -1;
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	return 0;
}

static void print(const struct stepper *s)
{
	unsigned long guessed = 0;

	for (size_t i = 0; i < s->nsymbols; i++) {
		const struct seen *f = &s->seen[i];
		unsigned long tables = 0;

		if (!f->ways)
			continue;
		for (uint32_t e = 0; e < f->fn->nedges; e++)
			tables += f->fn->edges[e].kind == KI_EDGE_TABLE;
		guessed += f->fn->guessed;
		printf("%s %lu of %lu\n", f->fn->symbol->name, f->ways, tables);
	}
	printf("jumps %lu\nways %lu\nguessed %lu\nwrong %lu\n", s->jumps, s->ways, guessed,
	       s->wrong);
}

int main(int argc, char **argv)
{
	struct stepper s = {0};
	struct ki_err err = {0};
	int status;
	pid_t pid;

	if (argc != 3)
		return fprintf(stderr, "usage: jumps STEPS PID\n"), 2;
	pid = (pid_t)strtol(argv[2], NULL, 10);
	if (ki_target_new_process(pid, &s.t, &err))
		return fprintf(stderr, "jumps: %s\n", err.msg), 1;
	s.symbols = ki_target_symbols(s.t, &s.nsymbols);
	s.seen = calloc(s.nsymbols, sizeof(*s.seen));
	if (!s.seen || ptrace(PTRACE_ATTACH, pid, NULL, NULL) ||
	    waitpid(pid, &status, __WALL) != pid)
		return fprintf(stderr, "jumps: %s\n", strerror(errno)), 1;
	status = step(&s, pid, strtoul(argv[1], NULL, 10));
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	print(&s);
	if (status)
		fprintf(stderr, "jumps: the process ended\n");
	for (size_t i = 0; i < s.nsymbols; i++) {
		ki_function_free(s.seen[i].fn);
		free(s.seen[i].taken);
	}
	free(s.seen);
	ki_target_free(s.t);
	return status || s.wrong;
}
