// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function whose argument is known does what it did. It is made at random: in one way that has
 * everything a compiler's has, in another that computes a lot with few registers. One register's
 * value is taken for known; this processor executes the text, and then what is left of it, with
 * that value and everything else at random. Memory that may fault does so in some of the runs, and
 * this test does then what the kernel does; so it does with static branches and calls, which it
 * makes of some calls of the text.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "common_run.h"
#include "evolve/special/emit.h"

#define ROUNDS 8
#ifdef __SANITIZE_ADDRESS__
#define FUNCTIONS 500
#else
#define FUNCTIONS 2000
#endif

static struct ki_target *target;
static struct ki_function *fn;
static struct ki_spans spans;
static size_t decided, dropped, kept, changed, refused, values, faults, switched;
static const struct ki_emitted *emitted; /* what stands in exec_mem->patch */

static bool never_compiled(void *arg, uint64_t addr)
{
	(void)arg;
	(void)addr;
	return false;
}

static bool no_memory(void *arg, uint64_t addr, void *out, size_t size)
{
	(void)arg;
	(void)addr;
	(void)out;
	(void)size;
	return false;
}

/* ---- functions that compute ---- */

#define INSNS 40

/* The processor says what the flags are now: what it leaves undefined nobody may look at. */
static bool defined;

static uint8_t *put(uint8_t *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

static uint8_t modrm(unsigned int reg, unsigned int rm)
{
	return (uint8_t)(0xc0 | (reg & 7) << 3 | (rm & 7));
}

/* REX for a register in `reg` and one in `rm`. */
static uint8_t rex(bool wide, unsigned int reg, unsigned int rm)
{
	return (uint8_t)(0x40 | wide << 3 | (reg >> 3) << 2 | rm >> 3);
}

/* Of 16 bits, if it is not of 64, or of 8. */
static uint8_t *put_prefix(uint8_t *p)
{
	static const uint8_t prefix = 0x66;

	return random_below(5) ? p : put(p, &prefix, 1);
}

/* %rax, %rdx, %rsi, %r8 to %r11: none that the code needs to come to an end. */
static unsigned int some_register(void)
{
	static const uint8_t regs[] = {KI_RAX, KI_RDX, KI_RSI, KI_R8, KI_R9, KI_R10, KI_R11};

	return regs[random_below(sizeof(regs))];
}

static int32_t some_number(void)
{
	static const int32_t numbers[] = {0,	1,    -1,     8,	 64,
					  0x7f, 0x80, 0x2000, INT32_MAX, INT32_MIN};

	return random_below(3) ? numbers[random_below(10)] : (int32_t)exec_random();
}

/* op r, r: add or adc's neighbours without a carry, mov, cmp, test, in 32 or 64 bits, or 8. */
static uint8_t *put_two(uint8_t *p)
{
	static const uint8_t ops[] = {0x01, 0x09, 0x21, 0x29, 0x31, 0x39, 0x85, 0x89,
				      0x03, 0x2b, 0x23, 0x0b, 0x33, 0x3b, 0x8b};
	const unsigned int a = some_register(), b = random_below(6) ? some_register() : a;
	const uint8_t byte = !random_below(5);
	const uint8_t code[] = {rex(!byte && random_below(2), a, b),
				(uint8_t)(ops[random_below(sizeof(ops))] & ~byte), modrm(a, b)};

	p = put_prefix(p);

	defined |= (code[1] | 1) != 0x89 && (code[1] | 1) != 0x8b;
	return put(p, code, 3);
}

/* op $n, r: add, or, and, sub, xor, cmp; test and mov. */
static uint8_t *put_number(uint8_t *p)
{
	static const uint8_t digits[] = {0, 1, 4, 5, 6, 7};
	const unsigned int r = some_register(), kind = random_below(4);
	const int32_t n = some_number();
	const uint8_t prefix = rex(random_below(2), 0, r);
	const uint8_t digit = digits[random_below(sizeof(digits))];
	const uint8_t code[] = {prefix,
				kind == 0   ? 0x83
				: kind == 1 ? 0xf7
				: kind == 2 ? 0xc7
					    : 0x81,
				modrm(kind == 1 || kind == 2 ? 0 : digit, r)};

	defined |= kind != 2;
	return put(put(p, code, 3), &n, kind ? 4 : 1);
}

/* Shifts by a number, inc and dec, not and neg, of 8, 32 or 64 bits. */
static uint8_t *put_one(uint8_t *p)
{
	static const struct {
		uint8_t op, digit;
	} forms[] = {{0xc1, 4}, {0xc1, 5}, {0xc1, 7}, {0xff, 0}, {0xff, 1}, {0xf7, 2}, {0xf7, 3}};
	const unsigned int r = some_register(), form = random_below(7);
	const uint8_t byte = !random_below(4);
	const uint8_t code[] = {rex(!byte && random_below(2), 0, r),
				(uint8_t)(forms[form].op & ~byte), modrm(forms[form].digit, r),
				(uint8_t)random_below(70)};

	defined &= form >= 3;
	return put(p, code, form < 3 ? 4 : 3);
}

/* movzx, movsx, setcc, cmovcc, imul, bsr, lea. */
static uint8_t *put_rare(uint8_t *p)
{
	const unsigned int a = some_register(), b = some_register();
	const unsigned int kind = random_below(defined ? 8 : 5);
	const uint8_t condition = (uint8_t)random_below(16);
	const uint8_t ops[] = {0xb6,
			       0xb7,
			       0xbe,
			       0xbf,
			       0xaf,
			       (uint8_t)(0x40 | condition),
			       (uint8_t)(0x90 | condition)};
	uint8_t code[5] = {rex(random_below(2), a, b), 0x0f, 0, modrm(a, b)};

	if (kind < 7) {
		p = put_prefix(p);
		code[2] = ops[kind];
		defined &= kind != 4;
		return put(p, code, 4);
	}
	code[0] = (uint8_t)(rex(true, a, b) | (some_register() >> 3) << 1);
	code[1] = 0x8d; /* lea (b, some, 2^n), a */
	code[2] = (uint8_t)((a & 7) << 3 | 4 | 0x40);
	code[3] = (uint8_t)(random_below(4) << 6 | (code[0] & 2 ? random_below(4) : 2) << 3 |
			    (b & 7));
	code[4] = (uint8_t)some_number();
	return put(p, code, 5);
}

/* mov to and from data, by %rdi. */
static uint8_t *put_memory(uint8_t *p)
{
	const unsigned int r = some_register();
	const uint8_t code[] = {
		rex(random_below(2), r, KI_RDI), (uint8_t)(random_below(2) ? 0x89 : 0x8b),
		(uint8_t)(0x40 | (r & 7) << 3 | KI_RDI), (uint8_t)(random_below(7) * 8)};

	return put(p, code, 4);
}

/* Branches lead forward; to where is written when it is known. */
static void make_computing(void)
{
	static uint8_t *(*const kinds[])(uint8_t *) = {put_two, put_number, put_one, put_rare,
						       put_memory};
	uint8_t *starts[INSNS + 1], *p = CODE;
	bool branches[INSNS] = {false};

	random_code_lay();
	defined = true;
	for (int i = 0; i < INSNS; i++) {
		const uint8_t jcc[] = {0x0f, (uint8_t)(0x80 | random_below(16))};

		starts[i] = p;
		branches[i] = i && defined && !random_below(4);
		p = branches[i] ? put(p, jcc, 2) + 4 : kinds[random_below(5)](p);
	}
	starts[INSNS] = p;
	*p++ = 0xc3;
	random_code.nrows = 0;
	memset(p, 0xcc, CODE_MAX - (size_t)(p - CODE));
	for (int i = 0; i < INSNS; i++) {
		int32_t far;

		if (!branches[i])
			continue;
		far = (int32_t)(starts[i + 1 + (int)random_below((unsigned int)(INSNS - i))] -
				starts[i + 1]);
		memcpy(starts[i] + 2, &far, 4);
	}
}

/* ---- what the kernel does ---- */

static bool half;   /* of the register that is known, bits 0 to 31 are */
static bool undone; /* nobody knows how to go on: the run says nothing */

static uint64_t after_fault(uint64_t rip)
{
	const uint64_t off = rip - (uintptr_t)exec_mem->patch;

	for (size_t i = 0; i < random_code.nrows; i++)
		if (random_code.rows[i].reason == KI_R_EXTABLE && random_code.rows[i].addr == rip)
			return random_code.rows[i].target;
	for (size_t i = 0; off < sizeof(exec_mem->patch) && i < emitted->sites.n; i++) {
		const struct ki_emit_site *s = &emitted->sites.v[i];

		if (s->site == KI_SITE_FAULT && s->off == off)
			return s->way.inside ? (uintptr_t)exec_mem->patch + s->way.at : s->way.at;
	}
	return 0;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	const uint64_t to = after_fault((uint64_t)*rip);

	(void)sig;
	(void)info;
	faults++;
	undone |= !to;
	*rip = to ? (greg_t)to : (greg_t)(uintptr_t)RETURNED;
}

static void catch_faults(void)
{
	const struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaction(SIGSEGV, &sa, NULL);
}

/* Some branches are taken for such as nobody switches any more. */
static uint8_t what_it_is(void *arg, const struct ki_function *f, const struct ki_insn *in)
{
	const uint8_t first = f->bytes[in->addr - f->start];

	(void)arg;
	if (in->reason == KI_R_STATIC_CALL)
		return KI_SITE_CALL;
	if (in->flags & KI_INSN_EXTABLE)
		return KI_SITE_FAULT;
	if (in->addr % 3)
		return KI_SITE_BRANCH;
	return first == 0xeb ? KI_SITE_ALWAYS : KI_SITE_NEVER;
}

/* Some calls become static ones; all of them call the same function. Some lock prefixes are taken
   away, as by a kernel with one CPU. */
static void make_sites(void)
{
	for (size_t i = 0; i < random_code.nrows; i++)
		if (random_code.rows[i].reason == KI_R_LOCK_PREFIX && random_below(2))
			CODE[random_code.rows[i].addr - (uintptr_t)CODE] = 0x3e;
	for (uint32_t i = 0; i < fn->ninsns; i++)
		if (fn->insns[i].kind == KI_INSN_CALL && random_below(2))
			random_code.rows[random_code.nrows++] = (struct ki_reserved_row){
				.addr = fn->insns[i].addr, .len = 5, .reason = KI_R_STATIC_CALL};
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
	run_analyse(&target, &fn, &spans);
}

static void switch_site(const struct ki_emit_site *s, uint8_t *at)
{
	const uint8_t *text = CODE + (s->addr - (uintptr_t)CODE);
	uint64_t to = s->way.inside ? (uintptr_t)at + s->way.at : s->way.at;
	int32_t far;

	if (s->site == KI_SITE_FAULT || (s->site == KI_SITE_BRANCH && *text != 0xeb))
		return;
	if (s->site == KI_SITE_CALL)
		to = (uintptr_t)CALLEE;
	far = (int32_t)(to - (uintptr_t)(at + s->off + 5));
	at[s->off] = s->site == KI_SITE_CALL ? 0xe8 : 0xe9;
	memcpy(at + s->off + 1, &far, sizeof(far));
	switched++;
}

static const struct ki_fold_sites sites = {.about = what_it_is};
static const struct ki_fold_callees callees = {.compiled = never_compiled};
static const struct ki_constant_memory memory = {.read = no_memory};
static const struct ki_fold_how how = {&memory, &callees, &sites, false},
				apart_how = {&memory, &callees, NULL, false},
				whole = {&memory, &callees, &sites, true};

/* The code where it will be executed. */
static void place(const struct ki_emitted *e, uint8_t *at)
{
	assert_true(e->len <= sizeof(exec_mem->patch));
	memcpy(at, e->code, e->len);
	for (size_t i = 0; i < e->fixes.n; i++) {
		const struct ki_module_fix *f = &e->fixes.v[i];
		int64_t v = (int64_t)(f->target + (uint64_t)f->addend - (uintptr_t)(at + f->off));
		int32_t field = (int32_t)v;

		assert_int_equal(field, v);
		memcpy(at + f->off, &field, sizeof(field));
	}
	for (size_t i = 0; i < e->sites.n; i++)
		switch_site(&e->sites.v[i], at);
	emitted = e;
}

/* What its caller may look at: where control goes to a function, everything. */
static bool is_same(struct run_outcome *a, struct run_outcome *b)
{
	static const int free_regs[] = {RCX, RSI, RDI, R8, R9, R10, R11};

	if (!memcmp(a, b, sizeof(*a)) || a->pad != 2)
		return run_same(a, b);
	for (size_t i = 0; i < sizeof(free_regs) / sizeof(*free_regs); i++)
		a->cpu.r[free_regs[i]] = b->cpu.r[free_regs[i]] = 0;
	return run_same(a, b);
}

static void compare(const struct ki_emit_copy *c, int reg, uint64_t value)
{
	struct run_outcome wanted, got;
	struct exec_cpu state;

	for (int i = 0; i < ROUNDS; i++) {
		run_state(&state);
		if (!random_below(3))
			state.r[RDI] = 16; /* nothing is there */
		state.r[reg] = half ? state.r[reg] >> 32 << 32 | (uint32_t)value : value;
		undone = false;
		run_it(&wanted, &state);
		if (undone)
			continue;
		run_from(exec_mem->patch + c->off, &got, &state);
		if (undone || !is_same(&wanted, &got))
			fail_msg("with register %d known to be %#lx it does something else", reg,
				 (unsigned long)value);
	}
}

static int number_of_exec(unsigned int reg)
{
	return (int)(reg < KI_RSP ? reg : reg - 1);
}

/* Numbers in instructions; %rsp is not among those of exec_cpu. */
static uint8_t number_of(int reg)
{
	return (uint8_t)(reg < KI_RSP ? reg : reg + 1);
}

static void try_function(bool computing)
{
	struct ki_emit_copy copy = {0};
	struct ki_constants entry = {0};
	struct ki_emitted code;
	struct exec_cpu state;
	int reg = (int)random_below(EXEC_REGS), ret;

	if (computing) {
		make_computing();
		reg = number_of_exec(some_register());
	} else {
		random_code_make();
	}
	run_analyse(&target, &fn, &spans);
	make_sites();
	run_state(&state);
	half = random_below(3) == 0;
	entry.half = (uint16_t)(1u << number_of(reg));
	entry.known = half ? 0 : entry.half;
	entry.v[number_of(reg)] = half ? (uint32_t)state.r[reg] : state.r[reg];
	ret = ki_fold(fn, &entry, random_below(4) ? &how : &apart_how, &copy.folded);
	if (ret == -ENOTSUP) {
		refused++;
	} else {
		assert_int_equal(ret, 0);
		assert_int_equal(ki_emit(&copy, 1, &code), 0);
		place(&code, exec_mem->patch);
		compare(&copy, reg, state.r[reg]);
		decided += copy.folded.branches;
		dropped += copy.folded.dropped;
		kept += copy.folded.kept;
		changed += copy.folded.branches || copy.folded.dropped;
		for (uint32_t i = 0; i < fn->ninsns; i++)
			values += copy.folded.insns[i].action == KI_FOLD_VALUE;
		ki_emit_free(&code);
	}
	ki_fold_free(&copy.folded);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
}

static void it_does_what_it_did(void **state)
{
	(void)state;
	catch_faults(); /* cmocka has its own */
	for (int i = 0; i < FUNCTIONS; i++)
		try_function(false);
	for (int i = 0; i < FUNCTIONS; i++)
		try_function(true);
	print_message(
		"%d functions of each kind, %zu changed, %zu not copied: %zu branches decided, of %zu "
		"instructions %zu went and %zu became numbers, %zu switched, %zu faults\n",
		FUNCTIONS, changed, refused, decided, kept + dropped, dropped, values, switched,
		faults);
	assert_true(changed > FUNCTIONS && decided > FUNCTIONS / 3 && values > FUNCTIONS / 2 &&
		    refused < FUNCTIONS / 2 && switched > FUNCTIONS / 4 && faults > FUNCTIONS / 2);
}

/*
 *	mov $21, %edi; test %eax, %eax; je L; loop next		this block is not copied
 * next: mov $12, %edi
 * L:	nop; ret
 *
 * In a copy %edi is 21 at L, because control is in the original after the loop. In the function it
 * may be 12.
 */
static void a_function_is_entered_in_more_ways(void **state)
{
	static const uint8_t code[] = {0xbf, 21,   0,	 0,  0, 0x85, 0xc0, 0x74, 0x07,
				       0xe2, 0x00, 0xbf, 12, 0, 0,    0,    0x90, 0xc3};
	const struct ki_constants nothing = {0};
	const struct ki_fold_how *const hows[] = {&how, &whole};

	(void)state;
	random_code_lay();
	random_code.nrows = 0;
	memcpy(CODE, code, sizeof(code));
	run_analyse(&target, &fn, &spans);
	for (int i = 0; i < 2; i++) {
		const struct ki_block *b = ki_function_block_at(fn, (uintptr_t)CODE + 16);
		struct ki_constants c;
		struct ki_folded f;

		assert_non_null(b);
		assert_int_equal(ki_fold(fn, &nothing, hows[i], &f), 0);
		ki_fold_before(&f, (uint32_t)(b - fn->blocks), b->first, &memory, &c);
		assert_int_equal(c.known & 1u << KI_RDI, i ? 0 : 1u << KI_RDI);
		assert_true(i || c.v[KI_RDI] == 21);
		ki_fold_free(&f);
	}
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_does_what_it_did),
		cmocka_unit_test(a_function_is_entered_in_more_ways),
	};

	run_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
