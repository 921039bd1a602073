// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables (kmod/helpers/table.c, compiled in here), interrupted between each two instructions: a
 * signal comes there, whose handler works on the same table: on the same keys and on others, once
 * or so often that the table is full; and it is interrupted in the same way once more. Signals are
 * slow: the processor's trap flag shows the way of a call once, and a breakpoint then stops each
 * run at its place. Before each instruction every row that is there must have a whole key; in the
 * end rows of one key together must be what the calls that were done make of it, computed here in
 * another way, and each other call is counted as lost. Shared tables the same, by what plays an
 * NMI.
 */
#include "table_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
	unsigned int at;    /* interrupt before this instruction; 0: never */
	unsigned int burst; /* with so many calls */
	unsigned int
		steps; /* instructions so far, or if it is a breakpoint: how often it was met */
	bool whole;    /* go on looking after that */
} plan[LEVELS];
static int level = -1;
static uint64_t stops;

#define WAY 65536
#define TF  0x100

/* The places that a call comes to, in their order. */
static uint8_t *way[WAY];
static unsigned int nway;
static bool is_noting;

/* A breakpoint at one of them. */
static struct {
	uint8_t *at;	   /* NULL: none */
	unsigned int left; /* times that it will be met */
	uint8_t byte;	   /* what is there else */
	bool passing;	   /* that is there now, for one instruction */
} stop;

/* n: which of all; the same ones again and again, so that keys and operations meet. */
static void call(unsigned int n)
{
	static const struct {
		uint8_t op, index;
	} some[] = {{KI_TABLE_STATS, V_STATS},
		    {KI_TABLE_ADD, V_SUM},
		    {KI_TABLE_UMIN, V_UMIN},
		    {KI_TABLE_UMAX, V_UMAX},
		    {KI_TABLE_COUNT, V_COUNT}};
	unsigned int k = n % (sizeof(some) / sizeof(*some));
	uint64_t x = mixed(n) >> (n % 5 * 15);

	if (cpu.shared && n % 4 == 3) {
		uint64_t own = OWN + (unsigned int)level + 1;

		do_one(n % 8 == 3 ? KI_TABLE_SET : KI_TABLE_DELETE, n % 8 == 3 ? V_SET : 0, own, n);
		return;
	}
	do_one(some[k].op, some[k].index, n / 7 % OWN, k == 4 ? x % 3 : x);
}

/* ---- interrupts ---- */

static void trap_flag(bool on)
{
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n"
				 "lea 128(%%rsp), %%rsp" ::
					 : "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n"
				 "lea 128(%%rsp), %%rsp" ::
					 : "memory", "cc");
}

static noinline uint64_t asked(uint32_t op, uint32_t index, uint64_t id, uint64_t x)
{
	return ask(op, index, id, x);
}

/* Only the helper is looked at and interrupted. */
static uint64_t stepped(uint32_t op, uint32_t index, uint64_t id, uint64_t x)
{
	uint64_t done;

	if (!stop.at)
		trap_flag(true);
	done = asked(op, index, id, x);
	trap_flag(false);
	return done;
}

static void go(unsigned int n)
{
	plan[++level].steps = 0;
	asks = stepped;
	call(n);
	level--;
}

static void interrupt(int here)
{
	bool nmi = shim_in_nmi;

	shim_in_nmi = true;
	if (here + 1 < LEVELS && plan[here + 1].at)
		go(plan[here].at * 3 + plan[here + 1].at);
	level++; /* keys of its own */
	for (unsigned int i = 0; i < plan[here].burst; i++)
		call(plan[here].at + i);
	level--;
	shim_in_nmi = nmi;
	look();
}

static void keep_stepping(ucontext_t *u, bool on)
{
	greg_t *flags = &u->uc_mcontext.gregs[REG_EFL];

	*flags = on ? *flags | TF : *flags & ~TF;
}

/* true: the breakpoint has been met for the last time. */
static bool is_met(ucontext_t *u)
{
	if (stop.passing) {
		stop.passing = false;
		*stop.at = 0xcc;
		keep_stepping(u, false);
		return false;
	}
	u->uc_mcontext.gregs[REG_RIP]--;
	*stop.at = stop.byte;
	stop.passing = --stop.left;
	keep_stepping(u, stop.passing);
	if (!stop.passing)
		stop.at = NULL;
	return !stop.passing;
}

/* From the first instruction of what is asked on. */
static void note(uint8_t *place)
{
	if (is_noting && nway < WAY && (nway || place == (uint8_t *)(uintptr_t)asked))
		way[nway++] = place;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	int here = level;

	(void)sig;
	(void)info;
	stops++;
	look();
	if (stop.at) {
		if (!is_met(u))
			return;
		plan[here].steps = plan[here].at;
	} else {
		note((uint8_t *)u->uc_mcontext.gregs[REG_RIP]);
		if (++plan[here].steps != plan[here].at)
			return;
	}
	interrupt(here);
	keep_stepping(u, plan[here].whole);
}

static void put_stop(unsigned int place)
{
	stop.left = 0;
	for (unsigned int i = 0; i <= place; i++)
		stop.left += way[i] == way[place];
	stop.at = way[place];
	stop.byte = *stop.at;
	*stop.at = 0xcc;
}

static void begin_run(const struct start *s)
{
	memset(plan, 0, sizeof(plan));
	begin(s);
	for (unsigned int i = 0; i < s->before; i++)
		call(i * 5);
	if (s->again)
		call(s->first);
}

/* Sanitized code is ten times as long: there not each instruction has its turn. */
#ifdef __SANITIZE_ADDRESS__
#define STEP	    11
#define FIRST_STEP  121
#define SECOND_STEP 311
#else
#define STEP	    1
#define FIRST_STEP  55
#define SECOND_STEP 31
#endif
#define WHOLE 64 /* of so many runs one is looked at to its end */

static void note_way(const struct start *s)
{
	begin_run(s);
	nway = 0;
	is_noting = true;
	go(s->first);
	is_noting = false;
	assert_true(nway > (s->again ? 20 : 50) && nway < WAY);
}

/* The row that was used last, found again, takes half the way or less. */
static void the_last_row(void **state)
{
	struct start s = {false, 64, 0, 1, false};
	unsigned int whole;

	(void)state;
	note_way(&s);
	whole = nway;
	s.again = true;
	note_way(&s);
	print_message("a sum: %u instructions, in the last row %u\n", whole, nway);
	assert_true(nway * 2 <= whole);
	assert_true(end());
}

/* Interrupted before each instruction, one after the other; returns how many there are. */
static unsigned int all_places(const struct start *s, unsigned int burst)
{
	unsigned int at, places = 0;

	note_way(s);
	for (at = 1 + s->first % STEP; at <= nway; at += STEP) {
		begin_run(s);
		plan[0].at = at;
		plan[0].burst = burst;
		plan[0].whole = ++places % WHOLE == 0;
		put_stop(at - 1);
		go(s->first);
		if (plan[0].steps < at)
			fail_msg("call %u did not come to its instruction %u", s->first, at);
		if (!end())
			fail_msg("%s: shared %d, %u rows, call %u interrupted before instruction "
				 "%u by %u",
				 problem, s->shared, s->rows, s->first, at, burst);
	}
	return places;
}

static void interrupted_anywhere(void **state)
{
	static const struct start kinds[] = {{false, 64, 0, 0, false},
					     {false, 64, 3, 0, true},
					     {false, 4, 9, 0, false},
					     {true, 64, 0, 0, false},
					     {true, 4, 9, 0, false}};
	static const unsigned int firsts[] = {0, 1, 3, 7}; /* STATS; ADD; SET; DELETE */
	unsigned int places = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (size_t k = 0; k < sizeof(firsts) / sizeof(*firsts); k++) {
			struct start s = kinds[i];

			s.first = firsts[k];
			places += all_places(&s, s.rows == 4 ? 40 : 1 + (unsigned int)k % 2);
		}
	print_message("%u runs, looked at between %llu instructions\n", places,
		      (unsigned long long)stops);
}

static unsigned int interrupted_at(const struct start *s, unsigned int a)
{
	unsigned int b = 1, runs = 0;

	for (;; b += SECOND_STEP, runs++) {
		begin_run(s);
		plan[0].at = a;
		plan[0].burst = 1;
		plan[1].at = b;
		plan[1].burst = 1 + b % 3;
		go(s->first);
		if (!end())
			fail_msg("%s: shared %d, call %u: before %u, then %u", problem, s->shared,
				 s->first, a, b);
		if (plan[1].steps < b)
			return runs;
	}
}

/* The interrupt is interrupted, too. */
static void interrupted_twice(void **state)
{
	unsigned int runs = 0;

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		const struct start s = {k, 64, 0, 7 * k, false};
		unsigned int a = 1;

		do
			runs += interrupted_at(&s, a);
		while (a += FIRST_STEP, plan[0].steps >= a - FIRST_STEP);
	}
	print_message("%u runs\n", runs);
	assert_true(runs > 30);
}

/* So that breakpoints can be put there. */
static void make_writable(void)
{
	extern char __executable_start[], etext[];
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)__executable_start & ~(page - 1);

	if (mprotect((void *)start, (uintptr_t)etext - start, PROT_READ | PROT_WRITE | PROT_EXEC))
		abort();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_row),
		cmocka_unit_test(interrupted_anywhere),
		cmocka_unit_test(interrupted_twice),
	};
	const struct sigaction action = {.sa_sigaction = on_trap,
					 .sa_flags = SA_NODEFER | SA_SIGINFO};

	make_writable();
	sigaction(SIGTRAP, &action, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
