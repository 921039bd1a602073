// SPDX-License-Identifier: GPL-2.0-only
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
#include "target/memory.h"

#define TRAP_FLAG 0x100
#define TRACE_MAX 20000

uint64_t run_counters[4096];
size_t run_called;

/* ---- single steps, and breakpoints of ours ---- */

static uint64_t trace[TRACE_MAX];
static size_t ntrace;
static bool tracing;

static struct {
	uint64_t addr, via;
} traps[256];
static size_t ntraps;

static bool in(uint64_t addr, const uint8_t *from, size_t len)
{
	return addr - (uintptr_t)from < len;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t rip = (uint64_t)r[REG_RIP];

	(void)sig;
	(void)info;
	if (!tracing) {
		for (size_t i = 0; i < ntraps; i++)
			if (traps[i].addr == rip - 1)
				r[REG_RIP] = (greg_t)traps[i].via;
		if ((uint64_t)r[REG_RIP] == rip)
			abort();
		return;
	}
	if (rip >= (uintptr_t)CODE && rip < (uintptr_t)CODE + CODE_MAX && ntrace < TRACE_MAX)
		trace[ntrace++] = rip;
	run_called += rip == (uintptr_t)CALLEE;
	/* it begins in front of the function, and has ended when it is out of its text and patch */
	if (ntrace && !in(rip, CODE, TEXT_LEN) &&
	    !in(rip, exec_mem->patch, sizeof(exec_mem->patch)))
		r[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void catch_traps(void)
{
	static uint8_t stack[65536];
	const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&alt, NULL);
	sigaction(SIGTRAP, &sa, NULL);
}

/* ---- running it ---- */

void run_from(const uint8_t *entry, struct run_outcome *out, const struct exec_cpu *in)
{
	uint64_t returned = (uintptr_t)RETURNED;

	memcpy(RUN_STACK, &returned, 8);
	memset(RUN_DATA, 0x5a, sizeof(out->data));
	exec_in = *in;
	out->pad = exec_at(entry);
	out->cpu = exec_out;
	out->cpu.flags = 0; /* a function gives none to its caller */
	memcpy(out->data, RUN_DATA, sizeof(out->data));
}

void run_it(struct run_outcome *out, const struct exec_cpu *in)
{
	run_from(CODE, out, in);
}

void run_state(struct exec_cpu *in)
{
	for (int i = 0; i < EXEC_REGS; i++)
		in->r[i] = exec_random();
	in->r[RCX] = random_below(20) + 1;
	in->r[RDX] = (uintptr_t)TAIL;
	in->r[RSI] = (uintptr_t)CALLEE;
	in->r[RDI] = (uintptr_t)RUN_DATA;
	in->r[R15] = random_below(40);
	in->rsp = (uintptr_t)RUN_STACK;
	in->flags = (exec_random() & EXEC_FLAGS) | 2;
}

/* ---- what the steps tell ---- */

size_t run_steps_at(uint64_t addr)
{
	size_t n = 0;

	for (size_t i = 0; i < ntrace; i++)
		n += trace[i] == addr;
	return n;
}

/* How often `to` came next after the instruction at `from`; 0: nothing of the function. */
static size_t steps_between(uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < ntrace; i++)
		n += trace[i] == from && (i + 1 < ntrace ? trace[i + 1] : 0) == to;
	return n;
}

static uint64_t edge_steps(const struct ki_function *fn, const struct ki_edge *e)
{
	const struct ki_insn *in = &fn->insns[e->insn];

	switch (e->kind) {
	case KI_EDGE_FALL:
		return steps_between(in->addr, in->addr + in->len);
	case KI_EDGE_TAKEN:
	case KI_EDGE_JUMP:
		return steps_between(in->addr, e->to);
	case KI_EDGE_TAIL:
	case KI_EDGE_TAIL_INDIRECT:
	case KI_EDGE_RETURN:
		return steps_between(in->addr, 0);
	case KI_EDGE_CALL:
	case KI_EDGE_CALL_INDIRECT:
		return run_steps_at(in->addr);
	default: /* nothing faults, and there are no tables */
		return 0;
	}
}

static uint64_t call_steps(const struct ki_function *fn)
{
	uint64_t n = 0;

	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->edges[e].kind == KI_EDGE_CALL || fn->edges[e].kind == KI_EDGE_CALL_INDIRECT)
			n += edge_steps(fn, &fn->edges[e]);
	return n;
}

uint64_t run_truth(const struct ki_function *fn, const struct ki_point *pt)
{
	const struct ki_block *b = &fn->blocks[pt->block];
	const struct ki_insn *in;

	switch (pt->kind) {
	case KI_POINT_ENTRY:
	case KI_POINT_EXIT:
	case KI_POINT_START:
		return 1;
	case KI_POINT_BLOCK:
		return run_steps_at(b->start);
	case KI_POINT_BLOCK_END:
		return run_steps_at(fn->insns[b->first + b->count - 1].addr);
	case KI_POINT_INSN:
		return run_steps_at(pt->addr);
	case KI_POINT_AFTER:
		in = ki_function_insn_at(fn, pt->addr);
		return steps_between(pt->addr, pt->addr + in->len);
	case KI_POINT_EDGE:
		return edge_steps(fn, &fn->edges[pt->edge]);
	default:
		return call_steps(fn);
	}
}

void run_stepped(struct run_outcome *out, const struct exec_cpu *in)
{
	struct exec_cpu stepped = *in;

	stepped.flags |= TRAP_FLAG;
	ntrace = 0;
	tracing = true;
	run_it(out, &stepped);
	tracing = false;
	assert_true(ntrace < TRACE_MAX);
}

bool run_same(const struct run_outcome *a, const struct run_outcome *b)
{
	return a->pad == b->pad && !memcmp(&a->cpu, &b->cpu, sizeof(a->cpu)) &&
	       !memcmp(a->data, b->data, sizeof(a->data));
}

void run_no_traps(void)
{
	ntraps = 0;
}

void run_trap(uint64_t addr, uint64_t via)
{
	traps[ntraps].addr = addr;
	traps[ntraps++].via = via;
}

void run_analyse(struct ki_target **t, struct ki_function **fn, struct ki_spans *spans)
{
	const struct ki_symbol syms[] = {{.addr = (uintptr_t)CODE, .name = "f"},
					 {.addr = (uintptr_t)CODE + CODE_MAX, .name = "gap"},
					 {.addr = (uintptr_t)CALLEE, .name = "callee"},
					 {.addr = (uintptr_t)TAIL, .name = "tail"},
					 {.addr = (uintptr_t)RETURNED, .name = "returned"}};
	const struct ki_memory m = {.kind = KI_TARGET_IMAGE,
				    .base = (uintptr_t)CODE,
				    .bytes = CODE,
				    .len = TEXT_LEN,
				    .symbols = syms,
				    .nsymbols = sizeof(syms) / sizeof(*syms),
				    .rows = random_code.rows,
				    .nrows = random_code.nrows};
	struct ki_err err = {0};
	size_t n;

	if (ki_target_open_memory(&m, t, &err) ||
	    ki_function_analyze(*t, ki_target_symbols(*t, &n), fn, &err) ||
	    ki_spans_find(*fn, spans, &err))
		fail_msg("%s", err.msg);
}

void run_init(void)
{
	exec_init();
	exec_set_gs(run_counters);
	catch_traps();
}
