// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filled springboards (kmod/text/fill.c, compiled in here): each byte that is to trap is executed,
 * on this processor, with anything after it; and distances that trap are the smallest there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define ARRAY_SIZE(a)		  (sizeof(a) / sizeof(*(a)))
#define lockdep_assert_held(lock) ((void)0)

#include "../../../kmod/text/fill.c"

bool ki_quiesced(u64 since)
{
	return since;
}

u64 ki_quiesce_count(void)
{
	return 0;
}

/* ---- the bytes ---- */

#ifdef __SANITIZE_ADDRESS__
#define TRIALS 200
#else
#define TRIALS 2000
#endif

static u8 *code;
static sigjmp_buf back;
static int got;
static ptrdiff_t stopped_at;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)info;
	got = sig;
	stopped_at = c->uc_mcontext.gregs[REG_RIP] - (greg_t)(uintptr_t)code;
	siglongjmp(back, 1);
}

static void catch_signals(void)
{
	static const int sigs[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE};
	static u8 stack[1 << 16];
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	assert_int_equal(sigaltstack(&alt, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sigs); i++)
		assert_int_equal(sigaction(sigs[i], &sa, NULL), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	assert_ptr_not_equal(code, MAP_FAILED);
}

static void run_code(void)
{
	void (*run)(void);

	memcpy(&run, &code, sizeof(run));
	got = 0;
	if (!sigsetjmp(back, 1))
		run();
}

/* Does the byte trap before anything of it has been done, whatever is after it? */
static bool byte_traps(u8 byte)
{
	bool int3 = byte == KI_INT3;

	for (int n = 0; n < TRIALS; n++) {
		code[0] = byte;
		for (int k = 1; k < 32; k++)
			code[k] = n % 2 ? rand() : KI_INT3;
		run_code();
		if (got != (int3 ? SIGTRAP : SIGILL) || stopped_at != int3)
			return false;
	}
	return true;
}

static void test_bytes_trap(void **state)
{
	size_t wrong = 0;

	(void)state;
	catch_signals();
	for (size_t i = 0; i < ARRAY_SIZE(ki_trapping); i++) {
		if (byte_traps(ki_trapping[i]))
			continue;
		print_error("%02x does not trap\n", ki_trapping[i]);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* ---- distances ---- */

static bool traps_at(u64 d, u8 inner)
{
	for (int k = 0; k < KI_FILL; k++)
		if (inner >> k & 1 && !memchr(ki_trapping, (u8)(d >> (8 * k)), sizeof(ki_trapping)))
			return false;
	return true;
}

static u64 random_distance(void)
{
	return ((u64)rand() << 16 ^ rand()) - 0x40000000;
}

static void test_smallest(void **state)
{
	(void)state;
	for (int n = 0; n < 160; n++) {
		u64 d = random_distance(), want = d;
		u8 inner = n % 8;

		while (!traps_at(want, inner))
			want++;
		assert_int_equal(ki_fill_distance(d, inner), want);
	}
}

/* The heap is 4 MiB: there is a place in it, wherever it is, but for the fourth byte. */
static void test_there_is_a_place(void **state)
{
	u64 far = 0;

	(void)state;
	for (int n = 0; n < 200000; n++) {
		u64 d = random_distance(), to = ki_fill_distance(d, n % 16);

		assert_true(traps_at(to, n % 16));
		if (!(n & 8) && to - d > far)
			far = to - d;
	}
	assert_true(far < 0x400000 - 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_trap),
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_there_is_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
