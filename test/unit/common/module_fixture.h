/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that has each kind of thing that a module's tables tell of, and a kernel that it is for.
 */
#ifndef MODULE_FIXTURE_H
#define MODULE_FIXTURE_H

#include <string.h>

#include "module/module.h"

#define KERNEL	     0xffffffff81234560ull /* something of the kernel's */
#define FILE_NAME_AT 0xffffffff82345678ull

static const struct ki_module_kernel kernel = {
	.vermagic = "6.1.0-test SMP preempt mod_unload modversions ",
	.layout_crc = 0x89abcdef,
	.versions = true,
	.module_size = 896,
	.name_offset = 24,
	.bug_size = 12,
};

#define LEN 64

/* Nops, and what static branches and calls have been. */
static uint8_t nops[LEN];

static int setup(void **state)
{
	(void)state;
	memset(nops, 0x90, LEN);
	nops[10] = 0x66;
	memcpy(nops + 20, "\x0f\x1f\x44\0\0", 5);
	nops[30] = 0xe8;
	nops[40] = 0xe9;
	return 0;
}

static const struct ki_module_fix fixes[] = {
	{0, KI_MODULE_PC32, false, KERNEL, -4},	  {4, KI_MODULE_ABS32S, true, 33, 1},
	{12, KI_MODULE_ABS64, true, 5, 2},	  {31, KI_MODULE_PC32, false, 1, 1},
	{46, KI_MODULE_ABS32S, false, KERNEL, 8}, {50, KI_MODULE_PC32, true, 7, -4},
	{54, KI_MODULE_ABS64, false, KERNEL, -1},
};
static const struct ki_module_function functions[] = {
	{"one", 0, 30}, {"also_one", 0, 30}, {"two", 30, 34}};
static const struct ki_module_row rows[] = {{0, {8, 0, 1, 2, 3, 4}}, {30, {16, 0, 5, 6, 7, 8}}};
static const struct ki_module_jump jumps[] = {
	{10, KI_MODULE_NOP, {true, 60}, KERNEL | 1},
	{20, KI_MODULE_NOP, {false, KERNEL + 1}, (KERNEL + 0x40) | 2},
};
static const struct ki_module_call calls[] = {{30, KERNEL + 0x80}, {40, (KERNEL + 0x100) | 3}};
static const struct ki_module_fault faults[] = {{1, {true, 50}, 0x12345}, {9, {false, KERNEL}, 3}};
static const struct ki_module_bug bugs[] = {{34, FILE_NAME_AT, 77, 0x901}, {36, 0, 1, 2}};

static const struct ki_module_code all = {
	.name = "made",
	.code = nops,
	.len = LEN,
	.row_size = 6,
	.fixes = fixes,
	.functions = functions,
	.rows = rows,
	.jumps = jumps,
	.calls = calls,
	.faults = faults,
	.bugs = bugs,
	.nfixes = 7,
	.nfunctions = 3,
	.nrows = 2,
	.njumps = 2,
	.ncalls = 2,
	.nfaults = 2,
	.nbugs = 2,
};

#endif
