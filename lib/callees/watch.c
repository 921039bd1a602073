// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Indirect calls that are watched. Before each stands
 *
 *	if (the predicate holds)
 *		table[site, destination] += 1
 *
 * where the destination is worked out as the call itself does it: the register, or the word at
 * base + index * scale + displacement. A row takes no more room however often it is hit.
 */
#include "kerninst/callees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callees/inside.h"
#include "kerninst/metric.h"
#include "kerninst/table.h"
#include "util/vec.h"

struct ki_callees {
	struct ki_target *kernel;
	struct ki_target *process; /* NULL: the kernel's functions */
	const struct ki_predicate *when;
	struct ki_measure *m;
	struct ki_table_map *table;
	ki_vec(uint64_t) sites;
};

/* What is put before one call. */
struct asked {
	const struct ki_callees *c;
	uint64_t site;
	struct ki_compared leads;
};

int ki_callees_new(struct ki_target *kernel, struct ki_target *process,
		   const struct ki_predicate *when, struct ki_callees **out, struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 2, .values = 1};
	struct ki_callees *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return ki_err_set(err, -ENOMEM, 0, "callees: out of memory");
	*c = (struct ki_callees){.kernel = kernel, .process = process, .when = when};
	ret = ki_measure_new(kernel, &c->m, err);
	if (!ret)
		ret = ki_table_map_new(kernel, &o, &c->table, err);
	if (!ret && process)
		ki_measure_tell(c->m, process);
	if (ret)
		ki_callees_free(c);
	else
		*out = c;
	return ret;
}

void ki_callees_free(struct ki_callees *c)
{
	if (!c)
		return;
	ki_measure_free(c->m);
	ki_table_map_free(c->table);
	ki_vec_free(&c->sites);
	free(c);
}

size_t ki_callees_sites(const struct ki_callees *c)
{
	return c->sites.n;
}

static struct ki_node *number(struct ki_snippet *s, uint64_t value)
{
	return ki_expr_const(s, KI_U64, value);
}

/* base + index * scale + displacement */
static struct ki_node *address_of(struct ki_snippet *s, const struct ki_compared *x)
{
	struct ki_node *addr = number(s, (uint64_t)x->number);

	if (x->base != KI_COMPARED_NONE)
		addr = ki_expr_binary(s, KI_ADD, ki_expr_reg(s, x->base), addr);
	if (x->index != KI_COMPARED_NONE)
		addr = ki_expr_binary(
			s, KI_ADD,
			ki_expr_binary(s, KI_MUL, ki_expr_reg(s, x->index), number(s, x->scale)),
			addr);
	return addr;
}

static int make_row(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	const struct asked *a = arg;
	struct ki_table_var table = ki_table_var_of(a->c->table, "callees");
	struct ki_node *keys[2] = {number(s, a->site)};
	const struct ki_row_value row = {.table = &table, .keys = keys, .nkeys = 2};

	keys[1] = a->leads.kind == KI_COMPARED_REGISTER
			  ? ki_expr_reg(s, a->leads.reg)
			  : ki_expr_load(s, KI_U64, address_of(s, &a->leads));
	*stmt = ki_stmt_table(s, KI_TABLE_ADD, &row, number(s, 1));
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

static bool is_watched(const struct ki_callees *c, uint64_t addr)
{
	for (size_t i = 0; i < c->sites.n; i++)
		if (c->sites.v[i] == addr)
			return true;
	return false;
}

static int add(struct ki_callees *c, const struct ki_function *fn, const struct ki_spans *spans,
	       const struct ki_insn *in, struct ki_err *err)
{
	const struct ki_point at = {.kind = KI_POINT_INSN, .addr = in->addr};
	struct asked a = {.c = c, .site = in->addr};
	uint32_t curve;
	int ret;

	if (!ki_insn_leads(fn, in, &a.leads))
		return ki_err_set(err, -EINVAL, in->addr,
				  "%s+0x%llx: is no call or jump out through a register or memory",
				  fn->symbol->name, (unsigned long long)(in->addr - fn->start));
	if (is_watched(c, in->addr))
		return ki_err_set(err, -EALREADY, in->addr, "%s+0x%llx: is watched already",
				  fn->symbol->name, (unsigned long long)(in->addr - fn->start));
	if (ki_vec_reserve(&c->sites, 1))
		return ki_err_set(err, -ENOMEM, 0, "callees: out of memory");
	ret = ki_measure_add_action(c->m, &(struct ki_measured_at){fn, spans, &at, 0, c->when},
				    make_row, &a, &curve, err);
	if (!ret)
		c->sites.v[c->sites.n++] = in->addr;
	return ret;
}

int ki_callees_watch(struct ki_callees *c, const struct ki_function *fn, uint64_t addr,
		     struct ki_err *err)
{
	const struct ki_insn *in = ki_function_insn_at(fn, addr);
	struct ki_spans spans = {0};
	int ret;

	if (!in)
		return ki_err_reason(err, KI_R_NOT_BOUNDARY, addr, "%s", fn->symbol->name);
	ret = ki_spans_find(fn, &spans, err);
	if (!ret)
		ret = add(c, fn, &spans, in, err);
	ki_spans_free(&spans);
	return ret;
}

int ki_callees_watch_all(struct ki_callees *c, const struct ki_function *fn, struct ki_err *err)
{
	struct ki_spans spans = {0};
	int ret = ki_spans_find(fn, &spans, err);

	for (uint32_t i = 0; !ret && i < fn->nedges; i++) {
		const struct ki_insn *in = &fn->insns[fn->edges[i].insn];

		if (!ki_callees_is_unknown(fn, &fn->edges[i]) || is_watched(c, in->addr))
			continue;
		ret = add(c, fn, &spans, in, NULL) == -ENOMEM
			      ? ki_err_set(err, -ENOMEM, 0, "callees: out of memory")
			      : 0;
	}
	ki_spans_free(&spans);
	return ret;
}

int ki_callees_start(struct ki_callees *c, struct ki_err *err)
{
	return ki_measure_start(c->m, err);
}

int ki_callees_stop(struct ki_callees *c, struct ki_err *err)
{
	return ki_measure_stop(c->m, err);
}

int ki_callees_read(const struct ki_callees *c, struct ki_callee **out, size_t *n,
		    struct ki_err *err)
{
	struct ki_table_reading *r;
	struct ki_callee *v;
	int ret = ki_table_read(c->table, &r, err);

	if (ret)
		return ret;
	v = calloc(r->n + 1, sizeof(*v));
	for (size_t i = 0; v && i < r->n; i++) {
		const uint64_t *key = ki_table_key(r, i);

		v[i] = (struct ki_callee){key[0], key[1], *ki_table_values(r, i)};
	}
	*n = r->n;
	*out = v;
	ki_table_reading_free(r);
	return v ? 0 : ki_err_set(err, -ENOMEM, 0, "callees: out of memory");
}
