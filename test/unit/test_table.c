// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables (kmod/table.c, compiled in here), interrupted between each two instructions: the
 * processor's trap flag brings a signal there, whose handler works on the same table: on the same
 * keys and on others, once or so often that the table is full; and it is interrupted in the same
 * way once more. Before each instruction every row that is there must have a whole key; in the end
 * rows of one key together must be what the calls that were done make of it, computed here in
 * another way, and each other call is counted as lost. Shared tables the same, by what plays an
 * NMI.
 */
#include "table_fixture.h"

#include <signal.h>

static struct {
	unsigned int at;    /* interrupt before this instruction; 0: never */
	unsigned int burst; /* with so many calls */
	unsigned int steps; /* instructions so far */
} plan[LEVELS];
static int level = -1;
static uint64_t stops;

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

/* Only the helper is looked at and interrupted. */
static uint64_t stepped(uint32_t op, uint32_t index, uint64_t id, uint64_t x)
{
	uint64_t done;

	trap_flag(true);
	done = ask(op, index, id, x);
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

static void on_trap(int sig)
{
	int here = level;
	bool nmi = shim_in_nmi;

	(void)sig;
	stops++;
	look();
	if (++plan[here].steps != plan[here].at)
		return;
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

static void begin_run(const struct start *s)
{
	memset(plan, 0, sizeof(plan));
	begin(s);
	for (unsigned int i = 0; i < s->before; i++)
		call(i * 5);
}

/* Sanitized code is ten times as long: there not each instruction has its turn. */
#ifdef __SANITIZE_ADDRESS__
#define STEP	    11
#define SECOND_STEP 311
#else
#define STEP	    5
#define SECOND_STEP 31
#endif

/* Interrupted before each instruction, one after the other; returns how many there are. */
static unsigned int all_places(const struct start *s, unsigned int burst)
{
	unsigned int at = 1 + s->first % STEP - STEP, places = 0;

	do {
		begin_run(s);
		plan[0].at = at += STEP;
		plan[0].burst = burst;
		places++;
		go(s->first);
		if (!end())
			fail_msg("%s: shared %d, %u rows, call %u interrupted before instruction "
				 "%u by %u",
				 problem, s->shared, s->rows, s->first, at, burst);
	} while (plan[0].steps >= at);
	return places;
}

static void interrupted_anywhere(void **state)
{
	static const struct start kinds[] = {
		{false, 64, 0, 0}, {false, 4, 9, 0}, {true, 64, 0, 0}, {true, 4, 9, 0}};
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
		const struct start s = {k, 64, 0, 7 * k};
		unsigned int a = 1;

		do
			runs += interrupted_at(&s, a);
		while (a += 11 * STEP, plan[0].steps >= a - 11 * STEP);
	}
	print_message("%u runs\n", runs);
	assert_true(runs > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupted_anywhere),
		cmocka_unit_test(interrupted_twice),
	};
	const struct sigaction act = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};

	sigaction(SIGTRAP, &act, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
