// SPDX-License-Identifier: GPL-2.0-only
#include "common_vet_own.h"

#include <string.h>

bool vet_is_any(ZydisMnemonic m, const ZydisMnemonic *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == m)
			return true;
	return false;
}

bool vet_is_setcc_cmovcc_jcc(const ZydisDecodedInstruction *z, unsigned int what)
{
	bool two = z->opcode_map == ZYDIS_OPCODE_MAP_0F;

	if (what == 'j')
		return (two && (z->opcode & 0xf0) == 0x80) || (!two && (z->opcode & 0xf0) == 0x70);
	return two && (z->opcode & 0xf0) == (what == 's' ? 0x90 : 0x40);
}

static bool is_gpr(ZydisRegister r)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(r);

	return class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16 ||
	       class == ZYDIS_REGCLASS_GPR32 || class == ZYDIS_REGCLASS_GPR64;
}

static bool is_frame(ZydisRegister r)
{
	r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	return r == ZYDIS_REGISTER_RSP || r == ZYDIS_REGISTER_RBP;
}

static const char *vet_registers(const struct step *s)
{
	for (unsigned int i = 0; i < s->z.operand_count_visible; i++) {
		if (s->ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		if (!is_gpr(s->ops[i].reg.value))
			return "a register that may not be used";
		if (s->ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    is_frame(s->ops[i].reg.value))
			return "the frame is written";
	}
	return NULL;
}

static const char *vet_plain(const struct step *s)
{
	if (s->z.attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_SEGMENT |
			       ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE))
		return "a prefix";
	if (vet_is_setcc_cmovcc_jcc(&s->z, 's') || vet_is_setcc_cmovcc_jcc(&s->z, 'c'))
		return NULL;
	return IS_ANY(s->z.mnemonic, MOVES, M(ADD), M(OR), M(AND), M(SUB), M(XOR), M(CMP), M(TEST),
		      M(SHL), M(SHR), M(SAR), M(NOT), M(NEG), M(MUL), M(IMUL), M(BSR), M(BSF),
		      M(BT), M(BSWAP), M(NOP), M(LAHF), M(SAHF), M(RDTSC), M(INC), M(DEC))
		       ? NULL
		       : "an instruction that is not on the list";
}

static const char *vet_jump(struct vet *v)
{
	int64_t to = v->now.off + v->now.z.length + v->now.ops[0].imm.value.s;

	if (v->now.ops[0].imm.value.s < 0 || to > v->c->len)
		return "a jump back, or out";
	if (v->want[to] != UNKNOWN && v->want[to] != v->depth)
		return "jumps at different depths";
	v->brings[to] = v->want[to] == UNKNOWN ? v->here : v->brings[to] & v->here;
	v->brings_maybe[to] = v->want[to] == UNKNOWN ? v->maybe : v->brings_maybe[to] & v->maybe;
	v->want[to] = (uint8_t)v->depth;
	v->dead = v->now.z.mnemonic == M(JMP);
	return NULL;
}

/* mov $imm, that register stands before it, and nothing leads between. */
static bool has_number(const struct vet *v, ZydisRegister reg)
{
	const struct step *s = &v->before;

	return v->n && !v->entered[0] && s->z.mnemonic == M(MOV) && s->z.length == 5 &&
	       s->ops[0].reg.value == reg && s->ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static const char *vet_table(const struct vet *v)
{
	uint64_t imm = v->before.ops[1].imm.value.u, table = imm >> 20;
	unsigned int op = imm >> 16 & 15, value = imm & 0xffff, needs = 1;

	if (!has_number(v, ZYDIS_REGISTER_EDI) || imm > UINT32_MAX)
		return "a table without its number";
	if (table >= VET_TABLES || table % KI_TABLE_KEYS + 1 > v->depth)
		return "not a table, or no key";
	needs = op == KI_TABLE_LOG2 ? 65 : op == KI_TABLE_STATS ? 6 : 1;
	if (op > KI_TABLE_STATS || value + needs > VET_TABLE_VALUES)
		return "not an operation, or beyond the values";
	return table < KI_TABLE_KEYS && op < KI_TABLE_ADD ? "a table that is not shared" : NULL;
}

static const char *vet_stacks(const struct vet *v)
{
	uint64_t imm = v->before.ops[1].imm.value.u;

	if (!has_number(v, ZYDIS_REGISTER_EDI))
		return "a stack without its table";
	return (uint32_t)imm >> 8 >= VET_RINGS ? "not a table" : NULL;
}

static const char *vet_string(const struct vet *v)
{
	uint64_t imm = v->before.ops[1].imm.value.u;

	if (!has_number(v, ZYDIS_REGISTER_ESI))
		return "a string without its size";
	return !imm || imm > KI_STRING_WORDS || imm > v->depth ? "a string too long" : NULL;
}

/* A number for %edi; with an index cmp and ja stand before it, and nothing leads between. */
static const char *vet_minmax(const struct vet *v)
{
	uint64_t imm = v->before.ops[1].imm.value.u, number = imm / KI_MINMAX_NUMBER, more = 0;
	const uint32_t have[] = {v->counters, v->globals, v->words, 0};
	const struct step *cmp = &v->second;

	if (!has_number(v, ZYDIS_REGISTER_EDI) || imm > UINT32_MAX)
		return "an minmax without its number";
	if (imm & KI_MINMAX_INDEXED) {
		if (v->n < 3 || v->entered[1] || v->entered[2] || KI_MINMAX_OF(imm))
			return "an index of nothing";
		if (!vet_is_setcc_cmovcc_jcc(&v->first.z, 'j') || (v->first.z.opcode & 0xf) != 7 ||
		    cmp->z.mnemonic != M(CMP) || cmp->ops[0].reg.value != ZYDIS_REGISTER_RDX ||
		    cmp->ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || cmp->ops[1].imm.value.s < 0)
			return "no bounds of an minmax's index";
		more = cmp->ops[1].imm.value.u;
	}
	return number + more >= have[KI_MINMAX_OF(imm)] ? "an minmax too far" : NULL;
}

static const char *vet_record(const struct vet *v)
{
	uint64_t imm = v->before.ops[1].imm.value.u;

	if (!has_number(v, ZYDIS_REGISTER_EDI))
		return "a record without its number";
	if (imm >> 8 >= VET_RINGS)
		return "not a ring";
	return (imm & 0xff) > KI_RECORD_WORDS || (imm & 0xff) > v->depth ? "a record too long"
									 : NULL;
}

static const char *vet_signal(const struct vet *v)
{
	if (!has_number(v, ZYDIS_REGISTER_EDI))
		return "a signal without its number";
	return v->before.ops[1].imm.value.u > KI_SIGNALS ? "no signal" : NULL;
}

static const char *vet_call(struct vet *v)
{
	const struct ki_fixup *f = vet_fixup(v, 1);

	if (v->now.z.opcode != 0xe8 || !f || f->tail)
		return "a call without a fixup";
	if (f->kind == KI_FIX_HELPER && f->target == KI_HELPER_RECORD)
		return vet_record(v);
	if (f->kind == KI_FIX_HELPER && f->target == KI_HELPER_TABLE)
		return vet_table(v);
	if (f->kind == KI_FIX_HELPER && f->target == KI_HELPER_MINMAX)
		return vet_minmax(v);
	if (f->kind == KI_FIX_HELPER &&
	    (f->target == KI_HELPER_STACK || f->target == KI_HELPER_USTACK ||
	     f->target == KI_HELPER_DEPTH))
		return vet_stacks(v);
	if (f->kind == KI_FIX_HELPER &&
	    (f->target == KI_HELPER_STRING || f->target == KI_HELPER_USTRING))
		return vet_string(v);
	if (f->kind == KI_FIX_HELPER && f->target == KI_HELPER_KCOV_COMPARISON)
		return v->depth < KI_COMPARISON_WORDS ? "no words of a comparison" : NULL;
	if (f->kind == KI_FIX_HELPER && f->target == KI_HELPER_SIGNAL)
		return vet_signal(v);
	if (f->kind == KI_FIX_HELPER)
		return f->target < KI_HELPERS ? NULL : "no such helper";
	v->here = v->maybe = 0;
	return f->kind == KI_FIX_CALLEE ? NULL : "a call of something else";
}

static const char *vet_push_pop(struct vet *v)
{
	const struct step *s = &v->now;

	if (s->ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER || s->ops[0].size != 64)
		return "a push of something else";
	if (s->z.mnemonic == M(PUSH))
		return ++v->depth > KI_LONG_DEPTH ? "too deep" : NULL;
	return v->depth-- ? NULL : "a pop too many";
}

static const char *vet_one(struct vet *v)
{
	const ZydisDecodedOperand *m = vet_memory_of(&v->now);
	const char *why = vet_registers(&v->now);

	if (why)
		return why;
	if (m)
		return vet_memory(v, m);
	if (IS_ANY(v->now.z.mnemonic, M(PUSH), M(POP)))
		return vet_push_pop(v);
	if (v->now.z.mnemonic == M(CALL))
		return vet_call(v);
	if (v->now.z.mnemonic == M(JMP) || vet_is_setcc_cmovcc_jcc(&v->now.z, 'j'))
		return v->now.ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? vet_jump(v)
									  : "an indirect jump";
	return vet_plain(&v->now);
}

/* The helper that keeps %rax; its fixup is the last one. */
static bool is_minmax(const struct vet *v)
{
	const struct ki_fixup *f = v->c->fix + v->nfix - 1;

	return f->kind == KI_FIX_HELPER && f->target == KI_HELPER_MINMAX;
}

static void forget(struct vet *v, uint16_t bits)
{
	v->here &= (uint16_t)~bits;
	v->maybe &= (uint16_t)~bits;
}

/* The register that is tested against itself, whole: 1 + its number; or 0. */
static uint8_t tests(const struct step *s)
{
	if (s->z.mnemonic != M(TEST) || s->z.operand_width != 64 ||
	    s->ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    s->ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    s->ops[0].reg.value != s->ops[1].reg.value)
		return 0;
	return (uint8_t)(1 + vet_number_of(s->ops[0].reg.value));
}

/*
 * The pointer to the words: after its mov it is one, or 0, until the register is written to;
 * after a test and the je that follows it is one.
 */
static void follow(struct vet *v, uint8_t tested)
{
	const struct step *s = &v->now;
	uint8_t tests_now = tests(s);

	if (tested && s->z.mnemonic == M(JZ))
		v->here |= (uint16_t)(1u << (tested - 1));
	if (tests_now && v->maybe >> (tests_now - 1) & 1)
		v->tested = tests_now;
	if (s->z.mnemonic == M(CALL) && !is_minmax(v))
		forget(v, 1);
	for (unsigned int i = 0; i < s->z.operand_count; i++)
		if (s->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    s->ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    s->ops[i].reg.value != ZYDIS_REGISTER_RFLAGS &&
		    s->ops[i].reg.value != ZYDIS_REGISTER_RIP)
			forget(v, (uint16_t)(1u << vet_number_of(s->ops[i].reg.value)));
	if (v->loaded)
		v->maybe |= (uint16_t)(1u << (v->loaded - 1));
	v->loaded = 0;
}

/* Control comes to an offset: is the depth one? */
static const char *arrive(struct vet *v, uint32_t off)
{
	v->entered[2] = v->entered[1];
	v->entered[1] = v->entered[0];
	v->entered[0] = v->want[off] != UNKNOWN;
	if (v->entered[0]) {
		v->here = v->dead ? v->brings[off] : v->here & v->brings[off];
		v->maybe = v->dead ? v->brings_maybe[off] : v->maybe & v->brings_maybe[off];
		v->tested = 0;
	}
	if (v->entered[0] && !v->dead && v->want[off] != v->depth)
		return "two depths";
	if (v->entered[0])
		v->depth = v->want[off];
	else if (v->dead)
		return "code that nothing leads to";
	v->dead = false;
	return NULL;
}

static ZydisDecoder *decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready)
		ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ready = true;
	return &d;
}

/* The instruction at v->now. */
static const char *vet_next(struct vet *v, uint32_t off)
{
	const char *why = arrive(v, off);
	uint8_t tested = v->tested;

	v->tested = 0;
	if (!why)
		why = vet_one(v);
	if (!why)
		follow(v, tested);
	return why;
}

const char *vet_long(const struct ki_long_code *c, uint32_t counters, uint32_t globals,
		     uint32_t words)
{
	static struct vet v;
	const char *why = NULL;
	uint32_t off = 0, starts = 0;

	memset(&v, 0, offsetof(struct vet, brings));
	v.c = c;
	v.counters = counters;
	v.globals = globals;
	v.words = words;
	memset(v.want, UNKNOWN, c->len + 1);
	for (; !why && off < c->len; off += v.now.z.length, v.n++) {
		v.second = v.first;
		v.first = v.before;
		v.before = v.now;
		v.now.off = off;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), c->code + off, c->len - off,
							 &v.now.z, v.now.ops)))
			return "not an instruction";
		for (unsigned int i = 1; i < v.now.z.length; i++)
			starts += v.want[off + i] != UNKNOWN;
		why = vet_next(&v, off);
	}
	if (why)
		return why;
	why = arrive(&v, c->len);
	if (why || starts || v.depth || v.nfix != c->nfix)
		return why	 ? why
		       : starts	 ? "a jump into an instruction"
		       : v.depth ? "words left on the stack"
				 : "fixups left over";
	return NULL;
}

unsigned int vet_offsets(const struct ki_long_code *c, uint16_t *offs, unsigned int max)
{
	ZydisDecodedInstruction z;
	unsigned int n = 0;
	uint32_t off = 0;

	for (; off < c->len && n + 1 < max; off += z.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), NULL, c->code + off,
								c->len - off, &z)))
			break;
		offs[n++] = (uint16_t)off;
	}
	offs[n] = (uint16_t)c->len;
	return n;
}
