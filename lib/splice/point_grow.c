// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Functions of Go begin with a test whether the goroutine's stack is large enough for them:
 *
 *	cmp 0x10(%r14), %rsp; jbe grow; ...
 *	grow: call runtime.morestack_noctxt; jmp back to the beginning
 *
 * So their beginning is executed once more when it was not, and a call is counted where the test
 * has been passed.
 */
#include <string.h>

#include "splice/point.h"

#define AWAY 24 /* instructions from the call to the jump back; arguments are loaded between */

/* A call of a function whose name begins so? */
static bool calls(const struct ki_function *fn, const struct ki_insn *in, const char *name)
{
	const struct ki_symbol *sym;

	if (in->kind != KI_INSN_CALL)
		return false;
	sym = ki_target_symbol_at(fn->target, in->target);
	return sym && sym->addr == in->target && !strncmp(sym->name, name, strlen(name));
}

/* After a call that never comes back the compiler puts a nop, so that the address is its
   function's: nobody falls out of such a block. */
static bool ends(const struct ki_function *fn, const struct ki_edge *e)
{
	static const char *const names[] = {"runtime.panic", "runtime.goPanic", "runtime.gopanic",
					    "runtime.throw", "runtime.fatal"};

	if (e->kind != KI_EDGE_FALL || !e->insn || fn->insns[e->insn].len != 1 ||
	    fn->bytes[fn->insns[e->insn].addr - fn->start] != 0x90)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (calls(fn, &fn->insns[e->insn - 1], names[i]))
			return true;
	return false;
}

/* The call after which the edge leads back; KI_NONE. */
static uint32_t call_before(const struct ki_function *fn, const struct ki_edge *e)
{
	for (uint32_t i = e->insn, n = 0; i && n < AWAY; i--, n++)
		if (calls(fn, &fn->insns[i - 1], "runtime.morestack"))
			return i - 1;
	return KI_NONE;
}

/* Of all edges to block b, the only one; NULL: there is none, or there are several. */
static const struct ki_edge *only_edge_to(const struct ki_function *fn, uint32_t b)
{
	const struct ki_edge *only = NULL;

	for (uint32_t e = 0; e < fn->nedges; e++) {
		if (fn->edges[e].to_block != b || ends(fn, &fn->edges[e]))
			continue;
		if (only)
			return NULL;
		only = &fn->edges[e];
	}
	return only;
}

uint32_t ki_point_grown(const struct ki_function *fn)
{
	const struct ki_edge *back = only_edge_to(fn, 0), *in;
	uint32_t call = back && !fn->blocks[0].entered ? call_before(fn, back) : KI_NONE;
	uint32_t grow = 0;

	if (call == KI_NONE)
		return KI_NONE;
	while (call >= fn->blocks[grow].first + fn->blocks[grow].count)
		grow++;
	in = only_edge_to(fn, grow);
	if (!in || in->block || in->kind != KI_EDGE_TAKEN || fn->blocks[grow].entered)
		return KI_NONE;
	for (uint32_t e = 0; e < fn->nedges; e++)
		if (!fn->edges[e].block && fn->edges[e].kind == KI_EDGE_FALL)
			return e;
	return KI_NONE;
}
