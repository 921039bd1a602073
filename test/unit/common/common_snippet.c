// SPDX-License-Identifier: GPL-2.0-only
#include "common_snippet.h"
#include "common_extreme.h"

#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#define TASK_SLOT 2048 /* in the per-CPU area, beyond all counters */
#define CPU_SLOT  2049
#define PID_OFF	  0x104 /* in the fake task */
#define TGID_OFF  0x210
#define COMM_OFF  0x308
#define FLT_OFF	  0x320 /* four numbers of faults and switches */
#define WORDS	  63	/* the routine for a thread's words, in a process */
#define CALLEES	  64	/* numbers from here on are functions of the kernel */
#define STUB_LEN  32
#define STACK_TOP 3072
#define REGS_KEPT 8 /* rcx rdx rsi rdi r8-r11 */

uint64_t snip_gs[4096];
static uint8_t task[1024];
static uint64_t words[SNIP_THREAD];
static struct snip_case *running;
static struct snip_world *world; /* what helpers work on */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
	return x ^ x >> 29;
}

/* ---- helpers: the same for the interpreter and the code ---- */

static uint64_t cut(uint64_t v, unsigned int size)
{
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* The stack is there; of the rest a quarter cannot be read. */
static uint64_t load(void *arg, uint64_t addr, unsigned int size)
{
	uint64_t v = mix(addr), stack = (uintptr_t)exec_mem->stack;

	(void)arg;
	/* below the point's stack pointer are words of nobody */
	if (addr >= running->m.regs[KI_RSP] && addr - stack <= sizeof(exec_mem->stack) - 8)
		memcpy(&v, (const void *)(uintptr_t)addr, 8);
	else if (!(v >> 62))
		v = 0;
	return cut(v, size);
}

static uint64_t unreadable(void *arg, uint64_t addr, uint64_t size)
{
	(void)arg;
	return (addr ^ size) >> 3 & 1;
}

static uint64_t event(void *arg, uint64_t which)
{
	(void)arg;
	return mix(which + 7);
}

static uint64_t call(void *arg, uint64_t addr, const uint64_t *args, unsigned int nargs)
{
	(void)arg;
	world->calls = mix(world->calls ^ addr);
	for (unsigned int i = 0; i < nargs; i++)
		world->calls = mix(world->calls + args[i]);
	world->ncalls++;
	return world->calls;
}

static uint64_t divide(const uint64_t *a, bool sign, bool mod)
{
	if (!a[1])
		return mod ? a[0] : 0;
	if (sign && a[1] == UINT64_MAX)
		return mod ? 0 : 0 - a[0];
	if (sign)
		return (uint64_t)(mod ? (int64_t)a[0] % (int64_t)a[1]
				      : (int64_t)a[0] / (int64_t)a[1]);
	return mod ? a[0] % a[1] : a[0] / a[1];
}

uint64_t snip_rsp, snip_rax, snip_flags;

static void record(void *arg, uint32_t id, const uint64_t *values, unsigned int n)
{
	(void)arg;
	world->nrecords++;
	world->records = mix(world->records + id) + n;
	while (n--)
		world->records = mix(world->records + *values++);
}

static uint64_t table(void *arg, uint32_t what, const uint64_t *key, unsigned int nkey,
		      uint64_t value)
{
	uint32_t op = what >> 16 & 15;

	if (op == KI_TABLE_GET || op == KI_TABLE_DELETE)
		value = 0;
	record(arg, what, key, nkey);
	record(arg, what, &value, 1);
	world->nrecords -= 2;
	world->ntables++;
	return mix(world->records);
}

static uint64_t table_words(uint32_t what, uint64_t value)
{
	const uint64_t *top = (const uint64_t *)(uintptr_t)(snip_rsp + 8);
	unsigned int n = 1 + (what >> 20) % KI_TABLE_KEYS;
	uint64_t key[KI_TABLE_KEYS];

	for (unsigned int i = 0; i < n; i++)
		key[i] = top[n - 1 - i];
	return table(NULL, what, key, n, value);
}

const char *const snip_texts[SNIP_TEXTS] = {
	"",
	"a",
	"/proc/",
	"/proc/self/status",
	"1234567",
	"12345678",
	"123456789012345",
	"a text that is longer than all the words of any string there can be: it is cut off, "
	"wherever that is, and what is compared with it has to be shorter",
};

static void string(void *arg, uint64_t addr, bool user, char *to, size_t most)
{
	const char *s = snip_texts[(mix(addr) >> 9 ^ user) % SNIP_TEXTS];

	(void)arg;
	while (most-- && *s)
		*to++ = *s++;
}

static uint64_t stack(void *arg, uint32_t table, unsigned int skip, enum ki_helper helper)
{
	const uint64_t at = helper == KI_HELPER_USTACK ? 0 : running->site.addr;

	(void)arg;
	return mix(mix(table + 1) + 64 * skip + helper + at);
}

static uint64_t stack_words(const uint64_t *a, enum ki_helper helper)
{
	if (helper != KI_HELPER_USTACK && a[1] != running->site.addr)
		world->broken = true;
	return stack(NULL, (uint32_t)a[0] >> 8, a[0] & 0xff, helper);
}

static uint64_t string_words(const uint64_t *a, bool user)
{
	uint64_t *top = (uint64_t *)(uintptr_t)(snip_rsp + 8), text[KI_STRING_WORDS] = {0};
	unsigned int n = (unsigned int)a[1];

	if (!n || n > KI_STRING_WORDS) {
		world->broken = true;
		return 0;
	}
	string(NULL, a[0], user, (char *)text, n * 8 - 1);
	for (unsigned int i = 0; i < n; i++)
		top[n - 1 - i] = text[i];
	return mix(n);
}

/* The chunk's words are above the return address, the last one uppermost. */
static uint64_t record_words(uint32_t what, uint32_t id)
{
	const uint64_t *top = (const uint64_t *)(uintptr_t)(snip_rsp + 8);
	uint64_t values[KI_RECORD_WORDS];
	unsigned int n = what & 0xff;

	if (n > KI_RECORD_WORDS || what >> 8 != SNIP_RING) {
		world->broken = true;
		return 0;
	}
	for (unsigned int i = 0; i < n; i++)
		values[i] = top[n - 1 - i];
	record(NULL, id, values, n);
	return mix(id);
}

static uint64_t helper(unsigned int number, const uint64_t *a)
{
	switch (number) {
	case KI_HELPER_RECORD:
		return record_words((uint32_t)a[0], (uint32_t)a[1]);
	case KI_HELPER_TABLE:
		return table_words((uint32_t)a[0], a[1]);
	case KI_HELPER_STACK:
	case KI_HELPER_USTACK:
	case KI_HELPER_DEPTH:
		return stack_words(a, (enum ki_helper)number);
	case WORDS:
		return running->m.nthread ? (uintptr_t)words : 0;
	case KI_HELPER_UDEPTH:
		return running->m.udepth;
	case KI_HELPER_UCALLER:
		return running->m.ucaller;
	case KI_HELPER_STRING:
	case KI_HELPER_USTRING:
		return string_words(a, number == KI_HELPER_USTRING);
	case KI_HELPER_DIV:
	case KI_HELPER_UDIV:
		return divide(a, number == KI_HELPER_DIV, false);
	case KI_HELPER_MOD:
	case KI_HELPER_UMOD:
		return divide(a, number == KI_HELPER_MOD, true);
	case KI_HELPER_NANOTIME:
		return running->m.nanotime;
	case KI_HELPER_UID:
		return running->m.uid;
	case KI_HELPER_CGROUP:
		return running->m.cgroup;
	case KI_HELPER_UNREADABLE:
		return unreadable(NULL, a[0], a[1]);
	case KI_HELPER_EVENT:
		return event(NULL, a[0]);
	case KI_HELPER_EXTREME:
		ki_do_EXTREME((uint32_t)a[0], a[1], a[2]);
		return snip_rax;
	case KI_HELPER_ENTER:
		world->broken |= world->entered;
		world->entered = running->m.may_call;
		return running->m.may_call;
	case KI_HELPER_LEAVE:
		world->broken |= !world->entered;
		world->entered = false;
		return mix(1);
	default:
		return load(NULL, a[0], 1u << (number - KI_HELPER_LOAD8));
	}
}

/* Called by the assembly below with the registers that a C function may change. */
struct kept {
	uint64_t rcx, rdx, rsi, rdi, r8, r9, r10, r11;
};
uint64_t snip_service(uint64_t number, struct kept *k);
struct kept snip_kept;

uint64_t snip_service(uint64_t number, struct kept *k)
{
	const uint64_t a[6] = {k->rdi, k->rsi, k->rdx, k->rcx, k->r8, k->r9};
	uint64_t result, *junk = &k->rcx;

	memcpy(&snip_rax, exec_mem->control + 72, 8);
	snip_flags = 2 | (mix(number + a[0]) & EXEC_FLAGS);
	if (number < CALLEES)
		return helper((unsigned int)number, a);
	world->broken |= !world->entered;
	result = call(NULL, number, a, (unsigned int)(number - CALLEES));
	for (unsigned int i = 0; i < REGS_KEPT; i++)
		junk[i] = mix(result + i);
	return result;
}

/* clang-format off */
#define KEPT(op) op("rcx", 0) op("rdx", 8) op("rsi", 16) op("rdi", 24) \
	op("r8", 32) op("r9", 40) op("r10", 48) op("r11", 56)
#define SAVE(reg, off) "mov %" reg ", snip_kept+" #off "(%rip)\n"
#define RESTORE(reg, off) "mov snip_kept+" #off "(%rip), %" reg "\n"

__asm__(".text\n"
	".globl snip_entry\n"
	".type snip_entry, @function\n"
	"snip_entry:\n"
	KEPT(SAVE)
	"mov %rsp, snip_rsp(%rip)\n"
	"mov exec_host_rsp(%rip), %rsp\n"
	"sub $512, %rsp\n"
	"and $-16, %rsp\n"
	"mov %eax, %edi\n"
	"lea snip_kept(%rip), %rsi\n"
	"call snip_service\n"
	"mov snip_rsp(%rip), %rsp\n"
	KEPT(RESTORE)
	"pushq snip_flags(%rip)\n"
	"popfq\n"
	"ret\n"
	".size snip_entry, . - snip_entry\n");
/* clang-format on */
void snip_entry(void);

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
	extreme_init((uint64_t *)exec_mem->data, 0, SNIP_WORDS_SLOT * 8);
}

static bool in_process(void)
{
	return running->site.user;
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
	memcpy(task + PID_OFF, &c->m.pid, 4);
	memcpy(task + TGID_OFF, &c->m.tgid, 4);
	memcpy(task + COMM_OFF, c->m.comm, 16);
	memcpy(task + FLT_OFF,
	       (const uint64_t[]){c->m.minflt, c->m.majflt, c->m.nvcsw, c->m.nivcsw}, 32);
	memcpy(words, c->start.thread, sizeof(words));
	snip_gs[SNIP_WORDS_SLOT] = c->m.nthread ? (uintptr_t)words : 0;
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

	running = c;
	world = &c->got;
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
	memcpy(c->got.thread, words, sizeof(words));
	if (memcmp(above, (const void *)(uintptr_t)exec_in.rsp, sizeof(above)) != 0)
		return "the stack";
	if (red_zone_changed(c))
		return "the red zone";
	return compare(c);
}

int snip_interpret(struct snip_case *c, const struct ki_snippet *s)
{
	running = c;
	world = &c->want;
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
		v[i] = i < KI_TYPES ? cut(snip_number(), sizes[i]) : i < 16 ? snip_number() : i;
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
				   .task = (uintptr_t)task,
				   .cpu = below(64),
				   .pid = below(5) ? below(100) : (uint32_t)exec_random(),
				   .tgid = below(100),
				   .may_call = below(4) != 0,
				   .load = load,
				   .unreadable = unreadable,
				   .event = event,
				   .call = call,
				   .record = record,
				   .table = table,
				   .string = string,
				   .stack = stack};
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
