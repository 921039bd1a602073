/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_CMPXCHG_H
#define SHIM_CMPXCHG_H

#define cmpxchg(at, now, then) __sync_val_compare_and_swap(at, now, then)

#endif
