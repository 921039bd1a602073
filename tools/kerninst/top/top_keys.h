/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What terminals send, as what people want.
 */
#ifndef KERNINST_TOP_KEYS_H
#define KERNINST_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum top_key {
	TOP_KEY_NONE, /* none, or not a whole one yet */
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_FIRST,
	TOP_KEY_LAST,
	TOP_KEY_ENTER,
	TOP_KEY_BACK,
	TOP_KEY_SORT,
	TOP_KEY_CALLS,
	TOP_KEY_VTIME,
	TOP_KEY_WALLTIME,
	TOP_KEY_QUIT,
};

/* What has been read and is not a whole key yet: a sequence may come in pieces. */
struct top_keys {
	char v[16];
	size_t n;
};

/* One more byte. Returns the key that it ends. */
enum top_key top_keys_take(struct top_keys *k, char byte);

/* Is there a beginning of something? If nothing follows soon, top_keys_end says what it was. */
bool top_keys_pending(const struct top_keys *k);
enum top_key top_keys_end(struct top_keys *k);

#endif
