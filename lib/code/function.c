/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A function: its original bytes decoded from the start of its symbol to the end, and what
 * keeps each instruction where it is.
 *
 * The result depends on the original bytes and the reserved text only, not on the state of
 * static branches or on who else has instrumented the function.
 */
#include "code/function.h"

#include <string.h>

#define SITE_LEN 5

void ki_refuse(uint16_t *reason, unsigned int why)
{
	if (why != KI_R_OK && (*reason == KI_R_OK || why < *reason))
		*reason = (uint16_t)why;
}

uint32_t ki_function_covering(const struct ki_function *fn, uint64_t addr)
{
	uint32_t lo = 0, hi = fn->ninsns;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (fn->insns[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void ki_analysis_leader(struct ki_analysis *a, uint64_t addr)
{
	uint32_t i = ki_function_covering(a->fn, addr);

	if (a->fn->insns[i].addr == addr)
		a->extra[i].leader = true;
	else
		ki_refuse(&a->fn->insns[i].reason, KI_R_WINDOW_ENTERED);
}

static int decode(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;
	size_t len = fn->end - fn->start;
	ki_vec(struct ki_insn) insns = {0};
	ki_vec(struct ki_extra) extra = {0};
	int ret = 0;

	if (ki_vec_reserve(&insns, len / 4 + 4) || ki_vec_reserve(&extra, len / 4 + 4))
		ret = -ENOMEM;
	for (size_t pos = 0; !ret && pos < len;) {
		struct ki_decoded d;

		ki_decode(fn->bytes + pos, len - pos, fn->start + pos, &d);
		pos += d.in.len;
		if (ki_vec_push(&insns, d.in) ||
		    ki_vec_push(&extra, (struct ki_extra){d.read, d.written, d.traits, false}))
			ret = -ENOMEM;
	}
	fn->insns = insns.v;
	fn->ninsns = (uint32_t)insns.n;
	a->extra = extra.v;
	return ret;
}

/* A static branch is one in either state: what stands there now is a nop or a jump. */
static void set_jump_label(struct ki_insn *in, const struct ki_reserved_row *row)
{
	if (row->reason != KI_R_JUMP_LABEL || row->addr != in->addr || !row->target)
		return;
	in->flags |= KI_INSN_JUMP_LABEL;
	in->kind = KI_INSN_JCC;
	in->target = row->target;
}

static void apply_rows(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;

	for (size_t r = 0; r < a->nrows; r++) {
		const struct ki_reserved_row *row = &a->rows[r];
		uint32_t i;

		if (!ki_row_touches(row, fn->start, fn->end))
			continue;
		i = row->addr > fn->start ? ki_function_covering(fn, row->addr) : 0;
		for (; i < fn->ninsns; i++) {
			struct ki_insn *in = &fn->insns[i];

			if (!ki_row_touches(row, in->addr, in->addr + in->len))
				break;
			ki_refuse(&in->reason, row->reason);
			set_jump_label(in, row);
		}
	}
}

/* Calls and jumps by way of a thunk are what the thunk makes of them. */
static void apply_thunk(struct ki_analysis *a, struct ki_insn *in)
{
	if (in->kind != KI_INSN_CALL && in->kind != KI_INSN_JMP)
		return;
	switch (ki_facts_thunk(a->facts, in->target)) {
	case KI_THUNK_NONE:
		break;
	case KI_THUNK_INDIRECT:
		in->kind = in->kind == KI_INSN_CALL ? KI_INSN_CALL_INDIRECT : KI_INSN_JMP_INDIRECT;
		break;
	case KI_THUNK_RETURN:
		if (in->kind == KI_INSN_JMP)
			in->kind = KI_INSN_RET;
		break;
	}
}

/* A 5-byte nop or call at the very beginning, or behind its endbr64. */
static void apply_ftrace_site(struct ki_analysis *a)
{
	static const uint8_t nop[SITE_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct ki_function *fn = a->fn;
	size_t len = fn->end - fn->start, at = ki_target_endbr_len(fn->bytes, len);
	const uint8_t *p = fn->bytes + at;
	uint32_t i;

	if (len - at < SITE_LEN || (*p != 0xe8 && memcmp(p, nop, SITE_LEN) != 0))
		return;
	i = ki_function_covering(fn, fn->start + at);
	if (fn->insns[i].addr == fn->start + at)
		ki_refuse(&fn->insns[i].reason, KI_R_FTRACE_SITE);
}

static void apply_instructions(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		struct ki_insn *in = &fn->insns[i];

		apply_thunk(a, in);
		/* A call into the middle of oneself is after the return address. */
		if (in->kind == KI_INSN_CALL && in->target != fn->start &&
		    ki_function_holds(fn, in->target))
			ki_refuse(&in->reason, KI_R_STACK_CALL);
		if (a->extra[i].traits & KI_TRAIT_NEXT_FIXED && i + 1 < fn->ninsns)
			ki_refuse(&fn->insns[i + 1].reason, in->reason);
	}
	apply_ftrace_site(a);
}

static bool by_table(const struct ki_analysis *a, uint32_t i)
{
	uint8_t traits = a->extra[i].traits;

	if (traits & KI_TRAIT_TABLE_JUMP)
		return true;
	if (!(traits & KI_TRAIT_REG_JUMP) || a->fn->target->kind != KI_TARGET_IMAGE)
		return false;
	/* movslq (table,index,4), reg; add table, reg; jmp *reg */
	for (uint32_t back = 1; back <= 8 && back <= i; back++)
		if (a->extra[i - back].traits & KI_TRAIT_TABLE_LOAD)
			return true;
	return false;
}

static bool text_reason(unsigned int reason)
{
	return reason >= KI_R_NOT_TEXT && reason <= KI_R_MODULE_GOING;
}

/* All of the code is text of a kind that must stay where it is. */
static unsigned int common_reason(const struct ki_function *fn)
{
	uint16_t all = KI_R_OK;

	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_insn *in = &fn->insns[fn->blocks[b].first];

		for (uint32_t i = 0; i < fn->blocks[b].count; i++) {
			if (!text_reason(in[i].reason))
				return KI_R_OK;
			ki_refuse(&all, in[i].reason);
		}
	}
	return all;
}

static void set_reason(struct ki_analysis *a)
{
	static const char interpreter[] = "___bpf_prog_run";
	struct ki_function *fn = a->fn;

	ki_refuse(&fn->reason, common_reason(fn));
	if (fn->target->kind == KI_TARGET_LIVE && strcmp(fn->symbol->module, "kerninst") == 0)
		ki_refuse(&fn->reason, KI_R_SELF);
	if (strncmp(fn->symbol->name, interpreter, sizeof(interpreter) - 1) == 0)
		ki_refuse(&fn->reason, KI_R_COMPUTED_GOTO);
	for (uint32_t i = 0; i < fn->ninsns; i++)
		if (fn->insns[i].kind == KI_INSN_JMP_INDIRECT && by_table(a, i))
			ki_refuse(&fn->reason, KI_R_COMPUTED_GOTO);
}

static int near_entry(void *arg, uint64_t target)
{
	ki_analysis_leader(arg, target);
	return 0;
}

/*
 * The function's bytes and, to see short branches into it, some around. What is around may be
 * unreadable: then nothing is known to jump from there.
 */
static int read_bytes(struct ki_analysis *a, uint8_t **text, uint64_t *lo, uint64_t *hi,
		      struct ki_err *err)
{
	struct ki_function *fn = a->fn;
	const struct ki_text_range *r = ki_target_range_at(fn->target, fn->start);
	size_t len = fn->end - fn->start;
	int ret;

	if (!r || len > r->end - fn->start)
		return -EFAULT;
	*lo = fn->start - r->start > KI_NEAR ? fn->start - KI_NEAR : r->start;
	*hi = r->end - fn->end > KI_NEAR ? fn->end + KI_NEAR : r->end;
	fn->bytes = malloc(len);
	*text = malloc(*hi - *lo);
	if (!fn->bytes || !*text)
		return ki_err_set(err, -ENOMEM, fn->start, "%s: out of memory", fn->symbol->name);
	ret = ki_target_read(fn->target, *lo, *text, *hi - *lo, KI_VIEW_ORIG, NULL);
	if (ret) {
		*lo = fn->start;
		*hi = fn->end;
		ret = ki_target_read(fn->target, *lo, *text, *hi - *lo, KI_VIEW_ORIG,
				     ret == -EFAULT ? NULL : err);
	}
	if (!ret)
		memcpy(fn->bytes, *text + (fn->start - *lo), len);
	return ret;
}

static int find_leaders(struct ki_analysis *a, const uint8_t *text, uint64_t lo, uint64_t hi)
{
	struct ki_function *fn = a->fn;
	const uint64_t *entries;
	size_t n;

	ki_blocks_leaders(a);
	entries = ki_facts_entries(a->facts, fn->start, fn->end, &n);
	for (size_t i = 0; i < n; i++)
		ki_analysis_leader(a, entries[i]);
	return ki_entries_near(fn->target, text, lo, hi, fn->start, fn->end, near_entry, a);
}

static int analyze(struct ki_analysis *a, struct ki_err *err)
{
	struct ki_function *fn = a->fn;
	uint8_t *text = NULL;
	uint64_t lo, hi;
	int ret = read_bytes(a, &text, &lo, &hi, err);

	if (ret == -EFAULT) {
		fn->reason = KI_R_NOT_TEXT;
		ret = 0;
		goto out;
	}
	if (ret)
		goto out;
	ret = decode(a);
	if (!ret) {
		apply_rows(a);
		apply_instructions(a);
		ret = find_leaders(a, text, lo, hi);
	}
	if (!ret)
		ret = ki_blocks_build(a);
	if (!ret) {
		set_reason(a);
		ret = ki_flags_live(a);
	}
	if (ret)
		ki_err_set(err, ret, fn->start, "%s: out of memory", fn->symbol->name);
out:
	free(text);
	return ret;
}

int ki_function_analyze(struct ki_target *t, const struct ki_symbol *sym, struct ki_function **out,
			struct ki_err *err)
{
	struct ki_analysis a = {0};
	int ret;

	if (sym->size > UINT32_MAX)
		return ki_err_reason(err, KI_R_FUNCTION_TOO_LARGE, sym->addr, "%s", sym->name);
	ret = ki_facts_get(t, &a.facts, err);
	if (!ret)
		ret = ki_target_reserved(t, sym->addr, sym->addr + sym->size, &a.rows, &a.nrows,
					 err);
	if (ret)
		return ret;
	a.fn = calloc(1, sizeof(*a.fn));
	if (!a.fn)
		return ki_err_set(err, -ENOMEM, sym->addr, "%s: out of memory", sym->name);
	a.fn->target = t;
	a.fn->symbol = sym;
	a.fn->start = sym->addr;
	a.fn->end = sym->addr + sym->size;
	ret = analyze(&a, err);
	free(a.extra);
	if (ret)
		ki_function_free(a.fn);
	else
		*out = a.fn;
	return ret;
}

void ki_function_free(struct ki_function *fn)
{
	if (!fn)
		return;
	free(fn->bytes);
	free(fn->insns);
	free(fn->blocks);
	free(fn);
}

const struct ki_insn *ki_function_insn_at(const struct ki_function *fn, uint64_t addr)
{
	const struct ki_insn *in;

	if (!ki_function_holds(fn, addr) || !fn->ninsns)
		return NULL;
	in = &fn->insns[ki_function_covering(fn, addr)];
	return in->addr == addr ? in : NULL;
}

const struct ki_block *ki_function_block_at(const struct ki_function *fn, uint64_t addr)
{
	uint32_t lo = 0, hi = fn->nblocks;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (fn->blocks[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == fn->nblocks || fn->blocks[lo].start > addr)
		return NULL;
	return &fn->blocks[lo];
}
