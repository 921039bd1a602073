// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the kernel finds by its address, or changes while it runs: whether it can be copied, and the
 * rows of the copies.
 *
 * A static branch whose key lies in what the kernel has write-protected goes one way for good. Keys
 * of modules are not taken: the kernel would look at them when the copies go, and nothing keeps
 * that module until then.
 */
#include <errno.h>
#include <string.h>

#include "code/function/function.h"
#include "evolve/special/inside.h"
#include "target/names.h"

#define KEY_BITS 3ull
#define TAIL	 1 /* in a static call's key: it is a jump */
#define LONG	 5

int ki_special_sites_read(struct ki_special *s, struct ki_err *err)
{
	static const char *const names[] = {"_text", "_end"};
	uint64_t at[2] = {0, UINT64_MAX};

	int ret = 0;

	if (ki_target_kind(s->t) == KI_TARGET_LIVE)
		ret = ki_kernel_names(names, at, 2, err);
	s->keys_start = at[0];
	s->keys_end = at[1];
	return ret ? ret : ki_module_tables_read(s->t, s->of, &s->tables, err);
}

static bool is_constant(const struct ki_special *s, uint64_t key)
{
	return key >= s->memory.start && key < s->memory.end;
}

static bool is_kernels(const struct ki_special *s, uint64_t key)
{
	return key >= s->keys_start && key < s->keys_end;
}

static uint8_t about_branch(const struct ki_special *s, const struct ki_function *fn,
			    const struct ki_insn *in)
{
	const struct ki_key_row *row = ki_module_jump_at(&s->tables, in->addr);
	const uint8_t first = fn->bytes[in->addr - fn->start];

	if (!row || !(in->flags & KI_INSN_JUMP_LABEL) || !is_kernels(s, row->key & ~KEY_BITS))
		return KI_SITE_LEFT;
	if (is_constant(s, row->key & ~KEY_BITS))
		return first == 0xeb || first == 0xe9 ? KI_SITE_ALWAYS : KI_SITE_NEVER;
	return KI_SITE_BRANCH;
}

/* A call, a jump, or what the kernel puts there when there is nothing to be called. */
static uint8_t about_call(const struct ki_special *s, const struct ki_insn *in)
{
	const struct ki_key_row *row = ki_module_call_at(&s->tables, in->addr);
	const bool jumps = in->kind == KI_INSN_JMP || in->kind == KI_INSN_RET;

	if (!row || is_constant(s, row->key & ~KEY_BITS) || !is_kernels(s, row->key & ~KEY_BITS) ||
	    in->flags & KI_INSN_NORETURN)
		return KI_SITE_LEFT;
	if (jumps != (row->key & TAIL))
		return KI_SITE_LEFT;
	return jumps || (in->len == LONG && (in->kind == KI_INSN_CALL || in->kind == KI_INSN_PLAIN))
		       ? KI_SITE_CALL
		       : KI_SITE_LEFT;
}

/* A row of a direct branch is not its own (ki_insn_has_fixup). */
static uint8_t about_fault(const struct ki_special *s, const struct ki_function *fn,
			   const struct ki_insn *in)
{
	const struct ki_fault_row *row = ki_module_fault_at(&s->tables, in->addr);
	const uint32_t n = (uint32_t)(in - fn->insns);

	if (!ki_insn_has_fixup(in))
		return in->reason ? KI_SITE_LEFT : KI_SITE_NONE;
	for (uint32_t e = 0; row && !in->reason && e < fn->nedges; e++)
		if (fn->edges[e].insn == n && fn->edges[e].kind == KI_EDGE_FIXUP &&
		    fn->edges[e].to == row->fixup)
			return KI_SITE_FAULT;
	return KI_SITE_LEFT;
}

uint8_t ki_special_site(void *special, const struct ki_function *fn, const struct ki_insn *in)
{
	const struct ki_special *s = special;

	if (in->reason == KI_R_JUMP_LABEL)
		return about_branch(s, fn, in);
	if (in->reason == KI_R_STATIC_CALL)
		return about_call(s, in);
	if (in->reason)
		return KI_SITE_LEFT;
	if (in->flags & KI_INSN_BUG)
		return ki_module_bug_at(&s->tables, in->addr) ? KI_SITE_BUG : KI_SITE_LEFT;
	return about_fault(s, fn, in);
}

/* ---- the copies' rows ---- */

static int add(struct ki_special *s, const struct ki_emit_site *x)
{
	const struct ki_fault_row *fault;
	const struct ki_bug_row *bug;

	switch (x->site) {
	case KI_SITE_BRANCH:
		return ki_vec_push(&s->jumps,
				   (struct ki_module_jump){
					   .off = x->off,
					   .target = x->way,
					   .key = ki_module_jump_at(&s->tables, x->addr)->key});
	case KI_SITE_CALL:
		return ki_vec_push(
			&s->calls,
			(struct ki_module_call){
				.off = x->off, .key = ki_module_call_at(&s->tables, x->addr)->key});
	case KI_SITE_FAULT:
		fault = ki_module_fault_at(&s->tables, x->addr);
		return ki_vec_push(&s->faults, (struct ki_module_fault){.off = x->off,
									.fixup = x->way,
									.data = fault->data});
	default:
		bug = ki_module_bug_at(&s->tables, x->addr);
		return ki_vec_push(&s->bugs, (struct ki_module_bug){.off = x->off,
								    .file = bug->file,
								    .line = bug->line,
								    .flags = bug->flags});
	}
}

int ki_special_sites_rows(struct ki_special *s, struct ki_err *err)
{
	for (size_t i = 0; i < s->emitted.sites.n; i++)
		if (add(s, &s->emitted.sites.v[i]))
			return ki_err_set(err, -ENOMEM, s->addr, "rows: out of memory");
	s->facts.sites = s->emitted.sites.n;
	return 0;
}

void ki_special_sites_free(struct ki_special *s)
{
	ki_module_tables_free(&s->tables);
	ki_vec_free(&s->jumps);
	ki_vec_free(&s->calls);
	ki_vec_free(&s->faults);
	ki_vec_free(&s->bugs);
}
