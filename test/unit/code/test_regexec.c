// SPDX-License-Identifier: GPL-2.0-only
/*
 * The use and def of instructions against the CPU: each distinct form found in real code, and
 * many that were made up, is executed with random registers, flags and memory, and again with
 * everything that is said not to be used changed. Nothing that it writes may differ: not memory,
 * not vector registers, not the registers and flags, save those that it left as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "code/decode/decode.h"
#include "common_exec.h"
#include "common_forms.h"
#include "common_image.h"

#ifdef __SANITIZE_ADDRESS__
#define TRIALS 8
#define ONE_IN 23 /* of the forms; KI_ALL_FORMS=1 in the environment: all, in a minute */
#else
#define TRIALS 24
#define ONE_IN 11
#endif

#define ARENA  65536
#define DATA   16384 /* offsets in it */
#define STACK  49152
#define WINDOW 4096 /* what of each is filled and compared */
#define XSTATE 16384
#define NPARTS 54 /* bits of a set */

struct side {
	struct exec_cpu in, out;
	uint8_t data[WINDOW], stack[WINDOW], x[XSTATE] __attribute__((aligned(64)));
	int signal;
};

static uint8_t *arena;
static struct side a, b;
static uint8_t x_in[XSTATE] __attribute__((aligned(64)));
static uint8_t data_in[WINDOW], stack_in[WINDOW];
static sigjmp_buf after_signal;

/* ---- execution ---- */

static void on_signal(int sig)
{
	siglongjmp(after_signal, sig);
}

/* In each test: cmocka has handlers of its own. */
static void set_up(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	static uint8_t stack[65536];
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
	uint32_t xcr0, high;
	cpu_set_t cpus;

	exec_init();
	CPU_ZERO(&cpus); /* cpuid tells different things on different CPUs */
	CPU_SET((size_t)sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		     -1, 0);
	assert_ptr_not_equal(arena, MAP_FAILED);
	assert_int_equal(sigaltstack(&alt, NULL), 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		assert_int_equal(sigaction(signals[i], &sa, NULL), 0);
	__asm__ volatile("xsave (%0)" ::"r"(x_in), "a"(~0u), "d"(~0u) : "memory");
	__asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
	x_in[512] |= xcr0 & 7; /* x87, xmm and ymm are not to be reset but loaded */
}

static uint8_t *window(unsigned int at)
{
	return arena + at - WINDOW / 2;
}

static __attribute__((noinline)) void run(struct side *s)
{
	memcpy(window(DATA), data_in, WINDOW);
	memcpy(window(STACK), stack_in, WINDOW);
	memset(s->x, 0, 1024);
	exec_in = s->in;
	s->signal = sigsetjmp(after_signal, 0);
	if (!s->signal) {
		__asm__ volatile("xrstor (%0)" ::"r"(x_in), "a"(~0u), "d"(~0u) : "memory");
		exec_at(exec_mem->code);
		__asm__ volatile("xsave (%0)" ::"r"(s->x), "a"(~0u), "d"(~0u) : "memory");
	}
	__asm__ volatile("cld");
	__asm__ volatile("xrstor (%0)" ::"r"(x_in), "a"(~0u), "d"(~0u) : "memory");
	s->out = exec_out;
	memcpy(s->data, window(DATA), WINDOW);
	memcpy(s->stack, window(STACK), WINDOW);
}

/* ---- values ---- */

static uint64_t value(uint64_t shared)
{
	switch (exec_random() >> 32 & 15) {
	case 0:
		return 0;
	case 1:
		return exec_random() & 0xff;
	case 2:
		return exec_random() & 0xffffffff;
	case 3:
		return ~0ull;
	case 4:
		return 1ull << (exec_random() & 63);
	case 5:
	case 6:
	case 7:
	case 8:
		return shared;
	case 9:
		return exec_random() & 0xf;
	case 10:
		return (shared & ~0xffffull) | (exec_random() & 0xffff);
	default:
		return exec_random();
	}
}

static uint64_t flags(void)
{
	return (exec_random() >> 20 & EXEC_FLAGS) | 0x202;
}

/* Later attempts use smaller numbers: quotients that fit, shorter offsets. */
static void fill(const struct form_info *f, struct exec_cpu *c, unsigned int attempt)
{
	uint64_t shared = exec_random();
	bool much = !(exec_random() & 3); /* much is equal */

	for (unsigned int i = 0; i < 16; i++)
		*form_reg(c, i) = (much && exec_random() & 7 ? shared : value(shared)) >>
				  (attempt & 1 ? attempt * 8 % 64 : 0);
	if (attempt & 2)
		c->r[RDX] = 0;
	c->rsp = (uintptr_t)arena + STACK;
	c->flags = flags();
	for (unsigned int i = 0; i < WINDOW; i += 8) {
		uint64_t v = much ? shared : value(shared), w = value(shared);

		memcpy(data_in + i, &v, 8);
		memcpy(stack_in + i, &w, 8);
	}
	/* x87, xmm and the upper halves of ymm; between them are the header and nothing. */
	for (unsigned int i = 32; i < 832; i += 8) {
		uint64_t v = value(shared);

		if (i < 416 || i >= 576)
			memcpy(x_in + i, &v, 8);
	}
	form_point(f, c, (uintptr_t)arena + DATA, (uintptr_t)arena + STACK);
}

/* ---- sets ---- */

static uint64_t part_mask(unsigned int bit)
{
	return bit < 16 ? 0xff : bit < 32 ? 0xff00 : ~0xffffull;
}

static uint64_t flag_bit(unsigned int bit)
{
	static const uint16_t bits[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800};

	return bits[bit - 48];
}

static uint64_t get(struct exec_cpu *c, unsigned int bit)
{
	if (bit >= 48)
		return c->flags & flag_bit(bit);
	return *form_reg(c, bit % 16) & part_mask(bit);
}

static void change(struct exec_cpu *c, unsigned int bit)
{
	uint64_t *r = bit >= 48 ? &c->flags : form_reg(c, bit % 16);
	uint64_t mask = bit >= 48 ? flag_bit(bit) : part_mask(bit);

	*r ^= exec_random() & 1 ? mask : exec_random() & mask;
}

/* Flags that the instruction is said to leave undefined: they may be as they were. */
static ki_regset undefined(const struct form_info *f)
{
	ki_regset set = 0;

	for (unsigned int bit = 48; bit < NPARTS; bit++)
		if (f->z.cpu_flags && f->z.cpu_flags->undefined & flag_bit(bit))
			set |= 1ull << bit;
	return set;
}

/* Everything that some operand may write, and the flags. */
static ki_regset may_write(const struct ki_decoded *d, const struct form_info *f)
{
	const ZydisAccessedFlags *z = f->z.cpu_flags;
	ki_regset set = d->def;

	if (f->z.attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		set |= KI_REGSET_REG(KI_RSI) | KI_REGSET_REG(KI_RDI);
	for (unsigned int bit = 48; z && bit < NPARTS; bit++)
		if ((z->undefined | z->modified | z->set_0 | z->set_1) & flag_bit(bit))
			set |= 1ull << bit;
	for (unsigned int i = 0; i < f->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &f->ops[i];
		ZydisRegister r = o->reg.value;

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR8)
			r = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
		if (form_gpr(r) >= 0)
			set |= KI_REGSET_REG(form_gpr(r));
	}
	return set;
}

/* ---- the comparison ---- */

struct tally {
	size_t checked, pairs, wrong;
	struct {
		const char *why;
		size_t n;
	} skipped[24];
};

static void skip_form(struct tally *t, const char *why)
{
	size_t i = 0;

	while (t->skipped[i].why && strcmp(t->skipped[i].why, why) != 0)
		i++;
	t->skipped[i].why = why;
	t->skipped[i].n++;
}

static void complain(struct tally *t, const struct form *f, const struct form_info *i,
		     const char *what, int bit)
{
	char text[128], part[32] = "";
	ZydisFormatter fmt;

	t->wrong++;
	if (t->wrong > 40)
		return;
	ZydisFormatterInit(&fmt, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterFormatInstruction(&fmt, &i->z, i->ops, i->z.operand_count_visible, text,
					sizeof(text), 0, NULL);
	if (bit >= 0)
		ki_regset_format(1ull << bit, part, sizeof(part));
	for (unsigned int k = 0; k < f->len; k++)
		print_error("%02x ", f->bytes[k]);
	print_error("%s: %s %s\n", text, what, part);
}

static bool passed(struct side *s, unsigned int bit)
{
	return get(&s->in, bit) == get(&s->out, bit);
}

static const char unstable[] = "different each time";
static const char unforeseen[] = "nobody said that it writes";

/* What is wrong with two runs, or NULL; *bit: of what. */
static const char *judge(const struct ki_decoded *d, const struct form_info *f, int *bit)
{
	ki_regset def = d->def & ~undefined(f), written = may_write(d, f);

	*bit = -1;
	if (a.signal != b.signal)
		return "faults or not by what it does not use";
	if (memcmp(a.data, b.data, WINDOW) || memcmp(a.stack, b.stack, WINDOW))
		return "memory depends on what it does not use";
	if (memcmp(a.x + 32, b.x + 32, 384) || memcmp(a.x + 576, b.x + 576, 256))
		return "vectors depend on what it does not use";
	for (unsigned int i = 0; i < NPARTS; i++) {
		bool both = passed(&a, i) && passed(&b, i);

		*bit = (int)i;
		if (!both && !(written & 1ull << i))
			return unforeseen;
		if (get(&a.out, i) == get(&b.out, i))
			continue;
		if (!both)
			return "what it does not use influences";
		if (def & 1ull << i)
			return "does not always write";
	}
	return NULL;
}

/*
 * Executions refused as undefined of bytes that had just been executed. Whether an instruction is
 * defined depends on its bytes and the mode alone (SDM volume 3, 6.15, #UD), so this is no matter
 * of registers: a hypervisor that leaves a guest within an instruction may try to emulate it, and
 * refuses what its emulator does not know. Busy machines show some in half a million.
 */
static size_t refused;

/* Run it trials times in pairs; what is wrong, or NULL. *good: how many pairs were of use. */
static const char *try(const struct form_info *f, const struct ki_decoded *d, unsigned int trials,
		       unsigned int *good, int *bit)
{
	const char *why;

	*good = 0;
	for (unsigned int i = 0; i < trials && (*good || i < 8); i++) {
		fill(f, &a.in, *good ? i & 3 : i);
		run(&a);
		if (a.signal)
			continue;
		b.in = a.in;
		if (*good)
			for (unsigned int k = 0; k < NPARTS; k++)
				if (!(d->use & 1ull << k))
					change(&b.in, k);
		run(&b);
		if (b.signal == SIGILL) {
			refused++;
			continue;
		}
		(*good)++;
		why = judge(d, f, bit);
		if (why)
			return *good > 1 || why == unforeseen ? why : unstable;
	}
	return NULL;
}

/* Put it in place, to be executed; why not, or NULL. */
static const char *place(struct form *f, struct form_info *info, struct ki_decoded *d)
{
	uint8_t *code = exec_mem->code;

	assert_true(form_place(f, (uintptr_t)code, (uint32_t)(uintptr_t)arena + DATA, info));
	ki_decode(f->bytes, sizeof(f->bytes), (uintptr_t)code, d);
	memcpy(code, f->bytes, f->len);
	exec_pad(code + f->len, 1);
	return d->use == KI_REGSET_ALL ? "uses everything" : form_unfit(info);
}

static void check(struct tally *t, struct form *f)
{
	struct form_info info;
	struct ki_decoded d;
	unsigned int good;
	const char *why = place(f, &info, &d);
	int bit;

	if (why) {
		skip_form(t, why);
		return;
	}
	why = try(&info, &d, TRIALS, &good, &bit);
	t->pairs += good;
	if (why ? why == unstable : good < 2)
		skip_form(t, why ? why : a.signal == SIGILL ? "not of this CPU" : "always faults");
	else if (why)
		complain(t, f, &info, why, bit);
	t->checked += good >= 2;
}

static void executed(void **state)
{
	struct forms f = {0};
	struct tally t = {0};
	size_t step = getenv("KI_ALL_FORMS") ? 1 : ONE_IN;

	(void)state;
	set_up();
	image_libraries(forms_from_code, &f);
	image_kernel(forms_from_code, &f);
	print_message("%zu forms of real code\n", f.n);
	forms_from_tables(&f);
	for (size_t i = 0; i < f.n; i += step)
		check(&t, &f.v[i]);
	print_message("%zu forms, one in %zu tried: %zu checked, %zu pairs of executions, %zu "
		      "wrong\n",
		      f.n, step, t.checked, t.pairs, t.wrong);
	for (size_t i = 0; t.skipped[i].why; i++)
		print_message("not checked: %zu: %s\n", t.skipped[i].n, t.skipped[i].why);
	print_message("refused by what runs this machine: %zu\n", refused);
	forms_free(&f);
	assert_true(t.checked > 3000);
	assert_true(refused * 10000 < t.pairs);
	assert_int_equal(t.wrong, 0);
}

/* keeps: registers that are in use for no other reason than that they may be kept. */
static const struct {
	struct form form;
	ki_regset keeps;
} samples[] = {
	{{{0x01, 0xd8}, 2}, 0},					/* add eax, ebx */
	{{{0x48, 0x11, 0xd8}, 3}, 0},				/* adc rax, rbx */
	{{{0x48, 0x0f, 0x44, 0xc3}, 4}, KI_REGSET_REG(KI_RAX)}, /* cmove rax, rbx */
	{{{0x0f, 0x47, 0x03}, 3}, KI_REGSET_REG(KI_RAX)},	/* cmova eax, [rbx] */
	{{{0x00, 0xfc}, 2}, 0},					/* add ah, bh */
	{{{0x66, 0x0f, 0xbc, 0xc3}, 4},
	 KI_REGSET_LOW(KI_RAX) | KI_REGSET_HIGH(KI_RAX)}, /* bsf ax, bx */
	{{{0x48, 0x0f, 0xb1, 0xcb}, 4}, 0},		  /* cmpxchg rbx, rcx */
	{{{0xf0, 0x48, 0x0f, 0xc7, 0x0e}, 5}, 0},	  /* lock cmpxchg16b [rsi] */
	{{{0x48, 0xd3, 0xe0}, 3}, 0},			  /* shl rax, cl */
	{{{0xd2, 0xd4}, 2}, 0},				  /* rcl ah, cl */
	{{{0xf3, 0xaa}, 2}, 0},				  /* rep stosb */
	{{{0xa6}, 1}, 0},				  /* cmpsb */
	{{{0x9f}, 1}, 0},				  /* lahf */
	{{{0x9e}, 1}, 0},				  /* sahf */
	{{{0x9c}, 1}, 0},				  /* pushf */
	{{{0x53}, 1}, 0},				  /* push rbx */
	{{{0xf7, 0xe3}, 2}, 0},				  /* mul ebx */
	{{{0x48, 0x99}, 2}, 0},				  /* cqo */
	{{{0x0f, 0x9f, 0xc4}, 3}, 0},			  /* setg ah */
	{{{0x66, 0x0f, 0xc4, 0xc3, 1}, 5}, 0},		  /* pinsrw xmm0, ebx, 1 */
	{{{0x4c, 0x8d, 0x04, 0x4b}, 4}, 0},		  /* lea r8, [rbx+rcx*2] */
};

/* What cannot be noticed: cqo uses one bit of eax, pinsrw 16 of ebx. */
#define MISSES_ALLOWED 4

/* That the above would notice: leave out each part that is used, claim each that is kept. */
static void notices(void **state)
{
	unsigned int tried = 0, missed = 0;

	(void)state;
	set_up();
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct form f = samples[i].form;
		struct form_info info;
		struct ki_decoded d, wrong;
		unsigned int good;
		const char *why;
		int bit;

		assert_null(place(&f, &info, &d));
		why = try(&info, &d, 300, &good, &bit);
		if (why)
			fail_msg("%02x %02x: %s (%d)", f.bytes[0], f.bytes[1], why, bit);
		assert_true(good > 20);
		for (unsigned int k = 0; k < NPARTS; k++) {
			wrong = d;
			if ((samples[i].keeps | undefined(&info)) & 1ull << k)
				continue;
			if (d.use & 1ull << k)
				wrong.use &= ~(1ull << k);
			else if (!(d.def & 1ull << k))
				wrong.def |= 1ull << k;
			else
				continue;
			tried++;
			if (!try(&info, &wrong, 300, &good, &bit)) {
				char part[32];

				missed++;
				print_message("%02x %02x: %s not noticed\n", f.bytes[0], f.bytes[1],
					      ki_regset_format(1ull << k, part, sizeof(part)));
			}
		}
	}
	print_message("%u mistakes made, %u not noticed\n", tried, missed);
	assert_true(missed <= MISSES_ALLOWED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notices),
		cmocka_unit_test(executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
