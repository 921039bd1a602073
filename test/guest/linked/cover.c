// SPDX-License-Identifier: GPL-2.0-only
/*
 * cover: put a counter on every side of every instruction of functions, and run a command.
 *
 *	cover [-m] [-l] FUNCTION... -- COMMAND [ARGUMENT...]
 *	cover -e -- COMMAND [ARGUMENT...]
 *
 * Each counter keeps the flags, whether they are needed or not, so that each pushes. With -m the
 * functions are moved. With -l there is a long chunk, which pushes, decides, calls helpers and
 * writes records, before each third instruction. With -e counters at each instruction of the kernel
 * that has a row in its exception table, and at no other. Prints what is in place, how often it was
 * hit and in how many of the functions that were named, and ends with the command's status; 125 if
 * nothing could be put anywhere. Names that there are not are passed over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/record.h"
#include "kerninst/splice.h"

#define COVER_COUNTERS 64 /* of functions; the last one is that of all others */
#define COVER_FAULTS   64 /* after them: of faults that went on at a fixup */
#define COVER_EACH     3  /* instruction gets a long chunk */

struct cover {
	struct ki_target *target;
	struct ki_plan *plan;
	struct ki_ring_map *ring; /* -l */
	uint32_t counter;
	bool faulting, moving, lengthy; /* -e, -m, -l */
	unsigned int functions, sites, rows;
};

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "cover: %s: %s\n", what, err->msg);
	exit(125);
}

static uint32_t counter_of(const struct cover *c, bool fault)
{
	if (fault)
		return c->counter + COVER_FAULTS;
	return c->counter + (c->functions < COVER_COUNTERS ? c->functions : COVER_COUNTERS - 1);
}

/* A chunk there counts faults. */
static bool is_fault(const struct ki_insn *in, uint8_t where)
{
	return where == KI_TAKEN && in->flags & KI_INSN_EXTABLE && in->kind == KI_INSN_PLAIN;
}

static bool add_place(struct cover *c, const struct ki_function *fn, const struct ki_spans *spans,
		      const struct ki_insn *in, uint8_t where)
{
	struct ki_place place = {.addr = in->addr, .where = where};
	struct ki_err err = {0};
	struct ki_code code;
	uint32_t id;

	ki_snippet_count(&code, counter_of(c, is_fault(in, where)), true);
	return !ki_plan_add(c->plan, &(struct ki_insertion){fn, spans, &place, 0}, &code, &id,
			    &err);
}

/* counter += 1; if (counter % 3 == 1) record(nanotime, pid); everything is live. */
static bool add_long(struct cover *c, const struct ki_function *fn, const struct ki_spans *spans,
		     const struct ki_insn *in, uint8_t where)
{
	const struct ki_var v = {
		.kind = KI_VAR_CPU, .type = KI_U64, .first = counter_of(c, is_fault(in, where))};
	struct ki_place place = {.addr = in->addr, .where = where, .flags_live = true};
	struct ki_node *values[2], *count, *cond;
	struct ki_err err = {0};
	struct ki_snippet *s;
	uint32_t id;
	int ret;

	if (ki_snippet_new(&s))
		die("snippet", &err);
	values[0] = ki_expr_fact(s, KI_FACT_NANOTIME);
	values[1] = ki_expr_fact(s, KI_FACT_PID);
	count = ki_stmt_update(s, KI_UPDATE_ADD, &v, NULL, ki_expr_const(s, KI_U64, 1));
	cond = ki_expr_binary(s, KI_MOD, ki_expr_var(s, &v), ki_expr_const(s, KI_U64, 3));
	cond = ki_expr_binary(s, KI_EQ, cond, ki_expr_const(s, KI_U64, 1));
	ki_snippet_body(s, ki_stmt_append(s, ki_stmt_append(s, NULL, count),
					  ki_stmt_if(s, cond,
						     ki_stmt_record(s, ki_ring_number(c->ring), 1,
								    values, 2),
						     NULL)));
	if (ki_snippet_check(s, NULL, &err))
		die("snippet", &err);
	ret = ki_plan_add_snippet(c->plan, &(struct ki_insertion){fn, spans, &place, 0}, s, NULL,
				  &id, &err);
	ki_snippet_free(s);
	return !ret;
}

static bool falls_through(const struct ki_insn *in)
{
	return in->kind == KI_INSN_PLAIN || in->kind == KI_INSN_JCC;
}

static void add_insn(struct cover *c, const struct ki_function *fn, const struct ki_spans *spans,
		     uint32_t i)
{
	const struct ki_insn *in = &fn->insns[i];
	bool site = in->flags & (KI_INSN_EXTABLE | KI_INSN_BUG);

	if (c->faulting && !(in->flags & KI_INSN_EXTABLE))
		return;
	if (c->lengthy) {
		if (i % COVER_EACH == 0 && add_long(c, fn, spans, in, KI_BEFORE))
			c->sites += site;
		if (is_fault(in, KI_TAKEN))
			add_long(c, fn, spans, in, KI_TAKEN);
		return;
	}
	if (add_place(c, fn, spans, in, KI_BEFORE))
		c->sites += site;
	/* One side that there is not, and the driver leaves the function where it is. */
	if (!c->moving || falls_through(in))
		add_place(c, fn, spans, in, KI_AFTER);
	if (!c->moving || in->kind == KI_INSN_JCC || is_fault(in, KI_TAKEN))
		add_place(c, fn, spans, in, KI_TAKEN);
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
	if (c->moving && !fn->reason && ki_plan_move(c->plan, fn, &spans, &err))
		die(sym->name, &err);
	for (uint32_t i = 0; i < fn->ninsns; i++)
		add_insn(c, fn, &spans, i);
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

static void report_hits(struct cover *c)
{
	struct ki_counter_map *map;
	struct ki_err err = {0};
	unsigned int reached = 0;
	uint64_t n, all = 0;

	if (ki_counter_map_new(c->target, &map, &err))
		die("map", &err);
	for (uint32_t i = 0; i < COVER_COUNTERS; i++) {
		n = ki_counter_read(map, c->counter + i);
		reached += n != 0;
		all += n;
	}
	n = ki_counter_read(map, c->counter + COVER_FAULTS);
	ki_counter_map_free(map);
	printf("cover: %llu faults\n", (unsigned long long)n);
	printf("cover: %llu hits\n", (unsigned long long)all);
	if (!c->faulting)
		printf("cover: %u functions were reached\n", reached);
	if (c->ring)
		printf("cover: %llu records, %llu did not fit\n",
		       (unsigned long long)ki_ring_records(c->ring),
		       (unsigned long long)ki_ring_lost(c->ring));
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

static void open_all(struct cover *c)
{
	const struct ki_ring_options ring = {.size = sizeof(ring), .bytes = 1 << 16};
	struct ki_err err = {0};

	if (ki_target_new_live(&c->target, &err) || ki_plan_new(&c->plan) ||
	    ki_counters_take(c->target, COVER_COUNTERS + 1, &c->counter, &err) ||
	    (c->lengthy && ki_ring_map_new(c->target, &ring, &c->ring, &err)))
		die("open", &err);
	if (c->faulting)
		add_faulting(c);
}

int main(int argc, char **argv)
{
	struct cover c = {0};
	struct ki_err err = {0};
	int i, status;

	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
		c.faulting |= !strcmp(argv[i], "-e");
		c.moving |= !strcmp(argv[i], "-m");
		c.lengthy |= !strcmp(argv[i], "-l");
	}
	open_all(&c);
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
	if (c.moving)
		printf("cover: %zu functions were moved\n", ki_plan_moved(c.plan));
	report_refusals(&c);
	fflush(stdout);
	status = run(argv + i + 1);
	report_hits(&c);
	ki_ring_map_free(c.ring);
	ki_plan_free(c.plan);
	ki_target_free(c.target);
	return status;
}
