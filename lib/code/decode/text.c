/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Text of one instruction, by Zydis's formatter, with hooks where people write it otherwise:
 * names of conditions, names of addresses, AT&T's suffixes (Zydis puts one on whatever has an
 * operand in memory; objdump only where the size would not be clear).
 */
#include "code/decode/zydis.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static ZydisFormatter formatters[2]; /* by enum ki_syntax */
static ZydisFormatterFunc default_mnemonic[2], default_address[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Suffixes of conditions, as Zydis and as people write them. */
static const char *const conditions[][2] = {{"z", "e"},	  {"nz", "ne"}, {"nb", "ae"},
					    {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}};

/* AT&T's own words. */
static const char *const att_words[][2] = {
	{"cbw", "cbtw"}, {"cwde", "cwtl"}, {"cdqe", "cltq"},   {"cwd", "cwtd"},
	{"cdq", "cltd"}, {"cqo", "cqto"},  {"iretq", "iretq"}, {"movsxd", "movslq"},
};

/* Those that have an operand in memory whose size nothing else may tell. */
static const ZydisMnemonic sized[] = {
	ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_ADD,	 ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_ADC,
	ZYDIS_MNEMONIC_SBB, ZYDIS_MNEMONIC_AND,	 ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR,
	ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_DEC,
	ZYDIS_MNEMONIC_NEG, ZYDIS_MNEMONIC_NOT,	 ZYDIS_MNEMONIC_MUL, ZYDIS_MNEMONIC_IMUL,
	ZYDIS_MNEMONIC_DIV, ZYDIS_MNEMONIC_IDIV, ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR,
	ZYDIS_MNEMONIC_SAR, ZYDIS_MNEMONIC_ROL,	 ZYDIS_MNEMONIC_ROR, ZYDIS_MNEMONIC_RCL,
	ZYDIS_MNEMONIC_RCR, ZYDIS_MNEMONIC_BT,	 ZYDIS_MNEMONIC_BTS, ZYDIS_MNEMONIC_BTR,
	ZYDIS_MNEMONIC_BTC, ZYDIS_MNEMONIC_NOP,
};

static const char *suffix(unsigned int bits)
{
	switch (bits) {
	case 8:
		return "b";
	case 16:
		return "w";
	case 32:
		return "l";
	case 64:
		return "q";
	default:
		return "";
	}
}

/* "jz" -> "je"; also cmov and set. */
static void usual_name(ZydisMnemonic m, char *buf, size_t len)
{
	static const char *const stems[] = {"cmov", "set", "j", "loop"};
	const char *s = ZydisMnemonicGetString(m);

	snprintf(buf, len, "%s", s);
	for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++) {
		size_t n = strlen(stems[i]);

		if (strncmp(s, stems[i], n) != 0)
			continue;
		for (size_t k = 0; k < sizeof(conditions) / sizeof(*conditions); k++)
			if (strcmp(s + n, conditions[k][0]) == 0)
				snprintf(buf, len, "%s%s", stems[i], conditions[k][1]);
	}
}

/* A register among the visible operands tells the size; %cl as a count does not. */
static bool is_size_clear(const ZydisFormatterContext *c)
{
	if (c->instruction->mnemonic == ZYDIS_MNEMONIC_NOP)
		return false;
	for (unsigned int i = 0; i < c->instruction->operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &c->operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    !(i && o->reg.value == ZYDIS_REGISTER_CL && c->operands[0].size != 8))
			return true;
	}
	return false;
}

static const char *att_suffix(const ZydisFormatterContext *c)
{
	const ZydisDecodedInstruction *z = c->instruction;

	for (unsigned int i = 0; i < z->operand_count_visible; i++) {
		if (c->operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		for (size_t k = 0; k < sizeof(sized) / sizeof(*sized); k++)
			if (sized[k] == z->mnemonic && !is_size_clear(c))
				return suffix(c->operands[i].size);
	}
	return "";
}

static void att_name(const ZydisFormatterContext *c, char *buf, size_t len)
{
	const ZydisDecodedInstruction *z = c->instruction;
	const char *s = ZydisMnemonicGetString(z->mnemonic);

	if (z->mnemonic == ZYDIS_MNEMONIC_MOVZX || z->mnemonic == ZYDIS_MNEMONIC_MOVSX) {
		snprintf(buf, len, "mov%c%s%s", s[3], suffix(c->operands[1].size),
			 suffix(c->operands[0].size));
		return;
	}
	if (z->mnemonic == ZYDIS_MNEMONIC_MOV &&
	    (z->raw.imm[0].size == 64 || z->raw.disp.size == 64)) {
		snprintf(buf, len, "movabs");
		return;
	}
	for (size_t i = 0; i < sizeof(att_words) / sizeof(*att_words); i++) {
		if (strcmp(s, att_words[i][0]) == 0) {
			snprintf(buf, len, "%s", att_words[i][1]);
			return;
		}
	}
	usual_name(z->mnemonic, buf, len);
	strncat(buf, att_suffix(c), len - strlen(buf) - 1);
}

static ZyanStatus append(ZydisFormatterBuffer *buffer, ZydisTokenType type, const char *text)
{
	ZyanString *s;

	ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, type));
	ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &s));
	return ZyanStringAppendFormat(s, "%s", text);
}

static ZyanStatus print_mnemonic(const ZydisFormatter *f, ZydisFormatterBuffer *buffer,
				 ZydisFormatterContext *c)
{
	char name[32];

	if (c->instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return default_mnemonic[f != &formatters[0]](f, buffer, c);
	if (f == &formatters[KI_SYNTAX_ATT])
		att_name(c, name, sizeof(name));
	else
		usual_name(c->instruction->mnemonic, name, sizeof(name));
	return append(buffer, ZYDIS_TOKEN_MNEMONIC, name);
}

/* What is relative to %gs or %fs has no name. */
static bool may_have_name(const ZydisDecodedOperand *o)
{
	if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return o->imm.is_relative;
	return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP &&
	       o->mem.segment != ZYDIS_REGISTER_GS && o->mem.segment != ZYDIS_REGISTER_FS;
}

static ZyanStatus print_address(const ZydisFormatter *f, ZydisFormatterBuffer *buffer,
				ZydisFormatterContext *c)
{
	const struct ki_namer *n = c->user_data;
	char name[KI_DECODE_TEXT / 2];
	ZyanU64 addr;

	if (may_have_name(c->operand) &&
	    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(c->instruction, c->operand, c->runtime_address,
						  &addr)) &&
	    n->name(n->ctx, addr, name, sizeof(name)))
		return append(buffer, ZYDIS_TOKEN_SYMBOL, name);
	return default_address[f != &formatters[0]](f, buffer, c);
}

static void set_up(enum ki_syntax syntax, ZydisFormatterStyle style)
{
	static const ZydisFormatterProperty off[] = {
		ZYDIS_FORMATTER_PROP_FORCE_SIZE,
		ZYDIS_FORMATTER_PROP_HEX_UPPERCASE,
	};
	static const ZydisFormatterProperty unpadded[] = {
		ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
		ZYDIS_FORMATTER_PROP_DISP_PADDING,
		ZYDIS_FORMATTER_PROP_IMM_PADDING,
	};
	ZydisFormatter *f = &formatters[syntax];
	const void *hook;

	ZydisFormatterInit(f, style);
	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		ZydisFormatterSetProperty(f, off[i], ZYAN_FALSE);
	for (size_t i = 0; i < sizeof(unpadded) / sizeof(*unpadded); i++)
		ZydisFormatterSetProperty(f, unpadded[i], ZYDIS_PADDING_DISABLED);
	if (syntax == KI_SYNTAX_ATT)
		ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS,
					  ZYDIS_SIGNEDNESS_UNSIGNED);
	default_mnemonic[syntax] = f->func_print_mnemonic;
	default_address[syntax] = f->func_print_address_abs;
	hook = (const void *)&print_mnemonic;
	ZydisFormatterSetHook(f, ZYDIS_FORMATTER_FUNC_PRINT_MNEMONIC, &hook);
	hook = (const void *)&print_address;
	ZydisFormatterSetHook(f, ZYDIS_FORMATTER_FUNC_PRINT_ADDRESS_ABS, &hook);
}

static void init(void)
{
	set_up(KI_SYNTAX_INTEL, ZYDIS_FORMATTER_STYLE_INTEL);
	set_up(KI_SYNTAX_ATT, ZYDIS_FORMATTER_STYLE_ATT);
}

/* "mov %rax, %rbx" -> "mov %rax,%rbx" */
static void close_up(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++)
		if (*from != ' ' || from == text || from[-1] != ',')
			*to++ = *from;
	*to = '\0';
}

static void insert(char text[KI_DECODE_TEXT], char *at, const char *what)
{
	size_t n = strlen(what), len = strlen(text);

	if (len + n >= KI_DECODE_TEXT)
		return;
	memmove(at + n, at, len + 1 - (size_t)(at - text));
	memcpy(at, what, n);
}

/* What is left to do for AT&T: a displacement that is there but 0, the star of indirect jumps. */
static void finish_att(const ZydisDecodedInstruction *z, char text[KI_DECODE_TEXT])
{
	char *paren, *space;

	close_up(text);
	paren = strchr(text, '(');
	if (paren && z->raw.disp.size && !z->raw.disp.value)
		insert(text, paren, "0x0");
	space = strrchr(text, ' ');
	if (space && !z->raw.imm[0].is_relative &&
	    (z->mnemonic == ZYDIS_MNEMONIC_CALL || z->mnemonic == ZYDIS_MNEMONIC_JMP))
		insert(text, space + 1, "*");
}

/* Operands that AT&T leaves out: the register of a long nop, the 1 of a shift by one. */
static uint8_t visible(const ZydisDecodedInstruction *z, enum ki_syntax syntax)
{
	uint8_t n = z->operand_count_visible;

	if (syntax != KI_SYNTAX_ATT || n != 2)
		return n;
	if (z->mnemonic == ZYDIS_MNEMONIC_NOP)
		return 1;
	return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (z->opcode == 0xd0 || z->opcode == 0xd1)
		       ? 1
		       : n;
}

int ki_decode_text(const uint8_t *p, size_t avail, uint64_t addr, enum ki_syntax syntax,
		   const struct ki_namer *namer, char text[KI_DECODE_TEXT])
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct ki_namer own = *namer; /* Zydis takes no const */
	ZydisDecodedInstruction z;
	struct ki_decoded d;

	pthread_once(&once, init);
	ki_decode(p, avail, addr, &d);
	if (d.in.kind == KI_INSN_BAD ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(ki_zydis_decoder(), p, avail, &z, ops)))
		return -EILSEQ;
	z.operand_count_visible = visible(&z, syntax);
	if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatters[syntax], &z, ops,
							z.operand_count_visible, text,
							KI_DECODE_TEXT, addr, &own)))
		return -EILSEQ;
	if (syntax == KI_SYNTAX_ATT)
		finish_att(&z, text);
	return 0;
}
