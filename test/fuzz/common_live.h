/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of check_target (common_program.h) that work out something again, by simpler means. */
#ifndef COMMON_LIVE_H
#define COMMON_LIVE_H

struct ki_program;

/* Which functions do not return: by going over all blocks until nothing changes. */
void check_returns(const struct ki_program *p);

/* What is live at each instruction follows from what is live after it. */
void check_liveness(const struct ki_program *p);

#endif
