// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the chunks of a splice request in order? The windows have been checked.
 */
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "heap/rows.h"
#include "splice/job.h"
#include "symbols.h"
#include "vet/form.h"
#include "vet/long.h"
#include "vet/permit.h"

static bool is_zero(const void *p, size_t len)
{
	return !memchr_inv(p, 0, len);
}

/* Of copies and short chunks. */
u16 ki_check_fixups(const struct ki_fixup *f, u8 n, u8 len)
{
	u8 i;

	if (n > KI_FIXUPS || !is_zero(f + n, (KI_FIXUPS - n) * sizeof(*f)))
		return KI_R_BAD_FIXUP;
	for (i = 0; i < n; i++) {
		if (f[i].kind == KI_FIX_NONE || f[i].kind > KI_FIX_GLOBAL || f[i].tail > 8 ||
		    f[i].zero || f[i].off + 4 > len)
			return KI_R_BAD_FIXUP;
		if (i && f[i].off < f[i - 1].off + 4)
			return KI_R_BAD_FIXUP;
	}
	return KI_R_OK;
}

/* Asked once in a request, if it needs it: who may not is written to the audit log. */
static u16 ask_once(struct ki_right *r, u16 (*ask)(void))
{
	if (!r->asked)
		r->answer = ask();
	r->asked = true;
	return r->answer;
}

static u16 may_call(struct ki_job *j)
{
	return ask_once(&j->may_call, ki_permit_calls);
}

static bool calls(const struct ki_long_code *code)
{
	u32 i;

	for (i = 0; i < code->nfix; i++)
		if (code->fix[i].kind == KI_FIX_CALLEE)
			return true;
	return false;
}

static u16 is_callee(unsigned long addr)
{
	struct module *owner;
	u16 reason = ki_verify_callee(addr, &owner);

	module_put(owner);
	return reason;
}

/* Where calls are counted they go to the bytes before the function, which have their own name. */
static unsigned long behind_prefix(unsigned long addr)
{
	unsigned long size, off;
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol(name, addr);
	if (!strstarts(name, "__pfx_") || !ki_call(kallsyms_lookup_size_offset)(addr, &size, &off))
		return addr;
	return addr - off + size;
}

static bool is_function(unsigned long addr)
{
	struct module *owner;
	u16 reason = ki_verify_function(behind_prefix(addr), &owner);

	module_put(owner);
	return !reason;
}

/* Does a chunk of any session stand on this side of an instruction, or a replacement? */
static bool is_used(const struct ki_win *w, u8 insn, u8 where, bool replaced)
{
	const struct ki_piece *p;

	list_for_each_entry (p, &w->chunks, in_window)
		if (!p->muted && p->insn == insn && p->where == where &&
		    (p->kind == KI_CHUNK_REPLACE) == replaced)
			return true;
	return false;
}

static bool has_no_code(const struct ki_chunk *c)
{
	return !c->len && !c->nfix && is_zero(c->fix, sizeof(c->fix)) &&
	       is_zero(c->code, sizeof(c->code));
}

/*
 * Only where the stack is as at a function's entry: there, and at a call or a jump that goes to
 * one. That the two functions take and return the same is for the sender to know.
 */
static u16 check_replacement(struct ki_job *j, const struct ki_win *w, const struct ki_chunk *c)
{
	struct ki_copy copy;
	u16 reason = may_call(j);

	if (reason)
		return reason;
	if (!has_no_code(c) || c->where == KI_AFTER || c->where == KI_RETURNED)
		return KI_R_BAD_REQUEST;
	if (c->where == KI_BEFORE)
		return w->entry && !c->insn ? is_callee(c->target) : KI_R_NOT_REPLACEABLE;
	if (!(w->flow[c->insn] & KI_FLOW_DIRECT))
		return KI_R_NOT_REPLACEABLE;
	if (is_used(w, c->insn, KI_RETURNED, false))
		return KI_R_TAIL_REPLACED;
	ki_win_copy(w, c->insn, &copy);
	if (!is_function(copy.fix[copy.nfix - 1].target))
		return KI_R_NOT_REPLACEABLE;
	return is_callee(c->target);
}

/* One comparison of a register with a number, and nothing else. */
static bool is_guard(const struct ki_chunk *c)
{
	struct ki_instr in;

	if (c->nfix || !is_zero(c->fix, sizeof(c->fix)) || c->len > KI_CHUNK_MAX ||
	    !is_zero(c->code + c->len, KI_CHUNK_MAX - c->len) ||
	    !ki_instr_read(c->code, c->len, &in))
		return false;
	return in.len == c->len && !in.memory && in.size >= 4 && in.rm != KI_SP &&
	       (in.form->class == KI_IS_CMP_IMM || in.form->class == KI_IS_CMP_IMM8);
}

static u16 check_guarded(struct ki_job *j, const struct ki_win *w, const struct ki_chunk *c)
{
	u16 reason = may_call(j);

	if (reason)
		return reason;
	if (c->where != KI_BEFORE || !is_guard(c))
		return KI_R_BAD_REQUEST;
	return w->entry && !c->insn ? is_callee(c->target) : KI_R_NOT_REPLACEABLE;
}

/* Does control leave the instruction on this side? */
static bool has_side(const struct ki_win *w, const struct ki_chunk *c)
{
	u8 flow = w->flow[c->insn];

	switch (c->where) {
	case KI_BEFORE:
		return true;
	case KI_AFTER:
		return !(flow & (KI_FLOW_ENDS | KI_FLOW_CALL));
	case KI_RETURNED:
		return (flow & (KI_FLOW_DIRECT | KI_FLOW_CALL)) == KI_FLOW_DIRECT;
	default:
		return flow & KI_FLOW_DIRECT || ki_extable_find(w->owner, ki_win_insn(w, c->insn));
	}
}

/* Probes of one program bring the same code to thousands of places. */
static u16 vet_code(struct ki_job *j, struct ki_long_code *code)
{
	u16 reason;
	u32 i;

	if (calls(code)) {
		reason = may_call(j);
		return reason ? reason : ki_vet_long(j->session, code);
	}
	for (i = 0; i < min_t(u32, j->nvetted, KI_JOB_VETTED); i++)
		if (ki_long_is_vetted(j->vetted[i], code))
			return KI_R_OK;
	reason = ki_vet_long(j->session, code);
	if (!reason)
		j->vetted[j->nvetted++ % KI_JOB_VETTED] = code;
	return reason;
}

static u16 check_long(struct ki_job *j, const struct ki_chunk *c, unsigned long addr)
{
	const struct ki_long_taken *l = &j->longs[c - j->chunks];
	u16 reason;

	if (!has_no_code(c))
		return KI_R_BAD_REQUEST;
	if (l->reason)
		return l->reason;
	reason = vet_code(j, l->code);
	if (!reason && l->code->writes)
		reason = may_call(j);
	if (!reason && l->code->signals)
		reason = ask_once(&j->may_signal, ki_permit_signals);
	if (!reason && l->code->words && ki_words_change_in(addr))
		return KI_R_THREAD_CHANGES;
	return reason;
}

static u16 check_keep(const struct ki_win *w, const struct ki_chunk *c)
{
	if (!has_no_code(c) || c->target || c->order || c->insn || c->where != KI_BEFORE)
		return KI_R_BAD_REQUEST;
	return w->group && w->group->order ? KI_R_OK : KI_R_BAD_LAYOUT;
}

static u16 check_short(struct ki_job *j, const struct ki_chunk *c)
{
	if (c->target || !c->len || c->len > KI_CHUNK_MAX ||
	    !is_zero(c->code + c->len, KI_CHUNK_MAX - c->len))
		return KI_R_BAD_REQUEST;
	if (ki_check_fixups(c->fix, c->nfix, c->len))
		return KI_R_BAD_FIXUP;
	return ki_vet_chunk(j->session, c);
}

static u16 check_chunk(struct ki_job *j, const struct ki_chunk *c)
{
	const struct ki_window *w;
	u16 reason;

	if (c->window >= j->req->nwindows || c->zero || c->zero2 || c->id || c->reason ||
	    c->where >= KI_WHERES || c->kind >= KI_CHUNK_KINDS)
		return KI_R_BAD_REQUEST;
	w = &j->windows[c->window];
	if (c->insn >= w->ncopy)
		return KI_R_BAD_SLOT;
	if (!w->reason && !has_side(j->wins[c->window], c))
		return KI_R_NO_SUCH_SIDE;
	if (c->kind == KI_CHUNK_REPLACE)
		return w->reason ? w->reason : check_replacement(j, j->wins[c->window], c);
	if (c->kind == KI_CHUNK_GUARDED)
		return w->reason ? w->reason : check_guarded(j, j->wins[c->window], c);
	if (c->kind == KI_CHUNK_KEEP)
		return w->reason ? w->reason : check_keep(j->wins[c->window], c);
	reason = c->kind == KI_CHUNK_LONG ? check_long(j, c, w->addr) : check_short(j, c);
	if (reason || w->reason || c->where != KI_RETURNED)
		return reason;
	if (is_used(j->wins[c->window], c->insn, KI_TAKEN, true))
		return KI_R_TAIL_REPLACED;
	return ki_tail_check(j->wins[c->window], c->insn);
}

int ki_job_check_chunks(struct ki_job *j)
{
	int first = 0, err;
	u32 i;

	ki_may_sleep_forget();
	for (i = 0; i < j->req->nchunks; i++) {
		u16 reason = check_chunk(j, &j->chunks[i]);

		if (ki_job_pause())
			return -EINTR;
		j->chunks[i].reason = reason;
		if (reason) {
			err = ki_refuse(&j->req->reason, reason);
			first = first ? first : err;
		}
	}
	return first;
}
