// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { @[3, "a"] = sum(2); @[1, "b"] = sum(2); @[2, "c"] = sum(1); @[-1, "d"] = sum(-4); exit(0); }
