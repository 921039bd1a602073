/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KERNINST_SPEED_H
#define KERNINST_SPEED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Instructions like inserted code that this CPU executes in a second, by trying: some ms. */
double ki_cpu_speed(void);

#ifdef __cplusplus
}
#endif

#endif
