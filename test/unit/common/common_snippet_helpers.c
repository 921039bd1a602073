// SPDX-License-Identifier: GPL-2.0-only
/* Helpers: the same for the interpreter and the code. */
#include "common_minmax.h"
#include "common_snippet_inside.h"

#include <string.h>

/* The stack is there; of the rest a quarter cannot be read. */
static uint64_t load(void *arg, uint64_t addr, unsigned int size)
{
	uint64_t v = snip_mix(addr), stack = (uintptr_t)exec_mem->stack;

	(void)arg;
	/* below the point's stack pointer are words of nobody */
	if (addr >= snip_running->m.regs[KI_RSP] && addr - stack <= sizeof(exec_mem->stack) - 8)
		memcpy(&v, (const void *)(uintptr_t)addr, 8);
	else if (!(v >> 62))
		v = 0;
	return snip_cut(v, size);
}

static uint64_t unreadable(void *arg, uint64_t addr, uint64_t size)
{
	(void)arg;
	return (addr ^ size) >> 3 & 1;
}

static uint64_t event(void *arg, uint64_t which)
{
	(void)arg;
	return snip_mix(which + 7);
}

static uint64_t call(void *arg, uint64_t addr, const uint64_t *args, unsigned int nargs)
{
	(void)arg;
	snip_now->calls = snip_mix(snip_now->calls ^ addr);
	for (unsigned int i = 0; i < nargs; i++)
		snip_now->calls = snip_mix(snip_now->calls + args[i]);
	snip_now->ncalls++;
	return snip_now->calls;
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
	snip_now->nrecords++;
	snip_now->records = snip_mix(snip_now->records + id) + n;
	while (n--)
		snip_now->records = snip_mix(snip_now->records + *values++);
}

static uint64_t table(void *arg, uint32_t what, const uint64_t *key, unsigned int nkey,
		      uint64_t value)
{
	uint32_t op = what >> 16 & 15;

	if (op == KI_TABLE_GET || op == KI_TABLE_DELETE)
		value = 0;
	record(arg, what, key, nkey);
	record(arg, what, &value, 1);
	snip_now->nrecords -= 2;
	snip_now->ntables++;
	return snip_mix(snip_now->records);
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
	const char *s = snip_texts[(snip_mix(addr) >> 9 ^ user) % SNIP_TEXTS];

	(void)arg;
	while (most-- && *s)
		*to++ = *s++;
}

static uint64_t stack(void *arg, uint32_t table, unsigned int skip, enum ki_helper helper)
{
	const uint64_t at = helper == KI_HELPER_USTACK ? 0 : snip_running->site.addr;

	(void)arg;
	return snip_mix(snip_mix(table + 1) + 64 * skip + helper + at);
}

static uint64_t stack_words(const uint64_t *a, enum ki_helper helper)
{
	if (helper != KI_HELPER_USTACK && a[1] != snip_running->site.addr)
		snip_now->broken = true;
	return stack(NULL, (uint32_t)a[0] >> 8, a[0] & 0xff, helper);
}

static uint64_t string_words(const uint64_t *a, bool user)
{
	uint64_t *top = (uint64_t *)(uintptr_t)(snip_rsp + 8), text[KI_STRING_WORDS] = {0};
	unsigned int n = (unsigned int)a[1];

	if (!n || n > KI_STRING_WORDS) {
		snip_now->broken = true;
		return 0;
	}
	string(NULL, a[0], user, (char *)text, n * 8 - 1);
	for (unsigned int i = 0; i < n; i++)
		top[n - 1 - i] = text[i];
	return snip_mix(n);
}

/* The chunk's words are above the return address, the last one uppermost. */
static uint64_t record_words(uint32_t what, uint32_t id)
{
	const uint64_t *top = (const uint64_t *)(uintptr_t)(snip_rsp + 8);
	uint64_t values[KI_RECORD_WORDS];
	unsigned int n = what & 0xff;

	if (n > KI_RECORD_WORDS || what >> 8 != SNIP_RING) {
		snip_now->broken = true;
		return 0;
	}
	for (unsigned int i = 0; i < n; i++)
		values[i] = top[n - 1 - i];
	record(NULL, id, values, n);
	return snip_mix(id);
}

/* In their order. */
static uint64_t sent(void *arg, uint64_t number)
{
	record(arg, KI_HELPER_SIGNAL, &number, 1);
	return snip_mix(number) & 1;
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
		return snip_running->m.nthread ? (uintptr_t)snip_words : 0;
	case KI_HELPER_UDEPTH:
		return snip_running->m.udepth;
	case KI_HELPER_UCALLER:
		return snip_running->m.ucaller;
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
		return snip_running->m.nanotime;
	case KI_HELPER_UID:
		return snip_running->m.uid;
	case KI_HELPER_CGROUP:
		return snip_running->m.cgroup;
	case KI_HELPER_UNREADABLE:
		return unreadable(NULL, a[0], a[1]);
	case KI_HELPER_EVENT:
		return event(NULL, a[0]);
	case KI_HELPER_SIGNAL:
		return sent(NULL, (uint32_t)a[0] ? (uint32_t)a[0] : a[1]);
	case KI_HELPER_MINMAX:
		ki_do_MINMAX((uint32_t)a[0], a[1], a[2]);
		return snip_rax;
	case KI_HELPER_ENTER:
		snip_now->broken |= snip_now->entered;
		snip_now->entered = snip_running->m.may_call;
		return snip_running->m.may_call;
	case KI_HELPER_LEAVE:
		snip_now->broken |= !snip_now->entered;
		snip_now->entered = false;
		return snip_mix(1);
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
	snip_flags = 2 | (snip_mix(number + a[0]) & EXEC_FLAGS);
	if (number < CALLEES)
		return helper((unsigned int)number, a);
	snip_now->broken |= !snip_now->entered;
	result = call(NULL, number, a, (unsigned int)(number - CALLEES));
	for (unsigned int i = 0; i < REGS_KEPT; i++)
		junk[i] = snip_mix(result + i);
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

void snip_helpers(struct ki_machine *m)
{
	m->load = load;
	m->unreadable = unreadable;
	m->event = event;
	m->call = call;
	m->record = record;
	m->table = table;
	m->string = string;
	m->stack = stack;
	m->signal = sent;
}
