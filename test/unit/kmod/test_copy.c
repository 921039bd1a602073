// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's relocator (kmod/vet/copy.c, compiled in here) and the library's are two, so that one
 * can check the other: of a million random instructions both make the same copy, or refuse.
 *
 * The driver decodes with the kernel's decoder. It is not here; what stands for it fills the same
 * structure from Zydis. That the kernel's own agrees is seen in the guest
 * (test/guest/splice/copies.sh).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "code/decode/decode.h"
#include "common_case.h"
#include "kernel_types.h"

/* ---- the kernel's decoder ---- */

#define KI_SYMBOLS_H
#define ki_call(name) name
#define ARRAY_SIZE(a) (int)(sizeof(a) / sizeof(*(a)))
#define fallthrough   __attribute__((fallthrough))
#define INSN_MODE_64  0

struct insn_field {
	s32 value;
	u8 bytes[4];
	u8 nbytes;
};

struct insn {
	struct insn_field prefixes, rex_prefix, vex_prefix, opcode, modrm, sib, displacement,
		immediate;
	int attr, emulate_prefix_size;
	u8 length;
};

static int insn_offset_modrm(const struct insn *in)
{
	return in->prefixes.nbytes + in->rex_prefix.nbytes + in->vex_prefix.nbytes +
	       in->opcode.nbytes;
}

static int insn_offset_displacement(const struct insn *in)
{
	return insn_offset_modrm(in) + in->modrm.nbytes + in->sib.nbytes;
}

/* Prefixes in an order that the kernel's decoder takes for an instruction. */
static uint64_t odd;

static bool inat_is_legacy_prefix(int attr)
{
	odd += (uint64_t)attr;
	return attr;
}

static bool inat_is_rex_prefix(int attr)
{
	return attr;
}

static bool is_prefix(u8 b)
{
	static const u8 all[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	return memchr(all, b, sizeof(all)) != NULL;
}

static void set_prefixes(struct insn *in, const u8 *bytes)
{
	struct insn_field *f = &in->prefixes;
	unsigned int kept = 0;

	for (; is_prefix(bytes[f->nbytes]); f->nbytes++) {
		if (memchr(f->bytes, bytes[f->nbytes], 4))
			continue;
		if (kept == 4)
			break;
		f->bytes[kept++] = bytes[f->nbytes];
	}
	bytes += f->nbytes;
	if ((*bytes & 0xf0) == 0x40)
		in->attr = is_prefix(bytes[1]) || (bytes[1] & 0xf0) == 0x40;
	else
		in->attr = is_prefix(*bytes);
}

static void set_opcode(struct insn *in, const ZydisDecodedInstruction *z)
{
	static const u8 second[] = {[ZYDIS_OPCODE_MAP_0F38] = 0x38, [ZYDIS_OPCODE_MAP_0F3A] = 0x3a};
	struct insn_field *op = &in->opcode;

	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT && !in->vex_prefix.nbytes)
		op->bytes[op->nbytes++] = 0x0f;
	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT && z->opcode_map != ZYDIS_OPCODE_MAP_0F &&
	    !in->vex_prefix.nbytes)
		op->bytes[op->nbytes++] = second[z->opcode_map];
	op->bytes[op->nbytes++] = z->opcode;
}

static void set_operand(struct insn *in, const ZydisDecodedInstruction *z, const u8 *bytes)
{
	if (!(z->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return;
	in->modrm.nbytes = 1;
	in->modrm.bytes[0] = bytes[z->raw.modrm.offset];
	if ((in->modrm.bytes[0] & 0xc0) != 0xc0 && (in->modrm.bytes[0] & 7) == 4) {
		in->sib.nbytes = 1;
		in->sib.bytes[0] = bytes[z->raw.modrm.offset + 1];
	}
	in->displacement.value = (s32)z->raw.disp.value;
}

/* What the kernel's decoder tells of the instructions that it knows. */
static int insn_decode(struct insn *in, const u8 *bytes, size_t len, int mode)
{
	ZydisDecodedInstruction z;
	ZydisDecoder d;

	(void)mode;
	memset(in, 0, sizeof(*in));
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&d, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&d, NULL, bytes, len, &z)))
		return -1;
	set_prefixes(in, bytes);
	switch (z.encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
		in->rex_prefix.nbytes = (z.attributes & ZYDIS_ATTRIB_HAS_REX) != 0;
		if (in->rex_prefix.nbytes)
			in->rex_prefix.bytes[0] = bytes[in->prefixes.nbytes];
		break;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		in->vex_prefix.nbytes = z.raw.vex.size;
		break;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		in->vex_prefix.nbytes = 4;
		break;
	default:
		return -1;
	}
	set_opcode(in, &z);
	set_operand(in, &z, bytes);
	in->immediate.value = (s32)z.raw.imm[0].value.s;
	in->length = z.length;
	return 0;
}

#include "../../../kmod/vet/copy.c"

/* ---- both ---- */

#define CASES 1000000

/* Of kerninst/splice.h, whose other names are also the driver's. */
unsigned int ki_relocate(const struct ki_insn *in, const uint8_t *bytes, struct ki_copy *out);

static struct forms forms;
static uint64_t copies, refusals, wrong;

static void complain(const struct insn_case *c, const char *what, unsigned int lib,
		     unsigned int drv)
{
	if (wrong++ >= 40)
		return;
	for (unsigned int k = 0; k < c->len; k++)
		print_error("%02x ", c->bytes[k]);
	print_error("at 0x%" PRIx64 ": %s: library %s, driver %s\n", c->addr, what,
		    ki_reason_tag(lib), ki_reason_tag(drv));
}

/* What the driver must know of control flow, by what the library knows. */
static u8 flow_of(const struct insn_case *c, const struct ki_copy *copy)
{
	switch (c->in.kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
		return KI_FLOW_LEAVES | KI_FLOW_DIRECT;
	case KI_INSN_CALL:
		return KI_FLOW_LEAVES | KI_FLOW_DIRECT | KI_FLOW_CALL;
	case KI_INSN_CALL_INDIRECT:
		return KI_FLOW_LEAVES | KI_FLOW_CALL;
	case KI_INSN_JMP:
		return KI_FLOW_LEAVES | KI_FLOW_ENDS | KI_FLOW_DIRECT;
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_RET:
		return KI_FLOW_LEAVES | KI_FLOW_ENDS;
	default:
		return copy->nfix && !(c->in.flags & KI_INSN_RIP) ? KI_FLOW_DIRECT : 0;
	}
}

static void compare(const struct insn_case *c)
{
	struct ki_copy mine, driver;
	unsigned int lib = ki_relocate(&c->in, c->bytes, &mine);
	uint64_t before = odd;
	u8 flow = 0xff;
	u16 drv = ki_copy_emit(c->addr, c->bytes, c->len, &driver, &flow);

	if (odd != before)
		return;
	if (!lib && !drv) {
		copies++;
		if (memcmp(&mine, &driver, sizeof(mine)))
			complain(c, "another copy", lib, drv);
		else if (flow != flow_of(c, &mine))
			complain(c, "another flow", lib, drv);
	} else if (!lib && drv != KI_R_ENDBR) { /* common_case.c passes over that reason */
		complain(c, "only the driver refuses", lib, drv);
	} else if (!drv) {
		complain(c, "only the library refuses", lib, drv);
	} else {
		refusals++;
	}
}

/* An address as the kernel's text has them. */
static uint64_t text_address(void)
{
	return 0xffffffff80000000ull | (exec_random() & 0x3fffffff);
}

static void same_copies(void **state)
{
	const struct case_world w = {.data = 0xffffffff82000000,
				     .stack = 0xffffffff83000000,
				     .only_made = true,
				     .gs = 0x10000,
				     .fs = 1,
				     .far = {0xffffffff81000000, 0xffffffffa0000000,
					     0xffffffff80000010, 0xffffffffc0000000}};

	(void)state;
	forms_from_tables(&forms);
	for (unsigned int i = 0; i < CASES; i++) {
		struct insn_case c = {.addr = text_address()};
		const char *why;
		bool made = i & 3 ? case_from_form(&c, &forms.v[i % forms.n], &w, &why)
				  : case_branch(&c, &w, &why);

		if (made)
			compare(&c);
	}
	print_message("%" PRIu64 " copies compared, %" PRIu64
		      " instructions refused by both; %" PRIu64
		      " with prefixes in an odd order left out\n",
		      copies, refusals, odd);
	forms_free(&forms);
	assert_int_equal(wrong, 0);
	assert_true(copies > CASES / 10 * 8);
	assert_true(refusals > CASES / 100);
	assert_true(odd < CASES / 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
