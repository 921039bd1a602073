// SPDX-License-Identifier: GPL-2.0-only
/*
 * fetch: a QEMU plugin that models how a processor fetches the kernel's code.
 *
 *	qemu-system-x86_64 ... -plugin fetch.so,out=FILE[,NAME=NUMBER...]
 *
 * Of each vCPU: a first-level instruction cache (l1=32 KiB, l1ways=8), a second level (l2=512,
 * l2ways=8), lines of 64 bytes; an instruction TLB (itlb=64 entries, of all sizes); a branch target
 * buffer (btb=4096 entries, 4 ways); all with the least recently used one replaced. Code of user
 * space goes through the same caches. The kernel's own text is mapped in pages of 2 MiB, modules
 * in pages of 4 KiB, user space too. What else is mapped in pages of 2 MiB the guest says, by
 *
 *	0f 1f 84 01 NN NN NN NN		the page of this number, which is its address / 2 MiB
 *	0f 1f 84 02 NN NN NN NN		no page but the kernel's own text
 *
 * Counted is what the kernel does between the marks of marks.h: instructions, taken branches
 * (control that does not fall into what is executed next; interrupts are among them), those whose
 * target the buffer did not have, lines and pages fetched that are not the one fetched before,
 * misses, and how many different lines and pages there were.
 *
 * What is not modelled: prefetching, speculation, instructions that are decoded already (the
 * micro-op cache), and data, with which a second level is shared. FILE is a table, separated by
 * tabs: a row for each window.
 *
 * QEMU executes each turn of a repeated string instruction as a block: only the first one counts.
 *
 * A block that QEMU has translated counts whole when it begins; if an exception ends it, too much
 * by what is left of it.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "qemu_api.h"

#define KERNEL_TEXT 0xffffffff80000000ull
#define MODULES	    0xffffffffc0000000ull
#define LINE	    6
#define SMALL	    12
#define LARGE	    21
#define LARGES	    (1u << (31 - LARGE))
#define VCPUS	    64

QEMU_EXPORT int qemu_plugin_version = QEMU_API_VERSION;
QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
				    char **argv);

/* A set-associative memory of keys; ways in order of use, the last used first. */
struct memory {
	uint64_t *keys; /* 0: none */
	uint64_t *data;
	size_t sets, ways;
};

enum what {
	INSTRUCTIONS,
	TAKEN,
	BTB_MISSES,
	LINES,
	L1_MISSES,
	L2_MISSES,
	PAGES,
	ITLB_MISSES,
	WHATS
};
static const char *const names[WHATS] = {"instructions", "taken",     "btb_misses", "lines",
					 "l1_misses",	 "l2_misses", "pages",	    "itlb_misses"};

struct cpu {
	struct memory l1, l2, itlb, btb;
	uint64_t next;	 /* where control falls */
	uint64_t branch; /* the last instruction before */
	uint64_t line, page;
	bool kernel; /* it was there */
	uint64_t n[WHATS], base[WHATS];
};

/* A block as it is translated. */
struct block {
	uint64_t start, end, last; /* the last instruction */
	uint64_t insns;
};

static struct cpu cpus[VCPUS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool open_window;
static const char *out_path;

/* Lines and pages that were fetched in the window: a bit for each line of the upper 2 GiB. */
static uint8_t seen_lines[(1ull << 31) >> LINE >> 3];

/* Pages of 2 MiB there, beside the kernel's own text. */
static bool is_large[LARGES];

struct window {
	uint64_t gained[WHATS], lines, pages; /* different ones */
};
static struct window *windows;
static size_t nwindows;

static struct {
	const char *name;
	size_t value;
} options[] = {{"l1", 32}, {"l1ways", 8}, {"l2", 512}, {"l2ways", 8}, {"itlb", 64}, {"btb", 4096}};
enum { L1, L1WAYS, L2, L2WAYS, ITLB, BTB };

static void die(const char *what)
{
	fprintf(stderr, "fetch: %s\n", what);
	abort();
}

static void memory_new(struct memory *m, size_t entries, size_t ways)
{
	m->ways = ways;
	m->sets = entries / ways;
	m->keys = calloc(entries, sizeof(*m->keys));
	m->data = calloc(entries, sizeof(*m->data));
	if (!m->keys || !m->data)
		die("out of memory");
}

/* Is it there, with this datum? It is from now on. */
static bool use(struct memory *m, uint64_t key, uint64_t datum)
{
	size_t set = key % m->sets * m->ways, i;
	uint64_t *k = m->keys + set, *d = m->data + set;
	bool hit;

	key++; /* 0 is none */
	for (i = 0; i + 1 < m->ways && k[i] != key; i++)
		;
	hit = k[i] == key && d[i] == datum;
	memmove(k + 1, k, i * sizeof(*k));
	memmove(d + 1, d, i * sizeof(*d));
	k[0] = key;
	d[0] = datum;
	return hit;
}

static void fetch_line(struct cpu *c, uint64_t line, bool kernel)
{
	bool l1, l2 = true;

	if (line == c->line)
		return;
	c->line = line;
	l1 = use(&c->l1, line, 0);
	if (!l1)
		l2 = use(&c->l2, line, 0);
	if (!kernel)
		return;
	c->n[LINES]++;
	c->n[L1_MISSES] += !l1;
	c->n[L2_MISSES] += !l2;
	if (open_window) {
		uint64_t bit = line - (KERNEL_TEXT >> LINE);

		seen_lines[bit >> 3] |= (uint8_t)(1u << (bit & 7));
	}
}

static void fetch_page(struct cpu *c, uint64_t addr, bool kernel)
{
	bool large =
		addr >= KERNEL_TEXT && (addr < MODULES || is_large[(addr - KERNEL_TEXT) >> LARGE]);
	uint64_t page = addr >> (large ? LARGE : SMALL) | (uint64_t)large << 62;
	bool hit;

	if (page == c->page)
		return;
	c->page = page;
	hit = use(&c->itlb, page, 0);
	c->n[PAGES] += kernel;
	c->n[ITLB_MISSES] += kernel && !hit;
}

static void on_block(unsigned int vcpu, void *data)
{
	const struct block *b = data;
	struct cpu *c = &cpus[vcpu % VCPUS];
	bool kernel = b->start >= KERNEL_TEXT;
	uint64_t line;

	if (b->insns == 1 && b->start == c->branch)
		return;
	if (b->start != c->next) {
		bool hit = use(&c->btb, c->branch, b->start);

		c->n[TAKEN] += kernel && c->kernel;
		c->n[BTB_MISSES] += kernel && c->kernel && !hit;
	}
	if (kernel)
		c->n[INSTRUCTIONS] += b->insns;
	for (line = b->start >> LINE; line <= (b->end - 1) >> LINE; line++) {
		fetch_page(c, line << LINE, kernel);
		fetch_line(c, line, kernel);
	}
	c->kernel = kernel;
	c->next = b->end;
	c->branch = b->last;
}

static void on_begin(unsigned int vcpu, void *data)
{
	int i;

	(void)vcpu;
	(void)data;
	for (i = 0; i < VCPUS; i++)
		memcpy(cpus[i].base, cpus[i].n, sizeof(cpus[i].base));
	memset(seen_lines, 0, sizeof(seen_lines));
	open_window = true;
}

static void count_seen(struct window *w)
{
	size_t i, k, per = (1u << (SMALL - LINE)) / 8;

	for (i = 0; i < sizeof(seen_lines); i += per) {
		uint64_t here = 0;

		for (k = 0; k < per; k++)
			here += (uint64_t)__builtin_popcount(seen_lines[i + k]);
		w->lines += here;
		w->pages += here != 0;
	}
}

static void on_end(unsigned int vcpu, void *data)
{
	struct window *w;
	int i, k;

	(void)vcpu;
	(void)data;
	if (!open_window)
		return;
	open_window = false;
	windows = realloc(windows, (nwindows + 1) * sizeof(*windows));
	if (!windows)
		die("out of memory");
	w = &windows[nwindows++];
	memset(w, 0, sizeof(*w));
	for (i = 0; i < VCPUS; i++)
		for (k = 0; k < WHATS; k++)
			w->gained[k] += cpus[i].n[k] - cpus[i].base[k];
	count_seen(w);
}

static void on_large(unsigned int vcpu, void *data)
{
	(void)vcpu;
	is_large[(uintptr_t)data % LARGES] = true;
}

static void on_small(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	memset(is_large, 0, sizeof(is_large));
}

static void check_pages(struct qemu_plugin_insn *insn)
{
	static const uint8_t nop[3] = {0x0f, 0x1f, 0x84};
	uint8_t bytes[MARK_LEN];
	uint32_t page;

	if (qemu_plugin_insn_size(insn) != MARK_LEN ||
	    qemu_plugin_insn_data(insn, bytes, MARK_LEN) != MARK_LEN ||
	    memcmp(bytes, nop, sizeof(nop)))
		return;
	memcpy(&page, bytes + 4, sizeof(page));
	if (bytes[3] == 1)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_large, QEMU_CB_NO_REGS,
						       (void *)(uintptr_t)page);
	else if (bytes[3] == 2)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_small, QEMU_CB_NO_REGS, NULL);
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *b = calloc(1, sizeof(*b));

	(void)id;
	if (!b || !n)
		die("out of memory");
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		b->last = qemu_plugin_insn_vaddr(insn);
		b->end = b->last + qemu_plugin_insn_size(insn);
		if (!i)
			b->start = b->last;
		if (b->last < KERNEL_TEXT) {
			mark_check(insn);
			check_pages(insn);
		}
	}
	b->insns = n;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_CB_NO_REGS, b);
}

static void write_windows(FILE *f)
{
	size_t i;
	int k;

	fprintf(f, "window");
	for (k = 0; k < WHATS; k++)
		fprintf(f, "\t%s", names[k]);
	fprintf(f, "\tdistinct_lines\tdistinct_pages\n");
	for (i = 0; i < nwindows; i++) {
		fprintf(f, "%zu", i);
		for (k = 0; k < WHATS; k++)
			fprintf(f, "\t%" PRIu64, windows[i].gained[k]);
		fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\n", windows[i].lines, windows[i].pages);
	}
}

static void on_exit_write(uint64_t id, void *data)
{
	FILE *f = fopen(out_path, "w");

	(void)id;
	pthread_mutex_lock(&lock);
	on_end(0, data);
	if (f)
		write_windows(f);
	if (!f || fclose(f))
		perror(out_path);
	pthread_mutex_unlock(&lock);
}

static bool take_option(const char *arg)
{
	size_t i, len = strcspn(arg, "=");

	if (!strncmp(arg, "out=", 4)) {
		out_path = arg + 4;
		return true;
	}
	for (i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strlen(options[i].name) == len && !strncmp(arg, options[i].name, len) &&
		    arg[len]) {
			options[i].value = strtoul(arg + len + 1, NULL, 10);
			return options[i].value && options[i].value <= 1u << 20;
		}
	return false;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!take_option(argv[i])) {
			fprintf(stderr,
				"fetch: %s: out=FILE, or a number for l1, l1ways, l2, "
				"l2ways, itlb, btb\n",
				argv[i]);
			return -1;
		}
	if (!out_path || strcmp(info->target_name, "x86_64") || !info->system_emulation) {
		fprintf(stderr, "fetch: for qemu-system-x86_64, with out=FILE\n");
		return -1;
	}
	for (i = 0; i < VCPUS; i++) {
		memory_new(&cpus[i].l1, options[L1].value << (10 - LINE), options[L1WAYS].value);
		memory_new(&cpus[i].l2, options[L2].value << (10 - LINE), options[L2WAYS].value);
		memory_new(&cpus[i].itlb, options[ITLB].value, options[ITLB].value);
		memory_new(&cpus[i].btb, options[BTB].value, 4);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
