/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who may do what: permit.c.
 */
#ifndef KI_PERMIT_H
#define KI_PERMIT_H

#include <linux/types.h>

struct file;

/* May this process open the device so? 0; -EACCES: it lacks the right; -EPERM: lockdown forbids it.
 */
int __must_check ki_permit_open(const struct file *file);
/* May the request be made now, by this process, on this descriptor? 0, or its reason is in arg. */
int __must_check ki_permit_request(const struct file *file, unsigned int cmd, void *arg);
/* ki_lock held: may it still be made of this session? The same. */
struct ki_session;
int __must_check ki_permit_session(const struct file *file, unsigned int cmd, void *arg)
	__must_hold(&ki_lock);
int __must_check ki_permit_map(void);
/* May a request of this process lead control into functions of the kernel? KI_R_OK, or why not. */
u16 __must_check ki_permit_calls(void);
/* The same: to send signals to whatever process comes by? */
u16 __must_check ki_permit_signals(void);

#endif
