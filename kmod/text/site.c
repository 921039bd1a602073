// SPDX-License-Identifier: GPL-2.0-only
/*
 * The places in the text that are ours: springboards and bounces, by address. A window may hold
 * bounces of others in its tail, so windows alone do not tell where bytes are written.
 */
#include <linux/string.h>

#include "ki.h"
#include "text/site.h"

static struct rb_root ki_sites = RB_ROOT;

/* The first site that ends after start. */
static struct ki_site *first_ending_behind(unsigned long start)
{
	struct rb_node *n = ki_sites.rb_node;
	struct ki_site *best = NULL;

	while (n) {
		struct ki_site *s = rb_entry(n, struct ki_site, node);

		if (s->addr + s->len > start) {
			best = s;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

struct ki_site *ki_site_touching(unsigned long start, unsigned long end)
{
	struct ki_site *s = first_ending_behind(start);

	lockdep_assert_held(&ki_lock);
	return s && s->addr < end ? s : NULL;
}

struct ki_site *ki_site_next(struct ki_site *s)
{
	struct rb_node *n = rb_next(&s->node);

	lockdep_assert_held(&ki_lock);
	return n ? rb_entry(n, struct ki_site, node) : NULL;
}

bool ki_site_claim(struct ki_site *s, unsigned long addr, u8 len, const u8 *orig)
{
	struct rb_node **at = &ki_sites.rb_node, *parent = NULL;

	lockdep_assert_held(&ki_lock);
	if (ki_site_touching(addr, addr + len))
		return false;
	s->addr = addr;
	s->len = len;
	memcpy(s->orig, orig, len);
	while (*at) {
		parent = *at;
		at = addr < rb_entry(parent, struct ki_site, node)->addr ? &parent->rb_left
									 : &parent->rb_right;
	}
	rb_link_node(&s->node, parent, at);
	rb_insert_color(&s->node, &ki_sites);
	return true;
}

void ki_site_drop(struct ki_site *s)
{
	lockdep_assert_held(&ki_lock);
	if (s->len)
		rb_erase(&s->node, &ki_sites);
	s->len = 0;
	s->live = false;
}

u8 ki_board_len(u8 board)
{
	static const u8 len[KI_BOARD_KINDS] = {
		[KI_BOARD_JMP] = KI_JMP_LEN,
		[KI_BOARD_BOUNCE] = 2,
		[KI_BOARD_TRAP] = 1,
	};

	return len[board];
}
