// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks [nmi | kernel | contexts]: prints a line for each case, "ok NAME: ..." or
 * "not ok NAME: ..."; exits 0 if all are ok.
 */
#include "stacks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER_TEXT 0x40000 /* of the driver, before its heap, at most */

struct seen seen[SEEN];
unsigned int nseen;
static int failed;

void die(const char *what, const char *why)
{
	printf("not ok %s: %s\n", what, why);
	exit(2);
}

void report(const char *name, bool good, const char *fmt, ...)
{
	va_list ap;

	failed |= !good;
	printf("%s %s: ", good ? "ok" : "not ok", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* ---- sessions ---- */

void session_open(struct session *s, uint32_t frames, uint32_t rows)
{
	const struct ki_ring_options ring = {.bytes = 16u << 20};
	const struct ki_stacks_options stacks = {.frames = frames, .rows = rows};
	struct ki_err err = {0};

	*s = (struct session){0};
	if (ki_target_open_live(&s->t, &err) || ki_ring_open(s->t, &ring, &s->ring, &err) ||
	    ki_stacks_open(s->t, &stacks, &s->stacks, &err) || ki_plan_new(&s->plan))
		die("open", err.msg);
}

void session_close(struct session *s)
{
	ki_plan_free(s->plan);
	ki_ring_close(s->ring);
	ki_stacks_close(s->stacks);
	ki_target_close(s->t);
}

void begin(struct session *s)
{
	if (ki_snippet_new(&s->s))
		die("snippet", "no memory");
	s->n = 0;
}

void value(struct session *s, struct ki_node *v)
{
	s->v[s->n++] = v;
}

static void put_at(struct session *s, const struct ki_function *fn, const struct ki_spans *spans,
		   const struct ki_place *place)
{
	struct ki_site_regs site;
	struct ki_err err = {0};
	uint32_t id;

	ki_place_site(fn, place, NULL, &site);
	if (ki_plan_add_snippet(s->plan, fn, spans, place, 0, s->s, &site, &id, &err))
		die(fn->symbol->name, err.msg);
}

void put(struct session *s, const char *function, struct ki_node *only_if)
{
	const struct ki_symbol *sym = ki_target_symbol_named(s->t, "", function, NULL);
	const struct ki_point point = {.kind = KI_POINT_ENTRY};
	struct ki_err err = {0};
	struct ki_node *stmt = ki_stmt_record(s->s, ki_ring_number(s->ring), 1, s->v, s->n);
	struct ki_place *places;
	struct ki_function *fn;
	struct ki_spans spans;
	size_t n;

	ki_snippet_body(s->s, only_if ? ki_stmt_if(s->s, only_if, stmt, NULL) : stmt);
	if (!sym || ki_function_analyze(s->t, sym, &fn, &err) || ki_spans_find(fn, &spans, &err) ||
	    ki_point_places(fn, &spans, &point, &places, &n, &err))
		die(function, err.msg);
	for (size_t i = 0; i < n; i++)
		put_at(s, fn, &spans, &places[i]);
	free(places);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_snippet_free(s->s);
}

void apply(struct session *s)
{
	struct ki_err err = {0};

	if (ki_plan_apply(s->plan, s->t, false, &err))
		die("apply", err.msg);
}

struct ki_node *number(struct session *s, uint64_t v)
{
	return ki_expr_const(s->s, KI_U64, v);
}

/* Where struct pt_regs has them. */
struct ki_node *sys_arg(struct session *s, unsigned int n)
{
	static const unsigned int off[] = {112, 104, 96};

	return ki_expr_load(
		s->s, KI_U64,
		ki_expr_binary(s->s, KI_ADD, ki_expr_param(s->s, 0), number(s, off[n])));
}

struct ki_node *mine(struct session *s)
{
	return ki_expr_binary(s->s, KI_EQ, ki_expr_fact(s->s, KI_FACT_TGID),
			      number(s, (uint64_t)getpid()));
}

/* ---- what came ---- */

static int take(void *arg, const struct ki_record *rec, const uint64_t *values, unsigned int cpu)
{
	struct seen *e = &seen[nseen];

	(void)arg;
	if (nseen == SEEN)
		die("records", "too many");
	nseen++;
	*e = (struct seen){.tsc = rec->tsc, .n = rec->words, .cpu = cpu};
	memcpy(e->v, values, rec->words * sizeof(*values));
	return 0;
}

void read_all(struct session *s)
{
	nseen = 0;
	if (ki_ring_read(s->ring, take, NULL) || ki_ring_lost(s->ring))
		die("ring", "it cannot be read, or records are lost");
}

bool stack_of(struct session *s, uint64_t n, struct ki_stack *out)
{
	return !ki_stacks_get(s->stacks, n, out);
}

bool is_in(struct session *s, uint64_t addr, const char *function)
{
	const struct ki_symbol *sym = NULL;

	while ((sym = ki_target_symbol_named(s->t, "", function, sym)))
		if (addr - 1 >= sym->addr && addr - 1 - sym->addr < sym->size)
			return true;
	return false;
}

/* What is entered from outside is there, but for where threads and CPUs begin. */
static bool is_outermost(struct session *s, uint64_t addr)
{
	static const char *const starts[] = {"ret_from_fork", "ret_from_fork_asm",
					     "secondary_startup_64_no_verify", "secondary_startup_64",
					     "common_startup_64", "x86_64_start_kernel"};
	const struct ki_symbol *from =
		ki_target_symbol_named(s->t, "", "__entry_text_start", NULL);
	const struct ki_symbol *to = ki_target_symbol_named(s->t, "", "__entry_text_end", NULL);

	if (!from || !to)
		die("entry text", "its bounds are not known");
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (is_in(s, addr, starts[i]))
			return true;
	return addr >= from->addr && addr < to->addr;
}

const char *wrong_with(struct session *s, const struct ki_stack *st)
{
	const struct ki_info *info = ki_target_info(s->t);
	static char why[128];

	for (uint32_t i = 0; i < st->n; i++)
		if (st->addrs[i] >= info->heap_start - DRIVER_TEXT &&
		    st->addrs[i] < info->heap_end)
			return "a frame in the driver";
	if (is_outermost(s, st->addrs[st->n - 1]))
		return NULL;
	snprintf(why, sizeof(why), "it ends at 0x%llx after %u", (ull)st->addrs[st->n - 1], st->n);
	return why;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "cost")) {
		test_cost(argc > 2 ? argv[2] : "");
		return failed;
	}
	if (!*what || !strcmp(what, "kernel"))
		test_kernel();
	if (!*what || !strcmp(what, "contexts"))
		test_contexts();
	if (!strcmp(what, "nmi"))
		test_nmi();
	if (!*what) {
		test_user();
		test_tables();
		test_strings();
	}
	return failed;
}
