// SPDX-License-Identifier: GPL-2.0-only
/* old_hash can be replaced by new_hash, and a call of rw_verify_area by verify. */
#include <kerninst/instrument.h>

#include <linux/fs.h>

noinline int old_hash(int n);
noinline int new_hash(int n);
noinline int verify(int read_write, struct file *file, const loff_t *at, size_t count);

noinline int old_hash(int n)
{
	return n + jiffies % 3;
}

noinline int new_hash(int n)
{
	return n + jiffies % 5;
}

noinline int verify(int read_write, struct file *file, const loff_t *at, size_t count)
{
	return jiffies ? 0 : read_write;
}

/* clang-format off */
KI_INSTRUMENT(hashes, "calls what is replaced", (int n))
/* clang-format on */
{
	return old_hash(n) + new_hash(n) + verify(n, NULL, NULL, 0);
}

KI_INSTRUMENT_MODULE("functions to replace");
