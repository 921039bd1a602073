// SPDX-License-Identifier: GPL-2.0-only
/*
 * Relocated code does what the original does: both are executed from the same registers, flags
 * and memory, and must leave the same. The original runs first, then a jump to the patch is
 * written over it and it runs again; then again with a counter before every instruction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <Zydis/Zydis.h>

#include "common_exec.h"
#include "common_link.h"
#include "kerninst/splice.h"
#include "target/memory.h"

/*
 * A piece of code: bytes, and displacements that depend on where things are. B1 and B4: a branch
 * to the pad TAKEN; C4: to a function that returns; D4: to the data, with as many bytes of
 * immediate after it as follow '/'. %rbx, %rsi, %rdi, %r12 and %r13 point into the data, %rcx is
 * below 64, %rdx points to a pad, all others are random; on the stack lie addresses of pads.
 */
/* clang-format off */
static const char *const pieces[] = {
	"90 90 90 90 90",
	"48 89 e5 41 57 41 56",                       /* mov %rsp,%rbp; push %r15; push %r14 */
	"55 53 48 83 ec 18",                          /* push; push; sub $24,%rsp */
	"48 83 c4 18 5b 5d",                          /* add $24,%rsp; pop; pop */
	"54 58 48 ff c0",                             /* push %rsp; pop %rax; inc %rax */
	"9c 5a 48 01 d0",                             /* pushf; pop %rdx; add %rdx,%rax */
	"48 8d 47 08 48 89 07",                       /* lea 8(%rdi),%rax; mov %rax,(%rdi) */
	"48 03 06 48 29 47 10",                       /* add (%rsi),%rax; sub %rax,16(%rdi) */
	"0f b6 c0 48 0f af c6",                       /* movzbl; imul */
	"48 d3 e0 48 d3 f8",                          /* shl %cl; sar %cl */
	"49 0f a4 c7 05 4d 0f ab c7",                 /* shld $5; bts */
	"f3 a4",                                      /* rep movsb */
	"f3 48 ab",                                   /* rep stosq */
	"48 0f c8 48 0f bd c8",                       /* bswap; bsr */
	"f0 48 0f b1 17",                             /* lock cmpxchg %rdx,(%rdi) */
	"f0 48 0f c1 06",                             /* lock xadd %rax,(%rsi) */
	"48 87 07 48 87 c3",                          /* xchg */
	"11 c2 19 d8 f5 11 c0",                       /* adc; sbb; cmc; adc */
	"9e 9f 0f 92 c0",                             /* sahf; lahf; setb */
	"48 0f 42 c2 48 0f 4f f3",                    /* cmovb; cmovg */
	"67 8d 04 07 41 ff c0",                       /* addr32 lea */
	"48 b8 88 77 66 55 44 33 22 11",              /* movabs */
	"65 48 8b 04 25 40 00 00 00",                 /* mov %gs:64,%rax */
	"0f ae e8 48 01 c2",                          /* lfence; add */
	"48 8b 05 D4/0",                              /* mov data(%rip),%rax */
	"48 8d 05 D4/0",                              /* lea data(%rip),%rax */
	"48 01 05 D4/0",                              /* add %rax,data(%rip) */
	"c7 05 D4/4 78 56 34 12",                     /* movl $,data(%rip) */
	"66 c7 05 D4/2 34 12",                        /* movw $,data(%rip) */
	"80 3d D4/1 7f",                              /* cmpb $,data(%rip) */
	"48 69 05 D4/4 0b 00 00 00",                  /* imul $,data(%rip),%rax */
	"f0 48 ff 05 D4/0",                           /* lock incq data(%rip) */
	"0f 10 05 D4/0 0f 11 07",                     /* movups data(%rip),%xmm0; movups %xmm0,(%rdi) */
	"ff 35 D4/0",                                 /* push data(%rip) */
	"8f 05 D4/0",                                 /* pop data(%rip) */
	"90 90 90 90 48 8b 05 D4/0 48 01 c2",
	"48 85 c0 74 B1",                             /* test; je */
	"48 39 c2 7f B1",                             /* cmp; jg */
	"70 B1", "71 B1", "72 B1", "73 B1", "74 B1", "75 B1", "76 B1", "77 B1", "78 B1",
	"79 B1", "7a B1", "7b B1", "48 ff c0 7c B1", "48 ff c0 7d B1", "48 ff c0 7e B1",
	"48 ff c8 7f B1", "0f 80 B4", "0f 81 B4", "0f 82 B4", "0f 83 B4", "0f 84 B4",
	"0f 85 B4", "0f 86 B4", "0f 87 B4", "0f 88 B4", "0f 89 B4", "0f 8a B4", "0f 8b B4",
	"0f 8c B4", "0f 8d B4", "0f 8e B4", "0f 8f B4", "84 c0 2e 0f 85 B4",
	"48 ff c0 3e 75 B1",
	"48 01 d0 eb B1",                             /* add; jmp */
	"e9 B4", "eb B1", "2e e9 B4",
	"48 ff c0 e8 B4",                             /* a call that ends in a pad */
	"e8 C4",
	"2e e8 C4",                                   /* calls that return */
	"50 48 89 e0 e8 C4",                          /* push; mov %rsp,%rax; call */
	"ff d2",
	"3e ff d2",                                   /* call *%rdx */
	"48 89 13 ff 13",                             /* mov %rdx,(%rbx); call *(%rbx) */
	"48 89 57 40 48 c7 c1 08 00 00 00 ff 54 cf 00",/* ... call *(%rdi,%rcx,8) */
	"49 89 14 24 41 ff 14 24",                    /* mov %rdx,(%r12); call *(%r12) */
	"49 89 d3 41 ff d3",                          /* mov %rdx,%r11; call *%r11 */
	"48 89 15 D4/0 ff 15 D4/0",                   /* mov %rdx,data(%rip); call *data(%rip) */
	"65 48 89 14 25 40 00 00 00 65 ff 14 25 40 00 00 00",/* through %gs */
	"e2 B1", "e1 B1", "e0 B1", "e3 B1", "67 e2 B1", "67 e3 B1", "2e 67 e1 B1", "6a 01 59 e2 B1",
	"48 c1 e1 20 67 e3 B1", "48 c1 e1 20 e3 B1",  /* shl $32,%rcx; jecxz, jrcxz */
	"ff e2",                                      /* jmp *%rdx */
	"48 89 15 D4/0 ff 25 D4/0", "48 89 16 ff 26", "48 89 14 24 ff 24 24", "c3", "5b c3",
	"5b 5d 41 5c c3", "48 83 c4 18 c3", "c2 10 00", "f3 c3", "48 89 d0 c3",
};
/* clang-format on */

enum { PAD_BEHIND = 1, PAD_TAKEN, PAD_CALLED, PAD_STACK };

#define CODE	 (exec_mem->code + 4096)
#define TAKEN	 (CODE + 96)
#define CALLED	 (CODE + 128)
#define FUNCTION (CODE + 160)
#define STACKED	 (CODE + 192)
#define DATA	 (exec_mem->data + 1024)
#define STACK	 (exec_mem->stack + 2048)
#define ROUNDS	 400

static uint64_t executions;
static uint64_t gs_area[512];

/* Zero bytes where the way goes on: a pad after code of len bytes, and the others. */
static void lay_pads(size_t len)
{
	static const uint8_t function[] = {0x48, 0xff, 0xc0, 0xc3}; /* inc %rax; ret */

	exec_pad(CODE + len, PAD_BEHIND);
	exec_pad(TAKEN, PAD_TAKEN);
	exec_pad(CALLED, PAD_CALLED);
	exec_pad(STACKED, PAD_STACK);
	memcpy(FUNCTION, function, sizeof(function));
}

static void put32(uint8_t *at, const uint8_t *to, size_t tail)
{
	int32_t disp = (int32_t)(to - (at + 4 + tail));

	memcpy(at, &disp, 4);
}

/* Write a piece at CODE; returns its length. */
static size_t assemble(const char *piece)
{
	char copy[256], *save = NULL;
	uint8_t *p = CODE;

	snprintf(copy, sizeof(copy), "%s", piece);
	for (char *tok = strtok_r(copy, " ", &save); tok; tok = strtok_r(NULL, " ", &save)) {
		if (!strcmp(tok, "B1")) {
			*p = (uint8_t)(TAKEN - (p + 1));
			p += 1;
		} else if (!strcmp(tok, "B4")) {
			put32(p, TAKEN, 0);
			p += 4;
		} else if (!strcmp(tok, "C4")) {
			put32(p, FUNCTION, 0);
			p += 4;
		} else if (!strncmp(tok, "D4/", 3)) {
			put32(p, DATA + 256, (size_t)(tok[3] - '0'));
			p += 4;
		} else {
			*p++ = (uint8_t)strtoul(tok, NULL, 16);
		}
	}
	return (size_t)(p - CODE);
}

static void random_state(void)
{
	static const int pointers[] = {RBX, RSI, RDI, R12, R13};

	for (int i = 0; i < EXEC_REGS; i++)
		exec_in.r[i] = exec_random() >> (exec_random() % 4 * 16);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
		exec_in.r[pointers[i]] = (uintptr_t)DATA + (exec_random() & 0x78);
	if (exec_random() & 1)
		exec_in.r[RAX] = exec_in.r[RDX] & 1;
	exec_in.r[RCX] &= 31;
	exec_in.r[RDX] = (uintptr_t)CALLED;
	exec_in.rsp = (uintptr_t)STACK;
	exec_in.flags = (exec_random() & EXEC_FLAGS) | 2;
}

/* Everything that the code may have changed. */
struct outcome {
	uint32_t pad;
	struct exec_cpu cpu;
	uint8_t data[EXEC_DATA];
	uint8_t stack[EXEC_STACK];
};

static void run_once(struct outcome *out, uint64_t seed)
{
	uint64_t stacked = (uintptr_t)STACKED;

	for (size_t i = 0; i < EXEC_DATA; i += 8, seed = seed * 6364136223846793005 + 1)
		memcpy(DATA + i, &seed, 8);
	for (size_t i = 0; i < EXEC_STACK / 2; i += 8) {
		memcpy(STACK + i, &stacked, 8);
		memcpy(STACK - EXEC_STACK / 2 + i, &seed, 8);
	}
	gs_area[8] = seed;
	out->pad = exec_at(CODE);
	out->cpu = exec_out;
	out->cpu.flags &= EXEC_FLAGS;
	memcpy(out->data, DATA, EXEC_DATA);
	memcpy(out->stack, STACK - EXEC_STACK / 2, EXEC_STACK);
	executions++;
}

/*
 * What is analysed: the code as it stands, filler after it, and a branch to it in front, because
 * the beginning of a function is a place of its own kind.
 */
static struct ki_function *analyse(size_t len, struct ki_target **t)
{
	static uint8_t view[128];
	const struct ki_symbol sym = {.addr = (uintptr_t)CODE - 2, .name = "piece"};
	const struct ki_memory m = {.kind = KI_TARGET_IMAGE,
				    .base = sym.addr,
				    .bytes = view,
				    .len = len + 10,
				    .symbols = &sym,
				    .nsymbols = 1};
	struct ki_function *fn;
	struct ki_err err = {0};
	size_t n;

	memcpy(view, "\x75\x00", 2);
	memcpy(view + 2, CODE, len);
	memset(view + 2 + len, 0xcc, 8);
	if (ki_target_open_memory(&m, t, &err) ||
	    ki_function_analyze(*t, ki_target_symbols(*t, &n), &fn, &err))
		fail_msg("%s", err.msg);
	return fn;
}

/* The patch of one window at `at`, with a counter before each instruction if wanted. */
static size_t install_one(const struct ki_function *fn, const struct ki_span *sp, uint8_t *at,
			  bool count)
{
	struct ki_window w = {.addr = sp->addr, .len = sp->len, .ncopy = sp->count};
	struct ki_copy copies[KI_WINDOW_INSNS];
	struct ki_chunk chunks[KI_WINDOW_INSNS] = {0};
	const struct ki_chunk *list[KI_WINDOW_INSNS];
	struct ki_code code;
	size_t n;

	for (uint8_t k = 0; k < sp->count; k++) {
		const struct ki_insn *in = &fn->insns[sp->first + k];

		assert_int_equal(ki_relocate(in, fn->bytes + (in->addr - fn->start), &copies[k]),
				 0);
		ki_snippet_count(&code, 16 + (uint32_t)(sp->first + k), true);
		chunks[k].insn = k;
		chunks[k].len = code.len;
		chunks[k].nfix = code.nfix;
		memcpy(chunks[k].fix, code.fix, sizeof(code.fix));
		memcpy(chunks[k].code, code.code, sizeof(code.code));
		list[k] = &chunks[k];
	}
	n = link_patch(at, &w, copies, list, count ? sp->count : 0);
	assert_true(n > 0);
	link_jump((uint8_t *)(uintptr_t)w.addr, (uintptr_t)at);
	return n;
}

/* Jumps over all windows; returns how many instructions they displace. */
static uint32_t install(const struct ki_function *fn, const struct ki_spans *s, bool count)
{
	uint8_t *at = exec_mem->patch + 64;
	uint32_t displaced = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].board != KI_BOARD_JMP || s->v[i].addr < (uintptr_t)CODE)
			continue;
		at += install_one(fn, &s->v[i], at, count) + 16;
		displaced += s->v[i].count;
	}
	return displaced;
}

static void compare(const char *what, const struct outcome *a, const struct outcome *b)
{
	if (a->pad != b->pad)
		fail_msg("%s: ended at pad %u, not %u", what, b->pad, a->pad);
	for (int i = 0; i < EXEC_REGS; i++)
		if (a->cpu.r[i] != b->cpu.r[i])
			fail_msg("%s: register %d: %llx, not %llx", what, i,
				 (unsigned long long)b->cpu.r[i], (unsigned long long)a->cpu.r[i]);
	if (a->cpu.rsp != b->cpu.rsp || a->cpu.flags != b->cpu.flags)
		fail_msg("%s: stack or flags: %llx %llx, not %llx %llx", what,
			 (unsigned long long)b->cpu.rsp, (unsigned long long)b->cpu.flags,
			 (unsigned long long)a->cpu.rsp, (unsigned long long)a->cpu.flags);
	if (memcmp(a->data, b->data, sizeof(a->data)))
		fail_msg("%s: other data", what);
	if (memcmp(a->stack, b->stack, sizeof(a->stack)))
		fail_msg("%s: another stack", what);
}

/*
 * The counter that keeps flags pushes: like an interrupt, it leaves its traces in stack that is
 * not in use at that moment.
 */
static void forget_below(struct outcome *o)
{
	size_t unused = o->cpu.rsp - ((uintptr_t)STACK - EXEC_STACK / 2);

	assert_true(unused <= EXEC_STACK);
	memset(o->stack, 0, unused > EXEC_STACK / 2 ? unused : EXEC_STACK / 2);
}

/* Run the code of len bytes at CODE as it is, displaced, and displaced with counters. */
static void try_code(const char *what, size_t len, unsigned int rounds)
{
	static struct exec_cpu states[ROUNDS];
	static struct outcome want[ROUNDS], got;
	uint8_t original[64];
	struct ki_target *t;
	struct ki_function *fn = analyse(len, &t);
	struct ki_spans spans;
	uint32_t displaced = 0;

	assert_int_equal(ki_spans_find(fn, &spans, NULL), 0);
	lay_pads(len);
	memcpy(original, CODE, sizeof(original));
	for (unsigned int i = 0; i < rounds; i++) {
		random_state();
		states[i] = exec_in;
		run_once(&want[i], i);
	}
	for (int count = 0; count < 2; count++) {
		memset(gs_area + 16, 0, 64 * sizeof(*gs_area));
		memcpy(CODE, original, sizeof(original));
		displaced = install(fn, &spans, count);
		for (unsigned int i = 0; i < rounds; i++) {
			exec_in = states[i];
			run_once(&got, i);
			if (count) {
				forget_below(&got);
				forget_below(&want[i]);
			}
			compare(what, &want[i], &got);
		}
	}
	if (!displaced)
		fail_msg("%s: nothing was displaced", what);
	for (uint32_t i = 1; i <= displaced; i++)
		if (gs_area[16 + i] != rounds)
			fail_msg("%s: instruction %u counted %llu times, not %u", what, i,
				 (unsigned long long)gs_area[16 + i], rounds);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(t);
}

static bool is_short(size_t len)
{
	struct ki_target *t;
	struct ki_function *fn = analyse(len, &t);
	struct ki_spans spans;
	bool yes;

	assert_int_equal(ki_spans_find(fn, &spans, NULL), 0);
	yes = spans.n < 2 || spans.v[1].board != KI_BOARD_JMP;
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(t);
	return yes;
}

static void pieces_run_the_same(void **state)
{
	char longer[300];

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		snprintf(longer, sizeof(longer), "%s", pieces[i]);
		if (is_short(assemble(longer)))
			snprintf(longer, sizeof(longer), "90 90 90 %s", pieces[i]);
		if (is_short(assemble(longer)))
			snprintf(longer, sizeof(longer), "90 90 90 90 %s", pieces[i]);
		try_code(pieces[i], assemble(longer), ROUNDS);
	}
	print_message("%llu executions\n", (unsigned long long)executions);
}

/* ---- windows of real code ---- */

static ZydisDecoder decoder;

/* Only registers but %rsp and flags go in and come out. */
static bool is_harmless(const uint8_t *bytes, size_t len)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, len, &in, ops)))
		return false;
	if (in.meta.isa_set != ZYDIS_ISA_SET_I86 && in.meta.isa_set != ZYDIS_ISA_SET_I386 &&
	    in.meta.isa_set != ZYDIS_ISA_SET_LONGMODE && in.meta.isa_set != ZYDIS_ISA_SET_CMOV &&
	    in.meta.isa_set != ZYDIS_ISA_SET_I486REAL)
		return false;
	if (in.mnemonic == ZYDIS_MNEMONIC_DIV || in.mnemonic == ZYDIS_MNEMONIC_IDIV ||
	    in.mnemonic == ZYDIS_MNEMONIC_STD)
		return false;
	for (uint8_t i = 0; i < in.operand_count; i++) {
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			return false;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			ZydisRegister r = ZydisRegisterGetLargestEnclosing(
				ZYDIS_MACHINE_MODE_LONG_64, ops[i].reg.value);

			if (r == ZYDIS_REGISTER_RSP ||
			    (ZydisRegisterGetClass(r) != ZYDIS_REGCLASS_GPR64 &&
			     r != ZYDIS_REGISTER_RFLAGS && r != ZYDIS_REGISTER_RIP))
				return false;
		}
	}
	return true;
}

/* A window that can be run alone is copied to CODE, its branch led to a pad: its length, or 0. */
static size_t take_window(const struct ki_function *fn, const struct ki_span *s)
{
	size_t len = 0;

	for (uint8_t k = 0; k < s->count; k++) {
		const struct ki_insn *in = &fn->insns[s->first + k];
		uint8_t *at = CODE + len;

		len += in->len;
		memcpy(at, fn->bytes + (in->addr - fn->start), in->len);
		if (in->kind == KI_INSN_JCC || in->kind == KI_INSN_JMP) {
			if (in->len - in->field == 1)
				at[in->field] = (uint8_t)(TAKEN - (at + in->len));
			else
				put32(at + in->field, TAKEN, 0);
		} else if (in->kind != KI_INSN_PLAIN || (in->flags & KI_INSN_RIP) ||
			   !is_harmless(at, in->len)) {
			return 0;
		}
	}
	return len;
}

static unsigned int run_windows_of(const char *path, unsigned int most)
{
	struct ki_target *t;
	struct ki_err err = {0};
	const struct ki_symbol *syms;
	unsigned int done = 0;
	size_t n;

	if (ki_target_new_image(path, &t, &err)) {
		print_message("%s\n", err.msg);
		return 0;
	}
	syms = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n && done < most; i++) {
		struct ki_function *fn;
		struct ki_spans spans;

		assert_int_equal(ki_function_analyze(t, &syms[i], &fn, &err), 0);
		assert_int_equal(ki_spans_find(fn, &spans, &err), 0);
		for (size_t k = 0; k < spans.n && done < most; k++) {
			size_t len =
				spans.v[k].board != KI_BOARD_JMP ? 0 : take_window(fn, &spans.v[k]);
			char what[600];

			if (!len)
				continue;
			snprintf(what, sizeof(what), "%s+0x%llx", syms[i].name,
				 (unsigned long long)(spans.v[k].addr - fn->start));
			try_code(what, len, 16);
			done++;
		}
		ki_spans_free(&spans);
		ki_function_free(fn);
	}
	ki_target_free(t);
	return done;
}

static void real_windows_run_the_same(void **state)
{
	unsigned int n;

	(void)state;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	n = run_windows_of("/proc/self/exe", 1000) +
	    run_windows_of("/lib/x86_64-linux-gnu/libc.so.6", 3000);
	print_message("%u windows of real code, %llu executions\n", n,
		      (unsigned long long)executions);
	assert_true(n >= 500);
	assert_true(executions >= 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_run_the_same),
		cmocka_unit_test(real_windows_run_the_same),
	};

	exec_init();
	exec_set_gs(gs_area);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
