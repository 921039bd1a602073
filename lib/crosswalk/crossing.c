// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * From the program into the kernel: which system calls a function of the program makes, and that it
 * runs into page faults. What the kernel's function is given are the registers with which the
 * thread came; so where it came from is known exactly, and is a key of the table's row:
 *
 *	if (pid == PROCESS)
 *		table[function of the kernel, instruction of the program] += 1
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <asm/ptrace.h>

#include "crosswalk/walk.h"
#include "kerninst/metric.h"
#include "kerninst/table.h"

#define SYSCALLS "__x64_sys_"
#define FAULT	 "handle_mm_fault"

struct ki_crosswalk_crossing {
	struct ki_crosswalk *w;
	const ki_crosswalk_numbers *of;
	struct ki_measure *m;
	struct ki_table_map *table;
};

/* A function of the kernel, and which of its parameters is where the registers are. */
struct gate {
	const struct ki_crosswalk_crossing *c;
	uint64_t addr;
	unsigned int param;
};

static int make_row(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	const struct gate *g = arg;
	struct ki_table_var table = ki_table_var_of(g->c->table, "crossings");
	struct ki_node *ip =
		ki_expr_binary(s, KI_ADD, ki_expr_param(s, g->param),
			       ki_expr_const(s, KI_U64, offsetof(struct pt_regs, rip)));
	struct ki_node *keys[] = {ki_expr_const(s, KI_U64, g->addr), ki_expr_load(s, KI_U64, ip)};
	const struct ki_row_value row = {.table = &table, .keys = keys, .nkeys = 2};

	*stmt = ki_stmt_table(s, KI_TABLE_ADD, &row, ki_expr_const(s, KI_U64, 1));
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

/* What is refused is left out. */
static int add_gate(struct ki_crosswalk_crossing *c, const struct ki_symbol *sym,
		    unsigned int param, struct ki_err *err)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct gate g = {c, sym->addr, param};
	struct ki_function *fn;
	struct ki_spans spans = {0};
	uint32_t curve;
	int ret = ki_function_analyze(c->w->kernel, sym, &fn, NULL);

	if (ret)
		return ret == -ENOMEM ? ki_err_set(err, ret, 0, "search: out of memory") : 0;
	ret = ki_spans_find(fn, &spans, NULL);
	if (!ret)
		ret = ki_measure_add_action(
			c->m, &(struct ki_measured_at){fn, &spans, &entry, 0, c->w->own}, make_row,
			&g, &curve, NULL);
	ki_spans_free(&spans);
	ki_function_free(fn);
	return ret == -ENOMEM ? ki_err_set(err, ret, 0, "search: out of memory") : 0;
}

/* Does the function hold a syscall instruction (0f 05)? */
static bool calls_kernel(const struct ki_crosswalk *w, const struct ki_crosswalk_node *n)
{
	const struct ki_symbol *sym = ki_target_symbol_at(w->process, n->addr);
	struct ki_function *fn;
	bool found = false;

	if (!sym || ki_function_analyze(w->process, sym, &fn, NULL))
		return false;
	for (uint32_t i = 0; !found && i < fn->ninsns; i++) {
		const uint8_t *bytes = fn->bytes + (fn->insns[i].addr - fn->start);

		found = fn->insns[i].len == 2 && bytes[0] == 0x0f && bytes[1] == 0x05;
	}
	ki_function_free(fn);
	return found;
}

static int add_syscalls(struct ki_crosswalk_crossing *c, struct ki_err *err)
{
	const struct ki_symbol *v;
	size_t n;
	int ret = 0;

	v = ki_target_symbols(c->w->kernel, &n);
	for (size_t i = 0; !ret && i < n; i++)
		if (!*v[i].module && !v[i].alias && !strncmp(v[i].name, SYSCALLS, strlen(SYSCALLS)))
			ret = add_gate(c, &v[i], 0, err);
	return ret;
}

static int add_gates(struct ki_crosswalk_crossing *c, struct ki_err *err)
{
	const struct ki_symbol *fault = ki_target_symbol_named(c->w->kernel, "", FAULT, NULL);
	bool gate = false;
	int ret = fault ? add_gate(c, fault, 3, err) : 0;

	for (size_t i = 0; !gate && i < c->of->n; i++) {
		const struct ki_crosswalk_node *n = &c->w->graph.nodes.v[c->of->v[i]];

		gate = !n->kernel && calls_kernel(c->w, n);
	}
	return !ret && gate ? add_syscalls(c, err) : ret;
}

static bool has_program(const struct ki_crosswalk *w, const ki_crosswalk_numbers *of)
{
	for (size_t i = 0; i < of->n; i++)
		if (!w->graph.nodes.v[of->v[i]].kernel)
			return true;
	return false;
}

int ki_crosswalk_crossing_new(struct ki_crosswalk *w, const ki_crosswalk_numbers *of,
			      struct ki_crosswalk_crossing **out, struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 2, .values = 1};
	struct ki_crosswalk_crossing *c;
	int ret;

	*out = NULL;
	if (!w->kernel || !has_program(w, of))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
	*c = (struct ki_crosswalk_crossing){.w = w, .of = of};
	ret = ki_measure_new(w->kernel, &c->m, err);
	if (!ret)
		ret = ki_table_map_new(w->kernel, &o, &c->table, err);
	if (!ret)
		ret = add_gates(c, err);
	if (!ret)
		ret = ki_measure_start(c->m, err);
	if (ret)
		ki_crosswalk_crossing_free(c);
	else
		*out = c;
	return ret;
}

void ki_crosswalk_crossing_free(struct ki_crosswalk_crossing *c)
{
	if (!c)
		return;
	ki_measure_free(c->m);
	ki_table_map_free(c->table);
	free(c);
}

/* The node among those that are looked at whose function is at addr; KI_NONE. */
static uint32_t node_at(const struct ki_crosswalk_crossing *c, uint64_t addr)
{
	const struct ki_symbol *sym = ki_target_symbol_at(c->w->process, addr);
	const uint32_t n = sym ? ki_crosswalk_find(&c->w->graph, false, sym->addr) : KI_NONE;

	for (size_t i = 0; i < c->of->n; i++)
		if (c->of->v[i] == n)
			return n;
	return KI_NONE;
}

static int add_row(const struct ki_crosswalk_crossing *c, const uint64_t *key, struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_at(c->w->kernel, key[0]);
	const bool fault = sym && !strcmp(sym->name, FAULT);
	/* A system call's address is the one after it. */
	const uint32_t from = node_at(c, key[1] - !fault);

	if (!sym || from == KI_NONE)
		return 0;
	return ki_crosswalk_add(&c->w->graph, sym, true,
				&(struct ki_crosswalk_seen){
					from, fault ? KI_CROSSWALK_FAULT : KI_CROSSWALK_SYSCALL, 0})
		       ? ki_err_set(err, -ENOMEM, 0, "search: out of memory")
		       : 0;
}

int ki_crosswalk_crossing_add(struct ki_crosswalk_crossing *c, struct ki_err *err)
{
	struct ki_table_reading *r;
	int ret = ki_table_read(c->table, &r, err);

	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < r->n; i++)
		ret = add_row(c, ki_table_key(r, i), err);
	ki_table_reading_free(r);
	return ret;
}
