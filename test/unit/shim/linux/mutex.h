/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_MUTEX_H
#define SHIM_MUTEX_H

#include <assert.h>

/* As much of the kernel's as the driver's files that are compiled in tests need. */
struct mutex {
	int held;
};

#define DEFINE_MUTEX(name) struct mutex name

static inline void mutex_lock(struct mutex *m)
{
	assert(!m->held);
	m->held = 1;
}

static inline void mutex_unlock(struct mutex *m)
{
	assert(m->held);
	m->held = 0;
}

/* What declarations say of their locks and results. */
#ifndef __must_hold
#define __must_hold(lock)
#define __must_check __attribute__((warn_unused_result))
#endif

#endif
