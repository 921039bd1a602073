// SPDX-License-Identifier: GPL-2.0-only
/* A library that comes and goes (churn.c). */
unsigned long turn(unsigned long n);
unsigned long turn(unsigned long n)
{
	volatile unsigned long kept = n * 3;

	return kept + (n % 5 == 0);
}
