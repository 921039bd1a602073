// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/function_list.h"

#include <inttypes.h>
#include <string.h>

#include "kerninst/match.h"
#include "kerninst/program.h"
#include "kerninst/springboards.h"
#include "out/json.h"
#include "out/table.h"

#define SMALL 4 /* instructions */

static const char *status(const struct ki_window_list *w)
{
	return w->reason ? ki_reason_tag(w->reason) : "yes";
}

static void print_row(struct ki_function_list *l, const struct ki_window_list *w)
{
	ki_table_cell(l->table, "%s", ki_symbol_module(w->sym));
	ki_table_cell(l->table, "%s", w->sym->name);
	ki_table_cell(l->table, "0x%" PRIx64, w->sym->addr);
	ki_table_cell(l->table, "%" PRIu64, w->sym->size);
	ki_table_cell(l->table, "%u", w->blocks);
	if (l->whole)
		ki_table_cell(l->table, "%u", w->insns);
	else
		ki_table_cell(l->table, "%zu", w->ready);
	ki_table_cell(l->table, "%s", status(w));
	ki_table_print(l->table, l->page.out, l->page.bold);
}

static void print_json(const struct ki_function_list *l, const struct ki_window_list *w)
{
	struct ki_json j;

	ki_json_init(&j, l->page.out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "module", ki_symbol_module(w->sym));
	ki_json_str(&j, "function", w->sym->name);
	ki_json_hex(&j, "address", w->sym->addr);
	ki_json_u64(&j, "size", w->sym->size);
	ki_json_u64(&j, "blocks", w->blocks);
	ki_json_u64(&j, "instructions", w->insns);
	if (!l->whole)
		ki_json_u64(&j, "windows", w->ready);
	ki_json_str(&j, "reason", ki_reason_tag(w->reason));
	if (l->page.verbose)
		ki_window_list_json(w, &j);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

void ki_function_list_row(struct ki_function_list *l, const struct ki_window_list *w)
{
	struct ki_function_totals *t = &l->totals;

	t->functions++;
	t->ready += w->reason == KI_R_OK;
	t->blocks += w->blocks;
	t->insns += w->insns;
	t->windows += w->ready;
	for (size_t i = 0; i < w->spans.n; i++)
		t->boards[w->spans.v[i].board]++;
	if (w->reason && w->reason < KI_R_COUNT)
		t->refused[w->reason]++;
	if (l->page.json)
		print_json(l, w);
	else if (l->page.verbose)
		ki_window_list_print(w, l->page.out);
	else
		print_row(l, w);
}

void ki_function_list_totals(const struct ki_function_list *l, FILE *out)
{
	const struct ki_function_totals *t = &l->totals;

	fprintf(out,
		"%" PRIu64 " functions, %" PRIu64 " can be instrumented; %" PRIu64
		" blocks, %" PRIu64 " instructions",
		t->functions, t->ready, t->blocks, t->insns);
	if (!l->whole)
		fprintf(out, ", %" PRIu64 " windows", t->windows);
	for (unsigned int k = 0; !l->whole && k < KI_BOARD_KINDS; k++)
		fprintf(out, "%s%" PRIu64 " %s", k ? ", " : ": ", t->boards[k],
			ki_springboard_name(k));
	fputc('\n', out);
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (t->refused[r])
			fprintf(out, "%8zu  %-18s %s\n", t->refused[r], ki_reason_tag(r),
				ki_reason_text(r));
}

/*
 * A row of reserved text that holds all of the function's code. Those of the exception and bug
 * tables move with their instructions.
 */
static unsigned int reserved_as_a_whole(struct ki_function_list *l,
					const struct ki_program_function *f)
{
	uint64_t start = f->symbol->addr, end = start + f->code_size;
	const struct ki_reserved_row *rows;
	struct ki_err err = {0};
	size_t n;

	if (!f->code_size || ki_target_reserved(l->t, start, end, &rows, &n, &err))
		return KI_R_OK;
	for (size_t i = 0; i < n; i++)
		if (rows[i].reason != KI_R_EXTABLE && rows[i].reason != KI_R_BUG_SITE &&
		    rows[i].addr <= start && rows[i].addr + rows[i].len >= end)
			return rows[i].reason;
	return KI_R_OK;
}

/*
 * The program knows no windows. That a function has none to be used is seen where it lies in
 * reserved text, and where it is so small that it is worth a look by itself.
 */
static unsigned int reason_of(struct ki_function_list *l, const struct ki_program_function *f)
{
	unsigned int reason = f->reason ? f->reason : reserved_as_a_whole(l, f);
	struct ki_err err = {0};
	struct ki_window_list w;

	if (reason || f->ninsns > SMALL || ki_window_list_find(&w, l->t, f->symbol, &err))
		return reason;
	reason = w.reason;
	ki_window_list_free(&w);
	return reason;
}

static void list_whole(struct ki_function_list *l, const struct ki_program *p)
{
	uint32_t n;
	const struct ki_program_function *f = ki_program_functions(p, &n), *end = f + n;

	for (; f < end && !ferror(l->page.out); f++) {
		struct ki_window_list w = {
			.sym = f->symbol, .blocks = f->nblocks, .insns = f->ninsns};

		if (ki_match_is_padding(f->symbol))
			continue;
		w.reason = reason_of(l, f);
		ki_function_list_row(l, &w);
	}
}

static int open_table(struct ki_function_list *l, unsigned int module, unsigned int function)
{
	/* a few monstrous names should not push everything off the screen */
	const struct ki_column columns[] = {
		{"MODULE", KI_ALIGN_LEFT, module},
		{"FUNCTION", KI_ALIGN_LEFT, function > 48 ? 48 : function},
		{"ADDRESS", KI_ALIGN_LEFT, 18},
		{"SIZE", KI_ALIGN_RIGHT, 6},
		{"BLOCKS", KI_ALIGN_RIGHT, 6},
		{l->whole ? "INSNS" : "WINDOWS", KI_ALIGN_RIGHT, 7},
		{"STATUS", KI_ALIGN_LEFT, 0},
	};

	if (l->page.json || l->page.verbose)
		return 0;
	return ki_table_new(&l->table, columns, sizeof(columns) / sizeof(*columns));
}

static void widen(const struct ki_symbol *sym, unsigned int *module, unsigned int *function)
{
	unsigned int m = (unsigned int)strlen(ki_symbol_module(sym));
	unsigned int f = (unsigned int)strlen(sym->name);

	*module = m > *module ? m : *module;
	*function = f > *function ? f : *function;
}

int ki_function_list_new(struct ki_function_list *l, const struct ki_selection *s)
{
	unsigned int module = 0, function = 0;

	for (size_t i = 0; i < s->n; i++)
		widen(s->v[i].sym, &module, &function);
	return open_table(l, module, function);
}

int ki_function_list_program(struct ki_function_list *l, const struct ki_program *p)
{
	unsigned int module = 0, function = 0;
	const struct ki_program_function *f;
	uint32_t n;
	int ret;

	l->whole = true;
	f = ki_program_functions(p, &n);
	for (uint32_t i = 0; i < n; i++)
		widen(f[i].symbol, &module, &function);
	ret = open_table(l, module, function);
	if (!ret)
		list_whole(l, p);
	return ret;
}

void ki_function_list_free(struct ki_function_list *l)
{
	ki_table_free(l->table);
	l->table = NULL;
}
