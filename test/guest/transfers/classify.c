// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transfers are asked of the graph in this order: an edge or a call between exactly these two
 * addresses; then what the instruction may do without the graph knowing where to (an indirect
 * call must arrive at a function, a return after some call); then what an instruction may do
 * that is no jump (go on, be begun anew); then exceptions, which may come from anywhere but arrive
 * at the entries of the processor's tables only.
 *
 * Where the graph says that a block is entered, one must begin there.
 */
#include "classify.h"

#include <fnmatch.h>
#include <string.h>

const char *const class_text[CLASS_COUNT] = {
#define CLASS(name, text) [CLASS_##name] = text,
	CLASSES(CLASS)
#undef CLASS
};

/* Where the processor goes by itself: the interrupt table's, and the system calls'. */
static const char *const entries[] = {
	"asm_exc_*",
	"asm_sysvec_*",
	"asm_spurious_*",
	"asm_int80_*",
	"irq_entries_start",
	"spurious_entries_start",
	"entry_SYSCALL_64",
	"entry_SYSCALL_compat",
	"entry_SYSENTER_compat",
	"entry_INT80_compat",
	"early_idt_handler_array",
};

/* The causes that we know, of transfers that the code of no function tells. */
static const struct explained {
	const char *from, *to; /* functions; "outside" */
	uint32_t kind;	       /* what the source is, as an edge that does not say where it goes */
	const char *why;
} explained[] = {
	{"__switch_to", "ret_from_fork", KI_EDGE_RETURN, "a new task: its stack was made by hand"},
	{"__switch_to", "ret_from_fork_asm", KI_EDGE_RETURN, "the same, since 6.5"},
	{"outside", "startup_64", 0, "the boot: from the decompressor"},
	{"outside", "secondary_startup_64", 0, "the boot: from the second CPU's trampoline"},
	{"startup_64", "startup_64", KI_EDGE_RETURN, "the boot: a far return to the next line"},
	{"secondary_startup_64_no_verify", "secondary_startup_64_no_verify", KI_EDGE_TAIL_INDIRECT,
	 "the boot: a jump to the next line, at its final address"},
	{"secondary_startup_64_no_verify", "start_secondary", KI_EDGE_RETURN,
	 "the boot: a far return into C"},
	{"secondary_startup_64_no_verify", "x86_64_start_kernel", KI_EDGE_RETURN,
	 "the boot: a far return into C"},
	{"__x86_return_thunk", "int3_selftest_ip", KI_EDGE_RETURN,
	 "the boot: a breakpoint that is emulated as a call, for a trial"},
};

/* Does the instruction go somewhere by an edge of this kind? From outside all do. */
static bool is_open(const struct graph *g, uint32_t from, uint32_t kind)
{
	const struct graph_edge *e;
	size_t n;

	if (!from)
		return true;
	e = graph_edges(g, from, &n);
	for (size_t i = 0; i < n; i++)
		if (!e[i].to && e[i].kind == kind)
			return true;
	return false;
}

static bool is_explained(const struct graph *g, uint32_t from, uint32_t to, const char **why)
{
	for (size_t i = 0; i < sizeof(explained) / sizeof(*explained); i++)
		if (!strcmp(explained[i].from, graph_function(g, from)) &&
		    !strcmp(explained[i].to, graph_function(g, to)) &&
		    is_open(g, from, explained[i].kind)) {
			*why = explained[i].why;
			return true;
		}
	return false;
}

/* Of one address's names any counts: asm_exc_* have aliases. */
static bool is_entry(const struct graph *g, uint32_t addr)
{
	const struct graph_symbol *s = graph_symbol_at(g, addr);
	const struct graph_symbol *end = g->symbols + g->h.nsymbols;
	uint32_t start = s ? s->addr : 0;

	for (; s && s < end && s->addr == start; s++)
		for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
			bool many = strstr(entries[i], "_entries_") || strstr(entries[i], "_array");

			if (!fnmatch(entries[i], g->names + s->name, 0) && (many || addr == start))
				return true;
		}
	return false;
}

/* What stands for an indirect call or jump, and what for a return. */
static bool is_indirect_thunk(const struct graph *g, uint32_t addr)
{
	return !strncmp(graph_function(g, addr), GRAPH_THUNK, strlen(GRAPH_THUNK));
}

static bool is_return_thunk(const struct graph *g, uint32_t addr)
{
	return !fnmatch("*return_thunk", graph_function(g, addr), 0) && graph_is_function(g, addr);
}

/*
 * Is a return from here an indirect jump? From the thunks for that; and, until the kernel has
 * rewritten their returns, from the return thunk too.
 */
static bool is_indirect(const struct graph *g, uint32_t from)
{
	return is_indirect_thunk(g, from) || (is_return_thunk(g, from) && g->chained);
}

static enum verdict_class edge_class(const struct graph *g, const struct graph_edge *e)
{
	static const enum verdict_class classes[] = {
		[KI_EDGE_FALL] = CLASS_FALL,	 [KI_EDGE_TAKEN] = CLASS_TAKEN,
		[KI_EDGE_JUMP] = CLASS_JUMP,	 [KI_EDGE_TABLE] = CLASS_TABLE,
		[KI_EDGE_FIXUP] = CLASS_MISS, /* an exception comes between */
		[KI_EDGE_CALL] = CLASS_CALL,	 [KI_EDGE_CALL_INDIRECT] = CLASS_CALL_INDIRECT,
		[KI_EDGE_TAIL] = CLASS_TAIL,	 [KI_EDGE_TAIL_INDIRECT] = CLASS_TAIL_INDIRECT,
		[KI_EDGE_RETURN] = CLASS_RETURN,
	};
	enum verdict_class c =
		e->kind < sizeof(classes) / sizeof(*classes) ? classes[e->kind] : CLASS_MISS;

	if ((c == CLASS_TAKEN || c == CLASS_FALL) && graph_row_at(g, e->from, KI_R_JUMP_LABEL))
		return CLASS_LABEL;
	return c;
}

/* An edge that says where it goes. */
static enum verdict_class by_known_edge(const struct graph *g, const struct graph_edge *e, size_t n,
					uint32_t to)
{
	for (size_t i = 0; i < n; i++)
		if (to && e[i].to == to && edge_class(g, &e[i]) != CLASS_MISS)
			return edge_class(g, &e[i]);
	return CLASS_MISS;
}

/* An edge that does not, or that the kernel rewrites. */
static enum verdict_class by_open_edge(const struct graph *g, const struct graph_edge *e,
				       uint32_t to)
{
	bool function = graph_is_function(g, to);

	switch (e->kind) {
	case KI_EDGE_CALL:
	case KI_EDGE_TAIL:
	case KI_EDGE_JUMP:
		if (function && graph_row_at(g, e->from, KI_R_STATIC_CALL))
			return CLASS_STATIC_CALL;
		return CLASS_MISS;
	case KI_EDGE_CALL_INDIRECT:
	case KI_EDGE_TAIL_INDIRECT:
		if (is_indirect_thunk(g, to))
			return CLASS_THUNK;
		if (!function)
			return CLASS_MISS;
		return e->kind == KI_EDGE_TAIL_INDIRECT ? CLASS_TAIL_INDIRECT : CLASS_CALL_INDIRECT;
	case KI_EDGE_RETURN:
		if (graph_is_return(g, to))
			return CLASS_RETURN;
		if (is_return_thunk(g, to) || (function && is_indirect(g, e->from)))
			return CLASS_THUNK;
		return CLASS_MISS;
	case GRAPH_IRET:
		if (!to)
			return CLASS_EXIT;
		return graph_is_fixup(g, to) ? CLASS_FIXUP : CLASS_IRET;
	}
	return CLASS_MISS;
}

static bool enters_block(enum verdict_class c)
{
	switch (c) {
	case CLASS_NEXT:
	case CLASS_AGAIN:
	case CLASS_RETURN:
	case CLASS_IRET:
	case CLASS_EXIT:
	case CLASS_NO_TEXT:
	case CLASS_MISS:
		return false;
	default:
		return true;
	}
}

static enum verdict_class by_source(const struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t end = graph_insn_end(g, from);
	const struct graph_edge *e;
	enum verdict_class c;
	size_t n;

	if (!from)
		return is_entry(g, to) ? CLASS_ENTRY : CLASS_MISS;
	if (!end)
		return CLASS_MISS;
	e = graph_edges(g, from, &n);
	c = by_known_edge(g, e, n, to);
	for (size_t i = 0; i < n && c == CLASS_MISS; i++)
		if (!e[i].to || e[i].kind == KI_EDGE_CALL || e[i].kind == KI_EDGE_TAIL ||
		    e[i].kind == KI_EDGE_JUMP)
			c = by_open_edge(g, &e[i], to);
	if (c == CLASS_MISS && from == to)
		return CLASS_AGAIN;
	if (c == CLASS_MISS && end == to && !(graph_marks(g, to) & MARK_END))
		return CLASS_NEXT;
	if (c == CLASS_MISS && is_entry(g, to))
		return CLASS_EXCEPTION;
	return c;
}

/* One end lies in no text of the graph: the other must do what it could do there. */
static enum verdict_class by_one_end(const struct graph *g, uint32_t from, uint32_t to,
				     const char **why)
{
	const struct graph_edge *e;
	size_t n;

	if (from && graph_marks(g, from) >= 0) {
		e = graph_edges(g, from, &n);
		for (size_t i = 0; i < n; i++)
			if (!e[i].to || graph_row_at(g, from, KI_R_STATIC_CALL))
				return CLASS_NO_TEXT;
		/* An ftrace site that is on calls a trampoline. */
		if (graph_row_at(g, from, KI_R_FTRACE_SITE))
			return CLASS_NO_TEXT;
		*why = "goes where no text is, and is no indirect jump";
		return CLASS_MISS;
	}
	if (!to || graph_marks(g, to) < 0 || graph_marks(g, to) & MARK_INSN)
		return CLASS_NO_TEXT;
	*why = "no instruction begins where it arrives";
	return CLASS_MISS;
}

enum verdict_class classify(const struct graph *g, uint32_t from, uint32_t to, const char **why)
{
	enum verdict_class c;

	*why = "";
	if ((from && graph_marks(g, from) < 0) || (to && graph_marks(g, to) < 0))
		return by_one_end(g, from, to, why);
	c = by_source(g, from, to);
	if (c == CLASS_MISS && is_explained(g, from, to, why))
		return CLASS_EXPLAINED;
	if (c == CLASS_MISS) {
		*why = !from || graph_insn_end(g, from) ? "no such edge"
							: "the source is no instruction";
		return c;
	}
	if (c == CLASS_RETURN && graph_is_noreturn(g, from)) {
		*why = "the function is said not to return";
		return CLASS_MISS;
	}
	if (to && !(graph_marks(g, to) & MARK_INSN)) {
		*why = "no instruction begins where it arrives";
		return CLASS_MISS;
	}
	if (enters_block(c) && !(graph_marks(g, to) & MARK_BLOCK)) {
		*why = "no block begins where it arrives";
		return CLASS_MISS;
	}
	return c;
}
