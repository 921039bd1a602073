/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal while kerninst top is shown in it: its second screen, keys as they are pressed.
 *
 * However this process ends (but by SIGKILL), the terminal is then what it was. Ctrl-C stays what
 * it is; Ctrl-Z and Ctrl-\ do nothing. What is written to standard error meanwhile is kept: its
 * last line can be shown, and all of it is written when the screen closes.
 */
#ifndef KERNINST_TOP_SCREEN_H
#define KERNINST_TOP_SCREEN_H

#include "top/top_draw.h"

/* Are standard input and output a terminal? */
bool top_screen_possible(void);

/* One at a time. CLI_OK, or reported. */
int top_screen_open(void);
void top_screen_close(void); /* if it is open */

void top_screen_size(unsigned int *width, unsigned int *height);
void top_screen_show(const struct top_canvas *c);

/* The last line that was written to standard error since the last time; "": none. Valid until the
   next call. */
const char *top_screen_said(void);

#endif
