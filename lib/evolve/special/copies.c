// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which functions are copied: the one that is wanted, and of those that its copies call, directly
 * and with known arguments, the small ones of the same module in which that decides a branch.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "code/function/function.h"
#include "evolve/special/inside.h"

#define COPIES_MOST 8
#define SMALL	    2048 /* bytes of a function that is copied because it is called */

static const uint8_t ki_arguments[KI_SPECIAL_ARGUMENTS] = {KI_RDI, KI_RSI, KI_RDX,
							   KI_RCX, KI_R8,  KI_R9};

int ki_special_register(unsigned int argument)
{
	return argument < KI_SPECIAL_ARGUMENTS ? ki_arguments[argument] : -EINVAL;
}

static void arguments_of(const struct ki_constants *c, struct ki_constants *out)
{
	*out = (struct ki_constants){0};
	for (unsigned int i = 0; i < KI_SPECIAL_ARGUMENTS; i++) {
		const uint8_t r = ki_arguments[i];

		if (!(c->known & 1u << r))
			continue;
		out->known |= (uint16_t)(1u << r);
		out->v[r] = c->v[r];
	}
	out->half = out->known;
}

static bool is_same(const struct ki_constants *a, const struct ki_constants *b)
{
	for (int r = 0; a->half == b->half && r < 16; r++)
		if (a->half & 1u << r && a->v[r] != b->v[r])
			return false;
	return a->known == b->known && a->half == b->half;
}

/* "vfs_read.copy3": the number tells copies of one module apart. */
static int name_copy(struct ki_special *s, struct ki_special_copy *c)
{
	char name[160];

	if (s->copies.n)
		snprintf(name, sizeof(name), "%.100s.%s.%zu", c->fn->symbol->name, s->module,
			 s->copies.n);
	else
		snprintf(name, sizeof(name), "%.100s.%s", c->fn->symbol->name, s->module);
	c->name = strdup(name);
	return c->name ? 0 : -ENOMEM;
}

/* fn is the copy's, in any case. 0; 1: it is not worth it. */
static int take_copy(struct ki_special *s, struct ki_function *fn, const struct ki_constants *entry)
{
	const struct ki_constant_memory m = {ki_special_memory_read, &s->memory};
	const struct ki_fold_callees callees = {ki_special_compiled, s->t};
	const struct ki_fold_sites sites = {ki_special_site, s};
	const struct ki_fold_how how = {&m, &callees, &sites, false};
	struct ki_special_copy c = {.fn = fn, .entry = *entry};
	struct ki_emit_copy e = {0};
	int ret = ki_fold(fn, entry, &how, &e.folded);

	if (!ret && s->copies.n && !e.folded.branches)
		ret = 1;
	if (!ret)
		ret = name_copy(s, &c);
	if (!ret && (ki_vec_reserve(&s->copies, 1) || ki_vec_reserve(&s->code, 1)))
		ret = -ENOMEM;
	if (!ret) {
		s->copies.v[s->copies.n++] = c;
		s->code.v[s->code.n++] = e;
		s->facts.branches += e.folded.branches;
		return 0;
	}
	ki_fold_free(&e.folded);
	ki_function_free(fn);
	free(c.name);
	return ret == -ENOTSUP ? 1 : ret;
}

static bool may_copy_callee(const struct ki_special *s, const struct ki_symbol *sym, uint64_t addr)
{
	return sym && sym->addr == addr && !strcmp(sym->module, s->of) && sym->size <= SMALL &&
	       ki_special_compiled(s->t, addr);
}

/* The copy that a call with these arguments leads to; KI_NONE: the original. */
static int copy_of_callee(struct ki_special *s, uint64_t addr, const struct ki_constants *entry,
			  uint32_t *out)
{
	const struct ki_symbol *sym = ki_target_symbol_at(s->t, addr);
	struct ki_function *fn;
	struct ki_err err = {0};
	int ret;

	*out = KI_NONE;
	for (uint32_t i = 0; i < s->copies.n; i++)
		if (s->copies.v[i].fn->start == addr && is_same(&s->copies.v[i].entry, entry))
			*out = i;
	if (*out != KI_NONE || s->copies.n == COPIES_MOST || !may_copy_callee(s, sym, addr))
		return 0;
	if (ki_function_analyze(s->t, sym, &fn, &err))
		return err.code == -ENOMEM ? -ENOMEM : 0;
	ret = take_copy(s, fn, entry);
	if (!ret)
		*out = (uint32_t)s->copies.n - 1;
	return ret < 0 ? ret : 0;
}

static int link_call(struct ki_special *s, uint32_t copy, uint32_t block, const struct ki_edge *e)
{
	const struct ki_constant_memory m = {ki_special_memory_read, &s->memory};
	const struct ki_insn *in = &s->code.v[copy].folded.fn->insns[e->insn];
	struct ki_constants here, entry;
	struct ki_emit_link link = {.insn = e->insn};
	int ret;

	if ((e->kind != KI_EDGE_CALL && e->kind != KI_EDGE_TAIL) ||
	    (in->kind != KI_INSN_CALL && in->kind != KI_INSN_JMP) ||
	    s->code.v[copy].folded.insns[e->insn].site == KI_SITE_CALL)
		return 0;
	ki_fold_before(&s->code.v[copy].folded, block, e->insn, &m, &here);
	arguments_of(&here, &entry);
	if (!entry.known)
		return 0;
	ret = copy_of_callee(s, e->to, &entry, &link.copy);
	if (ret || link.copy == KI_NONE)
		return ret;
	return ki_vec_push(&s->code.v[copy].links, link);
}

static int link_calls(struct ki_special *s, uint32_t copy)
{
	const struct ki_function *fn = s->copies.v[copy].fn;
	int ret = 0;

	for (uint32_t b = 0; b < fn->nblocks && !ret; b++) {
		const struct ki_fold_block *f = &s->code.v[copy].folded.blocks[b];

		if (!f->reached || f->left)
			continue;
		for (uint32_t e = 0; e < fn->blocks[b].nedges && !ret; e++)
			ret = link_call(s, copy, b, &fn->edges[fn->blocks[b].first_edge + e]);
	}
	return ret;
}

/* How many instructions can be reached when nothing is known. */
static int count_before(struct ki_special *s, const struct ki_function *fn)
{
	const struct ki_constant_memory m = {ki_special_memory_read, &s->memory};
	const struct ki_fold_callees callees = {ki_special_compiled, s->t};
	const struct ki_fold_sites sites = {ki_special_site, s};
	const struct ki_fold_how how = {&m, &callees, &sites, false};
	const struct ki_constants nothing = {0};
	struct ki_folded f;
	int ret = ki_fold(fn, &nothing, &how, &f);

	if (ret)
		return ret;
	s->facts.before = f.kept + f.dropped;
	ki_fold_free(&f);
	return 0;
}

static int take_function(struct ki_special *s, struct ki_err *err)
{
	const struct ki_symbol *sym = s->request.sym;
	const uint8_t r = ki_arguments[s->request.argument];
	struct ki_constants entry = {.half = (uint16_t)(1u << r)};
	struct ki_function *fn;
	int ret = ki_function_analyze(s->t, sym, &fn, err);

	if (ret)
		return ret;
	if (fn->reason || !ki_function_compiled(fn)) {
		ret = ki_err_reason(err, fn->reason ? fn->reason : KI_R_NOT_REPLACEABLE, sym->addr,
				    "%s", sym->name);
		ki_function_free(fn);
		return ret;
	}
	entry.known = s->half ? 0 : entry.half;
	entry.v[r] = s->half ? (uint32_t)s->request.value : s->request.value;
	ret = count_before(s, fn);
	if (!ret)
		return take_copy(s, fn, &entry);
	ki_function_free(fn);
	return ret;
}

int ki_special_copies(struct ki_special *s, struct ki_err *err)
{
	const char *name = s->request.sym->name;
	int ret = take_function(s, err);

	if (ret == 1 || (ret == -ENOTSUP && !err->code))
		return ki_err_set(err, -ENOTSUP, s->addr,
				  "%s: its first block has what is not copied; kerninst disas %s "
				  "shows it",
				  name, name);
	for (uint32_t i = 0; i < s->copies.n && !ret && !s->request.alone; i++)
		ret = link_calls(s, i);
	if (!ret && !s->facts.branches)
		return ki_err_set(err, -ENODATA, s->addr,
				  "%s: argument %u being %lld decides no branch of it: a version "
				  "would be the same",
				  name, s->request.argument, (long long)s->request.value);
	if (!ret)
		ret = ki_emit(s->code.v, s->code.n, &s->emitted);
	if (ret && !err->code)
		return ki_err_set(err, ret, s->addr, "%s: out of memory", name);
	if (ret)
		return ret;
	s->facts.after = s->code.v[0].folded.kept;
	s->facts.copies = (uint32_t)s->copies.n - 1;
	s->facts.bytes = s->emitted.len;
	s->facts.name = s->copies.v[0].name;
	return 0;
}
