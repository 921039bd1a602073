/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What terminals send, as what people want who look at kerninst top.
 */
#ifndef KERNINST_TOP_KEYS_H
#define KERNINST_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ki_top_key {
	KI_TOP_KEY_NONE, /* none, or not a whole one yet */
	KI_TOP_KEY_UP,
	KI_TOP_KEY_DOWN,
	KI_TOP_KEY_PAGE_UP,
	KI_TOP_KEY_PAGE_DOWN,
	KI_TOP_KEY_FIRST,
	KI_TOP_KEY_LAST,
	KI_TOP_KEY_ENTER,
	KI_TOP_KEY_BACK,
	KI_TOP_KEY_SORT,
	KI_TOP_KEY_CALLS,
	KI_TOP_KEY_VTIME,
	KI_TOP_KEY_WALLTIME,
	KI_TOP_KEY_QUIT,
};

/* What has been read and is not a whole key yet: a sequence may come in pieces. */
struct ki_top_keys {
	char v[16];
	size_t n;
};

/* One more byte. Returns the key that it ends. */
enum ki_top_key ki_top_keys_take(struct ki_top_keys *k, char byte);

/* Is there a beginning of something? If nothing follows soon, ki_top_keys_end says what it was. */
bool ki_top_keys_pending(const struct ki_top_keys *k);
enum ki_top_key ki_top_keys_end(struct ki_top_keys *k);

#ifdef __cplusplus
}
#endif

#endif
