/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_WAIT_H
#define SHIM_WAIT_H

typedef int wait_queue_head_t;

#endif
