/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_PERCPU_H
#define SHIM_PERCPU_H

#define __percpu
#define raw_cpu_ptr(p) (p)

#endif
