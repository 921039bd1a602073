/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KERNINSTD_NOTIFY_H
#define KERNINSTD_NOTIFY_H

/* Tell the service manager, if there is one: "READY=1" (sd_notify(3)). */
void notify(const char *state);

#endif
