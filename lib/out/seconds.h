/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_OUT_SECONDS_H
#define KI_OUT_SECONDS_H

/* Room for any value with its unit. */
#define KI_SECONDS_TEXT 32

/* "1.23 ms", "-2.00 us", "0 ns". Returns text. */
char *ki_seconds_text(double s, char text[KI_SECONDS_TEXT]);

#endif
