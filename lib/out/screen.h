/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The terminal while something is shown in it, as kerninst top is: its second screen, keys as they
 * are pressed.
 *
 * However this process ends (but by SIGKILL), the terminal is then what it was. Ctrl-C stays what
 * it is; Ctrl-Z and Ctrl-\ do nothing. What is written to standard error meanwhile is kept: its
 * last line can be shown, and all of it is written when the screen closes.
 */
#ifndef KI_OUT_SCREEN_H
#define KI_OUT_SCREEN_H

#include <stdbool.h>

#include "out/canvas.h"

/* Are standard input and output a terminal? */
bool ki_screen_possible(void);

/* One at a time. 0, or -errno. */
int ki_screen_open(void);
void ki_screen_close(void); /* if it is open */

void ki_screen_size(unsigned int *width, unsigned int *height);
void ki_screen_show(const struct ki_canvas *c);

/* The last line that was written to standard error since the last time; "": none. Valid until the
   next call. */
const char *ki_screen_said(void);

#endif
