// SPDX-License-Identifier: GPL-2.0-only
/*
 * exec_order: a QEMU plugin that writes down in which order instructions of some text are executed.
 *
 *	qemu-system-x86_64 ... -plugin exec_order.so,out=FILE,ranges=FILE[,vcpu=N]
 *
 * `ranges` has lines "START END" (hex) of addresses of the kernel. It is the witness of the order
 * in which blocks are passed, as exec_count.c, whose marks and limits it shares, is of how often.
 * FILE, written when QEMU ends, has a line for each instruction begun between the marks by that
 * vCPU, or any: its address in hex. The last window of a run is the one reported.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "qemu_api.h"

#define KERNEL_TEXT 0xffffffff80000000ull
#define RANGES_MAX  4096
#define ORDER_MAX   (1u << 22)

QEMU_EXPORT int qemu_plugin_version = QEMU_API_VERSION;
QEMU_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
				    char **argv);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static uint64_t *order;
static size_t norder;
static bool open_window;
static int only_vcpu = -1; /* any */

static struct range {
	uint64_t start, end;
} ranges[RANGES_MAX];
static size_t nranges;
static const char *out_path;

static void set_window(bool open)
{
	pthread_mutex_lock(&lock);
	if (open)
		norder = 0;
	open_window = open;
	pthread_mutex_unlock(&lock);
}

static void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	set_window(true);
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	set_window(false);
}

static void on_insn(unsigned int vcpu, void *addr)
{
	if (only_vcpu >= 0 && vcpu != (unsigned int)only_vcpu)
		return;
	pthread_mutex_lock(&lock);
	if (open_window && norder < ORDER_MAX)
		order[norder++] = (uintptr_t)addr;
	pthread_mutex_unlock(&lock);
}

static bool is_watched(uint64_t addr)
{
	for (size_t i = 0; i < nranges; i++)
		if (addr >= ranges[i].start && addr < ranges[i].end)
			return true;
	return false;
}

static void on_translate(uint64_t id, struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const uint64_t addr = qemu_plugin_insn_vaddr(insn);

		if (addr < KERNEL_TEXT)
			mark_check(insn);
		else if (is_watched(addr))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn, QEMU_CB_NO_REGS,
							       (void *)(uintptr_t)addr);
	}
}

static void on_exit_write(uint64_t id, void *data)
{
	FILE *f = fopen(out_path, "w");

	(void)id;
	(void)data;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; f && i < norder; i++)
		fprintf(f, "0x%" PRIx64 "\n", order[i]);
	pthread_mutex_unlock(&lock);
	if (!f || fclose(f))
		perror(out_path);
}

static bool read_ranges(const char *path)
{
	FILE *f = fopen(path, "r");

	while (f && nranges < RANGES_MAX &&
	       fscanf(f, "%" SCNx64 " %" SCNx64, &ranges[nranges].start, &ranges[nranges].end) == 2)
		nranges++;
	return f && !fclose(f) && nranges;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	bool read = false;

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out_path = argv[i] + 4;
		if (!strncmp(argv[i], "ranges=", 7))
			read = read_ranges(argv[i] + 7);
		if (!strncmp(argv[i], "vcpu=", 5))
			only_vcpu = atoi(argv[i] + 5);
	}
	order = malloc(ORDER_MAX * sizeof(*order));
	if (!out_path || !read || !order || strcmp(info->target_name, "x86_64") ||
	    !info->system_emulation) {
		fprintf(stderr, "exec_order: for qemu-system-x86_64, with out=FILE,ranges=FILE\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
