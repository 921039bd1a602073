/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Text to be compared: as it is now, and as it was. */
#ifndef KI_TARGET_TEXT_H
#define KI_TARGET_TEXT_H

#include "target/priv.h"

/*
 * The bytes of a range as they are now (KI_VIEW_LIVE) or were (KI_VIEW_ORIG), those that the kernel
 * itself rewrites taken as zero; the caller frees *out, which is NULL after an error.
 */
int ki_target_text_masked(struct ki_target *t, const struct ki_text_range *r, enum ki_view view,
			  uint8_t **out, struct ki_err *err);

/* The driver's own text is not what it changes: that is neither hashed nor kept. */
bool ki_target_text_is_watched(const struct ki_target *t, const struct ki_text_range *r);

/*
 * What reading it returned says that the module has been unloaded since the target was opened: that
 * is no error, and err (or NULL) forgets it.
 */
bool ki_target_text_is_gone(const struct ki_text_range *r, int ret, struct ki_err *err);

#endif
