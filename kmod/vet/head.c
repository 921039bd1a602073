// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long instructions are, quickly.
 *
 * The kernel's decoder takes some 500 instructions for each one, and each function that a window
 * stands in is read as a whole. Most of what compilers write is of few forms, whose lengths a table
 * tells: one prefix at most, REX, one or two bytes of opcode, a ModRM with what belongs to it, a
 * number. What is not in the table the kernel's decoder is asked for. test_head.c compares the two
 * for each form that the table has, and for random bytes.
 */
#include <asm/insn.h>

#include "symbols.h"
#include "vet/head.h"

#define NONE   0x80 /* the opcode is all, or all but what follows: */
#define MODRM  0x40
#define IMM_8  0x01
#define IMM_32 0x04
#define IMM    0x07 /* bytes of it */
#define BRANCH 0x10 /* these are a distance */
#define ASK_RM 0x20 /* of the first two rows of ModRM it has other forms */
#define ASK_R0 0x08 /* of all rows but the first */

static const u8 forms[2][256] = {
	{
		/* add, or, adc, sbb, and, sub, xor, cmp */
		[0x00 ... 0x03] = MODRM,
		[0x04] = NONE | IMM_8,
		[0x05] = NONE | IMM_32,
		[0x08 ... 0x0b] = MODRM,
		[0x0c] = NONE | IMM_8,
		[0x0d] = NONE | IMM_32,
		[0x10 ... 0x13] = MODRM,
		[0x18 ... 0x1b] = MODRM,
		[0x20 ... 0x23] = MODRM,
		[0x24] = NONE | IMM_8,
		[0x25] = NONE | IMM_32,
		[0x28 ... 0x2b] = MODRM,
		[0x2c] = NONE | IMM_8,
		[0x2d] = NONE | IMM_32,
		[0x30 ... 0x33] = MODRM,
		[0x34] = NONE | IMM_8,
		[0x35] = NONE | IMM_32,
		[0x38 ... 0x3b] = MODRM,
		[0x3c] = NONE | IMM_8,
		[0x3d] = NONE | IMM_32,
		[0x50 ... 0x5f] = NONE,	 /* push, pop */
		[0x63] = MODRM,		 /* movslq */
		[0x68] = NONE | IMM_32,	 /* push */
		[0x69] = MODRM | IMM_32, /* imul */
		[0x6a] = NONE | IMM_8,
		[0x6b] = MODRM | IMM_8,
		[0x70 ... 0x7f] = NONE | BRANCH | IMM_8, /* jcc */
		[0x80] = MODRM | IMM_8,			 /* add .. cmp of a number */
		[0x81] = MODRM | IMM_32,
		[0x83] = MODRM | IMM_8,
		[0x84 ... 0x8b] = MODRM, /* test, xchg, mov */
		[0x8d] = MODRM,		 /* lea */
		[0x90] = NONE,
		[0x98 ... 0x99] = NONE, /* cltq, cqto */
		[0xa8] = NONE | IMM_8,	/* test */
		[0xa9] = NONE | IMM_32,
		[0xb0 ... 0xb7] = NONE | IMM_8, /* mov */
		[0xb8 ... 0xbf] = NONE | IMM_32,
		[0xc0 ... 0xc1] = MODRM | IMM_8, /* shifts */
		[0xc3] = NONE,			 /* ret */
		[0xc6] = MODRM | IMM_8 | ASK_R0, /* mov */
		[0xc7] = MODRM | IMM_32 | ASK_R0,
		[0xc9] = NONE,				  /* leave */
		[0xcc] = NONE,				  /* int3 */
		[0xd0 ... 0xd3] = MODRM,		  /* shifts */
		[0xe8 ... 0xe9] = NONE | BRANCH | IMM_32, /* call, jmp */
		[0xeb] = NONE | BRANCH | IMM_8,
		[0xf6 ... 0xf7] = MODRM | ASK_RM, /* not, neg, mul, div; test has a number */
		[0xff] = MODRM,			  /* inc, dec, call, jmp, push */
	},
	{
		[0x1f] = MODRM,				  /* nop */
		[0x40 ... 0x4f] = MODRM,		  /* cmov */
		[0x80 ... 0x8f] = NONE | BRANCH | IMM_32, /* jcc */
		[0x90 ... 0x9f] = MODRM,		  /* setcc */
		[0xa3] = MODRM,				  /* bt, bts */
		[0xab] = MODRM,
		[0xaf] = MODRM,		 /* imul */
		[0xb6 ... 0xb7] = MODRM, /* movz */
		[0xba] = MODRM | IMM_8,	 /* bt, bts .. of a number */
		[0xbe ... 0xbf] = MODRM, /* movs */
	},
};

#define OPERAND_SIZE 0x66
#define REX_W	     8

/* Segments, and the operand's size. */
static bool is_prefix(u8 byte)
{
	return byte == OPERAND_SIZE || byte == 0x65 || byte == 0x64 || (byte & 0xe7) == 0x26;
}

/* Of a ModRM, with what belongs to it. */
static u8 modrm_len(const u8 *p)
{
	u8 mod = *p >> 6, rm = *p & 7, len = 1;

	if (mod == 3)
		return len;
	if (rm == 4)
		rm = p[len++] & 7;
	if (mod == 2 || (!mod && rm == 5))
		return len + 4;
	return len + mod;
}

static s32 distance(const u8 *p, u8 bytes)
{
	return bytes == 1 ? (s8)*p : (s32)(p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24);
}

/* Where such a number does not have so many bytes. */
static bool imm_varies(u8 form, const struct ki_head *h, u8 rex)
{
	if (h->prefix == OPERAND_SIZE && (form & IMM_32 || form & BRANCH))
		return true;
	return rex & REX_W && form == (NONE | IMM_32) && h->op[0] >= 0xb8 && h->op[0] <= 0xbf;
}

bool ki_head_common(const u8 *p, unsigned long avail, struct ki_head *out)
{
	u8 at = 0, rex = 0, form;

	*out = (struct ki_head){.nopcodes = 1};
	if (is_prefix(*p))
		out->prefix = p[at++];
	if ((p[at] & 0xf0) == 0x40)
		rex = p[at++];
	out->rex = rex;
	out->op[0] = p[at++];
	form = forms[0][out->op[0]];
	if (out->op[0] == 0x0f) {
		out->nopcodes = 2;
		out->op[1] = p[at++];
		form = forms[1][out->op[1]];
	}
	if (!form || imm_varies(form, out, rex))
		return false;
	if (form & MODRM) {
		out->modrm = p[at];
		if ((form & ASK_RM && !(out->modrm & 0x30)) || (form & ASK_R0 && out->modrm & 0x38))
			return false;
		at += modrm_len(p + at);
	}
	if (form & BRANCH)
		out->imm = distance(p + at, form & IMM);
	out->len = at + (form & IMM);
	return out->len <= avail;
}

bool ki_head_decode(const u8 *p, unsigned long avail, struct ki_head *out)
{
	struct insn in;

	if (ki_call(insn_decode)(&in, p, avail, INSN_MODE_64))
		return false;
	*out = (struct ki_head){
		.len = in.length,
		.prefix = in.prefixes.nbytes ? in.prefixes.bytes[0] : 0,
		.rex = in.rex_prefix.nbytes,
		.vex = in.vex_prefix.nbytes,
		.nopcodes = in.opcode.nbytes,
		.op = {in.opcode.bytes[0], in.opcode.bytes[1]},
		.modrm = in.modrm.nbytes ? in.modrm.bytes[0] : 0,
		.imm = in.immediate.value,
	};
	return true;
}
