/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst cover of the running kernel.
 */
#ifndef KERNINST_COVER_LIVE_H
#define KERNINST_COVER_LIVE_H

#include "cli.h"

/* clang-format off */
#define COVER_LIVE_OPTIONS_USAGE \
	"  -a, --all              all functions of the kernel and its modules\n" \
	"  -m, --mode MODE        hit: has a block been executed? count: how often?  [hit]\n" \
	"      --heal             a block's probe takes itself out after its first hit (mode hit)\n" \
	"      --every            a probe in each block, also where others' tell\n" \
	"      --no-move          leave functions where they are, also where probes cost more so\n"
/* clang-format on */

int cover_live(const struct verb *self, int argc, char **argv);

#endif
