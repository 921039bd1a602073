/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KERNINST_COMMON_SPEED_H
#define KERNINST_COMMON_SPEED_H

/* Instructions like inserted code that this CPU executes in a second, by trying: some ms. */
double speed_of_cpu(void);

#endif
