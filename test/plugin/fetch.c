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
 * misses, and how many different lines and pages there were. A line is known by where it stands in
 * memory, as processors know it: QEMU executes what it translated at one address at others, too, at
 * which the same page is mapped. An instruction that goes on in the next page is taken to go on in
 * memory.
 *
 * each=1 is for the test against QEMU's own plugin (fetch_test.sh): all code counts, from the
 * machine's start to its end, and each.h models the first level once more, as that plugin does.
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

#include "lru.h"
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

enum what {
	INSTRUCTIONS,
	TAKEN,
	BTB_MISSES,
	LINES,
	L1_MISSES,
	L2_MISSES,
	PAGES,
	ITLB_MISSES,
	WHATS, /* those of each.h: */
	EACH = WHATS,
	EACH_MISSES,
	TURNS,
	CUT,
	EXTRA,
	ALL_WHATS
};
static const char *const names[ALL_WHATS] = {
	"instructions", "taken", "btb_misses",	"lines", "l1_misses", "l2_misses", "pages",
	"itlb_misses",	"each",	 "each_misses", "turns", "cut",	      "extra"};

/* The first instruction that begins in a line is the block's `first`, unless that is too many. */
struct line {
	uint64_t addr, key;
	size_t first;
};

/* A block as it is translated. */
struct block {
	uint64_t start, end, last; /* the last instruction */
	size_t insns, nlines;
	struct line lines[];
};

struct cpu {
	struct lru l1, l2, itlb, btb;
	uint64_t next;	 /* where control falls */
	uint64_t branch; /* the last instruction before */
	uint64_t line, page;
	bool kernel; /* it was there */
	uint64_t n[ALL_WHATS], base[ALL_WHATS];

	/* each.h */
	struct lru l1_each;
	const struct block *before;
	size_t owed; /* its instructions that are still to come */
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
	uint64_t gained[ALL_WHATS], lines, pages; /* different ones */
};
static struct window *windows;
static size_t nwindows;

static struct {
	const char *name;
	size_t value;
} options[] = {{"l1", 32},   {"l1ways", 8}, {"l2", 512}, {"l2ways", 8},
	       {"itlb", 64}, {"btb", 4096}, {"each", 0}};
enum { L1, L1WAYS, L2, L2WAYS, ITLB, BTB, OPTION_EACH };
static bool each; /* of these */

static void die(const char *what)
{
	fprintf(stderr, "fetch: %s\n", what);
	abort();
}

#include "each.h"

static void see_line(uint64_t line)
{
	uint64_t bit = line - (KERNEL_TEXT >> LINE);

	if (open_window && bit >> 3 < sizeof(seen_lines))
		seen_lines[bit >> 3] |= (uint8_t)(1u << (bit & 7));
}

static void fetch_line(struct cpu *c, const struct line *line, bool counts)
{
	bool l1, l2 = true;

	if (line->key == c->line)
		return;
	c->line = line->key;
	l1 = lru_use(&c->l1, line->key, 0);
	if (!l1)
		l2 = lru_use(&c->l2, line->key, 0);
	if (!counts)
		return;
	c->n[LINES]++;
	c->n[L1_MISSES] += !l1;
	c->n[L2_MISSES] += !l2;
	see_line(line->addr);
}

static void fetch_page(struct cpu *c, uint64_t addr, bool counts)
{
	bool large =
		addr >= KERNEL_TEXT && (addr < MODULES || is_large[(addr - KERNEL_TEXT) >> LARGE]);
	uint64_t page = addr >> (large ? LARGE : SMALL) | (uint64_t)large << 62;
	bool hit;

	if (page == c->page)
		return;
	c->page = page;
	hit = lru_use(&c->itlb, page, 0);
	c->n[PAGES] += counts;
	c->n[ITLB_MISSES] += counts && !hit;
}

static void on_block(unsigned int vcpu, void *data)
{
	const struct block *b = data;
	struct cpu *c = &cpus[vcpu % VCPUS];
	bool counts = each || b->start >= KERNEL_TEXT,
	     turn = b->insns == 1 && b->start == c->branch;

	if (each)
		each_block(c, b, turn);
	if (turn)
		return;
	if (b->start != c->next) {
		bool hit = lru_use(&c->btb, c->branch, b->start);

		c->n[TAKEN] += counts && c->kernel;
		c->n[BTB_MISSES] += counts && c->kernel && !hit;
	}
	if (counts)
		c->n[INSTRUCTIONS] += b->insns;
	for (size_t i = 0; i < b->nlines; i++) {
		fetch_page(c, b->lines[i].addr << LINE, counts);
		fetch_line(c, &b->lines[i], counts);
	}
	c->kernel = counts;
	c->next = b->end;
	c->branch = b->last;
}

static void on_begin(unsigned int vcpu, void *data)
{
	int i;

	(void)vcpu;
	(void)data;
	if (each)
		return;
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

static void close_window(void)
{
	struct window *w;
	int i, k;

	open_window = false;
	windows = realloc(windows, (nwindows + 1) * sizeof(*windows));
	if (!windows)
		die("out of memory");
	w = &windows[nwindows++];
	memset(w, 0, sizeof(*w));
	for (i = 0; i < VCPUS; i++)
		for (k = 0; k < ALL_WHATS; k++)
			w->gained[k] += cpus[i].n[k] - cpus[i].base[k];
	count_seen(w);
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (open_window && !each)
		close_window();
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

/* What of instruction i is at this address. */
static void add_line(struct block *b, uint64_t addr, uint64_t host, size_t i)
{
	if (!b->nlines || b->lines[b->nlines - 1].addr != addr >> LINE)
		b->lines[b->nlines++] = (struct line){addr >> LINE, host >> LINE, i};
}

static void add_insn(struct block *b, struct qemu_plugin_insn *insn, size_t i)
{
	uint64_t host = (uintptr_t)qemu_plugin_insn_haddr(insn);
	size_t size = qemu_plugin_insn_size(insn);

	b->last = qemu_plugin_insn_vaddr(insn);
	b->end = b->last + size;
	if (!i)
		b->start = b->last;
	add_line(b, b->last, host, i);
	add_line(b, b->end - 1, host + size - 1, i + 1);
	if (each)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_each, QEMU_CB_NO_REGS,
						       (void *)(uintptr_t)(host >> LINE));
	else if (b->last < KERNEL_TEXT) {
		mark_check(insn);
		check_pages(insn);
	}
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb), bytes = 0;
	struct block *b;

	(void)id;
	for (i = 0; i < n; i++)
		bytes += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(tb, i));
	b = calloc(1, sizeof(*b) + ((bytes >> LINE) + 2) * sizeof(*b->lines));
	if (!b || !n)
		die("out of memory");
	b->insns = n;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_CB_NO_REGS, b);
	for (i = 0; i < n; i++)
		add_insn(b, qemu_plugin_tb_get_insn(tb, i), i);
}

static void write_windows(FILE *f)
{
	size_t i;
	int k, whats = each ? ALL_WHATS : WHATS;

	fprintf(f, "window");
	for (k = 0; k < whats; k++)
		fprintf(f, "\t%s", names[k]);
	fprintf(f, "\tdistinct_lines\tdistinct_pages\n");
	for (i = 0; i < nwindows; i++) {
		fprintf(f, "%zu", i);
		for (k = 0; k < whats; k++)
			fprintf(f, "\t%" PRIu64, windows[i].gained[k]);
		fprintf(f, "\t%" PRIu64 "\t%" PRIu64 "\n", windows[i].lines, windows[i].pages);
	}
}

static void on_exit_write(uint64_t id, void *data)
{
	FILE *f = fopen(out_path, "w");

	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	for (int i = 0; each && i < VCPUS; i++)
		each_settle(&cpus[i], NULL);
	if (open_window)
		close_window();
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

static bool cpu_new(struct cpu *c)
{
	size_t l1 = options[L1].value << (10 - LINE), l2 = options[L2].value << (10 - LINE);

	return lru_new(&c->l1, l1, options[L1WAYS].value) &&
	       lru_new(&c->l2, l2, options[L2WAYS].value) &&
	       lru_new(&c->itlb, options[ITLB].value, options[ITLB].value) &&
	       lru_new(&c->btb, options[BTB].value, 4) &&
	       (!each || lru_new(&c->l1_each, l1, options[L1WAYS].value));
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!take_option(argv[i])) {
			fprintf(stderr,
				"fetch: %s: out=FILE, or a number for l1, l1ways, l2, "
				"l2ways, itlb, btb, each\n",
				argv[i]);
			return -1;
		}
	if (!out_path || strcmp(info->target_name, "x86_64") || !info->system_emulation) {
		fprintf(stderr, "fetch: for qemu-system-x86_64, with out=FILE\n");
		return -1;
	}
	each = open_window = options[OPTION_EACH].value;
	for (i = 0; i < VCPUS; i++)
		if (!cpu_new(&cpus[i]))
			die("out of memory");
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
