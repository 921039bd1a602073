/* SPDX-License-Identifier: GPL-2.0-only */
/* Inlined, or called, by what includes it. */
static inline int odd(unsigned long n)
{
	if (n % 2)
		return 1;
	return 0;
}
