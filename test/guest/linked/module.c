/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module facts: what the running kernel asks of a module.
 * module write FILE: the module below, as a file.
 * module load [norows], module unload: into the kernel, without the unwinder's rows if so said; out
 * of it. Prints how many of its functions the same target knows then, which was opened before.
 *
 * The module is ki_made: functions that may stand for ki_replace_a (replace/ki_replace.c), each
 * of which gives TENS * 10 and more:
 *
 *	made_7		7
 *	made_call	what hweight32, the kernel's, says of 15
 *	made_warn	8, after a WARN in a frame of 40 bytes
 *	made_fault	9, by the fixup of a fault; a word that could be read gives something else
 *	made_branch	5, or 6 if sched_schedstats is on
 *	made_apart	1 or 2 by the same key; and the branch leads to made_2, another function
 *	made_static	what ki_mate_op gives for TENS (mate/mate.c), nothing else
 *	made_tail	the same by a jump
 *	made_sleep	3, when a signal comes
 *	made_pointer	what is at a place in the code that has the place's own address
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/module.h"

static struct ki_err err;
static struct ki_target *t;

static void fail(const char *what)
{
	fprintf(stderr, "module: %s: %s\n", what, err.msg);
	exit(1);
}

/* Zeros stand where something is named; NOPs where a static branch is. */
asm(".pushsection .rodata\n"
    "made:\n"
    "made_7: lea (%rdi,%rdi,4), %eax\n lea 7(%rax,%rax), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_call: push %rdi\n"
    "made_call_in: mov $15, %edi\n"
    "made_call_at: .byte 0xe8\n .long 0\n"
    "pop %rdi\n"
    "made_call_out: lea (%rdi,%rdi,4), %edi\n lea (%rax,%rdi,2), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_warn: sub $40, %rsp\n"
    "made_warn_in: ud2\n"
    "add $40, %rsp\n"
    "made_warn_out: lea (%rdi,%rdi,4), %eax\n lea 8(%rax,%rax), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_fault: mov $0xffff, %eax\n shl $47, %rax\n"
    "made_fault_at: mov (%rax), %eax\n ret\n int3\n"
    "made_fault_fixup: lea (%rdi,%rdi,4), %eax\n lea 9(%rax,%rax), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_branch: lea (%rdi,%rdi,4), %eax\n"
    "made_branch_at: .byte 0x66, 0x90\n"
    "lea 5(%rax,%rax), %eax\n ret\n int3\n"
    "made_branch_taken: lea 6(%rax,%rax), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_apart: lea (%rdi,%rdi,4), %eax\n"
    "made_apart_at: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
    "lea 1(%rax,%rax), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_2: lea (%rdi,%rdi,4), %eax\n lea 2(%rax,%rax), %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_static: sub $8, %rsp\n"
    "made_static_at: .byte 0xe8\n .long 0\n"
    "add $8, %rsp\n"
    "made_static_out: ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_tail: .byte 0xe9\n .long 0\n int3\n"
    ".balign 16, 0xcc\n"
    "made_pointer:\n"
    "made_pointer_rip: .byte 0x48, 0x8d, 0x05\n .long 0\n" /* lea its own end, %rax */
    "made_pointer_32: .byte 0x48, 0xc7, 0xc1\n .long 0\n"  /* mov $that, %rcx */
    "made_pointer_64: .byte 0x48, 0xba\n .quad 0\n"	   /* mov $that, %rdx */
    "cmp %rax, %rcx\n jne 1f\n cmp %rax, %rdx\n jne 1f\n"
    "lea (%rdi,%rdi,4), %eax\n lea 4(%rax,%rax), %eax\n ret\n"
    "1: xor %eax, %eax\n ret\n int3\n"
    ".balign 16, 0xcc\n"
    "made_sleep: push %rdi\n"
    "made_sleep_in: mov $600000, %edi\n"
    "made_sleep_at: .byte 0xe8\n .long 0\n"
    "pop %rdi\n"
    "made_sleep_out: lea (%rdi,%rdi,4), %eax\n lea 3(%rax,%rax), %eax\n ret\n int3\n"
    "made_end:\n"
    ".popsection\n");

#define LABEL(name) extern const uint8_t name[] __attribute__((visibility("hidden")))
LABEL(made);
LABEL(made_7);
LABEL(made_call);
LABEL(made_call_in);
LABEL(made_call_at);
LABEL(made_call_out);
LABEL(made_warn);
LABEL(made_warn_in);
LABEL(made_warn_out);
LABEL(made_fault);
LABEL(made_fault_at);
LABEL(made_fault_fixup);
LABEL(made_branch);
LABEL(made_branch_at);
LABEL(made_branch_taken);
LABEL(made_apart);
LABEL(made_apart_at);
LABEL(made_2);
LABEL(made_static);
LABEL(made_static_at);
LABEL(made_static_out);
LABEL(made_tail);
LABEL(made_pointer);
LABEL(made_pointer_rip);
LABEL(made_pointer_32);
LABEL(made_pointer_64);
LABEL(made_sleep);
LABEL(made_sleep_in);
LABEL(made_sleep_at);
LABEL(made_sleep_out);
LABEL(made_end);

#define AT(label) ((uint32_t)((label)-made))

/* ---- the kernel's variables ---- */

static uint64_t variable(const char *name)
{
	char line[512], got[256];
	uint64_t addr, found = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, got) == 2 && !strcmp(got, name))
			found = addr;
	if (f)
		fclose(f);
	if (!found)
		fprintf(stderr, "module: the kernel has no %s\n", name), exit(1);
	return found;
}

static void get(uint64_t addr, void *buf, size_t n)
{
	if (ki_target_read_data(t, addr, buf, n, &err))
		fail("read");
}

#define ROW 6

/* The unwinder's row at a place of the kernel's, where the return address is 8 above the stack. */
static void entry_row(uint64_t addr, uint8_t row[ROW])
{
	const uint64_t ip = variable("__start_orc_unwind_ip"), orc = variable("__start_orc_unwind");
	uint64_t lo = 0, hi = (variable("__stop_orc_unwind_ip") - ip) / 4;

	while (hi - lo > 1) {
		const uint64_t mid = lo + (hi - lo) / 2;
		int32_t by;

		get(ip + 4 * mid, &by, sizeof(by));
		if (ip + 4 * mid + (uint64_t)(int64_t)by <= addr)
			lo = mid;
		else
			hi = mid;
	}
	get(orc + ROW * lo, row, ROW);
}

/* ---- the module ---- */

static int16_t entry_depth(const uint8_t row[ROW])
{
	int16_t depth;

	memcpy(&depth, row, sizeof(depth));
	return depth;
}

/* In the frames of these functions the return address is so far above the stack. */
static size_t put_rows(struct ki_module_row *rows)
{
	const struct {
		uint32_t off;
		int16_t depth;
	} frames[] = {
		{0, 8},
		{AT(made_call_in), 16},
		{AT(made_call_out), 8},
		{AT(made_warn_in), 48},
		{AT(made_warn_out), 8},
		{AT(made_static_at), 16},
		{AT(made_static_out), 8},
		{AT(made_sleep_in), 16},
		{AT(made_sleep_out), 8},
	};
	const size_t n = sizeof(frames) / sizeof(*frames);
	uint8_t entry[ROW];

	entry_row(variable("int_sqrt"), entry);
	if (entry_depth(entry) != 8)
		fprintf(stderr, "module: the row of int_sqrt is none of an entry\n"), exit(1);
	for (size_t i = 0; i < n; i++) {
		rows[i].off = frames[i].off;
		memcpy(rows[i].row, entry, ROW);
		memcpy(rows[i].row, &frames[i].depth, sizeof(frames[i].depth));
	}
	return n;
}

#define FUNCTION(name, end)                                                                        \
	{                                                                                          \
#name, AT(name), AT(end) - AT(name)                                                \
	}

static void make(bool unwound, void **file, size_t *size)
{
	const uint64_t key = variable("sched_schedstats"), op = variable("__SCK__ki_mate_op");
	const uint32_t end = AT(made_pointer_rip) + 7;
	struct ki_module_fix fixes[] = {
		{AT(made_call_at) + 1, KI_MODULE_PC32, false, variable("__sw_hweight32"), -4},
		{AT(made_pointer_rip) + 3, KI_MODULE_PC32, true, end, -4},
		{AT(made_pointer_32) + 3, KI_MODULE_ABS32S, true, end, 0},
		{AT(made_pointer_64) + 2, KI_MODULE_ABS64, true, end - 1, 1},
		{AT(made_sleep_at) + 1, KI_MODULE_PC32, false, variable("msleep_interruptible"),
		 -4},
	};
	const struct ki_module_function functions[] = {
		FUNCTION(made_7, made_call),	   FUNCTION(made_call, made_warn),
		FUNCTION(made_warn, made_fault),   FUNCTION(made_fault, made_branch),
		FUNCTION(made_branch, made_2),	   FUNCTION(made_apart, made_2),
		FUNCTION(made_2, made_static),	   FUNCTION(made_static, made_tail),
		FUNCTION(made_tail, made_pointer), FUNCTION(made_pointer, made_sleep),
		FUNCTION(made_sleep, made_end),
	};
	struct ki_module_row rows[16];
	struct ki_module_jump jumps[] = {
		{AT(made_branch_at), 0, {true, AT(made_branch_taken)}, key},
		{AT(made_apart_at), 0, {true, AT(made_2)}, key},
	};
	const struct ki_module_call calls[] = {{AT(made_static_at), op}, {AT(made_tail), op | 1}};
	const struct ki_module_fault faults[] = {
		{AT(made_fault_at), {true, AT(made_fault_fixup)}, 1}};
	const struct ki_module_bug bugs[] = {{AT(made_warn_in), variable("vermagic"), 321, 0x901}};
	struct ki_module_kernel k;
	struct ki_module_code c = {
		.name = "ki_made",
		.code = made,
		.len = AT(made_end),
		.row_size = ROW,
		.fixes = fixes,
		.functions = functions,
		.rows = rows,
		.jumps = jumps,
		.calls = calls,
		.faults = faults,
		.bugs = bugs,
		.nfixes = sizeof(fixes) / sizeof(*fixes),
		.nfunctions = sizeof(functions) / sizeof(*functions),
		.njumps = 2,
		.ncalls = 2,
		.nfaults = 1,
		.nbugs = 1,
	};

	c.nrows = unwound ? put_rows(rows) : 0;
	if (ki_module_kernel_read(t, &k, &err))
		fail("kernel");
	if (ki_module_first_states(t, jumps, 2, &err))
		fail("first states");
	if (ki_module_build(&k, &c, file, size, &err))
		fail("build");
}

static int facts(void)
{
	struct ki_module_kernel k;

	if (ki_module_kernel_read(t, &k, &err))
		fail("kernel");
	printf("vermagic %s\nversions %d\nlayout_crc 0x%08x\nmodule_size %u\nname_offset %u\n",
	       k.vermagic, k.versions, k.layout_crc, k.module_size, k.name_offset);
	return 0;
}

static int write_file(const char *path)
{
	FILE *f = fopen(path, "w");
	void *file;
	size_t size;

	make(true, &file, &size);
	if (!f || fwrite(file, size, 1, f) != 1 || fclose(f))
		return 1;
	free(file);
	return 0;
}

static void show(void)
{
	const struct ki_symbol *s;
	size_t n, found = 0;

	s = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].module, "ki_made"))
			found++;
	printf("functions %zu\n", found);
}

static int load(bool unwound)
{
	void *file;
	size_t size;

	make(unwound, &file, &size);
	if (ki_module_load(t, file, size, &err))
		fail("load");
	free(file);
	show();
	return 0;
}

static int unload(void)
{
	if (ki_module_unload(t, "ki_made", &err))
		fail("unload");
	show();
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (ki_target_new_live(&t, &err))
		fail("open");
	if (!strcmp(verb, "facts"))
		return facts();
	if (!strcmp(verb, "write") && argc == 3)
		return write_file(argv[2]);
	if (!strcmp(verb, "load"))
		return load(argc == 2);
	if (!strcmp(verb, "unload"))
		return unload();
	fprintf(stderr, "usage: module facts | write FILE | load [norows] | unload\n");
	return 2;
}
