// SPDX-License-Identifier: GPL-2.0-only
/*
 * vetting [STRINGS [SEED]]: strings over the whole space of encodings, and of each instruction that
 * the driver's vetting lets run what Zydis says: the same length, class, operands, registers that
 * it writes, and that it is of the set that may run, which is described here by mnemonics and kinds
 * of operands, and not by opcodes as in the driver's table.
 *
 * Then the same strings within chunks, between pushes and pops, with fixups: what is accepted as a
 * chunk has memory operands that are its own.
 *
 * promise: The driver reads each inserted instruction and lets none run that Zydis would not.
 *   [long.sh, fuzz.sh, test_vetting.c, test_snippet_mutated.c]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "common_drv.h"
#include "kernel_types.h"

#include "../../kmod/vet/form.h"
#include "encodings.h"

#define LONGEST	   15
#define MOST_WORDS 3
#define ROOM	   (LONGEST + 2 * MOST_WORDS + 2)
#define M(x)	   ZYDIS_MNEMONIC_##x

struct decoded {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};

static ZydisDecoder decoder;
static uint64_t strings, accepted, chunks, of[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static void wrong(const uint8_t *code, uint32_t len, const char *what)
{
	printf("not ok 1 vetting: %s:", what);
	for (uint32_t i = 0; i < len; i++)
		printf(" %02x", code[i]);
	printf("\n1..1\n");
	exit(1);
}

/* ---- what may run ---- */

#define LOCKED 1 /* with lock, in memory */
#define MEM    2
#define REG    4

static const struct {
	ZydisMnemonic m;
	uint8_t may;
} set[] = {
	{M(ADD), LOCKED | MEM | REG},
	{M(OR), LOCKED | MEM | REG},
	{M(AND), LOCKED | MEM | REG},
	{M(SUB), LOCKED | MEM | REG},
	{M(XOR), LOCKED | MEM | REG},
	{M(INC), LOCKED | MEM | REG},
	{M(DEC), LOCKED | MEM | REG},
	{M(XADD), LOCKED | MEM | REG},
	{M(CMP), MEM | REG},
	{M(TEST), MEM | REG},
	{M(MOV), MEM | REG},
	{M(MOVZX), MEM | REG},
	{M(MOVSX), MEM | REG},
	{M(MOVSXD), MEM | REG},
	{M(IMUL), MEM | REG},
	{M(NOP), MEM | REG},
	{M(LEA), MEM},
	{M(MUL), REG},
	{M(NOT), REG},
	{M(NEG), REG},
	{M(SHL), REG},
	{M(SHR), REG},
	{M(SAR), REG},
	{M(BT), REG},
	{M(BSF), REG},
	{M(BSR), REG},
	{M(BSWAP), REG},
	{M(CBW), REG},
	{M(CWDE), REG},
	{M(CDQE), REG},
	{M(LAHF), REG},
	{M(SAHF), REG},
	{M(RDTSC), REG},
	{M(PUSH), REG},
	{M(POP), REG},
	{M(CALL), REG},
	{M(JMP), REG},
};

static uint8_t may(const struct decoded *d)
{
	switch (d->z.meta.category) {
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_CMOV:
		return REG;
	case ZYDIS_CATEGORY_COND_BR: /* not loop, nor jrcxz */
		return d->z.mnemonic == M(LOOP) || d->z.mnemonic == M(LOOPE) ||
				       d->z.mnemonic == M(LOOPNE) || d->z.mnemonic == M(JCXZ) ||
				       d->z.mnemonic == M(JECXZ) || d->z.mnemonic == M(JRCXZ)
			       ? 0
			       : REG;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++)
		if (set[i].m == d->z.mnemonic)
			return set[i].may;
	return 0;
}

static const ZydisDecodedOperand *memory_of(const struct decoded *d)
{
	for (unsigned int i = 0; i < d->z.operand_count_visible; i++)
		if (d->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &d->ops[i];
	return NULL;
}

static bool uses_stack(const struct decoded *d)
{
	return d->z.mnemonic == M(PUSH) || d->z.mnemonic == M(POP) || d->z.mnemonic == M(CALL);
}

static bool is_branch(const struct decoded *d)
{
	return d->z.mnemonic == M(CALL) || d->z.mnemonic == M(JMP) ||
	       d->z.meta.category == ZYDIS_CATEGORY_COND_BR;
}

static bool is_gpr(ZydisRegister r)
{
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return true;
	default:
		return false;
	}
}

/* Of operands that nobody sees: flags, %rip, and the stack of what uses it. */
static const char *odd_operand(const struct decoded *d, const ZydisDecodedOperand *o)
{
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;

	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		if (is_gpr(o->reg.value))
			return NULL;
		return hidden && (o->reg.value == ZYDIS_REGISTER_RFLAGS ||
				  o->reg.value == ZYDIS_REGISTER_RIP)
			       ? NULL
			       : "a register of another kind";
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return hidden && !uses_stack(d) ? "memory that nobody sees" : NULL;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return is_branch(d) == o->imm.is_relative ? NULL : "a number that is a place";
	default:
		return "a far pointer";
	}
}

static const char *odd_prefix(const struct decoded *d, bool memory)
{
	const ZydisInstructionAttributes never =
		ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE |
		ZYDIS_ATTRIB_HAS_BND | ZYDIS_ATTRIB_HAS_XACQUIRE | ZYDIS_ATTRIB_HAS_XRELEASE |
		ZYDIS_ATTRIB_HAS_BRANCH_NOT_TAKEN | ZYDIS_ATTRIB_HAS_BRANCH_TAKEN |
		ZYDIS_ATTRIB_HAS_NOTRACK | ZYDIS_ATTRIB_HAS_ADDRESSSIZE |
		ZYDIS_ATTRIB_IS_PRIVILEGED;

	if (d->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return "another encoding";
	if (d->z.attributes & never)
		return "a prefix";
	if (d->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT &&
	    !(d->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS && memory))
		return "a segment";
	for (unsigned int i = 0; i < d->z.raw.prefix_count; i++)
		if (d->z.raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_IGNORED)
			return "a prefix without a meaning";
	return NULL;
}

static const char *odd(const struct decoded *d)
{
	const ZydisDecodedOperand *m = memory_of(d);
	uint8_t have = may(d);
	const char *why = odd_prefix(d, m);

	if (why)
		return why;
	if (d->z.mnemonic == M(IMUL) && d->z.operand_count_visible == 1)
		have &= (uint8_t)~MEM;
	if (!(have & (m ? MEM : REG)))
		return "not of the set";
	if (d->z.attributes & ZYDIS_ATTRIB_HAS_LOCK && !(m && have & LOCKED))
		return "a lock";
	if ((d->z.mnemonic == M(PUSH) || d->z.mnemonic == M(POP)) &&
	    (d->ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER || d->ops[0].size != 64))
		return "not a word of the stack";
	if (is_branch(d) && d->ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return "an indirect branch";
	for (unsigned int i = 0; i < d->z.operand_count && !why; i++)
		why = odd_operand(d, &d->ops[i]);
	return why;
}

/* ---- is it what the driver takes it for? ---- */

static uint16_t written(const struct decoded *d)
{
	uint16_t regs = 0;

	for (unsigned int i = 0; i < d->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &d->ops[i];
		ZydisRegister r = o->reg.value;

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || !is_gpr(r) ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && uses_stack(d))
			continue;
		r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
		regs |= (uint16_t)(1u << ZydisRegisterGetId(r));
	}
	return regs;
}

static bool is_register(const struct decoded *d, ZydisMnemonic m)
{
	return d->z.mnemonic == m && d->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       d->ops[0].encoding == ZYDIS_OPERAND_ENCODING_MODRM_REG;
}

static bool is_number(const struct decoded *d, ZydisMnemonic m, bool modrm)
{
	return d->z.mnemonic == m && d->ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       !(d->z.attributes & ZYDIS_ATTRIB_HAS_MODRM) == !modrm;
}

static bool is_class(const struct decoded *d, uint8_t is)
{
	switch (is) {
	case KI_IS_PUSH:
		return d->z.mnemonic == M(PUSH);
	case KI_IS_POP:
		return d->z.mnemonic == M(POP);
	case KI_IS_CALL:
		return d->z.mnemonic == M(CALL);
	case KI_IS_JMP:
		return d->z.mnemonic == M(JMP);
	case KI_IS_JCC:
		return d->z.meta.category == ZYDIS_CATEGORY_COND_BR;
	case KI_IS_ADDRESS:
		return d->z.mnemonic == M(LEA);
	case KI_IS_NOP:
		return d->z.mnemonic == M(NOP);
	case KI_IS_CONSTANT:
		return is_number(d, M(MOV), false);
	case KI_IS_LOAD:
		return is_register(d, M(MOV));
	case KI_IS_SUB:
		return is_register(d, M(SUB));
	case KI_IS_CMP:
		return is_register(d, M(CMP));
	case KI_IS_CMP_IMM:
		return is_number(d, M(CMP), true);
	case KI_IS_CMP_IMM8:
		return is_number(d, M(CMP), true) && d->z.raw.imm[0].size == 8;
	case KI_IS_TEST:
		return d->z.mnemonic == M(TEST) && d->ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default: /* nothing that control or the stack depends on */
		return !uses_stack(d) && !is_branch(d) && d->z.mnemonic != M(LEA);
	}
}

static uint64_t low(uint64_t v, unsigned int bits)
{
	return bits && bits < 64 ? v & ((1ull << bits) - 1) : v;
}

static const char *differs(const struct decoded *d, const struct drv_instr *in)
{
	const ZydisDecodedOperand *m = memory_of(d);

	if (d->z.length != in->len)
		return "another length";
	if (!is_class(d, in->is))
		return "another class";
	if (!m != !in->memory || !(d->z.attributes & ZYDIS_ATTRIB_HAS_LOCK) != !in->lock ||
	    !(d->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS) != !in->gs)
		return "other operands";
	if (m && in->is != KI_IS_ADDRESS && in->is != KI_IS_NOP && m->size != 8 * in->bytes)
		return "more or less memory";
	if (in->size && d->z.operand_width != 8 * in->size)
		return "another size";
	if (in->is != KI_IS_NOP && written(d) != in->written)
		return "other registers written";
	if (low(d->z.raw.imm[0].value.u, d->z.raw.imm[0].size) !=
	    low((uint64_t)in->imm, d->z.raw.imm[0].size))
		return "another number";
	return NULL;
}

/* ---- chunks ---- */

static const char *odd_stack(const struct decoded *d, const ZydisDecodedOperand *m,
			     unsigned int words)
{
	int64_t at = m->mem.disp.value;

	if (m->mem.index != ZYDIS_REGISTER_NONE || d->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT ||
	    at < 0 || at + m->size / 8 > 8 * (int64_t)words)
		return "not its own words";
	return d->z.attributes & ZYDIS_ATTRIB_HAS_LOCK && at * 8 % m->size ? "a split lock" : NULL;
}

static const char *odd_memory(const struct decoded *d, const struct ki_fixup *f, uint32_t off,
			      unsigned int words)
{
	const ZydisDecodedOperand *m = memory_of(d);
	bool fixed = f->off == off + d->z.raw.disp.offset && d->z.raw.disp.size == 32;

	if (!m || d->z.mnemonic == M(NOP))
		return NULL;
	if (d->z.mnemonic == M(LEA))
		return m->mem.base == ZYDIS_REGISTER_RIP ? "its own place" : NULL;
	if (m->mem.segment == ZYDIS_REGISTER_GS)
		return m->mem.base == ZYDIS_REGISTER_NONE && m->mem.index == ZYDIS_REGISTER_NONE &&
				       fixed && (f->kind == KI_FIX_PERCPU || f->kind == KI_FIX_SELF)
			       ? NULL
			       : "not its own counter";
	if (m->mem.base == ZYDIS_REGISTER_RSP)
		return odd_stack(d, m, words);
	return m->mem.base == ZYDIS_REGISTER_RIP && fixed && f->kind == KI_FIX_GLOBAL
		       ? NULL
		       : "memory of others";
}

/* A chunk that has been accepted, instruction by instruction. */
static void look_at_chunk(const uint8_t *code, uint32_t len, const struct ki_fixup *f)
{
	struct decoded d;
	unsigned int words = 0;

	for (uint32_t off = 0; off < len; off += d.z.length) {
		const char *why;

		if (ZYAN_FAILED(
			    ZydisDecoderDecodeFull(&decoder, code + off, len - off, &d.z, d.ops)))
			wrong(code, len, "a chunk that is no code");
		why = odd(&d);
		if (!why)
			why = odd_memory(&d, f, off, words);
		if (written(&d) & 0x30)
			why = "the frame is written";
		if (d.z.mnemonic == M(POP) && !words)
			why = "a word of others popped";
		if (d.z.mnemonic == M(CALL) && (f->kind != KI_FIX_HELPER || f->off != off + 1))
			why = "a call of nobody";
		if (why)
			wrong(code, len, why);
		words += (d.z.mnemonic == M(PUSH)) - (d.z.mnemonic == M(POP));
	}
	if (words)
		wrong(code, len, "words left on the stack");
}

static void try_chunk(const uint8_t *string, uint32_t len)
{
	static const uint8_t kinds[] = {KI_FIX_NONE, KI_FIX_PERCPU, KI_FIX_GLOBAL, KI_FIX_SELF,
					KI_FIX_HELPER};
	struct ki_fixup f = {.kind = kinds[encodings_any(sizeof(kinds))]};
	uint8_t code[ROOM];
	uint32_t before = encodings_any(MOST_WORDS + 1), behind = before + encodings_any(3) - 1,
		 n = 0;

	for (uint32_t i = 0; i < before; i++)
		code[n++] = 0x50;
	memcpy(code + n, string, len);
	n += len;
	f.off = (uint16_t)(before + 1 + encodings_any(5));
	f.target = encodings_any(2);
	if (f.kind == KI_FIX_GLOBAL)
		f.tail = (uint8_t)(n > f.off + 4u ? n - f.off - 4u : 0);
	if (f.kind == KI_FIX_HELPER)
		f.target = KI_HELPER_UID;
	for (uint32_t i = 0; before + 1 && i < behind && behind <= MOST_WORDS + 1; i++)
		code[n++] = 0x58;
	if (drv_vet_long(code, n, &f, f.kind != KI_FIX_NONE, 1, 1) != KI_R_OK)
		return;
	chunks++;
	look_at_chunk(code, n, &f);
}

static void try_string(const uint8_t *string, uint32_t len)
{
	struct drv_instr in;
	struct decoded d;
	const char *why;

	strings++;
	if (!drv_read(string, len, &in)) {
		if (!encodings_any(16))
			try_chunk(string, 1 + encodings_any(len));
		return;
	}
	accepted++;
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, string, len, &d.z, d.ops)))
		wrong(string, len, "accepted, and no instruction");
	why = differs(&d, &in);
	if (!why)
		why = odd(&d);
	if (why)
		wrong(string, in.len, why);
	of[d.z.mnemonic]++;
	for (unsigned int i = 0; i < 4; i++)
		try_chunk(string, in.len);
}

/* Not one of the set has been missed: a fuzzer that finds nothing shows nothing. */
static unsigned int missed(void)
{
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++)
		n += !of[set[i].m];
	return n;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	uint8_t string[ENCODING_ROOM];

	printf("# seed %" PRIu64 "\n", seed);
	encodings_begin(seed);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (strings < n) {
		encodings_make(string);
		try_string(string, encodings_any(4) ? LONGEST : 1 + encodings_any(LONGEST));
	}
	printf("%s 1 vetting: of %" PRIu64 " strings %" PRIu64
	       " are instructions that may run, and %" PRIu64
	       " chunks may; %u kinds were not seen\n1..1\n",
	       missed() || !chunks ? "not ok" : "ok", strings, accepted, chunks, missed());
	return missed() || !chunks;
}
