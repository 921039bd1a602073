// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { @a = lquantize(3, 0, 5); @a = lquantize(-3, 0, 5); @a = lquantize(30, 0, 5); printa(@a); trunc(@a); }
BEGIN { @b = lquantize(9, 0, 10, 3); @b = lquantize(10, 0, 10, 3); @b = lquantize(8, 0, 10, 3); printa(@b); trunc(@b); }
BEGIN { @c = lquantize(-8, -10, 10, 5); @c = lquantize(-20, -10, 10, 5, 3); printa(@c); trunc(@c); }
BEGIN { @d = lquantize(5, 0, 10); clear(@d); printa(@d); trunc(@d); exit(0); }
