// SPDX-License-Identifier: GPL-2.0-only
/*
 * The relocated copy of one instruction, as it must be.
 *
 * The library relocates; the driver does not trust it but emits every copy again and compares.
 * There is one form of each (lib/splice/relocate.c emits the same):
 *
 *	call target	call +1; int3; movq $return,(%rsp); jmp target
 *	call *operand	call +1; int3; movq $return,(%rsp); jmp *operand
 *	jmp target	jmp rel32
 *	jcc target	jcc rel32
 *	loop target	loop +2; jmp +5; jmp target	(the jmp +5 leads past the copy)
 *	static branch	jne target			(after what branch.c says)
 *	static call	as a call of its trampoline	(static_call.c)
 *	anything else	its own bytes, a RIP-relative displacement made anew
 *
 * No return address stays in a patch. The processor remembers where calls came from, and how many:
 * after a push in place of the call this return and all outer ones would be taken for others.
 */
#include <linux/string.h>

#include "ki.h"
#include "symbols.h"
#include "vet/head.h"

static void fix(struct ki_copy *out, u8 kind, u8 off, u8 tail, u64 target)
{
	struct ki_fixup *f = &out->fix[out->nfix++];

	f->kind = kind;
	f->off = off;
	f->tail = tail;
	f->target = target;
	memset(out->code + off, 0, 4);
}

/* What a displaced call begins with: a call over a byte, whose return address becomes the right
 * one. */
static void emit_return(struct ki_copy *out, u64 ret)
{
	static const u8 code[] = {
		0xe8, 1,    0,	  0,	0, KI_INT3,	  /* call +1; int3 */
		0x48, 0xc7, 0x04, 0x24, 0, 0,	    0, 0, /* movq $return,(%rsp) */
	};

	memcpy(out->code, code, sizeof(code));
	out->len = sizeof(code);
	fix(out, KI_FIX_ABS32, sizeof(code) - 4, 0, ret);
}

static void emit_branch(struct ki_copy *out, const u8 *opcode, u8 n, u64 target)
{
	memcpy(out->code + out->len, opcode, n);
	out->len += n + 4;
	fix(out, KI_FIX_REL32, out->len - 4, 0, target);
}

/* The decoder keeps each prefix once, and no more than four; nbytes counts all there are. */
static bool has_prefix(const struct insn *in, u8 prefix)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(in->prefixes.bytes); i++)
		if (in->prefixes.bytes[i] == prefix)
			return true;
	return false;
}

static bool rip_relative(const struct insn *in)
{
	return in->modrm.nbytes && (in->modrm.bytes[0] & 0xc7) == 0x05;
}

static bool stack_based(const struct insn *in)
{
	if (in->modrm.nbytes && (in->modrm.bytes[0] & 0xc7) == 0xc4)
		return !(in->rex_prefix.bytes[0] & 1); /* %rsp itself */
	return in->modrm.nbytes && (in->modrm.bytes[0] & 0xc0) != 0xc0 && in->sib.nbytes &&
	       (in->sib.bytes[0] & 7) == 4 && !(in->rex_prefix.bytes[0] & 1);
}

/* The instruction's own bytes after `at` bytes of other code. */
static void emit_verbatim(struct ki_copy *out, struct insn *in, const u8 *bytes, u64 next)
{
	u8 at = out->len;

	memcpy(out->code + at, bytes, in->length);
	out->len += in->length;
	if (rip_relative(in)) {
		u8 off = insn_offset_displacement(in);

		fix(out, KI_FIX_REL32, at + off, in->length - off - 4,
		    next + in->displacement.value);
	}
}

void ki_copy_written(const struct ki_win *w, struct ki_copy *out)
{
	static const u8 jne[] = {0x0f, 0x85}, jmp = KI_JMP;

	memset(out, 0, sizeof(*out));
	out->orig_len = w->len;
	if (w->branch) {
		emit_branch(out, jne, sizeof(jne), w->target);
	} else {
		emit_return(out, w->addr + w->len);
		emit_branch(out, &jmp, 1, w->target);
	}
}

void ki_copy_asked(const struct ki_win *w, struct ki_copy *copy)
{
	if (w->static_call)
		copy->fix[copy->nfix - 1].target = 0;
}

static u16 emit_call(struct ki_copy *out, struct insn *in, u64 next, u8 *flow)
{
	static const u8 jmp = KI_JMP;

	if (!in->immediate.value)
		return KI_R_STACK_CALL;
	emit_return(out, next);
	emit_branch(out, &jmp, 1, next + in->immediate.value);
	*flow = KI_FLOW_LEAVES | KI_FLOW_DIRECT | KI_FLOW_CALL;
	return KI_R_OK;
}

static u16 emit_indirect_call(struct ki_copy *out, struct insn *in, const u8 *bytes, u64 next)
{
	u8 modrm;

	if (stack_based(in))
		return KI_R_STACK_CALL;
	emit_return(out, next);
	modrm = out->len + insn_offset_modrm(in);
	emit_verbatim(out, in, bytes, next);
	out->code[modrm] = (out->code[modrm] & ~0x38) | (4 << 3); /* call /2 -> jmp /4 */
	return KI_R_OK;
}

/* Opcode ff: inc, dec, call, far call, jmp, far jmp, push. */
static u16 emit_group5(struct ki_copy *out, struct insn *in, const u8 *bytes, u64 next, u8 *flow)
{
	u8 reg = (in->modrm.bytes[0] >> 3) & 7;

	if ((reg == 2 || reg == 4) && has_prefix(in, 0x66))
		return KI_R_UNDECODABLE;
	switch (reg) {
	case 2:
		*flow = KI_FLOW_LEAVES | KI_FLOW_CALL;
		return emit_indirect_call(out, in, bytes, next);
	case 3:
	case 5:
		return KI_R_PRIVILEGED_INSN;
	case 4:
		*flow = KI_FLOW_LEAVES | KI_FLOW_ENDS;
		fallthrough;
	default:
		emit_verbatim(out, in, bytes, next);
		return KI_R_OK;
	}
}

/* loop, loope, loopne, jrcxz have no 32-bit form: the count decides between two jumps. */
static u16 emit_loop(struct ki_copy *out, const struct insn *in, u64 target)
{
	static const u8 behind[] = {0xeb, KI_JMP_LEN}, jmp = KI_JMP;

	if (has_prefix(in, 0xf2) || has_prefix(in, 0xf3)) /* loopne may be loope with them */
		return KI_R_LOOP_INSN;
	if (has_prefix(in, 0x67)) /* the count is %ecx */
		out->code[out->len++] = 0x67;
	out->code[out->len++] = in->opcode.bytes[0];
	out->code[out->len++] = sizeof(behind);
	memcpy(out->code + out->len, behind, sizeof(behind));
	out->len += sizeof(behind);
	emit_branch(out, &jmp, 1, target);
	return KI_R_OK;
}

static u16 refuse_one_byte(const struct insn *in)
{
	switch (in->opcode.bytes[0]) {
	case 0xfb:
		return KI_R_STI;
	case 0xcc:
		return KI_R_FOREIGN_BREAKPOINT;
	case 0xca: /* retf */
	case 0xcb:
	case 0xcd: /* int */
	case 0xcf: /* iret */
	case 0xf1: /* int1 */
	case 0xf4: /* hlt */
		return KI_R_PRIVILEGED_INSN;
	case 0x8e: /* mov %ss */
		return ((in->modrm.bytes[0] >> 3) & 7) == 2 ? KI_R_PRIVILEGED_INSN : KI_R_OK;
	case 0xc7: /* xbegin */
		return in->modrm.bytes[0] == 0xf8 ? KI_R_PRIVILEGED_INSN : KI_R_OK;
	default:
		return KI_R_OK;
	}
}

/*
 * Opcode 0f 01: in memory sgdt, sidt, smsw, rstorssp, invlpg, but lgdt, lidt, lmsw; else some of
 * many. What enters or leaves a virtual machine, an enclave or an idle state must stay.
 */
static bool may_move_0f01(u8 modrm)
{
	static const u8 may[] = {
		0xc5, /* pconfig */
		0xca, /* clac */
		0xcb, /* stac */
		0xd0, /* xgetbv */
		0xd1, /* xsetbv */
		0xd5, /* xend */
		0xd6, /* xtest */
		0xdf, /* invlpga */
		0xe8, /* serialize, xsusldtrk */
		0xe9, /* xresldtrk */
		0xea, /* saveprevssp */
		0xed, /* testui */
		0xee, /* rdpkru */
		0xef, /* wrpkru */
		0xf9, /* rdtscp */
		0xfc, /* clzero */
		0xfd, /* rdpru */
		0xfe, /* invlpgb */
		0xff, /* tlbsync */
	};
	u8 reg = (modrm >> 3) & 7;

	if ((modrm & 0xc0) != 0xc0)
		return reg != 2 && reg != 3 && reg != 6;
	return reg == 4 || memchr(may, modrm, sizeof(may)); /* smsw */
}

static u16 refuse_two_byte(const struct insn *in)
{
	u8 modrm = in->modrm.nbytes ? in->modrm.bytes[0] : 0;

	switch (in->opcode.bytes[1]) {
	case 0xb9: /* ud1, ud0 */
	case 0xff:
		return KI_R_BUG_SITE;
	case 0x1e:
		return modrm == 0xfa && has_prefix(in, 0xf3) ? KI_R_ENDBR : KI_R_OK;
	case 0x00: /* lldt, ltr; not sldt, str, verr, verw */
		return (modrm & 0x30) == 0x10 ? KI_R_PRIVILEGED_INSN : KI_R_OK;
	case 0x78: /* vmread, vmwrite; with a prefix they are something else */
	case 0x79:
		return has_prefix(in, 0x66) || has_prefix(in, 0xf2) ? KI_R_OK
								    : KI_R_PRIVILEGED_INSN;
	case 0x01:
		return may_move_0f01(modrm) ? KI_R_OK : KI_R_PRIVILEGED_INSN;
	case 0xc7: /* vmptrld, vmptrst and the like, in memory */
		return modrm < 0xc0 && (modrm & 0x30) == 0x30 ? KI_R_PRIVILEGED_INSN : KI_R_OK;
	case 0x05: /* syscall, clts, sysret, invd, wbinvd */
	case 0x06:
	case 0x07:
	case 0x08:
	case 0x09:
	case 0x20 ... 0x23: /* control and debug registers */
	case 0x34:	    /* sysenter, sysexit */
	case 0x35:
	case 0x37: /* getsec */
	case 0xb2: /* lss */
	case 0xaa: /* rsm */
		return KI_R_PRIVILEGED_INSN;
	default:
		return KI_R_OK;
	}
}

static bool is_loop(u8 op)
{
	return (op & 0xfc) == 0xe0;
}

static u16 emit_one_byte(struct ki_copy *out, struct insn *in, const u8 *bytes, u64 next, u8 *flow)
{
	u8 op = in->opcode.bytes[0];
	u8 code[2] = {KI_JMP};

	if (op == 0xff)
		return emit_group5(out, in, bytes, next, flow);
	if (op == 0xe8)
		return emit_call(out, in, next, flow);
	if (op == 0xe9 || op == 0xeb) {
		emit_branch(out, code, 1, next + in->immediate.value);
		*flow = KI_FLOW_LEAVES | KI_FLOW_ENDS | KI_FLOW_DIRECT;
	} else if ((op & 0xf0) == 0x70) {
		code[0] = 0x0f;
		code[1] = 0x80 | (op & 0x0f);
		emit_branch(out, code, 2, next + in->immediate.value);
		*flow = KI_FLOW_LEAVES | KI_FLOW_DIRECT;
	} else if (is_loop(op)) {
		*flow = KI_FLOW_LEAVES | KI_FLOW_DIRECT;
		return emit_loop(out, in, next + in->immediate.value);
	} else {
		emit_verbatim(out, in, bytes, next);
		if (op == 0xc3 || op == 0xc2)
			*flow = KI_FLOW_LEAVES | KI_FLOW_ENDS;
	}
	return KI_R_OK;
}

static bool is_branch(const struct insn *in)
{
	u8 op = in->opcode.bytes[0];

	if (in->opcode.nbytes == 2)
		return op == 0x0f && (in->opcode.bytes[1] & 0xf0) == 0x80;
	return op == 0xe8 || op == 0xe9 || op == 0xeb || (op & 0xf0) == 0x70 || op == 0xc3 ||
	       op == 0xc2 || is_loop(op);
}

/* Opcodes of one byte that stay as they are, with whatever of their forms head.c knows. */
static const bool stays[256] = {
	[0x00 ... 0x3f] = true, [0x50 ... 0x5f] = true, [0x63] = true,
	[0x68 ... 0x6b] = true, [0x80 ... 0x8d] = true, [0x90] = true,
	[0x98 ... 0x99] = true, [0xa8 ... 0xa9] = true, [0xb0 ... 0xbf] = true,
	[0xc0 ... 0xc1] = true, [0xc6 ... 0xc7] = true, [0xc9] = true,
	[0xd0 ... 0xd3] = true, [0xf6 ... 0xf7] = true,
};

/* Most of all code, without the kernel's decoder, which takes ten times as long. */
static bool emit_common(struct ki_copy *out, const u8 *bytes, size_t len)
{
	u8 code[KI_INSN_LONGEST] = {};
	struct ki_head h;

	memcpy(code, bytes, len < sizeof(code) ? len : sizeof(code));
	if (!ki_head_common(code, len, &h) || h.nopcodes != 1 || !stays[h.op[0]] ||
	    (h.modrm & 0xc7) == 0x05) /* RIP-relative */
		return false;
	out->orig_len = out->len = h.len;
	memcpy(out->code, code, h.len);
	return true;
}

u16 ki_copy_emit(unsigned long addr, const u8 *bytes, size_t len, struct ki_copy *out, u8 *flow)
{
	struct insn in;
	u64 next;
	u16 reason;

	memset(out, 0, sizeof(*out));
	*flow = 0;
	if (emit_common(out, bytes, len))
		return KI_R_OK;
	if (ki_call(insn_decode)(&in, bytes, len, INSN_MODE_64))
		return KI_R_UNDECODABLE;
	if (in.emulate_prefix_size) /* ud2 and a name: a hypervisor looks for them */
		return KI_R_BUG_SITE;
	if (in.rex_prefix.nbytes > 1) /* REX2: an opcode of one byte may be of any map */
		return KI_R_UNDECODABLE;
	/* A fifth kind, or one after a REX: it is taken for an opcode. */
	if (inat_is_legacy_prefix(in.attr) || inat_is_rex_prefix(in.attr))
		return KI_R_UNDECODABLE;
	out->orig_len = in.length;
	next = addr + in.length;
	if (is_branch(&in) && has_prefix(&in, 0x66))
		return KI_R_UNDECODABLE;
	if (rip_relative(&in) && has_prefix(&in, 0x67))
		return KI_R_TOO_FAR;
	if (in.vex_prefix.nbytes || in.opcode.nbytes > 2) {
		emit_verbatim(out, &in, bytes, next);
		return KI_R_OK;
	}
	reason = in.opcode.nbytes == 1 ? refuse_one_byte(&in) : refuse_two_byte(&in);
	if (reason)
		return reason;
	if (in.opcode.nbytes == 1)
		return emit_one_byte(out, &in, bytes, next, flow);
	if (is_branch(&in)) {
		emit_branch(out, in.opcode.bytes, 2, next + in.immediate.value);
		*flow = KI_FLOW_LEAVES | KI_FLOW_DIRECT;
	} else {
		emit_verbatim(out, &in, bytes, next);
	}
	return KI_R_OK;
}
