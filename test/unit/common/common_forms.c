// SPDX-License-Identifier: GPL-2.0-only
#include "common_forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"

#define SEEN (1u << 22)

/* Not the head alone: a form keeps its first immediate. */
static bool is_new(struct forms *f, const uint8_t *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325 + len;
	size_t i;

	for (size_t k = 0; k < len; k++)
		h = (h ^ p[k]) * 0x100000001b3;
	h ^= h >> 29;
	if (!f->seen)
		f->seen = calloc(SEEN, sizeof(*f->seen));
	for (i = h % SEEN; f->seen[i]; i = (i + 1) % SEEN)
		if (f->seen[i] == h)
			return false;
	if (f->nseen > SEEN / 2)
		return false;
	f->seen[i] = h;
	f->nseen++;
	return true;
}

/* True if it was an instruction. */
static size_t take(struct forms *f, const uint8_t *p, size_t len)
{
	struct ki_decoded d;
	struct ki_head head;
	size_t n;

	ki_decode_head(p, len, 0, &d, &head);
	n = head.len ? head.len : d.in.len; /* the whole, where the head is not known */
	if (d.in.kind != KI_INSN_PLAIN || !is_new(f, p, n))
		return d.in.len;
	if (!(f->n & (f->n - 1))) {
		f->v = realloc(f->v, (f->n ? 2 * f->n : 1) * sizeof(*f->v));
		if (!f->v)
			abort();
	}
	memset(&f->v[f->n], 0, sizeof(*f->v));
	memcpy(f->v[f->n].bytes, p, d.in.len);
	f->v[f->n++].len = d.in.len;
	return d.in.len;
}

void forms_from_code(void *forms, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i + FORM_MAX <= len;)
		i += take(forms, p + i, FORM_MAX);
}

/* Every opcode of the legacy maps with the usual prefixes and some operands; the VEX maps. */
void forms_from_tables(struct forms *f)
{
	static const char *const prefixes[] = {"",     "\x66",	   "\xf3", "\xf2",     "\x48",
					       "\x45", "\x66\x48", "\x67", "\xf3\x48", "\x4f"};
	static const char *const maps[] = {"", "\x0f", "\x0f\x38", "\x0f\x3a"};
	static const uint8_t modrms[] = {0x03, 0x46, 0x14, 0xc0, 0xc1, 0xd3, 0xe6, 0xfc, 0xc9};

	for (unsigned int i = 0; i < 10 * 4 * 256 * 9 * 8; i++) {
		uint8_t p[FORM_MAX];
		const char *prefix = prefixes[i % 10], *map = maps[i / 10 % 4];
		size_t n = strlen(prefix);

		memset(p, 0x23, sizeof(p)); /* a SIB without rsp; an immediate */
		memcpy(p, prefix, n);
		memcpy(p + n, map, strlen(map));
		n += strlen(map);
		p[n++] = (uint8_t)(i / 40);
		p[n] = modrms[i / 40 / 256 % 9] ^ (uint8_t)(i / 40 / 256 / 9 % 8 * 8);
		take(f, p, sizeof(p));
	}
	for (unsigned int i = 0; i < 300000; i++) {
		uint8_t p[FORM_MAX] = {0xc4, 0, 0, 0, 0, 0x23};

		p[1] = (uint8_t)(0xe1 + exec_random() % 3);
		p[2] = (uint8_t)(exec_random() >> 32);
		p[3] = (uint8_t)(exec_random() >> 32);
		p[4] = modrms[exec_random() % 9];
		take(f, p, sizeof(p));
	}
}

void forms_free(struct forms *f)
{
	free(f->v);
	free(f->seen);
	memset(f, 0, sizeof(*f));
}

bool form_place(struct form *f, uint64_t addr, uint32_t data, struct form_info *out)
{
	ZydisDecoder decoder;
	uint32_t disp = 0;
	uint8_t at;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_KNC, ZYAN_FALSE);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, f->bytes, sizeof(f->bytes), &out->z,
					       out->ops)))
		return false;
	at = out->z.raw.disp.offset;
	if (!out->z.raw.disp.size)
		return true;
	if (out->z.attributes & ZYDIS_ATTRIB_IS_RELATIVE)
		disp = data - (uint32_t)(addr + f->len);
	for (unsigned int i = 0; i < out->z.operand_count_visible; i++)
		if (out->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    out->ops[i].mem.base == ZYDIS_REGISTER_NONE)
			disp = data;
	memset(f->bytes + at, 0, out->z.raw.disp.size / 8);
	if (out->z.raw.disp.size >= 32)
		memcpy(f->bytes + at, &disp, 4);
	return true;
}

static const struct {
	ZydisMnemonic m;
	const char *why;
} unfit[] = {
	{ZYDIS_MNEMONIC_POPF, "popf: may trap each step"},
	{ZYDIS_MNEMONIC_POPFQ, "popf: may trap each step"},
	{ZYDIS_MNEMONIC_WRFSBASE, "segments"},
	{ZYDIS_MNEMONIC_WRGSBASE, "segments"},
	{ZYDIS_MNEMONIC_SWAPGS, "segments"},
	{ZYDIS_MNEMONIC_WRPKRU, "protection keys"},
	/* without user interrupts these are rdpkru and wrpkru */
	{ZYDIS_MNEMONIC_CLUI, "protection keys"},
	{ZYDIS_MNEMONIC_STUI, "protection keys"},
	{ZYDIS_MNEMONIC_RDTSC, "clock or random"},
	{ZYDIS_MNEMONIC_RDTSCP, "clock or random"},
	{ZYDIS_MNEMONIC_RDPRU, "clock or random"},
	{ZYDIS_MNEMONIC_RDRAND, "clock or random"},
	{ZYDIS_MNEMONIC_RDSEED, "clock or random"},
	{ZYDIS_MNEMONIC_XRSTOR, "loads all state"},
	{ZYDIS_MNEMONIC_XRSTOR64, "loads all state"},
	{ZYDIS_MNEMONIC_FXRSTOR, "loads all state"},
	{ZYDIS_MNEMONIC_FXRSTOR64, "loads all state"},
};

const char *form_unfit_alone(const struct form_info *i)
{
	for (size_t k = 0; k < sizeof(unfit) / sizeof(*unfit); k++)
		if (unfit[k].m == i->z.mnemonic)
			return unfit[k].why;
	return NULL;
}

const char *form_unfit(const struct form_info *i)
{
	const char *why = form_unfit_alone(i);

	if (why)
		return why;
	if (i->z.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS))
		return "segments";
	if (i->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		return "privileged";
	for (unsigned int k = 0; k < i->z.operand_count; k++) {
		const ZydisDecodedOperand *o = &i->ops[k];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_SEGMENT)
			return "segments";
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			return "gathers";
		if (o->type == ZYDIS_OPERAND_TYPE_POINTER)
			return "control transfer";
	}
	return NULL;
}

uint64_t *form_reg(struct exec_cpu *c, unsigned int number)
{
	static const uint8_t order[16] = {RAX, RCX, RDX, RBX, 0,   RBP, RSI, RDI,
					  R8,  R9,  R10, R11, R12, R13, R14, R15};

	return number == KI_RSP ? &c->rsp : &c->r[order[number]];
}

int form_gpr(ZydisRegister r)
{
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return ZydisRegisterGetId(r);
	default:
		return -1;
	}
}

void form_point(const struct form_info *f, struct exec_cpu *c, uint64_t data, uint64_t stack)
{
	for (unsigned int i = 0; i < f->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &f->ops[i];
		int base, index;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		base = form_gpr(o->mem.base);
		index = form_gpr(o->mem.index);
		if (index >= 0) /* without a base the displacement leads there */
			*form_reg(c, (unsigned int)index) = (exec_random() & 1) * 64;
		if (base >= 0 && base == index)
			*form_reg(c, (unsigned int)base) = data / (1u + o->mem.scale) & ~63ull;
		else if (base >= 0 && base != KI_RSP)
			*form_reg(c, (unsigned int)base) = data;
	}
	if (f->z.attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		c->r[RCX] &= 7;
	switch (f->z.mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		if (f->ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    form_gpr(f->ops[1].reg.value) >= 0)
			*form_reg(c, (unsigned int)form_gpr(f->ops[1].reg.value)) &= 0x1ff;
		break;
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_LEAVE:
		c->r[RBP] = stack + 64;
		break;
	default:
		break;
	}
}
