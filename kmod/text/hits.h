/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of the driver's that may be spliced: hits.S. */
#ifndef KI_HITS_H
#define KI_HITS_H

#define KI_HITS	     1024
#define KI_HIT_BYTES 16 /* of each; they stand side by side */

#ifndef __ASSEMBLY__
#include <linux/ptrace.h>
#include <linux/types.h>

#include "uapi/kerninst.h"

static_assert(KI_HITS == KI_PROCESS_STUBS); /* of which no assembler knows */

typedef void ki_hit(unsigned long addr, struct pt_regs *regs);

extern ki_hit *const ki_hits[KI_HITS];

#endif
#endif
