// SPDX-License-Identifier: GPL-2.0-only
#include "common_both.h"

#include <asm/prctl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cpuid.h>

#include "common_link.h"

#define HOME	  (1u << 20) /* of code; there are two, far from each other */
#define SLOT	  512
#define IN_SLOT	  192 /* where the instruction stands */
#define FAR_PADS  (HOME - SLOT)
#define ARENA	  (1u << 20)
#define DATA	  (ARENA / 4)
#define STACK	  (ARENA / 4 * 3)
#define DATA_LEN  4096
#define STACK_LEN 2048
#define XSTATE	  16384
#define GS_BASE	  0x10000

#define RETURN_LEN 14 /* what the copy of a call begins with */

#define RF 0x10000 /* in flags: set while a fault is handled */

struct side {
	int signal;
	uint64_t rip, fault; /* of a signal */
	uint32_t pad;
	struct exec_cpu cpu;
	uint8_t data[DATA_LEN], stack[STACK_LEN], x[XSTATE] __attribute__((aligned(64)));
};

static uint8_t *homes[2], *arena;
static unsigned int slot;
static uint8_t data_in[DATA_LEN], stack_in[STACK_LEN];
static uint8_t x_in[XSTATE] __attribute__((aligned(64)));
static uint32_t x_size;
static struct side original, copied, again;
static sigjmp_buf after_signal;
static volatile sig_atomic_t running; /* else a fault is the test's own */
static struct {
	uint64_t rip, fault;
	struct exec_cpu cpu;
} caught;

/* ---- memory, handlers ---- */

static void on_signal(int sig, siginfo_t *info, void *context)
{
	static const int order[EXEC_REGS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RBP,
					     REG_RSI, REG_RDI, REG_R8,	REG_R9,	 REG_R10,
					     REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (!running) {
		signal(sig, SIG_DFL);
		return;
	}
	for (int i = 0; i < EXEC_REGS; i++)
		caught.cpu.r[i] = (uint64_t)r[order[i]];
	caught.cpu.rsp = (uint64_t)r[REG_RSP];
	caught.cpu.flags = (uint64_t)r[REG_EFL] & ~(uint64_t)RF;
	caught.rip = (uint64_t)r[REG_RIP];
	caught.fault = sig == SIGSEGV || sig == SIGBUS ? (uint64_t)(uintptr_t)info->si_addr : 0;
	siglongjmp(after_signal, sig);
}

static uint8_t *map(uint64_t at, size_t len, int prot)
{
	uint8_t *p = mmap((void *)(uintptr_t)at, len, prot,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED) {
		perror("both_init: mmap");
		exit(1);
	}
	return p;
}

static void map_all(void)
{
	if (arena)
		return;
	homes[0] = map(0x10000000, HOME, PROT_READ | PROT_WRITE | PROT_EXEC);
	homes[1] = map(0x78000000, HOME, PROT_READ | PROT_WRITE | PROT_EXEC);
	arena = map(0x30000000, ARENA, PROT_READ | PROT_WRITE);
	for (int i = 0; i < 2; i++) {
		memset(homes[i], 0xcc, HOME);
		exec_pad(homes[i] + FAR_PADS + 64, PAD_TAKEN);
		exec_pad(homes[i] + FAR_PADS + 128, PAD_TAKEN);
	}
}

void both_init(struct case_world *w)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	static uint8_t stack[65536];
	stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_sigaction = on_signal,
			       .sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO};
	uint32_t xcr0, eax, ecx, high;
	cpu_set_t cpus;

	exec_init();
	map_all();
	CPU_ZERO(&cpus); /* cpuid tells different things on different CPUs */
	CPU_SET((size_t)sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (sigaltstack(&alt, NULL))
		exit(1);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	exec_set_gs((void *)GS_BASE);
	*w = (struct case_world){
		.data = (uintptr_t)arena + DATA, .stack = (uintptr_t)arena + STACK, .gs = GS_BASE};
	syscall(SYS_arch_prctl, ARCH_GET_FS, &w->fs);
	for (unsigned int i = 0; i < 4; i++)
		w->far[i] = (uintptr_t)homes[i & 1] + FAR_PADS + (i & 2 ? 128 : 64);
	__cpuid_count(0xd, 0, eax, x_size, ecx, high);
	if (x_size > XSTATE)
		x_size = XSTATE;
	__asm__ volatile("xsave (%0)" ::"r"(x_in), "a"(~0u), "d"(~0u) : "memory");
	__asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
	x_in[512] |= xcr0 & 7; /* x87, xmm and ymm are not to be reset but loaded */
	both_refill();
}

static void fill(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t v = exec_random() >> (exec_random() & 3 ? 0 : 48);

		memcpy(p + i, &v, 8);
	}
}

void both_refill(void)
{
	fill(data_in, DATA_LEN);
	fill(stack_in, STACK_LEN);
	fill(x_in + 32, 384);  /* x87, xmm */
	fill(x_in + 576, 256); /* the upper halves of ymm */
}

uint64_t both_next(void)
{
	slot = (slot + 1) % (2 * (FAR_PADS / SLOT));
	return (uintptr_t)homes[slot & 1] + slot / 2 * SLOT + IN_SLOT;
}

/* The copy's place: the other home, or one slot on in the same. */
static uint8_t *place_of_copy(void)
{
	unsigned int other = slot & 2 ? slot & 1 : !(slot & 1);

	return homes[other] + (slot / 2 + 1) % (FAR_PADS / SLOT) * SLOT + IN_SLOT + (slot & 63);
}

/* ---- execution ---- */

static __attribute__((noinline)) void run(struct side *s, const struct insn_case *c,
					  const uint8_t *entry)
{
	memcpy(arena + DATA - DATA_LEN / 2, data_in, DATA_LEN);
	memcpy(arena + STACK - STACK_LEN / 2, stack_in, STACK_LEN);
	memcpy(arena + STACK + GS_BASE - STACK_LEN / 2, stack_in, STACK_LEN); /* gs:(%rsp) */
	if (c->poke - (uintptr_t)arena < ARENA - 8)
		memcpy((void *)(uintptr_t)c->poke, &c->value, 8);
	exec_in = c->cpu;
	s->pad = 0;
	s->rip = s->fault = 0;
	s->signal = sigsetjmp(after_signal, 0);
	if (!s->signal) {
		running = 1;
		__asm__ volatile("xrstor (%0)" ::"r"(x_in), "a"(~0u), "d"(~0u) : "memory");
		s->pad = exec_at(entry);
		__asm__ volatile("xsave (%0)" ::"r"(s->x), "a"(~0u), "d"(~0u) : "memory");
		s->cpu = exec_out;
	} else {
		s->cpu = caught.cpu;
		s->rip = caught.rip - (uint64_t)(uintptr_t)entry;
		s->fault = caught.fault;
	}
	running = 0;
	__asm__ volatile("cld");
	__asm__ volatile("xrstor (%0)" ::"r"(x_in), "a"(~0u), "d"(~0u) : "memory");
	memcpy(s->data, arena + DATA - DATA_LEN / 2, DATA_LEN);
	memcpy(s->stack, arena + STACK - STACK_LEN / 2, STACK_LEN);
}

/* ---- the comparison ---- */

/* Legacy area without the last x87 instruction's address, and what is after the header. */
static bool same_vectors(const struct side *a, const struct side *b)
{
	return !memcmp(a->x, b->x, 6) && !memcmp(a->x + 24, b->x + 24, 4) &&
	       !memcmp(a->x + 32, b->x + 32, 384) &&
	       (x_size <= 576 || !memcmp(a->x + 576, b->x + 576, x_size - 576));
}

/*
 * A displaced call has pushed before its operand faults. Whoever handles the fault goes on in the
 * copy, or leaves it as it would leave the original; only the stack pointer differs meanwhile.
 */
static void unpush(struct side *s)
{
	uint64_t at = s->cpu.rsp - ((uintptr_t)arena + STACK - STACK_LEN / 2);

	if (at > STACK_LEN - 8)
		return;
	memcpy(s->stack + at, stack_in + at, 8);
	s->cpu.rsp += 8;
	s->rip -= RETURN_LEN;
}

static const char *compare(const struct side *a, const struct side *b)
{
	if (a->signal != b->signal)
		return "another signal";
	if (a->rip != b->rip || a->fault != b->fault)
		return "it faults elsewhere";
	if (a->pad != b->pad)
		return "control goes elsewhere";
	if (memcmp(a->cpu.r, b->cpu.r, sizeof(a->cpu.r)))
		return "other registers";
	if (a->cpu.rsp != b->cpu.rsp)
		return "another stack pointer";
	if (a->cpu.flags != b->cpu.flags)
		return "other flags";
	if (memcmp(a->data, b->data, DATA_LEN))
		return "other data";
	if (memcmp(a->stack, b->stack, STACK_LEN))
		return "another stack";
	if (!a->signal && !same_vectors(a, b))
		return "other vectors";
	return NULL;
}

/* Pads where the original may go, in a slot of nothing but breakpoints. */
static void lay(const struct insn_case *c)
{
	uint8_t *at = (uint8_t *)(uintptr_t)c->addr;

	memset(at - IN_SLOT, 0xcc, SLOT);
	memcpy(at, c->bytes, c->len);
	exec_pad(at + c->len, PAD_BEHIND);
	if (c->taken && c->taken - (c->addr - IN_SLOT) < SLOT && c->taken != c->addr + c->len)
		exec_pad((uint8_t *)(uintptr_t)c->taken, PAD_TAKEN);
}

bool both_run(const struct insn_case *c, const struct ki_copy *copy, struct both *out)
{
	const struct ki_window w = {.addr = c->addr, .len = c->len, .ncopy = 1};
	uint8_t *at = place_of_copy();

	if (!link_patch(at, &w, copy, NULL, 0))
		return false;
	lay(c);
	run(&original, c, (uint8_t *)(uintptr_t)c->addr);
	memset((uint8_t *)(uintptr_t)c->addr, 0xcc, c->len); /* the copy must do without it */
	run(&copied, c, at);
	if (copied.signal && copy->nfix && copy->fix[0].kind == KI_FIX_ABS32)
		unpush(&copied);
	out->signal = original.signal;
	out->pad = original.pad;
	out->what = compare(&original, &copied);
	return true;
}

bool both_unstable(const struct insn_case *c)
{
	memcpy((uint8_t *)(uintptr_t)c->addr, c->bytes, c->len);
	run(&again, c, (uint8_t *)(uintptr_t)c->addr);
	return compare(&original, &again) != NULL;
}
