/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_PREEMPT_H
#define SHIM_PREEMPT_H

#define preempt_disable_notrace() ((void)0)
#define preempt_enable_notrace()  ((void)0)

/* A test says when it plays an NMI. */
#include <stdbool.h>
extern bool shim_in_nmi;
#define in_nmi() shim_in_nmi

#endif
