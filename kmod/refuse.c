// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reasons and their errno.
 */
#include "ki.h"

static const int ki_errnos[] = {
#define KI_REASON(tag, err, text, hint) err,
#include "uapi/kerninst_reasons.def"
#undef KI_REASON
};

int ki_refuse(u32 *out, u16 reason)
{
	if (!*out)
		*out = reason;
	return -ki_errnos[reason];
}
