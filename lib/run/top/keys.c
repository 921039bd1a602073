// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/top_keys.h"

#include <string.h>

#define ESC "\033"

static const struct {
	const char *bytes;
	enum ki_top_key key;
} table[] = {
	{"k", KI_TOP_KEY_UP},
	{"j", KI_TOP_KEY_DOWN},
	{ESC "[A", KI_TOP_KEY_UP},
	{ESC "OA", KI_TOP_KEY_UP},
	{ESC "[B", KI_TOP_KEY_DOWN},
	{ESC "OB", KI_TOP_KEY_DOWN},
	{ESC "[5~", KI_TOP_KEY_PAGE_UP},
	{ESC "[6~", KI_TOP_KEY_PAGE_DOWN},
	{" ", KI_TOP_KEY_PAGE_DOWN},
	{"g", KI_TOP_KEY_FIRST},
	{ESC "[H", KI_TOP_KEY_FIRST},
	{ESC "OH", KI_TOP_KEY_FIRST},
	{ESC "[1~", KI_TOP_KEY_FIRST},
	{"G", KI_TOP_KEY_LAST},
	{ESC "[F", KI_TOP_KEY_LAST},
	{ESC "OF", KI_TOP_KEY_LAST},
	{ESC "[4~", KI_TOP_KEY_LAST},
	{"\r", KI_TOP_KEY_ENTER},
	{"\n", KI_TOP_KEY_ENTER},
	{"l", KI_TOP_KEY_ENTER},
	{ESC "[C", KI_TOP_KEY_ENTER},
	{ESC "OC", KI_TOP_KEY_ENTER},
	{"\177", KI_TOP_KEY_BACK},
	{"\b", KI_TOP_KEY_BACK},
	{"h", KI_TOP_KEY_BACK},
	{ESC "[D", KI_TOP_KEY_BACK},
	{ESC "OD", KI_TOP_KEY_BACK},
	{ESC, KI_TOP_KEY_BACK},
	{"s", KI_TOP_KEY_SORT},
	{"c", KI_TOP_KEY_CALLS},
	{"v", KI_TOP_KEY_VTIME},
	{"w", KI_TOP_KEY_WALLTIME},
	{"q", KI_TOP_KEY_QUIT},
};

/* The key that the bytes are. */
static enum ki_top_key find(const struct ki_top_keys *k)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strlen(table[i].bytes) == k->n && !memcmp(table[i].bytes, k->v, k->n))
			return table[i].key;
	return KI_TOP_KEY_NONE;
}

/* A sequence of a terminal: ESC, [ or O, perhaps digits, and what ends it. */
static bool is_whole(const struct ki_top_keys *k)
{
	const char last = k->v[k->n - 1];

	if (k->v[0] != *ESC)
		return true;
	if (k->n == 1)
		return false;
	if (k->n == 2)
		return last != '[' && last != 'O';
	return last >= '@' && last <= '~';
}

enum ki_top_key ki_top_keys_end(struct ki_top_keys *k)
{
	enum ki_top_key key = find(k);

	k->n = 0;
	return key;
}

enum ki_top_key ki_top_keys_take(struct ki_top_keys *k, char byte)
{
	if (k->n == sizeof(k->v))
		k->n = 0;
	k->v[k->n++] = byte;
	return is_whole(k) ? ki_top_keys_end(k) : KI_TOP_KEY_NONE;
}

bool ki_top_keys_pending(const struct ki_top_keys *k)
{
	return k->n > 0;
}
