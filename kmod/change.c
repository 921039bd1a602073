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

static void jump(u8 *out, unsigned long at, unsigned long to)
{
	s32 rel = to - (at + KI_JMP_LEN);

	out[0] = KI_JMP;
	memcpy(out + 1, &rel, 4);
}

static void short_jump(u8 *out, unsigned long at, unsigned long to)
{
	out[0] = 0xeb;
	out[1] = to - (at + 2);
}

/* The swap of one site: from the bytes of one patch to those of another; no patch: the original. */
static struct ki_swap *site_swap(struct ki_swap *s, const struct ki_change *c,
				 const struct ki_site *site)
{
	const struct ki_win *w = c->win;

	*s = (struct ki_swap){.addr = site->addr, .len = site->len, .fresh = w->fresh};
	s->via = c->patch.addr ? c->patch.addr : w->patch.addr;
	memcpy(s->now, site->orig, site->len);
	memcpy(s->then, site->orig, site->len);
	return s;
}

static void fill_jmp(struct ki_swap *s, const struct ki_change *c)
{
	const struct ki_win *w = c->win;

	site_swap(s, c, &w->site)->wait = w->fresh && w->wait;
	if (!w->fresh)
		jump(s->now, w->addr, w->patch.addr);
	if (c->patch.addr)
		jump(s->then, w->addr, c->patch.addr);
}

static void fill_trap(struct ki_swap *s, const struct ki_change *c)
{
	site_swap(s, c, &c->win->site)->trap = c->patch.addr;
	if (!c->win->fresh)
		s->now[0] = KI_INT3;
	if (c->patch.addr)
		s->then[0] = KI_INT3;
}

/*
 * The jmp rel8 changes when the window comes and goes; its bounce then is written where nobody
 * is: in the instructions of a host, or before it is restored, that takes the wait. Between two
 * patches only the bounce changes, and then it is code that runs.
 */
static void fill_bounce(struct ki_swap *s, const struct ki_change *c)
{
	const struct ki_win *w = c->win;

	site_swap(s, c, &w->bounce)->wait = !w->bounce.filler || !c->patch.addr;
	if (!w->fresh)
		jump(s->now, w->bounce.addr, w->patch.addr);
	if (c->patch.addr)
		jump(s->then, w->bounce.addr, c->patch.addr);
	if (!w->fresh && c->patch.addr) {
		s->wait = false;
		return;
	}
	s++->via = 0;
	site_swap(s, c, &w->site)->wait = w->fresh && w->wait;
	short_jump(w->fresh ? s->then : s->now, w->addr, w->bounce.addr);
}

/* Returns how many swaps the change takes, 1 or 2. */
static u32 fill_swaps(struct ki_swap *s, const struct ki_change *c)
{
	switch (c->win->board) {
	case KI_BOARD_JMP:
		fill_jmp(s, c);
		return 1;
	case KI_BOARD_TRAP:
		fill_trap(s, c);
		return 1;
	default:
		fill_bounce(s, c);
		return c->win->fresh || !c->patch.addr ? 2 : 1;
	}
}

/* Which change a swap belongs to. */
static u32 change_of(const struct ki_change *changes, u32 n, u32 swap)
{
	struct ki_swap unused[2];
	u32 i, at = 0;

	for (i = 0; i < n; i++) {
		at += fill_swaps(unused, &changes[i]);
		if (swap < at)
			break;
	}
	return i;
}

int ki_change_swap(struct ki_change *changes, u32 n, u32 *bad)
{
	struct ki_swap *v;
	u32 i, swaps = 0;
	int err;

	*bad = n;
	v = kvmalloc_array(n, 2 * sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		swaps += fill_swaps(v + swaps, &changes[i]);
	err = ki_text_swap(v, swaps, bad);
	if (err == -ESTALE)
		*bad = change_of(changes, n, *bad);
	kvfree(v);
	return err;
}

void ki_change_drop(struct ki_change *changes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (changes[i].patch.addr)
			ki_heap_free(changes[i].patch.addr, changes[i].patch.len);
}
