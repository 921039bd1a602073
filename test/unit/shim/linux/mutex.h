/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_MUTEX_H
#define SHIM_MUTEX_H

/* As much of the kernel's as the driver's declarations need. */
struct mutex {
	int unused;
};

#endif
