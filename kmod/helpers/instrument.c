// SPDX-License-Identifier: GPL-2.0-only
/*
 * What functions of other modules call when a chunk has called them (kerninst/instrument.h).
 *
 * They say neither into which ring a record goes nor which id it has: the chunk did, and its code
 * has been checked (vet_long.c). So a function writes into the ring of the session that called it,
 * and into no other. What ENTER_RECORD noted is good until LEAVE: preemption is off, and an
 * interrupt that comes meanwhile has another level. Called from anywhere else, it finds nothing
 * noted.
 *
 * The name carries the version of the interface. Modules find it by name when they are loaded
 * (symbol_get), not by linking: so they are built without this driver's symbol versions.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/preempt.h>

#include "data/ring.h"
#include "helpers/access.h"

int kerninst_record_1(const u64 *words, u32 n);

notrace int kerninst_record_1(const u64 *words, u32 n)
{
	u32 ring, id;
	bool known, written;

	if (n > KI_RECORD_WORDS)
		return -E2BIG;
	preempt_disable_notrace();
	known = ki_helper_hit(&ring, &id);
	written = known && ki_record_put(ring, id, words, n);
	ki_preempt_enable();
	return written ? 0 : known ? -ENOSPC : -ENOENT;
}
EXPORT_SYMBOL_GPL(kerninst_record_1);
