// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's data is protected while a function runs. Its first write to a page faults; the page
 * is kept as it was, and may then be written. When the call has ended, these pages are its outcome,
 * and become again what they were. So each call finds the same kernel, and pays for what it writes.
 *
 * A call that ends by a signal is left where it stands: the context's registers are put where
 * a call that returns leaves its own. That is also how one ends which does not come to an end.
 */
#include "call.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define TICK_US	  4000
#define MAX_TRAPS 512
#define ALONE	  (5ull << 30)
#define TF_FLAG	  0x100
#define AC_FLAG	  0x40000
#define KEPT	  0xcd5ull /* flags of an outcome: EXEC_FLAGS, DF */

void exec_go(void);
void exec_back(void);
extern const uint8_t *exec_entry;

static const struct lift *lifted;
static uint8_t *memory, *stack;
static struct call_page before[CALL_PAGES];
static size_t npages;
static volatile sig_atomic_t running;
static volatile unsigned int ticks_left;
static struct call_outcome *outcome;
static struct {
	uint64_t addr, via;
} traps[MAX_TRAPS];
static size_t ntraps;

/* ---- signals ---- */

static void end_here(greg_t *r, enum call_end end, int sig)
{
	outcome->end = end;
	outcome->signal = sig;
	outcome->rip = (uint64_t)r[REG_RIP];
	running = 0;
	r[REG_RIP] = (greg_t)(uintptr_t)exec_back;
	r[REG_EFL] &= ~(greg_t)(TF_FLAG | AC_FLAG);
}

static bool is_data(uint64_t addr)
{
	return addr - lifted->data < lifted->data_end - lifted->data ||
	       addr - (uintptr_t)lifted->percpu < lifted->percpu_len;
}

static void protect(uint64_t addr, size_t len, int prot)
{
	if (mprotect((void *)(uintptr_t)addr, len, prot)) // NOLINT
		_exit(3);
}

static void *at(uint64_t addr)
{
	return (void *)(uintptr_t)addr; // NOLINT
}

/* Whether it was the first write to a page of data, which may now be written. */
static bool page_opened(greg_t *r, uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(LIFT_PAGE - 1);

	if (!(r[REG_ERR] & 2) || !is_data(addr))
		return false;
	for (size_t i = 0; i < npages; i++)
		if (before[i].addr == page)
			return false;
	if (npages == CALL_PAGES) {
		end_here(r, CALL_WRITES, 0);
		return true;
	}
	before[npages].addr = page;
	memcpy(before[npages++].words, at(page), LIFT_PAGE);
	protect(page, LIFT_PAGE, PROT_READ | PROT_WRITE);
	return true;
}

static bool trap_led_on(greg_t *r)
{
	for (size_t i = 0; i < ntraps; i++)
		if (traps[i].addr == (uint64_t)r[REG_RIP] - 1) {
			r[REG_RIP] = (greg_t)traps[i].via;
			return true;
		}
	return false;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	__asm__ volatile("pushfq; andq $~0x40000, (%%rsp); popfq" ::: "cc", "memory");
	if (!running) {
		if (sig != SIGALRM)
			_exit(4);
		return;
	}
	if (sig == SIGALRM) {
		if (!ticks_left--)
			end_here(r, CALL_ENDLESS, sig);
		return;
	}
	if (sig == SIGSEGV && page_opened(r, (uintptr_t)info->si_addr))
		return;
	if (sig == SIGTRAP && trap_led_on(r))
		return;
	end_here(r, CALL_SIGNAL, sig);
}

static int catch_signals(void)
{
	static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM};
	static uint8_t alternate[65536];
	const stack_t alt = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	const struct itimerval timer = {{0, TICK_US}, {0, TICK_US}};
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigfillset(&sa.sa_mask);
	if (sigaltstack(&alt, NULL))
		return -1;
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
		if (sigaction(caught[i], &sa, NULL))
			return -1;
	return setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- calls ---- */

/* Memory around which there is none, as far as an index of 32 bits goes. */
static uint8_t *alone(size_t len)
{
	uint8_t *p = mmap(NULL, 2 * ALONE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);

	if (p == MAP_FAILED || mprotect(p + ALONE, len, PROT_READ | PROT_WRITE))
		return NULL;
	return p + ALONE;
}

int call_init(const struct lift *l, uint64_t current_task)
{
	uint64_t task;

	lifted = l;
	memory = alone(CALL_MEMORY);
	stack = alone(CALL_STACK);
	if (!memory || !stack)
		return -1;
	task = (uintptr_t)memory;
	if (current_task && current_task <= l->percpu_len - sizeof(task))
		memcpy(l->percpu + current_task, &task, sizeof(task));
	protect(l->text, l->text_end - l->text, PROT_READ | PROT_EXEC);
	protect(l->data, l->data_end - l->data, PROT_READ);
	protect((uintptr_t)l->percpu, l->percpu_len, PROT_READ);
	return catch_signals();
}

void call_no_traps(void)
{
	ntraps = 0;
}

void call_trap(uint64_t addr, uint64_t via)
{
	if (ntraps == MAX_TRAPS)
		_exit(5);
	traps[ntraps].addr = addr;
	traps[ntraps++].via = via;
}

uint64_t call_memory(void)
{
	return (uintptr_t)memory;
}

uint64_t call_stack_top(void)
{
	return (uintptr_t)stack + CALL_STACK - 256;
}

/* What was written is the outcome, and is then what it was. */
static void take_back(struct call_outcome *out)
{
	out->npages = npages;
	for (size_t i = 0; i < npages; i++) {
		out->pages[i].addr = before[i].addr;
		memcpy(out->pages[i].words, at(before[i].addr), LIFT_PAGE);
		memcpy(at(before[i].addr), before[i].words, LIFT_PAGE);
		protect(before[i].addr, LIFT_PAGE, PROT_READ);
	}
	npages = 0;
}

void call_at(uint64_t entry, const struct call_state *in, unsigned int ticks,
	     struct call_outcome *out)
{
	uint64_t top = call_stack_top(), back = (uintptr_t)exec_back;

	memcpy(memory, in->memory, CALL_MEMORY);
	memset(stack, 0, CALL_STACK);
	memcpy(at(top), &back, sizeof(back));
	exec_in = in->cpu;
	exec_in.rsp = top;
	outcome = out;
	out->end = CALL_RETURNED;
	out->signal = 0;
	out->rip = 0;
	ticks_left = ticks;
	running = 1;
	exec_entry = at(entry);
	exec_go();
	running = 0;
	__asm__ volatile("pushfq; andq $~0x40000, (%%rsp); popfq" ::: "cc", "memory");
	out->cpu = exec_out;
	out->cpu.flags &= KEPT;
	memcpy(out->memory, memory, CALL_MEMORY);
	take_back(out);
}
