// SPDX-License-Identifier: GPL-2.0-only
/*
 * reach MODULE LAYOUTS COMMAND [ARGUMENT...]: how the instructions of a module can be reached, and
 * in how many layouts of the address space. The command is started so often, looked at before its
 * first instruction, and killed. Nothing is written into it.
 *
 * Prints "insns N", of these "reserved N" (they may not be displaced), "unknown N" (in functions
 * that are refused) and "after N" (one-byte nops after calls of Go's that do not return, which
 * nothing executes), "jump N", "bounce N" and "trap N" of the others, and with -v why. Windows are
 * the same wherever a module is. What depends on the layout is whether there is room, where jumps
 * from all of it reach, for patches of all its instructions: "layouts N", "room N". Last
 * "seconds N.NNN", of the analysis, and "megabytes N", the most that all of it has taken.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/process.h"
#include "process/linked.h"

#define PATCH 96 /* bytes of one instruction's: a counter, its copy, a share of jumps */

struct reach {
	const char *module;
	char **command;
	unsigned long insns, unknown, behind, boards[KI_BOARD_KINDS];
	unsigned long reserved[KI_R_COUNT], refused[KI_R_COUNT];
	double seconds;
};

static int fail(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "reach: %s: %s\n", what, err->msg);
	return 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static pid_t begin(const struct reach *r, struct ki_process_launch **launch)
{
	struct ki_err err = {0};
	int go[2];
	pid_t pid;
	char byte;

	if (pipe(go))
		return 0;
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			execvp(r->command[0], r->command);
		_exit(127);
	}
	if (ki_process_launch_new(pid, launch, &err) || write(go[1], "", 1) != 1 ||
	    ki_process_reach_entry(*launch, &err)) {
		fail(r->command[0], &err);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(go[0]);
	close(go[1]);
	return pid;
}

static void end(pid_t pid, struct ki_process_launch *launch)
{
	ki_process_launch_free(launch);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Go's compiler puts a nop after a call of what panics, for the sake of its return address. */
static bool is_behind(const struct ki_function *fn, const struct ki_insn *in)
{
	static const char *const ends[] = {"runtime.panic", "runtime.goPanic", "runtime.gopanic",
					   "runtime.throw", "runtime.fatal"};
	const struct ki_symbol *sym;

	if (in == fn->insns || in->len != 1 || fn->bytes[in->addr - fn->start] != 0x90 ||
	    in[-1].kind != KI_INSN_CALL)
		return false;
	sym = ki_target_symbol_at(fn->target, in[-1].target);
	for (size_t i = 0; sym && i < sizeof(ends) / sizeof(*ends); i++)
		if (!strncmp(sym->name, ends[i], strlen(ends[i])))
			return true;
	return false;
}

static int look_at(void *arg, size_t i, const struct ki_function *fn)
{
	struct reach *r = arg;
	struct ki_err err = {0};
	struct ki_spans spans;

	(void)i;
	for (uint32_t k = 0; fn->reason && k < fn->ninsns; k++)
		if (fn->insns[k].kind != KI_INSN_PAD) {
			r->refused[fn->reason]++;
			r->unknown++;
			r->insns++;
		}
	if (fn->reason)
		return 0;
	if (ki_spans_find(fn, &spans, &err))
		return -1;
	for (uint32_t k = 0; k < fn->ninsns; k++) {
		const struct ki_insn *in = &fn->insns[k];
		const struct ki_span *s;

		if (in->kind == KI_INSN_PAD)
			continue;
		r->insns++;
		s = ki_spans_at(&spans, fn, in->addr);
		if (s && s->board == KI_BOARD_TRAP && is_behind(fn, in))
			r->behind++;
		else if (s)
			r->boards[s->board]++;
		else
			r->reserved[in->reason]++;
	}
	ki_spans_free(&spans);
	return 0;
}

static int analyze(struct reach *r, struct ki_target *t)
{
	size_t n, count = 0;
	const struct ki_symbol *all = ki_target_symbols(t, &n), **syms = malloc(n * sizeof(*syms));
	struct ki_err err = {0};
	double start = now();
	int ret;

	for (size_t i = 0; syms && i < n; i++)
		if (!all[i].alias && !strcmp(all[i].module, r->module))
			syms[count++] = &all[i];
	ret = !count ? ki_err_set(&err, -ENOENT, 0, "it has no functions")
		     : ki_functions_analyze(
			       t,
			       &(struct ki_functions_job){
				       .syms = syms, .n = count, .take = look_at, .arg = r},
			       &err);
	free(syms);
	r->seconds += now() - start;
	return ret ? fail(r->module, &err) : 0;
}

/* Where the module's code is in this layout. */
static bool find_code(const struct ki_mappings *maps, const char *module, uint64_t *lo,
		      uint64_t *hi)
{
	*lo = UINT64_MAX;
	*hi = 0;
	for (size_t i = 0; i < maps->m.n; i++) {
		const struct ki_mapping *m = &maps->m.v[i];
		const char *path = ki_mapping_path(maps, m), *name = strrchr(path, '/');

		if (!m->executable || !name || strcmp(name + 1, module))
			continue;
		*lo = m->start < *lo ? m->start : *lo;
		*hi = m->end > *hi ? m->end : *hi;
	}
	return *hi > *lo;
}

static bool has_room(const struct reach *r, pid_t pid)
{
	static const struct ki_linked none;
	struct ki_mappings maps;
	uint64_t lo, hi;
	bool room = !ki_mappings_read(&maps, pid) && find_code(&maps, r->module, &lo, &hi) &&
		    ki_room_find(&maps, &none, lo, hi, (PATCH * r->insns + 4095) & ~4095ul);

	ki_mappings_free(&maps);
	return room;
}

static int layout(struct reach *r, bool first, unsigned long *room)
{
	struct ki_process_launch *launch = NULL;
	struct ki_target *t = NULL;
	struct ki_err err = {0};
	pid_t pid = begin(r, &launch);
	double start = now();
	int ret = !pid;

	if (!ret && first && ki_target_new_process(pid, &t, &err))
		ret = fail("open", &err);
	r->seconds += first ? now() - start : 0;
	if (!ret && first)
		ret = analyze(r, t);
	if (!ret)
		*room += has_room(r, pid);
	ki_target_free(t);
	if (pid)
		end(pid, launch);
	return ret;
}

static void print(const struct reach *r, bool why)
{
	unsigned long reserved = 0;

	for (unsigned int k = 0; k < KI_R_COUNT; k++)
		reserved += r->reserved[k];
	printf("insns %lu\nreserved %lu\nunknown %lu\nbehind %lu\njump %lu\nbounce %lu\ntrap %lu\n",
	       r->insns, reserved, r->unknown, r->behind, r->boards[KI_BOARD_JMP],
	       r->boards[KI_BOARD_BOUNCE], r->boards[KI_BOARD_TRAP]);
	for (unsigned int k = 0; why && k < KI_R_COUNT; k++) {
		if (r->reserved[k])
			printf("  reserved: %lu %s\n", r->reserved[k], ki_reason_tag(k));
		if (r->refused[k])
			printf("  unknown: %lu %s\n", r->refused[k], ki_reason_tag(k));
	}
}

int main(int argc, char **argv)
{
	const bool why = argc > 1 && !strcmp(argv[1], "-v");
	struct reach r = {0};
	unsigned long room = 0, layouts;
	struct rusage use;

	argv += why;
	argc -= why;
	if (argc < 4) {
		fprintf(stderr, "usage: reach [-v] MODULE LAYOUTS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	r.module = argv[1];
	r.command = argv + 3;
	layouts = strtoul(argv[2], NULL, 10);
	for (unsigned long i = 0; i < layouts; i++)
		if (layout(&r, i == 0, &room))
			return 1;
	print(&r, why);
	getrusage(RUSAGE_SELF, &use);
	printf("layouts %lu\nroom %lu\nseconds %.3f\nmegabytes %ld\n", layouts, room, r.seconds,
	       use.ru_maxrss / 1024);
	return 0;
}
