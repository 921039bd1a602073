// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TEXT: paths.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "data/texts.h"

static u32 put(u8 *to, const u8 *from, u32 len, u32 most)
{
	len = min(len, most);
	memcpy(to, from, len);
	return len;
}

static u32 without_slashes(const u8 *s, u32 len)
{
	while (len && s[len - 1] == '/')
		len--;
	return len;
}

static u32 last_part(const u8 *s, u32 len)
{
	while (len && s[len - 1] != '/')
		len--;
	return len;
}

u32 ki_text_base(struct ki_text_piece s, u8 *to, u32 most)
{
	u32 len = without_slashes(s.at, s.len), from = last_part(s.at, len);

	if (!len)
		return put(to, (const u8 *)(s.len ? "/" : "."), 1, most);
	return put(to, s.at + from, len - from, most);
}

u32 ki_text_dir(struct ki_text_piece s, u8 *to, u32 most)
{
	u32 len = last_part(s.at, without_slashes(s.at, s.len));

	if (!len)
		return put(to, (const u8 *)(s.len && s.at[0] == '/' ? "/" : "."), 1, most);
	len = without_slashes(s.at, len);
	return len ? put(to, s.at, len, most) : put(to, (const u8 *)"/", 1, most);
}

/* Without its last part; the / before that stays if nothing else does. */
static u32 back(const u8 *to, u32 n, bool absolute)
{
	n = last_part(to, n);
	n = n ? n - 1 : 0;
	return absolute || n ? n : 0;
}

static bool is(const u8 *s, u32 len, const char *text)
{
	return len == strlen(text) && !memcmp(s, text, len);
}

/* Part by part: `.` is left out, `..` takes the part before away, if there is one; `.` if none is
 * left.
 */
u32 ki_text_clean(struct ki_text_piece s, u8 *to, u32 most)
{
	bool absolute = s.len && s.at[0] == '/';
	u32 n = 0, i = 0, len;

	while (i < s.len) {
		while (i < s.len && s.at[i] == '/')
			i++;
		for (len = 0; i + len < s.len && s.at[i + len] != '/';)
			len++;
		if (is(s.at + i, len, "..") && (n || absolute) &&
		    !is(to + last_part(to, n), n - last_part(to, n), "..")) {
			n = back(to, n, absolute);
		} else if (len && !is(s.at + i, len, ".")) {
			if ((absolute || n) && n < most)
				to[n++] = '/';
			n += put(to + n, s.at + i, len, most - n);
		}
		i += len;
	}
	return n || !s.len ? n : put(to, (const u8 *)(absolute ? "/" : "."), 1, most);
}
