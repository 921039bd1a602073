// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TEXT: what concerns the current process alone: its arguments, and writing to its memory.
 *
 * Nothing here sleeps: a page that is not in memory is not fetched, and one that is shared until it
 * is written to is not copied. Both are as if they were not there.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "data/stacks.h"
#include "data/texts.h"

/* As /proc/PID/cmdline has them, with a space where a 0 is. */
s64 ki_text_do_arguments(struct ki_op *o)
{
	u64 start, end;
	u32 len, i;

	if (!ki_user_memory())
		return 0;
	start = READ_ONCE(current->mm->arg_start);
	end = READ_ONCE(current->mm->arg_end);
	len = end > start ? min_t(u64, end - start, o->most) : 0;
	if (copy_from_user_nofault(o->out, (const void __user *)start, len))
		return 0;
	while (len && !o->out[len - 1])
		len--;
	for (i = 0; i < len; i++)
		if (!o->out[i])
			o->out[i] = ' ';
	return len;
}

static bool put(u64 to, const u8 *from, u32 len)
{
	return ki_user_memory() && !copy_to_user_nofault((void __user *)to, from, len);
}

s64 ki_text_do_copy_out(struct ki_op *o)
{
	u32 done, len;

	if (o->c > KI_TEXTS_PIECE ||
	    (ki_texts_scratch(o->t, o->a) && !ki_texts_inside(o->t, o->a, o->c)))
		return (s64)KI_TEXT_FAULT;
	for (done = 0; done < o->c; done += len) {
		len = min_t(u32, o->c - done, o->most);
		if (copy_from_kernel_nofault(o->out, (const void *)(o->a + done), len))
			return (s64)KI_TEXT_FAULT;
		if (!put(o->b + done, o->out, len))
			return (s64)KI_TEXT_SECOND;
	}
	return 0;
}

/* After a string that is in the table there is a 0. */
s64 ki_text_do_copy_out_text(struct ki_op *o)
{
	return put(o->b, o->s.at, min_t(u64, o->s.len + 1, o->c)) ? 0 : (s64)KI_TEXT_SECOND;
}

s64 ki_text_do_copy_text(struct ki_op *o)
{
	u8 *to = (u8 *)o->b;
	u64 i;

	if (!ki_texts_inside(o->t, o->b, o->c))
		return (s64)KI_TEXT_SECOND;
	for (i = 0; i < o->c; i++)
		WRITE_ONCE(to[i], i < o->s.len ? o->s.at[i] : 0);
	return 0;
}
