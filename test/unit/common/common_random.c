// SPDX-License-Identifier: GPL-2.0-only
#include "common_random.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 14

struct random_code random_code;
bool random_static_calls;

static struct {
	uint8_t *p;
	const uint8_t *blocks[BLOCKS_MAX + 1];
	unsigned int nblocks;
	struct {
		uint8_t *at; /* the displacement */
		uint8_t width;
		unsigned int to;
		int row; /* whose target this is; -1: none, and at is valid */
	} refs[200];
	size_t nrefs;
} gen;

unsigned int random_below(unsigned int n)
{
	return (unsigned int)(exec_random() >> 20) % n;
}

void random_order(uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = random_below(i), t = v[i - 1];

		v[i - 1] = v[k];
		v[k] = t;
	}
}

static void emit(const char *hex)
{
	char *end;

	for (; *hex; hex = *end ? end + 1 : end)
		*gen.p++ = (uint8_t)strtoul(hex, &end, 16);
}

static void emit_ref(uint8_t width, unsigned int to)
{
	gen.refs[gen.nrefs].at = gen.p;
	gen.refs[gen.nrefs].width = width;
	gen.refs[gen.nrefs].row = -1;
	gen.refs[gen.nrefs++].to = to;
	gen.p += width;
}

static void emit_rel32(const uint8_t *to)
{
	int32_t disp = (int32_t)(to - (gen.p + 4));

	memcpy(gen.p, &disp, 4);
	gen.p += 4;
}

static void emit_row(uint8_t len, unsigned int reason, unsigned int to)
{
	gen.refs[gen.nrefs].row = (int)random_code.nrows;
	gen.refs[gen.nrefs++].to = to;
	random_code.rows[random_code.nrows++] =
		(struct ki_reserved_row){.addr = (uintptr_t)gen.p, .len = len, .reason = reason};
}

/* Some block after the next one: a branch to the next would have two edges that look alike. */
static unsigned int forward(unsigned int b)
{
	return b + 2 + random_below(gen.nblocks - b - 1);
}

/* Nothing that leaves a flag undefined but AF, which nothing reads. */
/* clang-format off */
static const char *const plain[] = {
	"48 ff c0", "48 01 d8", "48 8d 04 c0", "d1 e8", "0f 92 c3", "48 0f 42 c6",
	"11 d8", "f7 d8", "85 c0", "39 d8", "a8 10", "a9 00 10 00 00", "3c 40", "50 58",
	"48 8d 44 18 07", "90", "f9", "f5", "0f 94 c0", "48 d1 c0", "48 33 c6", "f3 90", "66 90",
};
/* clang-format on */

/*
 * A static call as the kernel writes it: a call, a nop, what clears %eax. And what stands behind
 * CALLEE: its trampolines, and the function that does the latter.
 */
static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0, 0}, zero5[] = {0x2e, 0x2e, 0x2e, 0x31, 0xc0};
#define TRAMPOLINE     (CALLEE + 16) /* jmp CALLEE */
#define TRAMPOLINE_NOP (CALLEE + 24) /* ret */
#define TRAMPOLINE_0   (CALLEE + 32) /* jmp to what follows: xor %eax,%eax; ret */
static const uint8_t trampolines[] = {0xe9, 0xeb, 0xff, 0xff, 0xff, 0x0f, 0xb9, 0xcc, 0xc3,
				      0xcc, 0xcc, 0xcc, 0xcc, 0x0f, 0xb9, 0xcc, 0xe9, 3,
				      0,    0,	  0,	0x0f, 0xb9, 0xcc, 0x31, 0xc0, 0xc3};

static void emit_static_call(void)
{
	emit_row(5, KI_R_STATIC_CALL, 0);
	switch (random_below(3)) {
	case 0:
		memcpy(gen.p, nop5, sizeof(nop5));
		gen.p += sizeof(nop5);
		break;
	case 1:
		memcpy(gen.p, zero5, sizeof(zero5));
		gen.p += sizeof(zero5);
		break;
	default:
		emit("e8");
		emit_rel32(CALLEE);
	}
	emit("85 c0"); /* test %eax,%eax: after a nop, too, nobody looks at the flags */
}

const uint8_t *random_trampoline(const uint8_t *site)
{
	if (!memcmp(site, nop5, sizeof(nop5)))
		return TRAMPOLINE_NOP;
	return memcmp(site, zero5, sizeof(zero5)) ? TRAMPOLINE : TRAMPOLINE_0;
}

static void emit_filler(unsigned int b)
{
	unsigned int what = random_below(20);

	if (what == 0) {
		emit("e8");
		emit_rel32(CALLEE);
	} else if (what == 1 && b + 2 < gen.nblocks) {
		emit_row(1, KI_R_EXTABLE, forward(b));
		emit("48 8b 07"); /* mov (%rdi),%rax */
	} else if (what == 2) {
		emit_row(3, KI_R_LOCK_PREFIX, 0);
		emit("f0 ff 07"); /* lock incl (%rdi) */
	} else if (what == 3) {
		emit("ff d6"); /* call *%rsi */
	} else if (what == 4 && random_static_calls) {
		emit_static_call();
	} else {
		emit(plain[random_below(sizeof(plain) / sizeof(*plain))]);
	}
}

static void emit_jcc(unsigned int to)
{
	unsigned int cc = random_below(16);

	if (random_below(2)) {
		*gen.p++ = 0x70 | (uint8_t)cc;
		emit_ref(1, to);
	} else {
		*gen.p++ = 0x0f;
		*gen.p++ = 0x80 | (uint8_t)cc;
		emit_ref(4, to);
	}
}

/* What leaves the function. */
static void emit_leave(void)
{
	switch (random_below(4)) {
	case 0:
		emit("e9");
		emit_rel32(TAIL);
		break;
	case 1:
		emit("ff e2"); /* jmp *%rdx */
		break;
	default:
		emit("c3");
	}
}

static void emit_back(unsigned int b)
{
	emit("41 ff cf 0f 8f"); /* dec %r15d; jg */
	emit_ref(4, random_below(b + 1));
}

static void emit_static_branch(unsigned int b)
{
	unsigned int to = forward(b);

	emit_row(2, KI_R_JUMP_LABEL, to);
	if (random_below(2)) {
		emit("66 90");
	} else {
		emit("eb");
		emit_ref(1, to);
	}
}

static void emit_end(unsigned int b)
{
	unsigned int what = b + 2 < gen.nblocks ? random_below(12) : 11;

	if (b + 1 == gen.nblocks) {
		emit_leave();
	} else if (what < 4) {
		emit_jcc(forward(b));
	} else if (what == 4) {
		emit("e9");
		emit_ref(4, forward(b));
	} else if (what == 5) {
		emit(random_below(2) ? "e2" : "e3"); /* loop, jrcxz */
		emit_ref(1, forward(b));
	} else if (what == 6) {
		emit_static_branch(b);
	} else if (what == 7) {
		emit("0f 84"); /* je */
		emit_rel32(TAIL);
	} else if (what == 8) {
		emit_leave();
	} else if (what < 11) {
		emit_back(b);
	}
}

/* Fill in the references: false if one does not reach. */
static bool resolve(void)
{
	for (size_t i = 0; i < gen.nrefs; i++) {
		const uint8_t *to = gen.blocks[gen.refs[i].to];
		int64_t disp;
		int32_t narrow;

		if (gen.refs[i].row >= 0) {
			struct ki_reserved_row *row = &random_code.rows[gen.refs[i].row];

			if (row->reason == KI_R_EXTABLE || row->reason == KI_R_JUMP_LABEL)
				row->target = (uintptr_t)to;
			continue;
		}
		disp = to - (gen.refs[i].at + gen.refs[i].width);
		narrow = (int32_t)disp;
		if (gen.refs[i].width == 1 && disp != (int8_t)disp)
			return false;
		memcpy(gen.refs[i].at, &narrow, gen.refs[i].width);
	}
	return true;
}

void random_code_lay(void)
{
	/* add $1,%rax; ret: a call leaves nothing of the flags, as the compiler has it. */
	static const uint8_t callee[] = {0x48, 0x83, 0xc0, 0x01, 0xc3};

	memset(&gen, 0, sizeof(gen));
	memset(&random_code, 0, sizeof(random_code));
	memset(CODE, 0xcc, TEXT_LEN);
	memcpy(CALLEE, callee, sizeof(callee));
	memcpy(TRAMPOLINE, trampolines, sizeof(trampolines));
	exec_pad(TAIL, 1);
	exec_pad(RETURNED, 2);
}

void random_code_make(void)
{
	do {
		random_code_lay();
		gen.p = CODE;
		gen.nblocks = 3 + random_below(BLOCKS_MAX - 3);
		emit("90"); /* a call at the very beginning would be ftrace's */
		for (unsigned int b = 0; b < gen.nblocks; b++) {
			gen.blocks[b] = b ? gen.p : CODE;
			for (unsigned int i = 1 + random_below(5); i--;)
				emit_filler(b);
			emit_end(b);
		}
		gen.blocks[gen.nblocks] = gen.p;
		emit("89 f8 c3");
	} while (gen.p > CODE + CODE_MAX - 200 || !resolve());
}
