// SPDX-License-Identifier: GPL-2.0-only
#include "common_case.h"

#include <string.h>

#include "code/decode/decode.h"

static unsigned int dice(unsigned int n)
{
	return (unsigned int)(exec_random() >> 33) % n;
}

static uint64_t value(void)
{
	uint64_t r = exec_random();

	switch (dice(8)) {
	case 0:
		return r & 3;
	case 1:
		return ~0ull << dice(64);
	case 2:
		return r & 0xffffffff;
	case 3:
		return r & 0xffff;
	default:
		return r;
	}
}

static void fill_registers(struct insn_case *c, const struct case_world *w)
{
	for (unsigned int i = 0; i < EXEC_REGS; i++)
		c->cpu.r[i] = value();
	if (!dice(4)) /* equal ones for cmpxchg and the like */
		c->cpu.r[RAX] = c->cpu.r[RBX] = c->cpu.r[RDX];
	c->cpu.rsp = w->stack;
	c->cpu.flags = (exec_random() >> 20 & EXEC_FLAGS) | 0x202;
}

static bool decode(struct insn_case *c)
{
	static ZydisDecoder decoder;
	struct ki_decoded d;

	if (!decoder.stack_width) {
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
		ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_KNC, ZYAN_FALSE);
	}
	if (ZYAN_FAILED(
		    ZydisDecoderDecodeFull(&decoder, c->bytes, FORM_MAX, &c->info.z, c->info.ops)))
		return false;
	ki_decode(c->bytes, FORM_MAX, c->addr, &d);
	c->in = d.in;
	c->len = d.in.len;
	if (c->in.reason == KI_R_ENDBR) /* what it is for does not matter here */
		c->in.reason = KI_R_OK;
	return c->in.kind != KI_INSN_BAD;
}

/* ---- operands in memory ---- */

static uint64_t segment(const ZydisDecodedOperand *o, const struct case_world *w)
{
	return o->mem.segment == ZYDIS_REGISTER_GS   ? w->gs
	       : o->mem.segment == ZYDIS_REGISTER_FS ? w->fs
						     : 0;
}

static uint64_t short_address(const struct insn_case *c, uint64_t addr)
{
	return c->info.z.address_width == 32 ? (uint32_t)addr : addr;
}

/* Where an operand is, by the registers as they are. */
static uint64_t address(struct insn_case *c, const ZydisDecodedOperand *o,
			const struct case_world *w)
{
	int base = form_gpr(o->mem.base), index = form_gpr(o->mem.index);
	uint64_t at = (uint64_t)o->mem.disp.value;

	if (base >= 0)
		at += *form_reg(&c->cpu, (unsigned int)base);
	else if (o->mem.base == ZYDIS_REGISTER_RIP)
		at += c->addr + c->len;
	if (index >= 0)
		at += *form_reg(&c->cpu, (unsigned int)index) * o->mem.scale;
	return short_address(c, at) + segment(o, w);
}

static void set_displacement(struct insn_case *c, uint64_t disp)
{
	memcpy(c->bytes + c->info.z.raw.disp.offset, &disp, c->info.z.raw.disp.size / 8);
}

static uint64_t somewhere(const struct case_world *w)
{
	return w->data + dice(8) * 64 - 256 + (dice(4) ? 0 : dice(64));
}

/* Let base, index or displacement lead to `to`. */
static void aim(struct insn_case *c, const ZydisDecodedOperand *o, uint64_t to)
{
	int base = form_gpr(o->mem.base), index = form_gpr(o->mem.index);
	uint64_t disp = (uint64_t)o->mem.disp.value, more = 0;
	uint64_t *reg = base < 0 ? NULL : form_reg(&c->cpu, (unsigned int)base);

	if (index >= 0 && index != base) {
		*form_reg(&c->cpu, (unsigned int)index) = dice(64);
		more = *form_reg(&c->cpu, (unsigned int)index) * o->mem.scale;
	}
	if (base == KI_RSP) {
		if (c->info.z.raw.disp.size == 32 && c->info.z.raw.disp.offset)
			set_displacement(c, dice(512) - 256ull);
	} else if (base >= 0) {
		*reg = base == index ? (to - disp) / (1u + o->mem.scale) : to - disp - more;
		if (c->info.z.address_width == 32)
			*reg = (uint32_t)*reg | exec_random() << 32;
	} else {
		if (o->mem.base == ZYDIS_REGISTER_RIP)
			more = c->addr + c->len;
		set_displacement(c, to - more);
	}
}

static const char *aim_all(struct insn_case *c, const struct case_world *w)
{
	for (unsigned int i = 0; i < c->info.z.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->info.ops[i];
		bool nowhere = o->mem.type == ZYDIS_MEMOP_TYPE_AGEN;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    (nowhere && o->mem.base != ZYDIS_REGISTER_RIP))
			continue;
		if (segment(o, w) == w->fs &&
		    (form_gpr(o->mem.base) < 0 || form_gpr(o->mem.base) == KI_RSP ||
		     c->info.z.address_width != 64))
			return "fs, where it cannot be reached";
		if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    o->mem.base == ZYDIS_REGISTER_RSP)
			continue;
		aim(c, o, somewhere(w) - segment(o, w));
	}
	return decode(c) ? NULL : "not decodable";
}

/* ---- instructions that fall through ---- */

/* Any operands: a random ModRM, and what it asks for after it. */
static void mutate(struct insn_case *c)
{
	const ZydisDecodedInstruction *z = &c->info.z;
	uint8_t *modrm = c->bytes + z->raw.modrm.offset;
	unsigned int how = dice(8);

	if (!(z->attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
		if (z->raw.imm[0].size)
			c->bytes[z->raw.imm[0].offset] = (uint8_t)exec_random();
		return;
	}
	if (z->attributes & ZYDIS_ATTRIB_HAS_REX)
		c->bytes[z->raw.rex.offset] ^= (uint8_t)dice(8);
	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && z->raw.vex.size == 3)
		c->bytes[z->raw.vex.offset + 1] ^= (uint8_t)(dice(8) << 5);
	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && !dice(2))
		c->bytes[z->raw.vex.offset + z->raw.vex.size - 1] ^= (uint8_t)(dice(16) << 3);
	if (how < 2) /* relative to rip */
		*modrm = (*modrm & 0x38) | 5;
	else if (how < 4)
		*modrm = (uint8_t)((*modrm & 0x38) | (dice(256) & 0xc7));
	else if (how < 6)
		*modrm = (uint8_t)dice(256);
	for (uint8_t *p = modrm + 1; how < 7 && p < c->bytes + FORM_MAX; p++)
		*p = (uint8_t)exec_random();
}

static bool falls_through(const struct insn_case *c)
{
	return c->in.kind == KI_INSN_PLAIN || c->in.kind == KI_INSN_PAD;
}

/* Instructions that would go far, or wait for luck. Why it is to be left out, or NULL. */
static const char *tame(struct insn_case *c, const struct case_world *w)
{
	const ZydisDecodedInstruction *z = &c->info.z;
	int reg;

	if (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		c->cpu.r[RCX] &= 7;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		reg = form_gpr(c->info.ops[1].reg.value);
		if (c->info.ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER || reg < 0)
			break;
		if (reg == form_gpr(c->info.ops[0].mem.base))
			return "a bit far away";
		*form_reg(&c->cpu, (unsigned int)reg) &= 0x1ff;
		break;
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_LEAVE:
		c->cpu.r[RBP] = w->stack + 64;
		break;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ: /* not the trap flag */
		c->poke = c->cpu.rsp;
		c->value = (exec_random() & (EXEC_FLAGS | 0x400)) | 0x202;
		break;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		c->cpu.r[RDX] &= dice(2) - 1ull;
		break;
	default:
		break;
	}
	return NULL;
}

static const char *unfit(const struct insn_case *c)
{
	const char *why = form_unfit_alone(&c->info);

	if (c->info.z.mnemonic == ZYDIS_MNEMONIC_POPF || c->info.z.mnemonic == ZYDIS_MNEMONIC_POPFQ)
		why = NULL;
	for (unsigned int i = 0; !why && i < c->info.z.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->info.ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_SEGMENT &&
		    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			why = "loads a segment";
	}
	return why;
}

bool case_from_form(struct insn_case *c, const struct form *f, const struct case_world *w,
		    const char **why)
{
	uint64_t addr = c->addr;
	bool good = false;

	for (unsigned int i = 0; !good && i < 4; i++) {
		*c = (struct insn_case){.addr = addr};
		memcpy(c->bytes, f->bytes, sizeof(c->bytes));
		if (!decode(c))
			break;
		if (i < 3)
			mutate(c);
		good = decode(c) && falls_through(c);
	}
	*why = good ? NULL : "not decodable";
	if (good && !w->only_made)
		*why = unfit(c);
	if (*why)
		return false;
	fill_registers(c, w);
	*why = aim_all(c, w);
	if (!*why)
		*why = tame(c, w);
	return !*why;
}

/* ---- control transfers ---- */

enum way { REL8, REL32, INDIRECT, RETURN, RETURN_N, TRAP };

static const struct shape {
	uint8_t opcode[2], n;
	uint8_t span; /* so many opcodes from this one on */
	uint8_t way;
	uint8_t reg; /* of ModRM */
	bool conditional;
} shapes[] = {
	{{0x70}, 1, 16, REL8, 0, true},	      {{0x0f, 0x80}, 2, 16, REL32, 0, true},
	{{0x70}, 1, 16, REL8, 0, true},	      {{0x0f, 0x80}, 2, 16, REL32, 0, true},
	{{0xe0}, 1, 4, REL8, 0, true},	      {{0xe0}, 1, 4, REL8, 0, true},
	{{0xeb}, 1, 1, REL8, 0, false},	      {{0xe9}, 1, 1, REL32, 0, false},
	{{0xe8}, 1, 1, REL32, 0, false},      {{0xe8}, 1, 1, REL32, 0, false},
	{{0xff}, 1, 1, INDIRECT, 4, false},   {{0xff}, 1, 1, INDIRECT, 4, false},
	{{0xff}, 1, 1, INDIRECT, 2, false},   {{0xff}, 1, 1, INDIRECT, 2, false},
	{{0xc3}, 1, 1, RETURN, 0, false},     {{0xc2}, 1, 1, RETURN_N, 0, false},
	{{0x0f, 0x0b}, 2, 1, TRAP, 0, false},
};

static uint8_t put_prefixes(uint8_t *p)
{
	static const uint8_t prefixes[] = {0x2e, 0x3e, 0x26, 0x36, 0x64, 0x65,
					   0xf2, 0xf3, 0x67, 0x67, 0x66, 0x65};
	uint8_t n = 0;

	for (unsigned int more = dice(2) ? 0 : 1 + dice(2); more; more--)
		p[n++] = prefixes[dice(sizeof(prefixes))];
	if (!dice(4))
		p[n++] = (uint8_t)(0x40 | dice(16));
	return n;
}

/* A place for a pad that 8 bits reach, not over the code or the pad after it; or after it. */
static uint64_t near_pad(const struct insn_case *c)
{
	uint64_t behind = c->addr + c->len;

	switch (dice(8)) {
	case 0:
		return behind;
	case 1 ... 3:
		return behind + EXEC_PAD_LEN + dice(128 - EXEC_PAD_LEN);
	default:
		return behind - 128 + dice(128u - c->len - EXEC_PAD_LEN);
	}
}

static const char *lead_relative(struct insn_case *c, const struct case_world *w, bool narrow)
{
	uint64_t rel;

	if (c->info.z.raw.imm[0].size != (narrow ? 8 : 32))
		return "not decodable";
	c->taken = narrow || !dice(4) ? near_pad(c) : w->far[dice(4)];
	rel = c->taken - (c->addr + c->len);
	memcpy(c->bytes + c->len - (narrow ? 1 : 4), &rel, narrow ? 1 : 4);
	return NULL;
}

static const char *lead_indirect(struct insn_case *c, const struct case_world *w)
{
	const ZydisDecodedOperand *o = c->info.ops;
	const char *why;

	c->taken = w->far[dice(4)];
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (form_gpr(o->reg.value) < 0)
			return "not decodable";
		*form_reg(&c->cpu, (unsigned int)form_gpr(o->reg.value)) = c->taken;
		return NULL;
	}
	why = aim_all(c, w);
	if (why)
		return why;
	c->poke = address(c, o, w);
	c->value = c->taken;
	return NULL;
}

static const char *lead(struct insn_case *c, const struct case_world *w, const struct shape *s)
{
	switch (s->way) {
	case REL8:
	case REL32:
		return lead_relative(c, w, s->way == REL8);
	case INDIRECT:
		return lead_indirect(c, w);
	case RETURN:
	case RETURN_N:
		c->taken = w->far[dice(4)];
		c->poke = c->cpu.rsp;
		c->value = c->taken;
		break;
	default:
		break;
	}
	return NULL;
}

bool case_branch(struct insn_case *c, const struct case_world *w, const char **why)
{
	static const uint64_t counts[] = {0, 1, 2, 1ull << 32, (1ull << 32) + 1, ~0ull};
	const struct shape *s = &shapes[dice(sizeof(shapes) / sizeof(*shapes))];
	uint8_t n;

	*c = (struct insn_case){.addr = c->addr, .conditional = s->conditional};
	for (unsigned int i = 0; i < FORM_MAX; i++)
		c->bytes[i] = (uint8_t)exec_random();
	n = put_prefixes(c->bytes);
	memcpy(c->bytes + n, s->opcode, s->n);
	n += s->n;
	c->bytes[n - 1] += (uint8_t)dice(s->span);
	if (s->way == INDIRECT)
		c->bytes[n] = (uint8_t)((c->bytes[n] & 0xc7) | s->reg << 3);
	*why = "not decodable";
	if (!decode(c) || c->in.kind == KI_INSN_PLAIN)
		return false;
	fill_registers(c, w);
	if (c->in.kind == KI_INSN_LOOP)
		c->cpu.r[RCX] = dice(8) ? counts[dice(6)] : c->cpu.r[RCX];
	*why = lead(c, w, s);
	if (!*why && !decode(c))
		*why = "not decodable";
	return !*why;
}
