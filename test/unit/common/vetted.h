/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What both checks say of a snippet's code: the test's own list of what may be in it, and the
 * driver's.
 */
#ifndef VETTED_H
#define VETTED_H

#include "common_drv.h"
#include "common_snippet.h"
#include "common_vet.h"

/* The tag of a reason, or why; NULL: it may run. */
static const char *vetted(const struct ki_long_code *code)
{
	const char *why = vet_long(code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD);
	unsigned int reason;

	if (why || !code->len)
		return why;
	reason = drv_vet_long(code->code, code->len, code->fix, code->nfix, SNIP_COUNTERS,
			      SNIP_GLOBALS);
	return reason ? ki_reason_tag(reason) : NULL;
}

#endif
