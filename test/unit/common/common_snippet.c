// SPDX-License-Identifier: GPL-2.0-only
#include "common_minmax.h"
#include "common_snippet_inside.h"

#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

uint64_t snip_gs[4096];
uint8_t snip_task[1024];
uint64_t snip_words[SNIP_THREAD];
struct snip_case *snip_running;
struct snip_world *snip_now;

/* ---- the code and its place ---- */

static uint8_t *stub_of(uint64_t number)
{
	return exec_mem->code + number * STUB_LEN;
}

void snip_init(void)
{
	void (*entry)(void) = snip_entry;
	uint32_t way = (uint32_t)(uintptr_t)exec_mem->control + 64, kept = way + 8;

	memcpy(exec_mem->control + 64, &entry, 8);
	for (uint32_t n = 0; n < CALLEES + 7; n++) {
		uint8_t *p = stub_of(n);

		memcpy(p, "\x48\x89\x04\x25", 4); /* mov %rax, kept */
		memcpy(p + 4, &kept, 4);
		p[8] = 0xb8; /* mov $n, %eax; jmp *way */
		memcpy(p + 9, &n, 4);
		memcpy(p + 13, "\xff\x24\x25", 3);
		memcpy(p + 16, &way, 4);
	}
	exec_set_gs(snip_gs);
	minmax_init((uint64_t *)exec_mem->data, 0, SNIP_WORDS_SLOT * 8);
}

static bool in_process(void)
{
	return snip_running->site.user;
}

static int64_t fix_value(const struct ki_fixup *f, const uint8_t *field)
{
	static const int32_t selves[] = {
		[KI_SELF_TASK] = TASK_SLOT * 8,
		[KI_SELF_CPU] = CPU_SLOT * 8,
		[KI_SELF_WORDS] = SNIP_WORDS_SLOT * 8,
		[KI_SELF_CLOCK] = SNIP_CLOCK_SLOT * 8,
	};
	static const int32_t fields[] = {
		[KI_FIELD_PID] = PID_OFF,	  [KI_FIELD_TGID] = TGID_OFF,
		[KI_FIELD_COMM] = COMM_OFF,	  [KI_FIELD_MINFLT] = FLT_OFF,
		[KI_FIELD_MAJFLT] = FLT_OFF + 8,  [KI_FIELD_NVCSW] = FLT_OFF + 16,
		[KI_FIELD_NIVCSW] = FLT_OFF + 24,
	};
	const uint8_t *rip = field + 4 + f->tail;

	switch (f->kind) {
	case KI_FIX_PERCPU:
	case KI_FIX_WORD:
		return (int64_t)f->target * 8;
	case KI_FIX_GLOBAL:
		return exec_mem->data + f->target * 8 - rip;
	case KI_FIX_HELPER:
	case KI_FIX_CALLEE:
		return stub_of(f->target) - rip;
	case KI_FIX_SELF:
		return in_process() ? stub_of(WORDS) - rip : selves[f->target];
	default:
		return fields[(uint32_t)f->target] + (int64_t)(f->target >> 32);
	}
}

static void place(const struct ki_long_code *code)
{
	uint8_t *to = exec_mem->patch;

	memcpy(to, code->code, code->len);
	for (uint32_t i = 0; i < code->nfix; i++) {
		int32_t v = (int32_t)fix_value(&code->fix[i], to + code->fix[i].off);

		memcpy(to + code->fix[i].off, &v, 4);
	}
	exec_pad(to + code->len, 1);
}

#define RED_ZONE 128

static uint8_t *below_stack(const struct snip_case *c)
{
	return (uint8_t *)(uintptr_t)(c->m.regs[KI_RSP] - RED_ZONE);
}

static bool red_zone_changed(const struct snip_case *c)
{
	for (unsigned int i = 0; in_process() && i < RED_ZONE; i++)
		if (below_stack(c)[i] != 0xa5)
			return true;
	return false;
}

/* exec_cpu's order of registers is that of instructions, without %rsp. */
static unsigned int exec_reg(unsigned int r)
{
	return r < KI_RSP ? r : r - 1;
}

static void set_up(const struct snip_case *c)
{
	for (unsigned int r = 0; r < 16; r++)
		if (r != KI_RSP)
			exec_in.r[exec_reg(r)] = c->m.regs[r];
	exec_in.rsp = c->m.regs[KI_RSP];
	exec_in.flags = c->flags;
	memcpy(snip_gs, c->start.counters, sizeof(c->start.counters));
	memcpy(exec_mem->data, c->start.globals, sizeof(c->start.globals));
	if (in_process())
		memcpy(exec_mem->data, c->start.counters, sizeof(c->start.counters));
	memset(below_stack(c), 0xa5, RED_ZONE);
	snip_gs[TASK_SLOT] = c->m.task;
	snip_gs[CPU_SLOT] = 0xdddddddd00000000 | c->m.cpu;
	memcpy(snip_task + PID_OFF, &c->m.pid, 4);
	memcpy(snip_task + TGID_OFF, &c->m.tgid, 4);
	memcpy(snip_task + COMM_OFF, c->m.comm, 16);
	memcpy(snip_task + FLT_OFF,
	       (const uint64_t[]){c->m.minflt, c->m.majflt, c->m.nvcsw, c->m.nivcsw}, 32);
	memcpy(snip_words, c->start.thread, sizeof(snip_words));
	snip_gs[SNIP_WORDS_SLOT] = c->m.nthread ? (uintptr_t)snip_words : 0;
	snip_gs[SNIP_CLOCK_SLOT] = __rdtsc() - SNIP_CLOCK;
}

static const char *compare(const struct snip_case *c)
{
	const uint64_t flags = c->site.dead & KI_REGSET_CF ? 0 : EXEC_FLAGS;

	for (unsigned int r = 0; r < 16; r++)
		if (r != KI_RSP && !(c->site.dead & KI_REGSET_LOW(r)) &&
		    exec_out.r[exec_reg(r)] != c->m.regs[r])
			return "a live register";
	if (exec_out.rsp != exec_in.rsp)
		return "the stack pointer";
	if ((exec_out.flags ^ c->flags) & flags)
		return "the flags";
	if (memcmp(c->got.counters, c->want.counters, sizeof(c->got.counters)) != 0)
		return "a per-CPU variable";
	if (memcmp(c->got.globals, c->want.globals, sizeof(c->got.globals)) != 0)
		return "a global variable";
	if (memcmp(c->got.thread, c->want.thread, sizeof(c->got.thread)) != 0)
		return "a thread's variable";
	if (c->got.calls != c->want.calls || c->got.ncalls != c->want.ncalls)
		return "the calls";
	if (c->got.records != c->want.records || c->got.nrecords != c->want.nrecords ||
	    c->got.ntables != c->want.ntables)
		return "the records or tables";
	return c->got.broken || c->got.entered ? "ENTER and LEAVE" : NULL;
}

static uint32_t go(const struct ki_long_code *code, struct step *step)
{
	if (!step)
		return exec_at(exec_mem->patch);
	step->start = exec_mem->patch;
	step->end = step->start + code->len;
	return step_at(exec_mem->patch, step);
}

const char *snip_run(struct snip_case *c, const struct ki_long_code *code)
{
	return snip_run_stepped(c, code, NULL);
}

const char *snip_run_stepped(struct snip_case *c, const struct ki_long_code *code,
			     struct step *step)
{
	uint8_t above[EXEC_STACK];

	snip_running = c;
	snip_now = &c->got;
	c->got = c->start;
	place(code);
	set_up(c);
	memcpy(above, (const void *)(uintptr_t)exec_in.rsp, sizeof(above));
	if (go(code, step) != 1)
		return "the way out";
	memcpy(c->got.counters, in_process() ? (void *)exec_mem->data : snip_gs,
	       sizeof(c->got.counters));
	if (!in_process())
		memcpy(c->got.globals, exec_mem->data, sizeof(c->got.globals));
	memcpy(c->got.thread, snip_words, sizeof(snip_words));
	if (memcmp(above, (const void *)(uintptr_t)exec_in.rsp, sizeof(above)) != 0)
		return "the stack";
	if (red_zone_changed(c))
		return "the red zone";
	return compare(c);
}

int snip_interpret(struct snip_case *c, const struct ki_snippet *s)
{
	snip_running = c;
	snip_now = &c->want;
	c->want = c->start;
	c->m.counters = c->want.counters;
	c->m.globals = c->site.user ? c->want.counters : c->want.globals;
	c->m.thread = c->want.thread;
	return ki_snippet_run(s, &c->site, &c->m, NULL);
}

/* ---- random cases ---- */

uint64_t snip_number(void)
{
	static const uint64_t some[] = {0,	    1,		2,	    5,
					63,	    64,		127,	    128,
					255,	    256,	32768,	    65535,
					0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
					INT64_MAX,  1ull << 63, UINT64_MAX, UINT64_MAX - 4};
	uint64_t r = exec_random();

	switch (r >> 60) {
	case 0 ... 5:
		return some[(r >> 20) % (sizeof(some) / sizeof(*some))];
	case 6 ... 10:
		return (r >> 20) % 100;
	case 11:
		return 1ull << (r & 63);
	case 12:
		return 0 - ((r >> 20) % 100);
	default:
		return exec_random();
	}
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)(exec_random() >> 33) % n;
}

/* Slots 0-7 hold a scalar of each type, whose other bytes are 0. */
static void make_slots(uint64_t *v, unsigned int n)
{
	static const uint8_t sizes[KI_TYPES] = {1, 2, 4, 8, 1, 2, 4, 8};

	for (unsigned int i = 0; i < n; i++)
		v[i] = i < KI_TYPES ? snip_cut(snip_number(), sizes[i])
		       : i < 16	    ? snip_number()
				    : i;
}

static void make_site(struct ki_site_regs *s)
{
	uint64_t r = exec_random();

	*s = (struct ki_site_regs){.pushed = below(4), .at_entry = r & 1, .at_exit = r & 2};
	s->addr = 0xffffffff81000000 + below(0x1000000);
	s->place = exec_random();
	for (unsigned int i = 0; i < 16; i++)
		if (r >> 8 & (1u << i) && (r & 4 || r >> 32 & (1u << i)))
			s->dead |= KI_REGSET_REG(i);
	if (!(r & 0x30)) /* parts are not enough */
		s->dead = r << 3 & (KI_REGSET_GPRS ^ KI_REGSET_REG(KI_RAX));
	for (unsigned int i = 0; i < 16 && !(r & 0x30); i++)
		if ((s->dead & KI_REGSET_REG(i)) != KI_REGSET_REG(i))
			s->dead &= ~KI_REGSET_LOW(i);
	s->dead &= ~KI_REGSET_FLAGS;
	if (r & 0x40)
		s->dead |= KI_REGSET_FLAGS;
}

void snip_case_make(struct snip_case *c)
{
	uint64_t top = (uintptr_t)exec_mem->stack + STACK_TOP - EXEC_STACK;

	memset(&c->start, 0, sizeof(c->start));
	c->m = (struct ki_machine){.ncounters = SNIP_COUNTERS,
				   .nglobals = SNIP_GLOBALS,
				   .nthread = below(4) ? SNIP_THREAD : 0,
				   .tsc = 1,
				   .clock = 1,
				   .nanotime = exec_random() >> 10,
				   .minflt = snip_number(),
				   .majflt = snip_number(),
				   .nvcsw = snip_number(),
				   .nivcsw = snip_number(),
				   .uid = (uint32_t)snip_number(),
				   .cgroup = snip_number(),
				   .udepth = below(128),
				   .ucaller = snip_number(),
				   .task = (uintptr_t)snip_task,
				   .cpu = below(64),
				   .pid = below(5) ? below(100) : (uint32_t)exec_random(),
				   .tgid = below(100),
				   .may_call = below(4) != 0};
	snip_helpers(&c->m);
	make_site(&c->site);
	for (unsigned int r = 0; r < 16; r++)
		c->m.regs[r] = r == KI_RSP ? top - 8 * below(8) : snip_number();
	for (unsigned int i = 0; i < EXEC_STACK / 8; i++)
		((uint64_t *)(uintptr_t)top)[i] = snip_number();
	memcpy(c->m.comm, below(2) ? "nginx\0\0\0\0\0\0\0\0\0\0" : "kworker/u8:123", 15);
	c->flags = 2 | (exec_random() & EXEC_FLAGS);
	make_slots(c->start.counters, SNIP_COUNTERS);
	make_slots(c->start.globals, SNIP_GLOBALS);
	make_slots(c->start.thread, SNIP_THREAD);
}
