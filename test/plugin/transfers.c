// SPDX-License-Identifier: GPL-2.0-only
/*
 * transfers: a QEMU plugin that writes down every address of the kernel that is executed, and
 * every transfer of control between two of them, with counts.
 *
 *	qemu-system-x86_64 ... -plugin transfers.so,out=FILE[,image=START-END]
 *
 * It is the oracle for the analysis of the whole kernel: what happened must be possible. FILE is
 * described in transfers.h.
 *
 * QEMU runs translation blocks: straight pieces of code, entered at their start only. So a
 * transfer is found where a block begins: it goes there from the instruction that the same vCPU
 * began last. An inline store at each instruction of the kernel keeps that exact, also where a
 * block is left in its middle by an exception. A transfer need not be a jump: QEMU also ends
 * blocks where it likes (page ends, instructions that change its mode), and begins an
 * instruction anew that it could not finish.
 *
 * What is outside the kernel (user space, the firmware, the first steps of the boot at other
 * addresses) is one place, number 0: its code carries only a comparison, which calls us at the
 * first block after kernel code.
 *
 * Aliases. QEMU knows its translations by physical address: one that was made while the kernel
 * began, at the addresses where it was loaded, serves at the final ones too, and we are not told.
 * So code that runs at its physical address in `image` (hex) is taken for the kernel's at
 * KI_TRACE_KERNEL + that; what runs there at another physical address is a program's.
 *
 * An instruction's count is of instructions begun: block executions, less the times when the
 * block was left before. One that QEMU begins anew counts again.
 *
 * Phases. A program in the guest executes the first of the marks of exec_count.c, and the next
 * phase begins; the first one is the boot. Everything is counted by phase.
 *
 * Costs. One call for each block of the kernel. Each block remembers for each vCPU where it was
 * last entered from, so that the hash table is needed only when that changes; tables belong to
 * one vCPU and are put together at the end.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_api.h"
#include "transfers.h"

#define PHASES	   KI_TRACE_PHASES
#define MARK_LEN   8
#define POOL_CELLS 4096

QEMU_EXPORT int qemu_plugin_version = QEMU_API_VERSION;
QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
				    char **argv);

/* A transfer, of one vCPU. */
struct cell {
	uint32_t from, to;
	uint64_t count[PHASES];
};

/* What one vCPU knows of a block: a cache line, so that two do not fight for it. */
struct entry {
	uint64_t count[PHASES];
	struct cell *cell; /* the last transfer that led here; NULL: none yet */
	uint64_t zero;
} __attribute__((aligned(64)));

struct block {
	struct block *next; /* of its hash chain */
	struct entry *entries;
	uint64_t *left; /* [n][PHASES]: left early after this instruction; NULL: never */
	uint32_t n;
	uint32_t addr[];
};

struct pool {
	struct pool *next;
	size_t n;
	struct cell cells[POOL_CELLS];
};

struct vcpu {
	struct block *block; /* the one that it is in; NULL: outside */
	struct pool *pool;
	struct cell **table; /* open hash */
	size_t ncells, size;
	uint64_t lost;
} __attribute__((aligned(64)));

#define CHAINS (1u << 18)

/* vCPUs translate in parallel: the lock is for the blocks, and for where they were left. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *chains[CHAINS];
static struct vcpu *vcpus;
static unsigned int nvcpus;
static struct qemu_plugin_scoreboard *last_board; /* a uint64_t: the instruction begun last */
static unsigned int phase;
static const char *out_path;
static uint64_t image_start, image_end;
static const char *ram; /* where QEMU keeps the guest's memory */

static void die(const char *what)
{
	fprintf(stderr, "transfers: %s\n", what);
	abort();
}

static void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static size_t cell_hash(uint32_t from, uint32_t to)
{
	return (((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15ull) >> 24;
}

static struct cell **cell_slot(const struct vcpu *v, uint32_t from, uint32_t to)
{
	size_t i = cell_hash(from, to);

	for (;; i++) {
		struct cell **slot = &v->table[i & (v->size - 1)];

		if (!*slot || ((*slot)->from == from && (*slot)->to == to))
			return slot;
	}
}

static void table_grow(struct vcpu *v)
{
	struct cell **old = v->table;
	size_t i, n = v->size;

	v->size = n ? n * 2 : 1 << 16;
	v->table = need(calloc(v->size, sizeof(*v->table)));
	for (i = 0; i < n; i++)
		if (old[i])
			*cell_slot(v, old[i]->from, old[i]->to) = old[i];
	free(old);
}

static struct cell *cell_new(struct vcpu *v, uint32_t from, uint32_t to)
{
	struct cell *c;

	if (!v->pool || v->pool->n == POOL_CELLS) {
		struct pool *p = need(calloc(1, sizeof(*p)));

		p->next = v->pool;
		v->pool = p;
	}
	c = &v->pool->cells[v->pool->n];
	c->from = from;
	c->to = to;
	v->pool->n++;
	return c;
}

/* The one cell of a transfer. */
static struct cell *cell_of(struct vcpu *v, uint32_t from, uint32_t to)
{
	struct cell **slot;

	if (v->ncells * 2 >= v->size)
		table_grow(v);
	slot = cell_slot(v, from, to);
	if (!*slot) {
		*slot = cell_new(v, from, to);
		v->ncells++;
	}
	return *slot;
}

/* The vCPU's block was left after `last`, which is not its last instruction. */
static void left_early(struct vcpu *v, uint32_t last, unsigned int ph)
{
	struct block *b = v->block;
	uint32_t i = 0;

	while (i < b->n && b->addr[i] != last)
		i++;
	if (i == b->n) {
		v->lost++;
		return;
	}
	pthread_mutex_lock(&lock);
	if (!b->left)
		b->left = need(calloc(b->n, PHASES * sizeof(*b->left)));
	b->left[i * PHASES + ph]++;
	pthread_mutex_unlock(&lock);
}

static void on_kernel(unsigned int vcpu, void *data)
{
	uint64_t *board = qemu_plugin_scoreboard_find(last_board, vcpu);
	unsigned int ph = __atomic_load_n(&phase, __ATOMIC_RELAXED);
	struct block *b = data;
	struct entry *e = &b->entries[vcpu];
	struct vcpu *v = &vcpus[vcpu];
	uint32_t last = *board;

	if (v->block && v->block->addr[v->block->n - 1] != last)
		left_early(v, last, ph);
	v->block = b;
	e->count[ph]++;
	if (!e->cell || e->cell->from != last)
		e->cell = cell_of(v, last, b->addr[0]);
	e->cell->count[ph]++;
}

/* The first block outside after one of the kernel. */
static void on_outside(unsigned int vcpu, void *data)
{
	uint64_t *board = qemu_plugin_scoreboard_find(last_board, vcpu);
	unsigned int ph = __atomic_load_n(&phase, __ATOMIC_RELAXED);
	struct vcpu *v = &vcpus[vcpu];

	(void)data;
	if (v->block && v->block->addr[v->block->n - 1] != (uint32_t)*board)
		left_early(v, *board, ph);
	v->block = NULL;
	cell_of(v, *board, 0)->count[ph]++;
	*board = 0;
}

static void on_mark(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	pthread_mutex_lock(&lock);
	if (phase < PHASES - 1)
		__atomic_store_n(&phase, phase + 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}

static void mark_check(struct qemu_plugin_insn *insn)
{
	static const uint8_t mark[MARK_LEN] = {0x0f, 0x1f, 0x84, 0x00, 0x44, 0x33, 0x22, 0x11};
	uint8_t bytes[MARK_LEN];

	if (qemu_plugin_insn_size(insn) == MARK_LEN &&
	    qemu_plugin_insn_data(insn, bytes, MARK_LEN) == MARK_LEN &&
	    !memcmp(bytes, mark, MARK_LEN))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_CB_NO_REGS, NULL);
}

/* The first code that runs above the first megabyte does so at its physical address. */
static void find_ram(const struct qemu_plugin_insn *insn, uint64_t addr)
{
	const char *host = qemu_plugin_insn_haddr(insn);

	if (!ram && host && addr >= 1 << 20 && addr < 1 << 30)
		ram = host - addr;
}

/* Where instruction i of a block stands in the kernel; 0: outside. */
static uint32_t kernel_addr(const struct qemu_plugin_tb *tb, size_t i)
{
	const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
	uint64_t addr = qemu_plugin_insn_vaddr(insn);

	if (addr >= KI_TRACE_KERNEL)
		return addr;
	if (addr < image_start || addr >= image_end ||
	    qemu_plugin_insn_haddr(insn) != (const void *)(ram + addr))
		return 0;
	return addr + KI_TRACE_KERNEL;
}

static bool block_is(const struct block *b, const struct qemu_plugin_tb *tb, uint32_t n)
{
	uint32_t i;

	if (b->n != n)
		return false;
	for (i = 0; i < n; i++)
		if (b->addr[i] != (uint32_t)qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)))
			return false;
	return true;
}

/* The one block that consists of these addresses: QEMU translates them again and again. */
static struct block *block_of(const struct qemu_plugin_tb *tb, uint32_t n)
{
	uint32_t start = kernel_addr(tb, 0);
	struct block **chain = &chains[start % CHAINS], *b;
	uint32_t i;

	for (b = *chain; b; b = b->next)
		if (b->addr[0] == start && block_is(b, tb, n))
			return b;
	b = need(calloc(1, sizeof(*b) + n * sizeof(*b->addr)));
	b->entries = need(aligned_alloc(64, nvcpus * sizeof(*b->entries)));
	memset(b->entries, 0, nvcpus * sizeof(*b->entries));
	b->n = n;
	for (i = 0; i < n; i++)
		b->addr[i] = kernel_addr(tb, i);
	b->next = *chain;
	*chain = b;
	return b;
}

static void translate_outside(struct qemu_plugin_tb *tb, struct qemu_u64 last, size_t n)
{
	size_t i;

	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_outside, QEMU_CB_NO_REGS, QEMU_COND_NE,
						  last, 0, NULL);
	for (i = 0; i < n; i++)
		mark_check(qemu_plugin_tb_get_insn(tb, i));
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	struct qemu_u64 last = {.score = last_board, .offset = 0};
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *b;

	(void)id;
	if (!n)
		return;
	pthread_mutex_lock(&lock);
	find_ram(qemu_plugin_tb_get_insn(tb, 0),
		 qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)));
	b = kernel_addr(tb, 0) ? block_of(tb, n) : NULL;
	pthread_mutex_unlock(&lock);
	if (!b) {
		translate_outside(tb, last, n);
		return;
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kernel, QEMU_CB_NO_REGS, b);
	for (i = 0; i < n; i++)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			qemu_plugin_tb_get_insn(tb, i), QEMU_INLINE_STORE_U64, last, b->addr[i]);
}

/* Rows of one shape, for instructions (with `to` 0) and for transfers. */
struct rows {
	struct ki_trace_transfer *v;
	size_t n, room;
};

static void rows_add(struct rows *r, uint32_t from, uint32_t to, const uint64_t *count)
{
	if (r->n == r->room) {
		r->room = r->room ? r->room * 2 : 1 << 16;
		r->v = need(realloc(r->v, r->room * sizeof(*r->v)));
	}
	r->v[r->n].from = from;
	r->v[r->n].to = to;
	memcpy(r->v[r->n].count, count, PHASES * sizeof(*count));
	r->n++;
}

static int by_addresses(const void *a, const void *b)
{
	const struct ki_trace_transfer *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Sort, add up what is equal, leave out what never happened. */
static void rows_merge(struct rows *r)
{
	size_t i, n = 0;
	unsigned int p;

	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_addresses);
	for (i = 0; i < r->n; i++) {
		uint64_t any = 0;

		for (p = 0; p < PHASES; p++)
			any |= r->v[i].count[p];
		if (!any)
			continue;
		if (!n || by_addresses(&r->v[n - 1], &r->v[i])) {
			r->v[n++] = r->v[i];
			continue;
		}
		for (p = 0; p < PHASES; p++)
			r->v[n - 1].count[p] += r->v[i].count[p];
	}
	r->n = n;
}

static void collect_block(struct rows *r, const struct block *b)
{
	uint64_t count[PHASES] = {0};
	unsigned int v, p;
	uint32_t i;

	for (v = 0; v < nvcpus; v++)
		for (p = 0; p < PHASES; p++)
			count[p] += b->entries[v].count[p];
	for (i = 0; i < b->n; i++) {
		rows_add(r, b->addr[i], 0, count);
		for (p = 0; b->left && p < PHASES; p++)
			count[p] -= b->left[i * PHASES + p];
	}
}

static void collect(struct rows *insns, struct rows *transfers, uint64_t *lost)
{
	const struct block *b;
	const struct pool *p;
	size_t i, n;

	for (i = 0; i < CHAINS; i++)
		for (b = chains[i]; b; b = b->next)
			collect_block(insns, b);
	for (i = 0; i < nvcpus; i++) {
		*lost += vcpus[i].lost;
		for (p = vcpus[i].pool; p; p = p->next)
			for (n = 0; n < p->n; n++)
				rows_add(transfers, p->cells[n].from, p->cells[n].to,
					 p->cells[n].count);
	}
	rows_merge(insns);
	rows_merge(transfers);
}

static void on_exit_write(uint64_t id, void *data)
{
	struct rows insns = {0}, transfers = {0};
	struct ki_trace_header h = {.magic = KI_TRACE_MAGIC, .vcpus = nvcpus};
	FILE *f = fopen(out_path, "w");

	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	collect(&insns, &transfers, &h.lost);
	h.phases = phase + 1;
	h.ninsns = insns.n;
	h.ntransfers = transfers.n;
	if (!f || fwrite(&h, sizeof(h), 1, f) != 1 ||
	    fwrite(insns.v, sizeof(*insns.v), insns.n, f) != insns.n ||
	    fwrite(transfers.v, sizeof(*transfers.v), transfers.n, f) != transfers.n || fclose(f))
		perror(out_path);
	pthread_mutex_unlock(&lock);
	free(insns.v);
	free(transfers.v);
}

static bool take_argument(const char *arg)
{
	if (!strncmp(arg, "out=", 4))
		out_path = arg + 4;
	else if (sscanf(arg, "image=%" SCNx64 "-%" SCNx64, &image_start, &image_end) != 2)
		return false;
	return true;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	bool good = true;
	int i;

	for (i = 0; i < argc; i++)
		good = take_argument(argv[i]) && good;
	if (!good || !out_path || strcmp(info->target_name, "x86_64") || !info->system_emulation) {
		fprintf(stderr,
			"transfers: for qemu-system-x86_64, with out=FILE[,image=START-END]\n");
		return -1;
	}
	nvcpus = info->system.max_vcpus;
	vcpus = aligned_alloc(64, nvcpus * sizeof(*vcpus));
	if (!vcpus)
		return -1;
	memset(vcpus, 0, nvcpus * sizeof(*vcpus));
	last_board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
