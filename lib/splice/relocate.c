// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Relocation: an instruction's copy that does at another address what the original does at its
 * own. The driver does not take our word for it: it emits each copy itself and compares. So every
 * form below is canonical, one original having exactly one copy:
 *
 *	no RIP operand, no branch	the bytes
 *	RIP-relative operand		the bytes, disp32 as KI_FIX_REL32
 *	jcc rel8, rel32			0f 8x REL32
 *	jmp rel8, rel32			e9 REL32
 *	loop, loope, loopne, jrcxz	ex 02  eb 05  e9 REL32
 *	jecxz, loops counting %ecx	67 and the same
 *	call rel32			RETURN  e9 REL32
 *	call r/m64			RETURN  the bytes, ff /2 made ff /4
 *	the same above 2 GiB		68 low half  c7 44 24 04 high half  and as above
 *	jmp r/m64, ret, ud2		as the first two rows
 *	a static branch, laid out	0f 85 REL32, after what the driver puts there
 *	a static call, laid out		RETURN  e9 REL32, of no target: the driver puts it there
 *
 * A loop has no 32-bit form: its copy goes over a jump that leads after the copy to one that
 * leads to the target.
 *
 * RETURN is e8 1, cc, 48 c7 04 24 ABS32(return address): a call over a byte, and then what it has
 * pushed is overwritten. A call must leave the address after its original on the stack, not one in
 * the patch (doc/design.md, section 4.5); and it must be a call, or the processor takes each of the
 * returns that follow for another one. It comes first, as in the processor's own call, but the
 * operand of an indirect one is now read after it: an operand based on %rsp is refused.
 *
 * Prefixes mean nothing to a direct branch (branch hints, the padding of a retpoline's call) and
 * are left out, but for 66: Intel and AMD do not agree what it does; and but for f2 and f3 in front
 * of a loop, where a processor may take a loopne for a loope. Those are refused. Whether a branch
 * is a plain one, a retpoline's or a return thunk's makes no difference here: the bytes decide, not
 * the kind.
 *
 * A ud2 is copied although its handler knows it by its address, and so is what has a row in the
 * exception table: the driver gives the copy a row of its own.
 */
#include <string.h>

#include "splice/springboard_choice.h"

#define MODRM_REG(m)   ((m) >> 3 & 7)
#define MODRM_RM(m)    ((m)&7)
#define MODRM_MOD(m)   ((m) >> 6)
#define RSP_NUMBER     4
#define OPCODE_JMP     0xe9
#define OPCODE_PUSH    0x68
#define FAR_LEN	       13
#define XBEGIN_LEN     5 /* at least: 66 makes its distance 16 bits */
#define OPCODE_AT(i)   ((i)->bytes[(i)->prefixes])
#define OPCODE_NEXT(i) ((i)->bytes[(i)->prefixes + 1])

/* A branch instruction, taken apart. */
struct branch {
	const struct ki_insn *in;
	const uint8_t *bytes;
	uint8_t prefixes; /* how many bytes of prefixes, REX included */
	uint8_t rex;
	bool osize; /* 66 among them */
	bool asize; /* 67 among them */
	bool rep;   /* f2 or f3 among them */
};

static bool is_legacy_prefix(uint8_t b)
{
	switch (b) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

static struct branch take_apart(const struct ki_insn *in, const uint8_t *bytes)
{
	struct branch b = {.in = in, .bytes = bytes};

	while (b.prefixes < in->len && is_legacy_prefix(bytes[b.prefixes])) {
		b.osize |= bytes[b.prefixes] == 0x66;
		b.asize |= bytes[b.prefixes] == 0x67;
		b.rep |= (bytes[b.prefixes] & 0xfe) == 0xf2;
		b.prefixes++;
	}
	if (b.prefixes < in->len && (bytes[b.prefixes] & 0xf0) == 0x40)
		b.rex = bytes[b.prefixes++];
	return b;
}

static void put(struct ki_copy *c, const uint8_t *bytes, uint8_t n)
{
	memcpy(c->code + c->len, bytes, n);
	c->len += n;
}

static void put_byte(struct ki_copy *c, uint8_t b)
{
	put(c, &b, 1);
}

/* A zero field of four bytes that the driver fills. */
static void put_field(struct ki_copy *c, enum ki_fixup_kind kind, uint64_t target)
{
	struct ki_fixup *f = &c->fix[c->nfix++];

	f->kind = (uint8_t)kind;
	f->off = c->len;
	f->target = target;
	c->len += 4;
}

/* The instruction's bytes; a RIP-relative displacement among them becomes a fixup. */
static void put_insn(struct ki_copy *c, const struct ki_insn *in, const uint8_t *bytes)
{
	struct ki_fixup *f = &c->fix[c->nfix];
	uint8_t at = c->len;

	put(c, bytes, in->len);
	if (!(in->flags & KI_INSN_RIP))
		return;
	f->kind = KI_FIX_REL32;
	f->off = at + in->field;
	f->tail = in->tail;
	f->target = in->target;
	memset(c->code + f->off, 0, 4);
	c->nfix++;
}

#define USER_END (1ull << 47)

/*
 * Push an address of a process's that no push has an operand for: the high half is put right
 * after it, in the word that has just been pushed (movl $high, 4(%rsp)). No flags.
 */
static void put_far_return(struct ki_copy *c, uint64_t ret)
{
	static const uint8_t high[] = {0xc7, 0x44, 0x24, 0x04};
	uint32_t half[2] = {(uint32_t)ret, (uint32_t)(ret >> 32)};

	put_byte(c, OPCODE_PUSH);
	put(c, (uint8_t *)&half[0], 4);
	put(c, high, sizeof(high));
	put(c, (uint8_t *)&half[1], 4);
}

/* The kernel's addresses fit the sign-extended operand of movq, and so do a static program's. */
static unsigned int put_return(struct ki_copy *c, const struct ki_insn *in)
{
	static const uint8_t call_over[] = {0xe8, 1, 0, 0, 0, 0xcc};
	static const uint8_t movq_to_rsp[] = {0x48, 0xc7, 0x04, 0x24};
	uint64_t ret = in->addr + in->len;

	if ((uint64_t)(int64_t)(int32_t)ret != ret) {
		if (ret >= USER_END || FAR_LEN + in->len > KI_COPY_MAX)
			return KI_R_TOO_FAR;
		put_far_return(c, ret);
		return KI_R_OK;
	}
	put(c, call_over, sizeof(call_over));
	put(c, movq_to_rsp, sizeof(movq_to_rsp));
	put_field(c, KI_FIX_ABS32, ret);
	return KI_R_OK;
}

/* Where a direct branch goes: its displacement is its last 1 or 4 bytes. */
static uint64_t direct_target(const struct branch *b, unsigned int width)
{
	const uint8_t *p = b->bytes + b->in->len - width;
	int32_t disp;

	if (width == 1)
		disp = (int8_t)*p;
	else
		memcpy(&disp, p, 4);
	return b->in->addr + b->in->len + (uint64_t)(int64_t)disp;
}

static unsigned int copy_direct(const struct branch *b, struct ki_copy *out)
{
	uint8_t op = OPCODE_AT(b);
	bool two = op == 0x0f;
	bool narrow = op == 0xeb || (op & 0xf0) == 0x70;
	uint64_t target;

	if (b->in->len != b->prefixes + (two ? 2 : 1) + (narrow ? 1 : 4))
		return KI_R_UNDECODABLE;
	target = direct_target(b, narrow ? 1 : 4);
	if (op == 0xe8) {
		/* a call to the next instruction only wants to know where it is */
		unsigned int reason = target == b->in->addr + b->in->len ? KI_R_STACK_CALL
									 : put_return(out, b->in);

		if (reason)
			return reason;
	}
	if (two || (op & 0xf0) == 0x70) {
		uint8_t cc = two ? OPCODE_NEXT(b) & 0x0f : op & 0x0f;

		put_byte(out, 0x0f);
		put_byte(out, 0x80 | cc);
	} else {
		put_byte(out, OPCODE_JMP);
	}
	put_field(out, KI_FIX_REL32, target);
	return KI_R_OK;
}

static unsigned int copy_loop(const struct branch *b, struct ki_copy *out)
{
	static const uint8_t over[] = {2, 0xeb, 5};

	if (b->in->len != b->prefixes + 2)
		return KI_R_UNDECODABLE;
	if (b->rep)
		return KI_R_LOOP_INSN;
	if (b->asize) /* the count is %ecx */
		put_byte(out, 0x67);
	put_byte(out, OPCODE_AT(b));
	put(out, over, sizeof(over));
	put_byte(out, OPCODE_JMP);
	put_field(out, KI_FIX_REL32, direct_target(b, 1));
	return KI_R_OK;
}

static bool operand_is_on_rsp(const struct branch *b)
{
	uint8_t modrm = OPCODE_NEXT(b);

	/* With modrm.mod != 3, rm 4 says that a SIB byte follows. REX.B makes both r12. */
	if (MODRM_RM(modrm) != RSP_NUMBER || (b->rex & 1))
		return false;
	return MODRM_MOD(modrm) == 3 || (b->bytes[b->prefixes + 2] & 7) == RSP_NUMBER;
}

static unsigned int copy_indirect(const struct branch *b, struct ki_copy *out)
{
	uint8_t modrm = OPCODE_NEXT(b);
	unsigned int reason;
	uint8_t at;

	if (MODRM_REG(modrm) == 4) {
		put_insn(out, b->in, b->bytes);
		return KI_R_OK;
	}
	if (MODRM_REG(modrm) != 2)
		return KI_R_UNDECODABLE;
	if (operand_is_on_rsp(b))
		return KI_R_STACK_CALL;
	reason = put_return(out, b->in);
	if (reason)
		return reason;
	at = out->len + b->prefixes + 1;
	put_insn(out, b->in, b->bytes);
	out->code[at] = (modrm & ~0x38) | 4 << 3;
	return KI_R_OK;
}

static unsigned int copy_branch(const struct ki_insn *in, const uint8_t *bytes, struct ki_copy *out)
{
	struct branch b = take_apart(in, bytes);

	if (b.osize || b.prefixes >= in->len)
		return KI_R_UNDECODABLE;
	switch (OPCODE_AT(&b)) {
	case 0x70 ... 0x7f:
	case 0xe8:
	case 0xe9:
	case 0xeb:
		return copy_direct(&b, out);
	case 0xe0 ... 0xe3:
		return copy_loop(&b, out);
	case 0x0f:
		if (b.prefixes + 1 < in->len && (OPCODE_NEXT(&b) & 0xf0) == 0x80)
			return copy_direct(&b, out);
		return KI_R_UNDECODABLE;
	case 0xff:
		if (b.prefixes + 1 < in->len)
			return copy_indirect(&b, out);
		return KI_R_UNDECODABLE;
	case 0xc2:
	case 0xc3:
		put_insn(out, in, bytes);
		return KI_R_OK;
	default:
		return KI_R_UNDECODABLE;
	}
}

static bool begins_with(const struct ki_insn *in, const uint8_t *bytes, uint8_t op, uint8_t next)
{
	uint8_t at = 0;

	while (at < in->len && is_legacy_prefix(bytes[at]))
		at++;
	at += at < in->len && (bytes[at] & 0xf0) == 0x40;
	return at + 1 < in->len && bytes[at] == op && bytes[at + 1] == next;
}

/* xbegin: no branch, yet it holds a relative address. */
static bool is_xbegin(const struct ki_insn *in, const uint8_t *bytes)
{
	return in->len >= XBEGIN_LEN && begins_with(in, bytes, 0xc7, 0xf8);
}

/* Direct jumps and returns without prefixes, which always have a copy. */
static bool is_plain_jump(const struct ki_insn *in, const uint8_t *bytes)
{
	switch (in->len) {
	case 1:
		return bytes[0] == 0xc3;
	case 2:
		return (bytes[0] & 0xf0) == 0x70 || bytes[0] == 0xeb;
	case 5:
		return bytes[0] == OPCODE_JMP;
	case 6:
		return bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80;
	default:
		return false;
	}
}

bool ki_insn_relocates(const struct ki_insn *in, const uint8_t *bytes)
{
	struct ki_copy copy;

	if (in->reason == KI_R_OK && (in->kind == KI_INSN_PLAIN || in->kind == KI_INSN_PAD))
		return !is_xbegin(in, bytes);
	if (in->reason == KI_R_OK && is_plain_jump(in, bytes))
		return true;
	return ki_relocate(in, bytes, &copy) == KI_R_OK;
}

unsigned int ki_relocate_written(const struct ki_insn *in, uint8_t flag, struct ki_copy *out)
{
	static const uint8_t jne[] = {0x0f, 0x85};
	const bool calls = flag == KI_WINDOW_STATIC_CALL;
	unsigned int reason = KI_R_OK;

	memset(out, 0, sizeof(*out));
	out->orig_len = in->len;
	if (calls) {
		reason = put_return(out, in);
		put_byte(out, OPCODE_JMP);
	} else {
		put(out, jne, sizeof(jne));
	}
	put_field(out, KI_FIX_REL32, calls ? 0 : in->target);
	return reason;
}

unsigned int ki_relocate(const struct ki_insn *in, const uint8_t *bytes, struct ki_copy *out)
{
	memset(out, 0, sizeof(*out));
	out->orig_len = in->len;
	if (in->reason != KI_R_OK)
		return in->reason;
	switch (in->kind) {
	case KI_INSN_PLAIN:
	case KI_INSN_PAD:
		if (is_xbegin(in, bytes))
			return KI_R_PRIVILEGED_INSN;
		put_insn(out, in, bytes);
		return KI_R_OK;
	case KI_INSN_TRAP:
		if (!begins_with(in, bytes, 0x0f, 0x0b)) /* ud2 */
			return KI_R_BUG_SITE;
		put_insn(out, in, bytes);
		return KI_R_OK;
	case KI_INSN_BAD:
		return KI_R_UNDECODABLE;
	default:
		return copy_branch(in, bytes, out);
	}
}
