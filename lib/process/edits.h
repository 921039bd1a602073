/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_PROCESS_EDITS_H
#define KI_PROCESS_EDITS_H

#include "process/linked.h"

/* A jump to an address, at e->addr. */
void ki_edit_jump(struct ki_edit *e, uint64_t to);

/* A breakpoint of which the kernel is told: its flag says how. */
struct ki_edit ki_edit_hit(uint64_t addr, uint64_t to, uint8_t flag);

/*
 * What the driver writes for a window, whose patch is at `to`: over one instruction a jump, else a
 * breakpoint, which needs nobody to be stopped, led on or waited for.
 */
struct ki_edit ki_edit_by_driver(const struct ki_linked *x, const struct ki_window *w, uint64_t to);

#endif
