// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/call_tree.h"

#include <errno.h>
#include <inttypes.h>

#include "out/json.h"

#define NAME_WIDTH 48

struct shown {
	const struct ki_call_tree *how;
	const struct ki_page *page;
	const struct ki_program_function *functions;
};

static const char *kind_name(uint8_t kind)
{
	switch (kind) {
	case KI_EDGE_CALL:
		return "call";
	case KI_EDGE_TAIL:
		return "tail";
	case KI_EDGE_CALL_INDIRECT:
		return "indirect";
	default:
		return "indirect tail";
	}
}

/* NULL: not known. A function outside the program may have a symbol. */
static const struct ki_symbol *symbol_of(const struct shown *c, const struct ki_calls_row *row)
{
	if (row->function != KI_NONE)
		return c->functions[row->function].symbol;
	return row->to ? ki_target_symbol_at(c->how->t, row->to) : NULL;
}

/* "vfs_read"; "ext4:ext4_sync_file"; "0xffffffffc0000000" */
static void name_of(const struct shown *c, const struct ki_calls_row *row, char *buf, size_t len)
{
	const struct ki_symbol *sym = symbol_of(c, row);

	if (sym && row->to && row->to != sym->addr)
		snprintf(buf, len, "%s+0x%" PRIx64, sym->name, row->to - sym->addr);
	else if (sym)
		snprintf(buf, len, "%s%s%s", sym->module, *sym->module ? ":" : "", sym->name);
	else if (row->to)
		snprintf(buf, len, "0x%" PRIx64, row->to);
	else
		snprintf(buf, len, "indirect (%u site%s)", row->sites, row->sites == 1 ? "" : "s");
}

static void print_row(void *ctx, const struct ki_calls_row *row)
{
	const struct shown *c = ctx;
	int indent = (int)row->depth * 2;
	char name[300];

	name_of(c, row, name, sizeof(name));
	fprintf(c->page->out, "%*s%-*s  %5u  %s%s\n", indent, "",
		indent < NAME_WIDTH ? NAME_WIDTH - indent : 0, name, row->sites,
		kind_name(row->kind),
		row->recursion	? "  (recursion)"
		: row->repeated ? "  (see above)"
				: "");
}

static void json_row(void *ctx, const struct ki_calls_row *row)
{
	const struct shown *c = ctx;
	const struct ki_symbol *sym = symbol_of(c, row);
	struct ki_json j;

	ki_json_init(&j, c->page->out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "depth", row->depth);
	ki_json_str(&j, "function", sym ? sym->name : NULL);
	ki_json_str(&j, "module", row->function != KI_NONE ? ki_symbol_module(sym) : NULL);
	if (row->function != KI_NONE)
		ki_json_hex(&j, "address", sym->addr);
	else if (row->to)
		ki_json_hex(&j, "address", row->to);
	ki_json_str(&j, c->how->callers ? "calls" : "caller", c->functions[row->from].symbol->name);
	ki_json_u64(&j, "sites", row->sites);
	ki_json_str(&j, "kind", kind_name(row->kind));
	ki_json_bool(&j, "recursion", row->recursion);
	ki_json_bool(&j, "repeated", row->repeated);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

static void print_root(const struct shown *c, const struct ki_symbol *sym, uint32_t number,
		       bool first)
{
	struct ki_json j;

	if (!c->page->json) {
		fprintf(c->page->out, "%s%s%s:%s  0x%" PRIx64 "  %s%s%s\n", first ? "" : "\n",
			c->page->bold ? "\033[1m" : "", ki_symbol_module(sym), sym->name, sym->addr,
			c->how->callers ? "callers" : "callees",
			c->functions[number].flags & KI_FUNCTION_NORETURN ? "  noreturn" : "",
			c->page->bold ? "\033[0m" : "");
		return;
	}
	ki_json_init(&j, c->page->out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "depth", 0);
	ki_json_str(&j, "function", sym->name);
	ki_json_str(&j, "module", ki_symbol_module(sym));
	ki_json_hex(&j, "address", sym->addr);
	ki_json_str(&j, "direction", c->how->callers ? "callers" : "callees");
	ki_json_bool(&j, "noreturn", c->functions[number].flags & KI_FUNCTION_NORETURN);
	ki_json_close(&j);
	ki_json_end_line(&j);
}

int ki_call_tree_show(const struct ki_call_tree *how, const struct ki_symbol *sym, bool first,
		      const struct ki_page *page, struct ki_calls_totals *totals,
		      struct ki_err *err)
{
	uint32_t number = ki_program_function_at(how->program, sym->addr), count;
	struct shown c = {how, page, ki_program_functions(how->program, &count)};

	*totals = (struct ki_calls_totals){0};
	if (number == KI_NONE)
		return ki_err_set(err, -ENOENT, sym->addr,
				  "%s: not among the functions that were analysed; kerninst list "
				  "shows them",
				  sym->name);
	print_root(&c, sym, number, first);
	if (ki_calls_walk(how->tree, number, page->json ? json_row : print_row, &c, totals))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	if (!totals->rows && !page->json)
		fputs("  none known\n", page->out);
	return 0;
}

void ki_call_tree_totals(const struct ki_calls_totals *n, FILE *out)
{
	fprintf(out,
		"%" PRIu64 " function%s in %" PRIu64 " row%s; %" PRIu64 " call%s, %" PRIu64
		" tail call%s, %" PRIu64 " indirect\n",
		n->functions, n->functions == 1 ? "" : "s", n->rows, n->rows == 1 ? "" : "s",
		n->direct, n->direct == 1 ? "" : "s", n->tail, n->tail == 1 ? "" : "s",
		n->indirect);
}
