// SPDX-License-Identifier: GPL-2.0-only
/*
 * A long chunk's code, from user memory into one piece of ours.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "long.h"

static struct ki_long_code *make(u32 len, u32 nfix)
{
	struct ki_long_code *c;

	c = kvzalloc(sizeof(*c) + nfix * sizeof(*c->fix) + 2 * len, GFP_KERNEL);
	if (!c)
		return NULL;
	c->len = len;
	c->nfix = nfix;
	c->fix = (struct ki_fixup *)(c + 1);
	c->code = (u8 *)(c->fix + nfix);
	c->depth = c->code + len;
	return c;
}

static u16 shape_of_fixups(const struct ki_long_code *c)
{
	u32 i;

	for (i = 0; i < c->nfix; i++) {
		const struct ki_fixup *f = &c->fix[i];

		if (f->kind == KI_FIX_NONE || f->kind >= KI_FIX_KINDS || f->tail > 8 || f->zero ||
		    f->off + 4 > c->len || (i && f->off < f[-1].off + 4))
			return KI_R_BAD_FIXUP;
	}
	return KI_R_OK;
}

static u16 fill(struct ki_long_code *c, const struct ki_long *req)
{
	if (copy_from_user(c->fix, u64_to_user_ptr(req->fixups), c->nfix * sizeof(*c->fix)) ||
	    copy_from_user(c->code, u64_to_user_ptr(req->code), c->len))
		return KI_R_BAD_REQUEST;
	return shape_of_fixups(c);
}

u16 ki_long_read(u64 user, struct ki_long_code **out)
{
	struct ki_long_code *c;
	struct ki_long req;
	u16 reason;

	if (copy_from_user(&req, u64_to_user_ptr(user), sizeof(req)) || !req.len ||
	    req.len > KI_LONG_MAX || req.nfix > KI_LONG_FIXUPS)
		return KI_R_BAD_REQUEST;
	c = make(req.len, req.nfix);
	if (!c)
		return KI_R_NO_MEMORY;
	reason = fill(c, &req);
	if (reason)
		kvfree(c);
	else
		*out = c;
	return reason;
}

void ki_long_free(struct ki_long_code *c)
{
	while (c && c->nowners)
		module_put(c->owner[--c->nowners]);
	kvfree(c);
}

void ki_long_bury(struct ki_long_code *c)
{
	while (c && c->nowners)
		ki_bury_module(c->owner[--c->nowners]);
}
