// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { @a = llquantize(5, 10, 1, 2, 5); @a = llquantize(-5, 10, 1, 2, 5); @a = llquantize(99, 10, 1, 2, 5); @a = llquantize(10, 10, 1, 2, 5); printa(@a); trunc(@a); }
BEGIN { @b = llquantize(25, 10, 1, 2, 10); @b = llquantize(55, 10, 1, 2, 10); printa(@b); trunc(@b); }
BEGIN { @c = llquantize(0, 10, 0, 1, 10); @c = llquantize(-12, 10, 0, 1, 10); @c = llquantize(1000, 10, 0, 1, 10); printa(@c); trunc(@c); exit(0); }
