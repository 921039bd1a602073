// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Snippets in a plan: what is known of a place, and the code compiled for it. What comes out as the
 * bare counter is sent as the short chunk that it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "splice/plan.h"
#include "target/process.h"

/* endbr64, and the nops in use. */
static bool is_idle(const uint8_t *b, uint8_t len)
{
	if (len == 4 && !memcmp(b, "\xf3\x0f\x1e\xfa", 4))
		return true;
	while (len > 1 && *b == 0x66) {
		b++;
		len--;
	}
	return (len == 1 && *b == 0x90) || (len > 2 && b[0] == 0x0f && b[1] == 0x1f);
}

static bool is_push(const uint8_t *b, uint8_t len)
{
	if (len == 2 && *b == 0x41)
		b++;
	else if (len != 1)
		return false;
	return (*b & 0xf8) == 0x50;
}

/* Is a place still the function's entry, but for pushes? */
static bool is_entry(const struct ki_function *fn, const struct ki_place *place, uint32_t *pushed)
{
	*pushed = 0;
	if (place->where != KI_BEFORE || !fn->nblocks || place->addr >= fn->blocks[0].end)
		return false;
	for (uint32_t i = 0; i < fn->blocks[0].count; i++) {
		const struct ki_insn *in = &fn->insns[fn->blocks[0].first + i];
		const uint8_t *bytes = fn->bytes + (in->addr - fn->start);

		if (in->addr == place->addr)
			return true;
		if (is_push(bytes, in->len))
			++*pushed;
		else if (in->reason != KI_R_FTRACE_SITE && !is_idle(bytes, in->len))
			return false;
	}
	return false;
}

void ki_place_site(const struct ki_function *fn, const struct ki_place *place,
		   const ki_regset *live, struct ki_site_regs *out)
{
	const struct ki_insn *in = ki_function_insn_at(fn, place->addr);

	*out = (struct ki_site_regs){
		.dead = live ? ~*live & KI_REGSET_ALL : 0,
		.addr = place->addr,
		.user = ki_target_kind(fn->target) == KI_TARGET_PROCESS,
		.place = KI_PLACE_FACTS(place->addr - fn->start, place->where, 0, 0)};
	if (!place->flags_live)
		out->dead |= KI_REGSET_FLAGS;
	/* Go passes parameters in registers of its own. */
	out->at_entry = is_entry(fn, place, &out->pushed) &&
			!(out->user && ki_process_is_go(fn->target->own, place->addr));
	out->at_exit = place->where == KI_RETURNED ||
		       (in && in->kind == KI_INSN_RET && place->where == KI_BEFORE);
}

static bool is_same(const struct ki_long_code *c, const struct ki_code *s)
{
	return c->len == s->len && c->nfix == s->nfix && !memcmp(c->code, s->code, s->len) &&
	       !memcmp(c->fix, s->fix, s->nfix * sizeof(*s->fix));
}

static void set_code(struct plan_code *pc, const struct ki_long_code *code)
{
	*pc = (struct plan_code){.code = *code,
				 .req = {.len = code->len,
					 .nfix = code->nfix,
					 .code = (uintptr_t)code->code,
					 .fixups = (uintptr_t)code->fix}};
}

int ki_plan_add_code(struct ki_plan *p, const struct ki_insertion *at, struct ki_long_code *code,
		     uint32_t *id, struct ki_err *err)
{
	struct ki_chunk *c;
	int ret;

	if (ki_vec_reserve(&p->codes, 1))
		return ki_err_set(err, -ENOMEM, at->place->addr, "plan: out of memory");
	ret = ki_plan_prepare(p, at, &c, err);
	if (ret)
		return ret;
	set_code(&p->codes.v[p->codes.n], code);
	c->kind = KI_CHUNK_LONG;
	c->order = at->order;
	p->chunks.v[p->chunks.n].code = (uint32_t)p->codes.n++;
	*code = (struct ki_long_code){0};
	*id = ki_plan_count(p);
	return 0;
}

/* Is it what ki_snippet_count makes? */
static bool is_count(const struct ki_long_code *c, struct ki_code *out)
{
	if (c->nfix != 1 || c->fix->target > UINT32_MAX)
		return false;
	for (int keep = 0; keep < 2; keep++) {
		ki_snippet_count(out, (uint32_t)c->fix->target, keep);
		if (is_same(c, out))
			return true;
	}
	return false;
}

int ki_plan_add_snippet(struct ki_plan *p, const struct ki_insertion *at,
			const struct ki_snippet *snippet, const struct ki_site_regs *site,
			uint32_t *id, struct ki_err *err)
{
	struct ki_site_regs own;
	struct ki_long_code code;
	struct ki_code count;
	int ret;

	if (site)
		own = *site;
	else
		ki_place_site(at->fn, at->place, NULL, &own);
	if (!at->place->flags_live)
		own.dead |= KI_REGSET_FLAGS;
	ret = ki_snippet_compile(snippet, &own, &code, err);
	if (ret)
		return ret;
	if (!code.len)
		ret = ki_err_set(err, -EINVAL, at->place->addr, "snippet: it does nothing");
	else if (is_count(&code, &count))
		ret = ki_plan_add(p, at, &count, id, err);
	else
		ret = ki_plan_add_code(p, at, &code, id, err);
	ki_long_code_free(&code);
	return ret;
}

int ki_plan_add_like(struct ki_plan *p, const struct ki_insertion *at, uint32_t like, uint32_t *id,
		     struct ki_err *err)
{
	const struct plan_chunk *from = like < p->chunks.n ? &p->chunks.v[like] : NULL;
	struct ki_chunk *c, as;
	uint32_t code;
	int ret;

	if (!from || (from->c.kind != KI_CHUNK_LONG && from->c.kind != KI_CHUNK_CODE))
		return ki_err_set(err, -EINVAL, at->place->addr, "plan: no such code");
	as = from->c;
	code = from->code;
	ret = ki_plan_prepare(p, at, &c, err);
	if (ret)
		return ret;
	as.window = c->window;
	as.insn = c->insn;
	as.where = c->where;
	as.order = at->order;
	as.id = as.reason = 0;
	*c = as;
	if (as.kind == KI_CHUNK_LONG) {
		p->chunks.v[p->chunks.n].code = code;
		p->codes.v[code].shared = true;
	}
	*id = ki_plan_count(p);
	return 0;
}

int ki_plan_set_snippet(struct ki_plan *p, uint32_t id, const struct ki_snippet *snippet,
			const struct ki_site_regs *site, struct ki_err *err)
{
	struct plan_chunk *c = id < p->chunks.n ? &p->chunks.v[id] : NULL;
	struct ki_long_code code;
	struct plan_code *pc;
	int ret;

	if (!c || c->c.kind != KI_CHUNK_LONG || c->installed || p->codes.v[c->code].shared)
		return ki_err_set(err, -EINVAL, 0, "plan: this code cannot be changed");
	ret = ki_snippet_compile(snippet, site, &code, err);
	if (ret)
		return ret;
	if (!code.len) {
		ki_long_code_free(&code);
		return ki_err_set(err, -EINVAL, 0, "snippet: it does nothing");
	}
	pc = &p->codes.v[c->code];
	ki_long_code_free(&pc->code);
	set_code(pc, &code);
	return 0;
}

const struct ki_long_code *ki_plan_code(const struct ki_plan *p, uint32_t id)
{
	if (id >= p->chunks.n || p->chunks.v[id].c.kind != KI_CHUNK_LONG)
		return NULL;
	return &p->codes.v[p->chunks.v[id].code].code;
}
