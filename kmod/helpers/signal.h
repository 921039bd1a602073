/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helper SIGNAL: signals to the current process, from anywhere: signal.c.
 */
#ifndef KI_SIGNAL_H
#define KI_SIGNAL_H

#include <linux/types.h>

int ki_signals_init(void);
/* No chunk runs any more: until all that was asked for has been sent. */
void ki_signals_exit(void);
/* Preemption is off. 0: there is no room; 1: it will be sent, or there is none to send. */
u64 ki_signal_send(u64 number);

#endif
