// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
#pragma D option aggsortkey
#pragma D option aggsortkeypos=1
#pragma D option aggsortrev
BEGIN { @[3, "a"] = sum(2); @[1, "d"] = sum(2); @[2, "c"] = sum(1); @[-1, "b"] = sum(-4); exit(0); }
