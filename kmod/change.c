// SPDX-License-Identifier: GPL-2.0-only
/*
 * A change of installed windows, and what the two requests that make changes share.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

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

void *ki_take_array(u64 from, u32 n, size_t each, int *err)
{
	void *p;

	if (*err || !n)
		return NULL;
	p = kvmalloc_array(n, each, GFP_KERNEL);
	if (!p) {
		*err = -ENOMEM;
	} else if (copy_from_user(p, u64_to_user_ptr(from), (size_t)n * each)) {
		kvfree(p);
		p = NULL;
		*err = -EFAULT;
	}
	return p;
}

static void springboard(u8 *out, unsigned long at, unsigned long to)
{
	s32 rel = to - (at + KI_JMP_LEN);

	out[0] = KI_JMP;
	memcpy(out + 1, &rel, 4);
}

static void fill_swap(struct ki_swap *s, const struct ki_change *c)
{
	const struct ki_win *w = c->win;

	s->addr = w->addr;
	s->fresh = w->fresh;
	s->wait = w->fresh && w->wait;
	s->via = c->patch.addr ? c->patch.addr : w->patch.addr;
	if (w->fresh)
		memcpy(s->now, w->orig, KI_JMP_LEN);
	else
		springboard(s->now, w->addr, w->patch.addr);
	if (c->patch.addr)
		springboard(s->then, w->addr, c->patch.addr);
	else
		memcpy(s->then, w->orig, KI_JMP_LEN);
}

int ki_change_swap(struct ki_change *changes, u32 n, u32 *bad)
{
	struct ki_swap *v;
	int err;
	u32 i;

	*bad = n;
	v = kvmalloc_array(n, sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		fill_swap(&v[i], &changes[i]);
	err = ki_text_swap(v, n, bad);
	kvfree(v);
	return err;
}

void ki_change_drop(struct ki_change *changes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (changes[i].patch.addr)
			ki_patch_free(&changes[i].patch);
}
