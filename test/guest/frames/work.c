// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions that are stepped through and spliced. Most of the work is done by the kernel's
 * own printing of numbers, strings, addresses and symbols: many small functions, several calls
 * deep, and none ever sleeps.
 */
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "work.h"

static char text[512];

noinline void ki_frames_work(void)
{
	static const u8 bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	u64 number = 0x123456789abcull;
	unsigned long value;
	u32 address = 0x0100007f;

	snprintf(text, sizeof(text), "%d %s %#llx %c %-20u|", -42, "a string", number, 'x', 17);
	snprintf(text, sizeof(text), "%pI4 %*ph %pUb %p", &address, 8, bytes, bytes, text);
	snprintf(text, sizeof(text), "%pS %ps", (void *)snprintf, (void *)strlen);
	if (kstrtoul("123456", 10, &value))
		text[0] = 0;
	hex_dump_to_buffer(bytes, sizeof(bytes), 16, 1, text, sizeof(text), true);
}

noinline int ki_frames_warn(int n)
{
	WARN(n >= 0, "ki_frames: each time\n");
	WARN_ONCE(n >= 0, "ki_frames: once\n");
	barrier();
	return n + 1;
}

/* Nobody comes back from here. */
noinline int ki_frames_bug(int n)
{
	BUG_ON(n >= 0);
	barrier();
	return n + 1;
}

/* Each has something to do when the next one has returned, so none jumps there. */
noinline int ki_frames_dump_inner(int n)
{
	dump_stack();
	barrier();
	return n + 1;
}

noinline int ki_frames_dump_middle(int n)
{
	return ki_frames_dump_inner(n) + 1;
}

noinline int ki_frames_dump(int n)
{
	return ki_frames_dump_middle(n) + 1;
}
