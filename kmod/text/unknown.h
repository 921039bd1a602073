/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this kernel has otherwise than the driver knows: unknown.c; the names of reserved text:
 * reserved_names.c; what breakpoints run: trap_path.c.
 */
#ifndef KI_UNKNOWN_H
#define KI_UNKNOWN_H

#include <linux/types.h>

struct ki_info;

/* unknown.c */
int ki_unknown_init(void);
/* Something has been found that is not known: it is logged, and text will not be written. */
void __printf(1, 2) ki_unknown_note(const char *fmt, ...);
bool ki_unknown_refuses(void);
void ki_unknown_info(struct ki_info *info);

/* reserved_names.c; ki_lock held */
typedef void (*ki_named_fn)(void *arg, unsigned long addr, u32 len, u32 reason);
void ki_names_each(ki_named_fn call, void *arg); /* that this kernel has */
void ki_names_check(void);			 /* notes those that it lacks and should have */

/* trap_path.c; ki_lock held, the table of reserved text is up to date */
int ki_trap_path_check(void); /* notes what is run there and not known */

#ifdef KI_TEST_FAIL
bool ki_pretends(const char *name); /* that this kernel lacks it, or the driver does not know it */
#else
static inline bool ki_pretends(const char *name)
{
	return false;
}
#endif

#endif
