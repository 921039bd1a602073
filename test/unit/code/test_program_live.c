/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Liveness across functions: what is read of the registers after a call, a return, a branch.
 * rdx is a result too, of functions whose callers nobody knows. Compiled functions begin with a
 * call of __fentry__, or with a nop of 5 bytes in its place.
 */
#include "common_world.h"

#include <errno.h>

#define NOP5 "0f 1f 44 00 00  "
#define R(r) KI_REGSET_REG(KI_##r)

#define CALLEE_SAVED (R(RBX) | R(RBP) | R(R12) | R(R13) | R(R14) | R(R15))

static ki_regset live_at(const struct world *w, uint64_t addr)
{
	ki_regset live = 0;
	struct ki_err err = {0};

	if (ki_live_at(w->p, addr, &live, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(live & R(RSP), R(RSP));
	return live;
}

/* All of `in` is live, nothing of `out`. */
#define CHECK(w, addr, in, out)                                                                    \
	do {                                                                                       \
		ki_regset live_ = live_at(w, addr);                                                \
		assert_int_equal(live_ &(in), (in));                                               \
		assert_int_equal(live_ &(out), 0);                                                 \
	} while (0)

static void calls(void **state)
{
	struct world w = {0};

	(void)state;
	/* nop5; mov %rdi,%rbx; call sum; add %rbx,%rax; ret */
	world_add(&w, "f", NOP5 "48 89 fb  e8 @1  48 01 d8  c3");
	/* nop5; lea (%rdi,%rsi),%rax; ret */
	world_add(&w, "sum", NOP5 "48 8d 04 37  c3");
	/* nop5; mov %rdi,%rax; call *%rdx; mov $1,%eax; ret */
	world_add(&w, "any", NOP5 "48 89 f8  ff d2  b8 01 00 00 00  c3");
	world_build(&w, NULL);
	/*
	 * The callee reads rdi and rsi, and writes rax; others may look at all arguments; r10, the
	 * flags go nowhere.
	 */
	CHECK(&w, AT(0, 8), R(RDI) | R(RSI) | R(RBX) | R(RCX) | R(R8),
	      R(RAX) | R(R10) | R(R11) | KI_REGSET_FLAGS);
	/* After it: the result, what the function has saved there; of the callers, what is theirs.
	 */
	CHECK(&w, AT(0, 13), R(RAX) | R(RBX) | R(RBP) | R(R12),
	      R(RDI) | R(RSI) | R(RCX) | KI_REGSET_FLAGS);
	CHECK(&w, AT(0, 16), R(RAX) | CALLEE_SAVED,
	      R(RDI) | R(RSI) | R(RCX) | R(R8) | R(R9) | R(R10) | R(R11) | KI_REGSET_FLAGS);
	CHECK(&w, AT(1, 5), R(RDI) | R(RSI) | CALLEE_SAVED, R(RAX) | R(RCX) | KI_REGSET_FLAGS);
	/* A callee that is not known: what may have arguments, and the pointer itself. */
	CHECK(&w, AT(2, 8),
	      R(RDI) | R(RSI) | R(RDX) | R(RCX) | R(R8) | R(R9) | R(RAX) | R(R10) | CALLEE_SAVED,
	      R(R11) | KI_REGSET_FLAGS);
	/* Its result is not looked at. */
	CHECK(&w, AT(2, 10), CALLEE_SAVED, R(RAX) | R(RDI) | R(RCX) | R(R8));
	world_end(&w);
}

static void flags_and_parts(void **state)
{
	struct world w = {0};

	(void)state;
	/* nop5; test %edi,%edi; mov $1,%al; je 1f; mov %rsi,%rax; 1: ret */
	world_add(&w, "f", NOP5 "85 ff  b0 01  74 03  48 89 f0  c3");
	/* nop5; mov $5,%eax; mov $6,%ah; ret */
	world_add(&w, "parts", NOP5 "b8 05 00 00 00  b4 06  c3");
	/* nop5; inc %rdi; setb %al; ret: inc keeps CF */
	world_add(&w, "carry", NOP5 "48 ff c7  0f 92 c0  c3");
	world_build(&w, NULL);
	CHECK(&w, AT(0, 5), R(RDI) | R(RSI), KI_REGSET_FLAGS);
	CHECK(&w, AT(0, 7), KI_REGSET_ZF | KI_REGSET_HIGH(KI_RAX) | KI_REGSET_UPPER(KI_RAX),
	      KI_REGSET_LOW(KI_RAX) | KI_REGSET_CF | KI_REGSET_SF | KI_REGSET_OF | R(RDI));
	CHECK(&w, AT(0, 9), KI_REGSET_ZF | R(RAX), KI_REGSET_CF | R(RDI));
	CHECK(&w, AT(0, 11), R(RSI), R(RAX) | KI_REGSET_FLAGS);
	CHECK(&w, AT(1, 5), 0, R(RAX));
	CHECK(&w, AT(1, 10), KI_REGSET_LOW(KI_RAX) | KI_REGSET_UPPER(KI_RAX),
	      KI_REGSET_HIGH(KI_RAX));
	CHECK(&w, AT(2, 5), KI_REGSET_CF, KI_REGSET_ZF | KI_REGSET_OF);
	CHECK(&w, AT(2, 8), KI_REGSET_CF, R(RDI));
	world_end(&w);
}

static void tails_and_loops(void **state)
{
	struct world w = {0};

	(void)state;
	/* nop5; mov %rsi,%rdi; jmp g */
	world_add(&w, "f", NOP5 "48 89 f7  e9 @1");
	/* nop5; mov %rdi,%rax; add %r9,%rax; ret */
	world_add(&w, "g", NOP5 "48 89 f8  4c 01 c8  c3");
	/* nop5; 1: add %rdx,%rax; dec %ecx; jne 1b; ret */
	world_add(&w, "loop", NOP5 "48 01 d0  ff c9  75 f9  c3");
	/* nop5; push %rbx; mov %rdi,%rbx; pop %rbx; ret */
	world_add(&w, "saves", NOP5 "53  48 89 fb  5b  c3");
	/* nop5; call saves; mov %rbx,%rax; ret */
	world_add(&w, "relies", NOP5 "e8 @3  48 89 d8  c3");
	world_build(&w, NULL);
	CHECK(&w, AT(0, 8), R(RDI) | R(R9) | R(RSI) | R(R8), R(RAX) | R(R10));
	CHECK(&w, AT(0, 5), R(RSI) | R(R9), R(RDI) | R(RAX));
	CHECK(&w, AT(2, 8), R(RAX) | R(RDX) | R(RCX), R(RDI) | KI_REGSET_ZF);
	CHECK(&w, AT(2, 10), R(RAX) | R(RDX) | R(RCX) | KI_REGSET_ZF, KI_REGSET_CF);
	/* What is saved and restored is kept: live before the call, dead between. */
	CHECK(&w, AT(4, 5), R(RBX) | R(RDI), R(RAX));
	CHECK(&w, AT(3, 6), R(RDI), R(RBX));
	CHECK(&w, AT(3, 9), 0, R(RBX) | R(RDI));
	world_end(&w);
}

/* Where nobody knows of a function: what the kernel makes when it starts (thunks of ITS). */
static void calls_into_nowhere(void **state)
{
	struct world w = {0};

	(void)state;
	/* nop5; mov (%rdi),%rax; nop; call after all; ret */
	world_add(&w, "f", NOP5 "48 8b 07  90  e8 @9  c3");
	/* nop5; mov %rdi,%rax; nop (a static call); ret: it may keep rax */
	world_add(&w, "g", NOP5 "48 89 f8  0f 1f 44 00 00  c3");
	w.rows[0] = (struct ki_reserved_row){AT(1, 8), 5, KI_R_STATIC_CALL, 0};
	w.m.nrows = 1;
	world_build(&w, NULL);
	CHECK(&w, AT(0, 8), R(RAX) | R(R10) | R(R11) | KI_REGSET_FLAGS, 0);
	CHECK(&w, AT(1, 8), R(RAX), R(R11));
	world_end(&w);
}

/* Sites that the kernel rewrites: what stands there may be another thing tomorrow. */
static void sites(void **state)
{
	struct world w = {0};

	(void)state;
	/* nop5; call zero; mov %ecx... : a static call, of what needs nothing now */
	world_add(&w, "f", NOP5 "e8 @1  31 c0  c3");
	world_add(&w, "zero", NOP5 "31 c0  c3");
	/* nop5; nop5 (a static branch to 1); xor %eax,%eax; ret; 1: mov %rcx,%rax; ret */
	world_add(&w, "g", NOP5 "0f 1f 44 00 00  31 c0  c3  48 89 c8  c3");
	/* nop5; mov (%rdi),%rax (may fault: 1); ret; 1: mov %r8,%rax; ret */
	world_add(&w, "h", NOP5 "48 8b 07  c3  4c 89 c0  c3");
	w.rows[0] = (struct ki_reserved_row){AT(0, 5), 5, KI_R_STATIC_CALL, 0};
	w.rows[1] = (struct ki_reserved_row){AT(2, 5), 5, KI_R_JUMP_LABEL, AT(2, 13)};
	w.rows[2] = (struct ki_reserved_row){AT(3, 5), 1, KI_R_EXTABLE, AT(3, 9)};
	w.m.nrows = 3;
	world_build(&w, NULL);
	CHECK(&w, AT(0, 5), R(RDI) | R(RSI) | R(RDX) | R(RCX) | R(R8) | R(R9) | R(RAX) | R(R10),
	      R(R11));
	CHECK(&w, AT(0, 10), CALLEE_SAVED, R(RDI) | R(RAX));
	CHECK(&w, AT(2, 5), R(RCX), R(RAX) | KI_REGSET_FLAGS);
	CHECK(&w, AT(2, 10), CALLEE_SAVED, R(RCX));
	CHECK(&w, AT(3, 5), R(RDI) | R(R8), 0);
	CHECK(&w, AT(3, 8), R(RAX), R(RDI) | R(R8));
	world_end(&w);
}

/* Who does not keep to the ABI: callers of assembly may rely on what it leaves alone. */
static void assembly(void **state)
{
	struct world w = {0};

	(void)state;
	/* mov %rdi,%rax; ret; nobody known calls it */
	world_add(&w, "thunk", "48 89 f8  c3");
	/* nop5; call leaf; mov %rdx,%rax; ret */
	world_add(&w, "caller", NOP5 "e8 @2  48 89 d0  c3");
	/* mov %rsi,%rcx; ret */
	world_add(&w, "leaf", "48 89 f1  c3");
	world_build(&w, NULL);
	CHECK(&w, AT(0, 3), R(RAX) | R(RCX) | R(RDX) | R(RSI) | R(R11), 0);
	/* leaf keeps rdx, and what is in rcx before is not looked at. */
	CHECK(&w, AT(1, 5), R(RDX) | R(RSI), R(RCX));
	world_end(&w);
}

static bool flags_live(const struct world *w, uint32_t f, uint64_t off)
{
	struct ki_function *fn;
	struct ki_err err = {0};
	bool live;

	assert_int_equal(ki_function_analyze(w->t, w->f[f].symbol, &fn, &err), 0);
	live = ki_function_insn_at(fn, AT(f, off))->flags & KI_INSN_FLAGS_LIVE;
	ki_function_free(fn);
	return live;
}

/* As KVM calls what it emulates instructions with: with all flags, which are also the result. */
static void flags_of_assembly(void **state)
{
	struct world w = {0};

	(void)state;
	world_add(&w, "__fentry__", "c3");
	/* nop5; push %rdi; popf; nop; call *%rsi; pushf; pop %rdi; ret */
	world_add(&w, "fastop", NOP5 "57  9d  90  ff d6  9c  5f  c3");
	/* adc %edx,%eax; ret */
	world_add(&w, "adc", "11 d0  c3");
	/* nop5; add %esi,%edi; jmp *%rax */
	world_add(&w, "compiled", NOP5 "01 f7  ff e0");
	/* add %esi,%edi; jmp other */
	world_add(&w, "jumps", "01 f7  e9 @5");
	world_add(&w, "other", "c3");
	/* nop5; call *%rsi; ret */
	world_add(&w, "plain", NOP5 "ff d6  c3");
	/* cmp %esi,%edi; call other; jb 1f; ret; 1: ret */
	world_add(&w, "keeps", "39 f7  e8 @5  72 01  c3  c3");
	world_build(&w, NULL);
	CHECK(&w, AT(1, 7), R(RAX) | R(RDX) | R(RCX) | R(R10) | KI_REGSET_FLAGS, 0);
	CHECK(&w, AT(1, 8), R(RAX) | R(RSI) | KI_REGSET_FLAGS, 0);
	CHECK(&w, AT(1, 6), R(RAX), KI_REGSET_ZF | KI_REGSET_CF);
	assert_true(flags_live(&w, 1, 7));
	assert_true(flags_live(&w, 1, 8));
	assert_true(flags_live(&w, 1, 10));
	assert_false(flags_live(&w, 1, 12));
	CHECK(&w, AT(2, 2), R(RAX) | KI_REGSET_FLAGS, 0);
	assert_true(flags_live(&w, 2, 2));
	assert_false(flags_live(&w, 3, 7));
	assert_true(flags_live(&w, 4, 2));
	assert_false(flags_live(&w, 6, 5));
	assert_true(flags_live(&w, 7, 2));
	world_end(&w);
}

/* After a port there may be a hypervisor, which looks at all registers and writes some. */
static void ports(void **state)
{
	struct world w = {0};

	(void)state;
	/* nop5; mov %edi,%ebx; in (%dx),%eax; mov %esi,%eax; ret */
	world_add(&w, "f", NOP5 "89 fb  ed  89 f0  c3");
	world_build(&w, NULL);
	CHECK(&w, AT(0, 7), R(RAX) | R(RBX) | R(RCX) | R(R11), 0);
	CHECK(&w, AT(0, 8), R(RSI), R(RAX));
	world_end(&w);
}

static void not_known(void **state)
{
	static const struct ki_program_options without = {.size = sizeof(without),
							  .no_liveness = true};
	struct world w = {0};
	struct ki_err err = {0};
	ki_regset live = 0;

	(void)state;
	world_add(&w, "f", NOP5 "48 89 f8  c3");
	world_add(&w, "bad", "31 c0  06");
	world_build(&w, NULL);
	assert_int_equal(ki_live_at(w.p, AT(0, 6), &live, &err), -EINVAL);
	assert_int_equal(err.reason, KI_R_NOT_BOUNDARY);
	assert_int_equal(ki_live_at(w.p, AT(0, 9), &live, &err), -EINVAL); /* padding */
	assert_int_equal(err.reason, KI_R_NOT_BOUNDARY);
	ki_err_clear(&err);
	assert_int_equal(ki_live_at(w.p, BASE - 1, &live, &err), -EFAULT);
	assert_int_equal(err.reason, KI_R_NO_SYMBOL);
	assert_int_equal(live_at(&w, AT(1, 0)), KI_REGSET_ALL);
	world_end(&w);

	w = (struct world){0};
	world_add(&w, "f", NOP5 "48 89 f8  c3");
	world_build(&w, &without);
	assert_int_equal(ki_live_at(w.p, AT(0, 5), &live, &err), -ENODATA);
	assert_int_equal(ki_program_totals(w.p)->calls, 0);
	world_end(&w);
}

/* One by one, and all of a function at once. */
static void the_same_in_both_ways(void **state)
{
	struct world w = {0};
	struct ki_err err = {0};

	(void)state;
	world_add(&w, "f", NOP5 "85 ff  74 05  e8 @1  48 89 f8  e9 @2");
	world_add(&w, "g", "53  48 89 fb  5b  c3");
	world_add(&w, "h", NOP5 "ff d6  eb fe");
	world_build(&w, NULL);
	for (uint32_t i = 0; i < w.n; i++) {
		ki_regset all[SLOT];
		struct ki_function *fn;

		assert_int_equal(ki_function_analyze(w.t, w.f[i].symbol, &fn, &err), 0);
		assert_int_equal(ki_program_live(w.p, fn, all, &err), 0);
		for (uint32_t k = 0; k < fn->ninsns; k++) {
			if (fn->insns[k].kind == KI_INSN_PAD)
				assert_int_equal(all[k], KI_REGSET_ALL);
			else
				assert_int_equal(all[k], live_at(&w, fn->insns[k].addr));
		}
		ki_function_free(fn);
	}
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(flags_and_parts),
		cmocka_unit_test(tails_and_loops),
		cmocka_unit_test(calls_into_nowhere),
		cmocka_unit_test(sites),
		cmocka_unit_test(assembly),
		cmocka_unit_test(flags_of_assembly),
		cmocka_unit_test(ports),
		cmocka_unit_test(not_known),
		cmocka_unit_test(the_same_in_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
