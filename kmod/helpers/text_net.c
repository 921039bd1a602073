// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TEXT: addresses of networks as they are written.
 */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "data/texts.h"

s64 ki_text_do_ipv4(struct ki_op *o)
{
	u8 v[4];

	if (copy_from_kernel_nofault(v, (const void *)o->a, sizeof(v)))
		return KI_FAULT;
	return scnprintf((char *)o->out, o->most + 1, "%u.%u.%u.%u", v[0], v[1], v[2], v[3]);
}

/* The longest run of two words or more that are 0: where, and how long. */
static void longest_zeros(const u16 *v, u32 *first, u32 *count)
{
	u32 i, n;

	*first = *count = 0;
	for (i = 0; i < 8; i += n + 1) {
		for (n = 0; i + n < 8 && !v[i + n];)
			n++;
		if (n > 1 && n > *count) {
			*first = i;
			*count = n;
		}
	}
}

/* ::ffff:1.2.3.4, ::1.2.3.4: an address of IPv4. */
static bool is_ipv4(const u16 *v)
{
	u32 i;

	for (i = 0; i < 5; i++)
		if (v[i])
			return false;
	return v[5] == 0xffff || (!v[5] && v[6]);
}

s64 ki_text_do_ipv6(struct ki_op *o)
{
	u32 i, n = 0, first, count;
	u16 v[8];
	u8 b[16];

	if (copy_from_kernel_nofault(b, (const void *)o->a, sizeof(b)))
		return KI_FAULT;
	for (i = 0; i < 8; i++)
		v[i] = b[2 * i] << 8 | b[2 * i + 1];
	if (is_ipv4(v))
		return scnprintf((char *)o->out, o->most + 1, "%s%u.%u.%u.%u",
				 !o->b	? ""
				 : v[5] ? "::ffff:"
					: "::",
				 b[12], b[13], b[14], b[15]);
	longest_zeros(v, &first, &count);
	for (i = 0; i < 8; i++) {
		if (count && i == first)
			n += scnprintf((char *)o->out + n, o->most + 1 - n, i ? ":" : "::");
		if (count && i >= first && i < first + count)
			continue;
		n += scnprintf((char *)o->out + n, o->most + 1 - n, i < 7 ? "%x:" : "%x", v[i]);
	}
	return n;
}
