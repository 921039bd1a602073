// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec_count: a QEMU plugin that counts how often every kernel instruction is executed.
 *
 *	qemu-system-x86_64 ... -plugin exec_count.so,out=FILE[,vcpu=N]
 *
 * With `vcpu`, what that one executes, and nothing else.
 *
 * This is the tests' independent witness: it sees the guest from outside, knows nothing of
 * kerninst, and needs no cooperation from the guest's kernel. It counts per address, not per
 * translation: text that is rewritten while it runs is translated anew, and all translations of
 * an address add to one counter. Each vCPU has its own copy of every counter (a QEMU
 * scoreboard), so that the inline additions need no atomics and lose nothing.
 *
 * The window. A program in the guest executes two long nops:
 *
 *	0f 1f 84 00 44 33 22 11		begin: everything counts from zero from here on
 *	0f 1f 84 00 55 33 22 11		end: nothing counts any more
 *
 * Counters are never reset, since another vCPU may be adding at that moment: begin notes what
 * they hold, end notes what they have gained. The last window of a run is the one reported;
 * without any mark, the whole run is.
 *
 * FILE, written when QEMU ends: lines "# NAME VALUE" (vcpus, windows, instructions executed in
 * the window in all, user space included), then "ADDRESS COUNT" (hex, decimal), sorted, without
 * zeros.
 *
 * QEMU knows its translations by physical address and tells a plugin the virtual one of the first
 * use: what the kernel ran at its physical address before it had any other (its first steps, and
 * the return thunk) is not counted later either, until it is rewritten. transfers.c knows better.
 *
 * What is counted is an instruction begun. One that faults and is executed again counts twice,
 * and one with a rep prefix may count once per iteration.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "qemu_api.h"

#define KERNEL_TEXT 0xffffffff80000000ull

/* QEMU gives a scoreboard room for 16 vCPUs at once: 1 MiB for each of these. */
#define BOARD_COUNTERS 8192
#define BOARDS_MAX     8192

QEMU_EXPORT int qemu_plugin_version = QEMU_API_VERSION;
QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
				    char **argv);

/* Counter 0 is for all instructions outside the kernel's text. */
struct counter {
	uint64_t addr;
	uint64_t base;	 /* its value at the begin mark */
	uint64_t gained; /* in the window, once that is over */
};

/* vCPUs translate in parallel: the lock is for all of this. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct counter *counters;
static size_t ncounters, counters_room;
static uint32_t *table; /* open hash of counter numbers by address; 0 is empty */
static size_t table_size;
static struct qemu_plugin_scoreboard *boards[BOARDS_MAX];
static bool frozen;
static unsigned long windows;
static const char *out_path;
static int only_vcpu = -1; /* all */

static void die(const char *what)
{
	fprintf(stderr, "exec_count: %s\n", what);
	abort();
}

static struct qemu_u64 cell(size_t n)
{
	return (struct qemu_u64){
		.score = boards[n / BOARD_COUNTERS],
		.offset = n % BOARD_COUNTERS * sizeof(uint64_t),
	};
}

static uint64_t cell_value(size_t n)
{
	if (only_vcpu >= 0)
		return qemu_plugin_u64_get(cell(n), (unsigned int)only_vcpu);
	return qemu_plugin_u64_sum(cell(n));
}

static uint32_t *table_find(uint64_t addr)
{
	size_t i = (addr * 0x9e3779b97f4a7c15ull) >> 32;

	for (;; i++) {
		uint32_t *slot = &table[i & (table_size - 1)];

		if (!*slot || counters[*slot].addr == addr)
			return slot;
	}
}

static void table_grow(void)
{
	size_t i;

	free(table);
	table_size = table_size ? table_size * 2 : 1 << 16;
	table = calloc(table_size, sizeof(*table));
	if (!table)
		die("out of memory");
	for (i = 1; i < ncounters; i++)
		*table_find(counters[i].addr) = i;
}

static size_t counter_new(uint64_t addr)
{
	size_t n = ncounters;

	if (n == counters_room) {
		counters_room = counters_room ? counters_room * 2 : 1 << 16;
		counters = realloc(counters, counters_room * sizeof(*counters));
		if (!counters)
			die("out of memory");
	}
	if (n % BOARD_COUNTERS == 0) {
		if (n / BOARD_COUNTERS == BOARDS_MAX)
			die("too many addresses");
		boards[n / BOARD_COUNTERS] =
			qemu_plugin_scoreboard_new(BOARD_COUNTERS * sizeof(uint64_t));
	}
	counters[n] = (struct counter){.addr = addr};
	ncounters++;
	return n;
}

/* The one counter of an address. */
static size_t counter_of(uint64_t addr)
{
	uint32_t *slot;

	if (addr < KERNEL_TEXT)
		return 0;
	if (ncounters * 2 >= table_size)
		table_grow();
	slot = table_find(addr);
	if (!*slot)
		*slot = counter_new(addr);
	return *slot;
}

static void on_begin(unsigned int vcpu, void *data)
{
	size_t i;

	(void)vcpu;
	(void)data;
	pthread_mutex_lock(&lock);
	for (i = 0; i < ncounters; i++)
		counters[i].base = cell_value(i);
	frozen = false;
	windows++;
	pthread_mutex_unlock(&lock);
}

static void freeze(void)
{
	size_t i;

	for (i = 0; i < ncounters; i++)
		counters[i].gained = cell_value(i) - counters[i].base;
	frozen = true;
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	pthread_mutex_lock(&lock);
	if (!frozen)
		freeze();
	pthread_mutex_unlock(&lock);
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	pthread_mutex_lock(&lock);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);

		if (addr < KERNEL_TEXT)
			mark_check(insn);
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_INLINE_ADD_U64,
								    cell(counter_of(addr)), 1);
	}
	pthread_mutex_unlock(&lock);
}

static int by_address(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void write_counts(FILE *f, const struct counter *sorted, size_t n)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += sorted[i].gained;
	fprintf(f, "# vcpus %d\n# windows %lu\n# instructions %" PRIu64 "\n",
		qemu_plugin_num_vcpus(), windows, total);
	for (i = 0; i < n; i++)
		if (sorted[i].addr && sorted[i].gained)
			fprintf(f, "%" PRIx64 " %" PRIu64 "\n", sorted[i].addr, sorted[i].gained);
}

static void on_exit_write(uint64_t id, void *data)
{
	FILE *f = fopen(out_path, "w");
	struct counter *sorted;
	size_t n;

	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	if (!frozen)
		freeze();
	n = ncounters;
	sorted = malloc(n * sizeof(*sorted));
	if (sorted)
		memcpy(sorted, counters, n * sizeof(*sorted));
	pthread_mutex_unlock(&lock);
	if (f && sorted) {
		qsort(sorted, n, sizeof(*sorted), by_address);
		write_counts(f, sorted, n);
	}
	if (!f || !sorted || fclose(f))
		perror(out_path);
	free(sorted);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out_path = argv[i] + 4;
		if (!strncmp(argv[i], "vcpu=", 5))
			only_vcpu = atoi(argv[i] + 5);
	}
	if (!out_path || strcmp(info->target_name, "x86_64") || !info->system_emulation) {
		fprintf(stderr, "exec_count: for qemu-system-x86_64, with out=FILE\n");
		return -1;
	}
	counter_new(0);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
