// SPDX-License-Identifier: GPL-2.0-only
/*
 * cover: put a counter on every side of every instruction of functions, and run a command.
 *
 *	cover FUNCTION... -- COMMAND [ARGUMENT...]
 *	cover -e -- COMMAND [ARGUMENT...]
 *
 * Each counter keeps the flags, whether they are needed or not, so that each pushes. With -e at
 * each instruction of the kernel that has a row in its exception table, and at no other. Prints
 * what is in place, and ends with the command's status; 125 if nothing could be put anywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/splice.h"

struct cover {
	struct ki_target *target;
	struct ki_plan *plan;
	uint32_t counter;
	bool faulting; /* -e */
	unsigned int functions, sites, rows;
};

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "cover: %s: %s\n", what, err->msg);
	exit(125);
}

static bool add_place(struct cover *c, const struct ki_function *fn, const struct ki_spans *spans,
		      uint64_t addr, uint8_t where)
{
	struct ki_place place = {.addr = addr, .where = where};
	struct ki_err err = {0};
	struct ki_code code;
	uint32_t id;

	ki_snippet_count(&code, c->counter, true);
	return !ki_plan_add(c->plan, fn, spans, &place, 0, &code, &id, &err);
}

static void add_function(struct cover *c, const struct ki_symbol *sym)
{
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_err err = {0};

	if (ki_function_analyze(c->target, sym, &fn, &err))
		die(sym->name, &err);
	if (ki_spans_find(fn, &spans, &err))
		die(sym->name, &err);
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];
		bool site = in->flags & (KI_INSN_EXTABLE | KI_INSN_BUG);

		if (c->faulting && !(in->flags & KI_INSN_EXTABLE))
			continue;
		if (add_place(c, fn, &spans, in->addr, KI_BEFORE))
			c->sites += site;
		add_place(c, fn, &spans, in->addr, KI_AFTER);
		add_place(c, fn, &spans, in->addr, KI_TAKEN);
	}
	c->functions++;
	ki_spans_free(&spans);
	ki_function_free(fn);
}

/* The functions of the kernel that the exception table knows. */
static void add_faulting(struct cover *c)
{
	const struct ki_text_range *kernel = ki_target_ranges(c->target, &(size_t){0});
	const struct ki_symbol *sym, *last = NULL;
	const struct ki_reserved_row *rows;
	struct ki_err err = {0};
	size_t n;

	if (ki_target_reserved(c->target, kernel->start, kernel->end, &rows, &n, &err))
		die("reserved", &err);
	for (size_t i = 0; i < n; i++) {
		c->rows += rows[i].reason == KI_R_EXTABLE;
		sym = rows[i].reason == KI_R_EXTABLE ? ki_target_symbol_at(c->target, rows[i].addr)
						     : NULL;
		if (sym && sym != last)
			add_function(c, last = sym);
	}
}

static int run(char **command)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

static uint64_t hits(struct cover *c)
{
	struct ki_counter_map *map;
	struct ki_err err = {0};
	uint64_t n;

	if (ki_counter_map_open(c->target, &map, &err))
		die("map", &err);
	n = ki_counter_read(map, c->counter);
	ki_counter_map_close(map);
	return n;
}

static void report_refusals(struct cover *c)
{
	uint32_t count[KI_R_COUNT] = {0};

	for (uint32_t id = 0; id < ki_plan_chunks(c->plan); id++)
		count[ki_plan_refusal(c->plan, id)]++;
	for (unsigned int r = KI_R_OK + 1; r < KI_R_COUNT; r++)
		if (count[r])
			printf("cover: %u chunks refused: %s\n", count[r], ki_reason_tag(r));
}

int main(int argc, char **argv)
{
	struct cover c = {0};
	struct ki_err err = {0};
	int i = 1, status;

	if (i < argc && !strcmp(argv[i], "-e"))
		c.faulting = i++;
	if (ki_target_open_live(&c.target, &err) || ki_plan_new(&c.plan) ||
	    ki_counters_take(c.target, 1, &c.counter, &err))
		die("open", &err);
	if (c.faulting)
		add_faulting(&c);
	for (; i < argc && strcmp(argv[i], "--"); i++) {
		const struct ki_symbol *sym = ki_target_symbol_named(c.target, NULL, argv[i], NULL);

		if (sym)
			add_function(&c, sym);
	}
	if (i + 1 >= argc)
		return 125;
	if (ki_plan_apply(c.plan, c.target, true, &err))
		die("apply", &err);
	printf("cover: %u functions, %zu windows, %zu chunks, %u sites of %u rows\n", c.functions,
	       ki_plan_windows(c.plan), ki_plan_chunks(c.plan), c.sites, c.rows);
	report_refusals(&c);
	fflush(stdout);
	status = run(argv + i + 1);
	printf("cover: %llu hits\n", (unsigned long long)hits(&c));
	ki_plan_free(c.plan);
	ki_target_close(c.target);
	return status;
}
