// SPDX-License-Identifier: GPL-2.0-only
/*
 * states: a QEMU plugin that records in which states functions of the kernel are called.
 *
 *	qemu-system-x86_64 ... -plugin states.so,out=FILE,entries=FILE[,most=N]
 *
 * `entries` has a line for each function: its address in hex, and what is not read. Of each, the
 * first call is recorded, the 4th, the 16th and so on, until there are N (3): registers, and the
 * memory that they lead to, and what that leads to, as far as STATE_BLOCKS go. FILE is one
 * struct state after the other (states.h).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_api.h"
#include "states.h"

QEMU_EXPORT int qemu_plugin_version = QEMU_API_VERSION;
QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
				    char **argv);

struct entry {
	uint64_t addr, calls, kept;
};

static struct entry *entries;
static size_t nentries;
static unsigned long most = 3;
static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all that follows, and out */
static struct qemu_bytes *bytes;
static struct state now;

static const char *const reg_names[STATE_REGS + 1] = {"rax", "rcx", "rdx", "rbx",   "rbp", "rsi",
						      "rdi", "r8",  "r9",  "r10",   "r11", "r12",
						      "r13", "r14", "r15", "eflags"};
static struct qemu_plugin_register *regs[STATE_REGS + 1]; /* the same of all vCPUs */

static int by_addr(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool read_entries(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (!(nentries & (nentries + 1)))
			entries = realloc(entries, 2 * (nentries + 1) * sizeof(*entries));
		if (!entries)
			abort();
		entries[nentries++] = (struct entry){strtoull(line, NULL, 16), 0, 0};
	}
	if (!f || fclose(f))
		return false;
	qsort(entries, nentries, sizeof(*entries), by_addr);
	return nentries;
}

/* ---- a state ---- */

static bool find_regs(void)
{
	const struct qemu_array *all = qemu_plugin_get_registers();
	const struct qemu_reg *v = all ? all->data : NULL;
	size_t found = 0;

	for (unsigned int i = 0; v && i < all->len; i++)
		for (size_t k = 0; k <= STATE_REGS; k++)
			if (!regs[k] && !strcmp(v[i].name, reg_names[k])) {
				regs[k] = v[i].handle;
				found++;
			}
	return found == STATE_REGS + 1;
}

static uint64_t read_reg(size_t k)
{
	uint64_t value = 0;
	int len;

	g_byte_array_set_size(bytes, 0);
	len = qemu_plugin_read_register(regs[k], bytes);
	if (len > 0)
		memcpy(&value, bytes->data, (size_t)len < 8 ? (size_t)len : 8);
	return value;
}

static void add_block(uint64_t addr)
{
	struct state_block *b = &now.blocks[now.nblocks];

	addr &= ~(uint64_t)(STATE_BLOCK - 1);
	for (size_t i = 0; i < now.nblocks; i++)
		if (now.blocks[i].addr == addr)
			return;
	if (now.nblocks == STATE_BLOCKS || !qemu_plugin_read_memory_vaddr(addr, bytes, STATE_BLOCK))
		return;
	b->addr = addr;
	memcpy(b->words, bytes->data, STATE_BLOCK);
	now.nblocks++;
}

/* Memory near what registers say, then what stands there says. */
static void follow(void)
{
	for (int k = 0; k < STATE_REGS; k++)
		if (state_is_memory(now.regs[k])) {
			add_block(now.regs[k]);
			add_block(now.regs[k] + STATE_BLOCK);
		}
	for (size_t i = 0; i < now.nblocks; i++)
		for (size_t k = 0; k < STATE_BLOCK / 8; k++)
			if (state_is_memory(now.blocks[i].words[k]))
				add_block(now.blocks[i].words[k]);
}

static void on_entry(unsigned int vcpu, void *data)
{
	struct entry *e = data;

	(void)vcpu;
	if (__atomic_load_n(&e->kept, __ATOMIC_RELAXED) >= most)
		return;
	pthread_mutex_lock(&lock);
	/* Calls that are a power of 4. */
	if (++e->calls >> (2 * e->kept) && e->kept < most && (regs[0] || find_regs())) {
		now.entry = e->addr;
		for (size_t k = 0; k < STATE_REGS; k++)
			now.regs[k] = read_reg(k);
		now.flags = read_reg(STATE_REGS);
		now.nblocks = 0;
		follow();
		fwrite(&now, offsetof(struct state, blocks) + now.nblocks * sizeof(*now.blocks), 1,
		       out);
		__atomic_store_n(&e->kept, e->kept + 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- the plugin ---- */

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const struct entry key = {qemu_plugin_insn_vaddr(insn), 0, 0};
		struct entry *e = bsearch(&key, entries, nentries, sizeof(key), by_addr);

		if (e)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_entry, QEMU_CB_R_REGS, e);
	}
}

static void on_exit_write(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	if (fclose(out))
		perror("states: out");
	most = 0;
	pthread_mutex_unlock(&lock);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "we");
		else if (!strncmp(argv[i], "entries=", 8) && !read_entries(argv[i] + 8))
			fprintf(stderr, "states: no entries in %s\n", argv[i] + 8);
		else if (!strncmp(argv[i], "most=", 5))
			most = strtoul(argv[i] + 5, NULL, 10);
	}
	bytes = g_byte_array_new();
	if (!out || !nentries || !bytes) {
		fprintf(stderr, "states: out=FILE,entries=FILE[,most=N]\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
