/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KI_FRAMES_WORK_H
#define KI_FRAMES_WORK_H

/* What is stepped through: always the same, and never asleep. */
void ki_frames_work(void);

/* Two warnings, one of which speaks once; returns n + 1. */
int ki_frames_warn(int n);

#endif
