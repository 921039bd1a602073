// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel functions and data that modules cannot link to.
 *
 * Their addresses come from kallsyms, and kallsyms_lookup_name itself from a kprobe that is
 * registered on it and taken away at once. On kernels with indirect-branch tracking nearly all
 * of these functions are sealed: an indirect call to one raises #CP on a CPU that enforces it.
 * So none is ever called through a pointer: each is a static call, whose sites the kernel
 * rewrites to direct calls when it is updated.
 */
#include <linux/kprobes.h>

#include "ki.h"
#include "symbols.h"

#define KI_DEFINE_CALL(name) DEFINE_STATIC_CALL_NULL(ki_##name, name);
KI_KERNEL_CALLS(KI_DEFINE_CALL)
KI_LARGE_CALLS(KI_DEFINE_CALL)

static bool ki_large_calls;

static unsigned long ki_lookup_none(const char *name)
{
	return 0;
}
DEFINE_STATIC_CALL(ki_lookup, ki_lookup_none);

unsigned long ki_symbol(const char *name)
{
	return static_call(ki_lookup)(name);
}

/* A kprobe stands after an endbr64; sprint_symbol tells how far in. */
static unsigned long symbol_start(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN], *plus;
	unsigned long off = 0;

	sprint_symbol(text, addr);
	plus = strchr(text, '+');
	if (plus)
		off = simple_strtoul(plus + 1, NULL, 16);
	return addr - off;
}

static int find_lookup(void)
{
	struct kprobe kp = {.symbol_name = "kallsyms_lookup_name"};
	int err = register_kprobe(&kp);

	if (err) {
		pr_err("kerninst: a kprobe on kallsyms_lookup_name is refused (%d): is the kernel locked down?\n",
		       err);
		return err;
	}
	static_call_update(ki_lookup,
			   (typeof(&ki_lookup_none))symbol_start((unsigned long)kp.addr));
	unregister_kprobe(&kp);
	return 0;
}

/* Data that the driver reads or locks. (What only reserved text is known by: reserved_names.c.) */
static const char *const ki_data[] = {
	"text_mutex", "kprobe_mutex", "modules", "nr_threads", "module_mutex",
	"mod_tree",   "init_mm",      "_stext",	 "_etext",
};

static int missing(const char *name)
{
	pr_err("kerninst: this kernel has no %s: not supported\n", name);
	return -ENOENT;
}

static void find_large(void)
{
	unsigned long addr;

#define KI_RESOLVE_LARGE(name)                                                                     \
	addr = ki_symbol(#name);                                                                   \
	if (!addr)                                                                                 \
		return;                                                                            \
	static_call_update(ki_##name, (typeof(&name))addr);
	KI_LARGE_CALLS(KI_RESOLVE_LARGE)
	ki_large_calls = true;
}

bool ki_symbols_large(void)
{
	return ki_large_calls;
}

int ki_symbols_init(void)
{
	unsigned long addr;
	int err = find_lookup();
	size_t i;

	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(ki_data); i++)
		if (!ki_symbol(ki_data[i]))
			return missing(ki_data[i]);
#define KI_RESOLVE_CALL(name)                                                                      \
	addr = ki_symbol(#name);                                                                   \
	if (!addr)                                                                                 \
		return missing(#name);                                                             \
	static_call_update(ki_##name, (typeof(&name))addr);
	KI_KERNEL_CALLS(KI_RESOLVE_CALL)
	find_large();
	return 0;
}
