// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { @a = quantize(-100); @a = quantize(0); @a = quantize(1); @a = quantize(30); printa(@a); trunc(@a); }
BEGIN { @b = quantize(5, -3); @b = quantize(10, 5); printa(@b); trunc(@b); }
BEGIN { @c = quantize(0); printa(@c); clear(@c); printa(@c); trunc(@c); }
BEGIN { @d = quantize(0x7fffffffffffffff); printa(@d); trunc(@d); }
BEGIN { @e = quantize(-0x7fffffffffffffff - 1); @e = quantize(-0x7fffffffffffffff); printa(@e); trunc(@e); }
BEGIN { @f = quantize(5); @f = quantize(6); @f = quantize(100); normalize(@f, 2); printa(@f); trunc(@f); }
BEGIN { @g["k", 1] = quantize(8); printa(@g); trunc(@g); exit(0); }
