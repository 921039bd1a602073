/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KI_FRAMES_WORK_H
#define KI_FRAMES_WORK_H

/* What is stepped through: always the same, and never asleep. */
void ki_frames_work(void);

/* Two warnings, one of which speaks once; returns n + 1. */
int ki_frames_warn(int n);

/* A BUG, if n is not negative. */
int ki_frames_bug(int n);

/* dump_stack, called by three functions that call each other; returns n + 3. */
int ki_frames_dump(int n);
int ki_frames_dump_middle(int n);
int ki_frames_dump_inner(int n);

#endif
