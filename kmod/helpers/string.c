// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helpers STRING and USTRING: a C string into words on a chunk's stack.
 *
 * It is read in pieces that never reach into the next word of 8 bytes. So no piece reaches into a
 * page that the string does not reach into. A string that ends before memory that is not there is
 * read to its end. What can be read only in part is an empty string: half a name would be another
 * name.
 *
 * The words lie as records have them: the first was pushed first and lies highest (record.c).
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "data/stacks.h"
#include "data/texts.h"
#include "symbols.h"

bool ki_user_memory(void)
{
	return current->mm && !(current->flags & PF_KTHREAD) && ki_call(nmi_uaccess_okay)();
}

static bool read_piece(u8 *to, u64 from, u32 len, bool user)
{
	if (user)
		return !copy_from_user_nofault(to, (const void __user *)from, len);
	return !copy_from_kernel_nofault(to, (const void *)from, len);
}

/* Bytes before the first 0, or len. */
static u32 length(const u8 *s, u32 len)
{
	u32 i;

	for (i = 0; i < len && s[i]; i++)
		;
	return i;
}

int ki_string_read(u8 *to, u64 from, u32 most, bool user)
{
	u32 at = 0, len, piece;

	while (at < most) {
		piece = 8 - ((from + at) & 7);
		if (!read_piece(to + at, from + at, piece, user))
			return -EFAULT;
		len = length(to + at, piece);
		at += len;
		if (len < piece)
			break;
	}
	return min(at, most);
}

static u64 take_string(u64 from, u32 n, u64 *to, bool user)
{
	u64 words[KI_STRING_WORDS + 1] = {0};
	u32 most = n * sizeof(u64) - 1, i;
	int len = ki_string_read((u8 *)words, from, most, user);

	if (len < 0)
		len = 0;
	memset((u8 *)words + len, 0, most + 1 - len);
	for (i = 0; i < n; i++)
		to[n - 1 - i] = words[i];
	return len;
}

u64 ki_string_kernel(u64 from, u32 n, u64 *to)
{
	return take_string(from, n, to, false);
}

u64 ki_string_user(u64 from, u32 n, u64 *to)
{
	if (ki_user_memory())
		return take_string(from, n, to, true);
	memset(to, 0, n * sizeof(*to));
	return 0;
}
