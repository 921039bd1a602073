/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A function: its original bytes decoded from the start of its symbol to the end, and what
 * keeps each instruction where it is.
 *
 * The result depends on the original bytes and the reserved text only, not on the state of
 * static branches or on who else has instrumented the function.
 */
#include "code/function/function.h"

#include <string.h>

#include "code/decode/memo.h"
#include "util/steps.h"
#include "util/search.h"

#define SITE_LEN    5
#define INT3	    0xcc
#define FILLER_KEPT 4096

bool ki_symbol_is_cold(const struct ki_symbol *sym)
{
	const char *cold = strstr(sym->name, ".cold");

	/* A nameless one may be. */
	if (!strncmp(sym->name, KI_NAMELESS, sizeof(KI_NAMELESS) - 1))
		return true;

	return cold && (!cold[5] || cold[5] == '.');
}

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

/*
 * The end without long filler: gaps of megabytes stand after some symbols, to align what
 * follows. A page of it is left for whoever looks for room.
 */
static uint64_t end_of(const uint8_t *bytes, uint64_t start, uint64_t end)
{
	uint64_t len = end - start;

	while (len && bytes[len - 1] == INT3)
		len--;
	return end - start - len > FILLER_KEPT ? start + len + FILLER_KEPT : end;
}

static void decode_one(struct ki_analysis *a, size_t pos, size_t avail, struct ki_decoded *d)
{
	const uint8_t *p = a->fn->bytes + pos;

	if (a->memo)
		ki_memo_decode(a->memo, p, avail, a->fn->start + pos, d);
	else
		ki_decode(p, avail, a->fn->start + pos, d);
}

static int decode(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;
	size_t len;

	fn->end = end_of(fn->bytes, fn->start, fn->end);
	len = fn->end - fn->start;
	if (ki_vec_reserve(&a->insns, len / 4 + 4) || ki_vec_reserve(&a->more, len / 4 + 4))
		return -ENOMEM;
	for (size_t pos = 0, n = 0; pos < len; a->insns.n = a->more.n = ++n) {
		struct ki_decoded d;

		if ((n == a->insns.cap && ki_vec_reserve(&a->insns, 1)) ||
		    (n == a->more.cap && ki_vec_reserve(&a->more, 1)))
			return -ENOMEM;
		decode_one(a, pos, len - pos, &d);
		a->traits |= d.traits;
		pos += d.in.len;
		a->insns.v[n] = d.in;
		a->more.v[n] = (struct ki_extra){d.use, d.def, d.traits, false, false, false};
	}
	fn->insns = a->insns.v;
	fn->ninsns = (uint32_t)a->insns.n;
	a->extra = a->more.v;
	return 0;
}

/* Calls and jumps by way of a thunk are what the thunk makes of them. */
static void apply_thunk(struct ki_analysis *a, struct ki_insn *in)
{
	if (in->kind != KI_INSN_CALL && in->kind != KI_INSN_JMP)
		return;
	if (in->kind == KI_INSN_CALL)
		in->target = ki_facts_callee(a->target, a->facts, in->target);
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

#define NAMED_UD2 5

/* A ud2 with a name after it is for a hypervisor, which emulates what follows the name. */
static bool is_for_hypervisor(const struct ki_function *fn, const struct ki_insn *in)
{
	static const uint8_t xen[NAMED_UD2] = {0x0f, 0x0b, 'x', 'e', 'n'},
			     kvm[NAMED_UD2] = {0x0f, 0x0b, 'k', 'v', 'm'};
	const uint8_t *p = fn->bytes + (in->addr - fn->start);

	return in->kind == KI_INSN_TRAP && fn->end - in->addr >= sizeof(xen) &&
	       (!memcmp(p, xen, sizeof(xen)) || !memcmp(p, kvm, sizeof(kvm)));
}

/* A 5-byte nop or call at the very beginning, or after its endbr64. */
static void apply_ftrace_site(struct ki_analysis *a)
{
	static const uint8_t nop[SITE_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct ki_function *fn = a->fn;
	size_t len = fn->end - fn->start, at = ki_target_endbr_len(fn->bytes, len);
	const uint8_t *p = fn->bytes + at;
	uint32_t i;

	if (fn->target->kind == KI_TARGET_PROCESS)
		return;
	if (len - at < SITE_LEN || (*p != 0xe8 && memcmp(p, nop, SITE_LEN) != 0))
		return;
	i = ki_function_covering(fn, fn->start + at);
	if (fn->insns[i].addr == fn->start + at)
		ki_refuse(&fn->insns[i].reason, KI_R_FTRACE_SITE);
}

/*
 * From a std to the cld that follows it, as assembler code is written (memmove): interrupts begin
 * with a cld, what a patch calls does not.
 */
static void apply_direction(struct ki_analysis *a)
{
	bool backward = false;

	if (!(a->traits & KI_TRAIT_STD))
		return;
	for (uint32_t i = 0; i < a->fn->ninsns; i++) {
		backward |= a->extra[i].traits & KI_TRAIT_STD;
		if (backward)
			ki_refuse(&a->fn->insns[i].reason, KI_R_BACKWARD);
		backward &= !(a->extra[i].traits & KI_TRAIT_CLD);
	}
}

/*
 * popf, and then a call: it hands the flags over, and what else it likes. So KVM calls what it
 * emulates instructions with (fastop).
 */
static void apply_popped_flags(struct ki_analysis *a)
{
	bool popped = false;

	if (!(a->traits & KI_TRAIT_POPF))
		return;
	for (uint32_t i = 0; i < a->fn->ninsns; i++) {
		struct ki_insn *in = &a->fn->insns[i];

		popped |= (a->extra[i].traits & KI_TRAIT_POPF) != 0;
		if (in->kind == KI_INSN_PLAIN)
			continue;
		if (popped && (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT)) {
			a->extra[i].use = KI_REGSET_ALL;
			in->flags |= KI_INSN_READS_FLAGS;
		}
		popped = false;
	}
}

static void apply_instructions(struct ki_analysis *a)
{
	struct ki_function *fn = a->fn;
	uint64_t emulated = 0; /* up to here a hypervisor reads */

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		struct ki_insn *in = &fn->insns[i];

		if (in->kind == KI_INSN_PLAIN && in->addr > emulated &&
		    !(a->extra[i].traits & KI_TRAIT_NEXT_FIXED))
			continue;
		apply_thunk(a, in);
		a->jumps |= in->kind == KI_INSN_JMP_INDIRECT;
		/* A call into the middle of oneself is after the return address. */
		if (in->kind == KI_INSN_CALL && in->target != fn->start &&
		    ki_function_holds(fn, in->target))
			ki_refuse(&in->reason, KI_R_STACK_CALL);
		if (is_for_hypervisor(fn, in))
			emulated = in->addr + NAMED_UD2;
		if (in->addr <= emulated)
			ki_refuse(&in->reason, KI_R_BUG_SITE);
		if (a->extra[i].traits & KI_TRAIT_NEXT_FIXED && i + 1 < fn->ninsns)
			ki_refuse(&fn->insns[i + 1].reason, in->reason);
	}
	apply_direction(a);
	apply_popped_flags(a);
	apply_ftrace_site(a);
}

bool ki_function_compiled(const struct ki_function *fn)
{
	const struct ki_symbol *to;

	for (uint32_t i = 0; i < 2 && i < fn->ninsns; i++) {
		if (fn->insns[i].reason != KI_R_FTRACE_SITE)
			continue;
		if (fn->insns[i].kind != KI_INSN_CALL)
			return true;
		to = ki_target_symbol_at(fn->target, fn->insns[i].target);
		return !to || strcmp(to->name, "__fentry__") == 0;
	}
	return false;
}

bool ki_function_gives_flags(const struct ki_function *fn)
{
	const struct ki_facts *facts = fn->target->facts;

	return facts && facts->kernel && !ki_function_compiled(fn);
}

static bool text_reason(unsigned int reason)
{
	return (reason >= KI_R_NOT_TEXT && reason <= KI_R_MODULE_GOING) ||
	       reason == KI_R_NO_PERCPU || reason == KI_R_HELPER_PATH || reason == KI_R_COPIED;
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
	struct ki_function *fn = a->fn;

	ki_refuse(&fn->reason, common_reason(fn));
	if (fn->target->kind == KI_TARGET_LIVE && strcmp(fn->symbol->module, "kerninst") == 0)
		ki_refuse(&fn->reason, KI_R_SELF);
}

/* Some text around the function, too, to see short branches into it. */
struct around {
	const uint8_t *text;
	uint64_t lo, hi;
};

/*
 * Read from the target. What is around may be unreadable: then nothing is known to jump from
 * there.
 */
static int read_around(struct ki_analysis *a, struct around *x, struct ki_err *err)
{
	struct ki_function *fn = a->fn;
	int ret;

	a->bytes.n = 0;
	if (ki_vec_reserve(&a->bytes, x->hi - x->lo))
		return ki_err_set(err, -ENOMEM, fn->start, "%s: out of memory", fn->symbol->name);
	ret = ki_target_read(fn->target, x->lo, a->bytes.v, x->hi - x->lo, KI_VIEW_ORIG, NULL);
	if (ret) {
		x->lo = fn->start;
		x->hi = fn->end;
		ret = ki_target_read(fn->target, x->lo, a->bytes.v, x->hi - x->lo, KI_VIEW_ORIG,
				     ret == -EFAULT ? NULL : err);
	}
	x->text = a->bytes.v;
	return ret;
}

static int find_bytes(struct ki_analysis *a, struct around *x, struct ki_err *err)
{
	struct ki_function *fn = a->fn;
	const struct ki_text_range *r = ki_target_range_at(fn->target, fn->start);
	size_t avail;
	int ret = 0;

	if (!r || fn->end - fn->start > r->end - fn->start)
		return -EFAULT;
	x->lo = fn->start - r->start > KI_NEAR ? fn->start - KI_NEAR : r->start;
	x->hi = r->end - fn->end > KI_NEAR ? fn->end + KI_NEAR : r->end;
	if (!a->text)
		ret = read_around(a, x, err);
	else
		x->text = ki_text_at(a->text, x->lo, &avail);
	if (!ret && !x->text)
		ret = -EFAULT;
	if (!ret)
		fn->bytes = (uint8_t *)(uintptr_t)x->text + (fn->start - x->lo);
	return ret;
}

/* Number of the first of a->entries at or after addr. */
static size_t entry_from(const struct ki_analysis *a, uint64_t addr)
{
	return KI_FIRST(i, a->nentries, a->entries[i] >= addr);
}

static int find_leaders(struct ki_analysis *a, const struct around *x)
{
	struct ki_function *fn = a->fn;
	bool unknown = false;
	int ret;

	ki_blocks_leaders(a);
	ki_entries_far(a);
	for (size_t i = entry_from(a, fn->start); i < a->nentries && a->entries[i] < fn->end; i++)
		ki_analysis_entry(a, a->entries[i]);
	ret = a->jumps ? ki_tables_find(a, &unknown) : 0;
	if (unknown)
		ki_analysis_unparsed(a, KI_R_COMPUTED_GOTO);
	ki_entries_near(a, x->text, x->lo, x->hi);
	return ret;
}

int ki_analysis_whole(struct ki_analysis *a)
{
	return a->fn->nedges ? 0 : ki_edges_build(a);
}

/* All that leads to an instruction but falling into it makes it a leader. */
static int find_edges(struct ki_analysis *a)
{
	return a->at_entry && a->fn->nblocks && !a->extra[0].leader ? 0 : ki_edges_build(a);
}

static int analyze(struct ki_analysis *a, struct ki_err *err)
{
	struct ki_function *fn = a->fn;
	struct around x = {0};
	int ret = find_bytes(a, &x, err);

	if (ret == -EFAULT) {
		ki_analysis_unparsed(a, KI_R_NOT_TEXT);
		return 0;
	}
	if (ret)
		return ret;
	ret = decode(a);
	if (!ret) {
		ki_rows_apply(a);
		apply_instructions(a);
		ret = find_leaders(a, &x);
	}
	if (!ret)
		ret = ki_blocks_build(a);
	if (!ret)
		ret = find_edges(a);
	if (ret)
		return ki_err_set(err, ret, fn->start, "%s: out of memory", fn->symbol->name);
	set_reason(a);
	ki_entries_note(a);
	return 0;
}

int ki_analysis_init(struct ki_analysis *a, struct ki_target *t, struct ki_err *err)
{
	*a = (struct ki_analysis){.target = t, .fn = &a->own};
	return ki_facts_get(t, &a->facts, err);
}

void ki_analysis_free(struct ki_analysis *a)
{
	ki_vec_free(&a->insns);
	ki_vec_free(&a->more);
	ki_vec_free(&a->blocks);
	ki_vec_free(&a->edges);
	ki_vec_free(&a->ways);
	ki_vec_free(&a->depths);
	ki_vec_free(&a->bytes);
}

int ki_analysis_run(struct ki_analysis *a, const struct ki_symbol *sym, struct ki_err *err)
{
	const uint64_t begun = ki_step_begin();
	int ret;

	if (sym->size > UINT32_MAX)
		return ki_err_reason(err, KI_R_FUNCTION_TOO_LARGE, sym->addr, "%s", sym->name);
	ret = ki_rows_find(a, sym, err);
	if (ret)
		return ret;
	a->unparsed = KI_R_OK;
	a->nread = a->traits = 0;
	a->jumps = false;
	a->insns.n = a->more.n = a->blocks.n = a->edges.n = a->ways.n = a->depths.n = 0;
	*a->fn = (struct ki_function){
		.target = a->target,
		.symbol = sym,
		.start = sym->addr,
		.end = sym->addr + sym->size,
	};
	ret = analyze(a, err);
	ki_step_end(KI_STEP_PARSE, begun, 1);
	return ret;
}

/* A function of its own, with the analysis's arrays. */
static struct ki_function *detach(struct ki_analysis *a)
{
	struct ki_function *fn = malloc(sizeof(*fn));
	size_t len = a->fn->end - a->fn->start;

	if (!fn)
		return NULL;
	*fn = *a->fn;
	if (fn->bytes) {
		fn->bytes = malloc(len + 1);
		if (!fn->bytes) {
			free(fn);
			return NULL;
		}
		memcpy(fn->bytes, a->fn->bytes, len);
	}
	a->insns.v = NULL;
	a->blocks.v = NULL;
	a->edges.v = NULL;
	return fn;
}

int ki_function_analyze(struct ki_target *t, const struct ki_symbol *sym, struct ki_function **out,
			struct ki_err *err)
{
	struct ki_analysis a = {.target = t, .fn = &a.own};
	int ret = ki_facts_ask(t, &a.facts, err);

	if (!ret) {
		a.memo = a.facts->memo;
		ret = ki_analysis_run(&a, sym, err);
	}
	if (!ret && ki_flags_live(&a))
		ret = -ENOMEM;
	if (!ret) {
		*out = detach(&a);
		ret = *out ? 0 : -ENOMEM;
	}
	if (ret == -ENOMEM)
		ki_err_set(err, ret, sym->addr, "%s: out of memory", sym->name);
	ki_analysis_free(&a);
	return ret;
}

void ki_function_free(struct ki_function *fn)
{
	if (!fn)
		return;
	free(fn->bytes);
	free(fn->insns);
	free(fn->blocks);
	free(fn->edges);
	free(fn);
}
