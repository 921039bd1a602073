// SPDX-License-Identifier: GPL-2.0-only
#include "top/top_keys.h"

#include <string.h>

#define ESC "\033"

static const struct {
	const char *bytes;
	enum top_key key;
} table[] = {
	{"k", TOP_KEY_UP},
	{"j", TOP_KEY_DOWN},
	{ESC "[A", TOP_KEY_UP},
	{ESC "OA", TOP_KEY_UP},
	{ESC "[B", TOP_KEY_DOWN},
	{ESC "OB", TOP_KEY_DOWN},
	{ESC "[5~", TOP_KEY_PAGE_UP},
	{ESC "[6~", TOP_KEY_PAGE_DOWN},
	{" ", TOP_KEY_PAGE_DOWN},
	{"g", TOP_KEY_FIRST},
	{ESC "[H", TOP_KEY_FIRST},
	{ESC "OH", TOP_KEY_FIRST},
	{ESC "[1~", TOP_KEY_FIRST},
	{"G", TOP_KEY_LAST},
	{ESC "[F", TOP_KEY_LAST},
	{ESC "OF", TOP_KEY_LAST},
	{ESC "[4~", TOP_KEY_LAST},
	{"\r", TOP_KEY_ENTER},
	{"\n", TOP_KEY_ENTER},
	{"l", TOP_KEY_ENTER},
	{ESC "[C", TOP_KEY_ENTER},
	{ESC "OC", TOP_KEY_ENTER},
	{"\177", TOP_KEY_BACK},
	{"\b", TOP_KEY_BACK},
	{"h", TOP_KEY_BACK},
	{ESC "[D", TOP_KEY_BACK},
	{ESC "OD", TOP_KEY_BACK},
	{ESC, TOP_KEY_BACK},
	{"s", TOP_KEY_SORT},
	{"c", TOP_KEY_CALLS},
	{"v", TOP_KEY_VTIME},
	{"w", TOP_KEY_WALLTIME},
	{"q", TOP_KEY_QUIT},
};

/* The key that the bytes are. */
static enum top_key find(const struct top_keys *k)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strlen(table[i].bytes) == k->n && !memcmp(table[i].bytes, k->v, k->n))
			return table[i].key;
	return TOP_KEY_NONE;
}

/* A sequence of a terminal: ESC, [ or O, perhaps digits, and what ends it. */
static bool is_whole(const struct top_keys *k)
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

enum top_key top_keys_end(struct top_keys *k)
{
	enum top_key key = find(k);

	k->n = 0;
	return key;
}

enum top_key top_keys_take(struct top_keys *k, char byte)
{
	if (k->n == sizeof(k->v))
		k->n = 0;
	k->v[k->n++] = byte;
	return is_whole(k) ? top_keys_end(k) : TOP_KEY_NONE;
}

bool top_keys_pending(const struct top_keys *k)
{
	return k->n > 0;
}
