// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/cfg_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/pointspec.h"

#define LINES_MAX  16 /* of a block; of a longer one these: */
#define LINES_HEAD 10
#define LINES_TAIL 4

bool ki_cfg_view_is_inner(const struct ki_cfg_view *v, const struct ki_edge *e)
{
	return e->kind <= KI_EDGE_FIXUP && e->to_block < v->fn->nblocks;
}

bool ki_cfg_view_is_back(const struct ki_cfg_view *v, const struct ki_edge *e)
{
	return v->place[e->to_block] <= v->place[e->block];
}

uint32_t ki_cfg_view_depth(const struct ki_cfg_view *v, uint32_t block)
{
	uint32_t l = v->cfg->loop_of[block];

	return l == KI_NONE ? 0 : v->cfg->loops[l].depth;
}

uint32_t ki_cfg_view_headed(const struct ki_cfg_view *v, uint32_t block)
{
	uint32_t l = v->cfg->loop_of[block];

	return l != KI_NONE && v->cfg->loops[l].header == block ? l : KI_NONE;
}

uint64_t ki_cfg_view_bytes(const struct ki_cfg_view *v)
{
	return v->fn->blocks[v->fn->nblocks - 1].end - v->fn->start;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void ki_cfg_view_facts(const struct ki_cfg_view *v, char *buf, size_t len)
{
	uint32_t nloops = v->cfg->nloops;

	snprintf(buf, len,
		 "%" PRIu64 " bytes, %u block%s, %u edge%s, %u exit%s, %u loop%s, depth %u",
		 ki_cfg_view_bytes(v), v->fn->nblocks, plural(v->fn->nblocks), v->nedges,
		 plural(v->nedges), v->nexits, plural(v->nexits), nloops, plural(nloops), v->depth);
}

uint32_t ki_cfg_view_lines(const struct ki_cfg_view *v, uint32_t block, uint32_t *skip,
			   uint32_t *skipped)
{
	uint32_t n = v->fn->blocks[block].count;

	*skip = n;
	*skipped = 0;
	if (n <= LINES_MAX)
		return n;
	*skip = LINES_HEAD;
	*skipped = n - LINES_HEAD - LINES_TAIL;
	return LINES_HEAD + 1 + LINES_TAIL;
}

static void __attribute__((format(printf, 3, 4))) add(char *buf, size_t len, const char *fmt, ...)
{
	size_t at = strlen(buf);
	va_list ap;

	if (at && at + 2 < len) {
		strcpy(buf + at, "; ");
		at += 2;
	}
	va_start(ap, fmt);
	vsnprintf(buf + at, len - at, fmt, ap);
	va_end(ap);
}

static void name_of(const struct ki_cfg_view *v, uint64_t addr, char *buf, size_t len)
{
	const struct ki_symbol *sym = ki_target_symbol_at(v->fn->target, addr);

	if (!sym)
		snprintf(buf, len, "0x%" PRIx64, addr);
	else if (sym->addr == addr)
		snprintf(buf, len, "%s", sym->name);
	else
		snprintf(buf, len, "%s+0x%" PRIx64, sym->name, addr - sym->addr);
}

/* What the edge adds to the exits of its block. */
static enum ki_cfg_exit exit_by(const struct ki_cfg_view *v, const struct ki_edge *e, char *buf,
				size_t len)
{
	char name[128];

	name_of(v, e->to, name, sizeof(name));
	switch (e->kind) {
	case KI_EDGE_CALL:
	case KI_EDGE_CALL_INDIRECT:
		return KI_CFG_STAYS;
	case KI_EDGE_RETURN:
		add(buf, len, "ret");
		return KI_CFG_RETURNS;
	case KI_EDGE_TAIL:
		add(buf, len, "tail call to %s", name);
		return KI_CFG_LEAVES;
	case KI_EDGE_TAIL_INDIRECT:
		add(buf, len, "indirect tail call");
		return KI_CFG_LEAVES;
	default:
		add(buf, len, e->to ? "to %s" : "to an unknown place", name);
		return KI_CFG_LEAVES;
	}
}

/* A block that nothing leads on from: it ends in a trap, or in a call that does not return. */
static enum ki_cfg_exit dead_end(const struct ki_cfg_view *v, uint32_t block, char *buf, size_t len)
{
	const struct ki_block *b = &v->fn->blocks[block];
	const struct ki_insn *last = &v->fn->insns[b->first + b->count - 1];
	char name[128] = "the callee";

	if (last->kind == KI_INSN_CALL)
		name_of(v, last->target, name, sizeof(name));
	if (last->kind == KI_INSN_CALL || last->kind == KI_INSN_CALL_INDIRECT)
		add(buf, len, "%s does not return", name);
	else
		add(buf, len, last->kind == KI_INSN_TRAP ? "trap" : "no way on");
	return KI_CFG_ENDS;
}

enum ki_cfg_exit ki_cfg_view_exit(const struct ki_cfg_view *v, uint32_t block, char *buf,
				  size_t len)
{
	const struct ki_block *b = &v->fn->blocks[block];
	enum ki_cfg_exit how = KI_CFG_STAYS;
	bool goes_on = false;

	*buf = '\0';
	for (uint32_t i = b->first_edge; i < b->first_edge + b->nedges; i++) {
		const struct ki_edge *e = &v->fn->edges[i];
		enum ki_cfg_exit by = KI_CFG_STAYS;

		if (!ki_cfg_view_is_inner(v, e))
			by = exit_by(v, e, buf, len);
		else
			goes_on |= e->kind != KI_EDGE_FIXUP;
		if (by != KI_CFG_STAYS)
			how = by;
	}
	if (how == KI_CFG_STAYS && !goes_on)
		return dead_end(v, block, buf, len);
	return how;
}

static void count(struct ki_cfg_view *v)
{
	const struct ki_function *fn = v->fn;
	char text[256];

	for (uint32_t i = 0; i < fn->nblocks; i++)
		v->place[v->cfg->rpo[i]] = i;
	for (uint32_t i = 0; i < fn->nedges; i++)
		v->nedges += ki_cfg_view_is_inner(v, &fn->edges[i]);
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		v->nexits += ki_cfg_view_exit(v, b, text, sizeof(text)) != KI_CFG_STAYS;
		if (ki_cfg_view_depth(v, b) > v->depth)
			v->depth = ki_cfg_view_depth(v, b);
	}
}

int ki_cfg_view_new(struct ki_cfg_view *v, const struct ki_function *fn, struct ki_err *err)
{
	int ret;

	*v = (struct ki_cfg_view){.fn = fn, .mark = KI_NONE};
	ret = ki_cfg_new(fn, &v->cfg, err);
	if (ret)
		return ret;
	v->place = calloc((size_t)fn->nblocks + 1, sizeof(*v->place));
	if (!v->place)
		return ki_err_set(err, -ENOMEM, fn->start, "out of memory");
	count(v);
	return 0;
}

void ki_cfg_view_free(struct ki_cfg_view *v)
{
	ki_cfg_free(v->cfg);
	free(v->place);
}

int ki_cfg_view_mark(struct ki_cfg_view *v, const struct ki_pointspec *spec, const char *text,
		     struct ki_err *err)
{
	const struct ki_function *fn = v->fn;
	const struct ki_block *b;
	uint64_t addr;

	switch (spec->suffix) {
	case KI_POINTSPEC_BLOCK:
		if (spec->number >= fn->nblocks)
			return ki_err_set(err, -ENOENT, fn->start,
					  "%s: no such block: %s has %u, numbered from 0", text,
					  fn->symbol->name, fn->nblocks);
		v->mark = (uint32_t)spec->number;
		return 0;
	case KI_POINTSPEC_OFFSET:
	case KI_POINTSPEC_ADDRESS:
		addr = spec->number + (spec->suffix == KI_POINTSPEC_OFFSET ? fn->start : 0);
		b = ki_function_block_at(fn, addr);
		if (!b)
			return ki_err_set(err, -ENOENT, fn->start,
					  "%s: no block covers it; %s has 0x%" PRIx64 " bytes",
					  text, fn->symbol->name, ki_cfg_view_bytes(v));
		v->mark = (uint32_t)(b - fn->blocks);
		return 0;
	default:
		return 0;
	}
}