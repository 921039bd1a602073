/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LIST_H
#define SHIM_LIST_H

/* As much of the kernel's as the driver's declarations need. */
struct list_head {
	struct list_head *next, *prev;
};

#endif
