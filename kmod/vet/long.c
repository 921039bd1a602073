// SPDX-License-Identifier: GPL-2.0-only
/*
 * A long chunk's code, from user memory into one piece of ours.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "array.h"
#include "dev/request.h"
#include "heap/rows.h"
#include "retire/retire.h"
#include "user.h"
#include "vet/long.h"
#include "yield.h"

static struct ki_long_code *make(u32 len, u32 nfix)
{
	struct ki_long_code *c;

	c = ki_array(1, sizeof(*c) + nfix * sizeof(*c->fix) + 2 * len, KI_GFP | __GFP_ZERO);
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

static u16 shape_of(const struct ki_long *l)
{
	if (!l->len || l->len > KI_LONG_MAX || l->nfix > KI_LONG_FIXUPS)
		return KI_R_BAD_REQUEST;
	return l->nfix > l->len / 4 ? KI_R_BAD_FIXUP : KI_R_OK; /* each has its own four bytes */
}

/* What each wants, before anything is taken for one. */
static int take_sizes(struct ki_request *q)
{
	u32 i, bytes = 0;
	int err;

	for (i = 0; i < q->arg.splice.nchunks; i++) {
		struct ki_long_taken *l = &q->longs[i];

		if (q->chunks[i].kind != KI_CHUNK_LONG)
			continue;
		err = ki_user_take(&l->req, q->chunks[i].target, sizeof(l->req));
		if (err == -EINTR)
			return err;
		l->reason = err ? KI_R_BAD_REQUEST : shape_of(&l->req);
		if (!l->reason)
			bytes += l->req.len;
		if (bytes > KI_HEAP_SIZE) { /* there is no room for so much */
			l->reason = KI_R_TOO_MANY;
			bytes = KI_HEAP_SIZE + 1;
		}
	}
	return 0;
}

static int take_code(struct ki_long_taken *l)
{
	struct ki_long_code *c = make(l->req.len, l->req.nfix);
	int err;

	if (!c)
		return -ENOMEM;
	err = ki_user_take(c->fix, l->req.fixups, c->nfix * sizeof(*c->fix));
	if (!err)
		err = ki_user_take(c->code, l->req.code, c->len);
	l->reason = err ? KI_R_BAD_REQUEST : shape_of_fixups(c);
	if (l->reason)
		ki_array_free(c);
	else
		l->code = c;
	return err == -EINTR ? err : 0;
}

static bool has_long(const struct ki_request *q)
{
	u32 i;

	for (i = 0; i < q->arg.splice.nchunks; i++)
		if (q->chunks[i].kind == KI_CHUNK_LONG)
			return true;
	return false;
}

int ki_long_take(struct ki_request *q)
{
	u32 i, n = q->arg.splice.nchunks;
	int err;

	if (!has_long(q))
		return 0;
	q->longs = ki_array(n, sizeof(*q->longs), KI_GFP | __GFP_ZERO);
	if (!q->longs)
		return -ENOMEM;
	err = take_sizes(q);
	for (i = 0; i < n && !err; i++)
		if (q->chunks[i].kind == KI_CHUNK_LONG && !q->longs[i].reason)
			err = take_code(&q->longs[i]);
	return err;
}

bool ki_long_is_vetted(const struct ki_long_code *vetted, struct ki_long_code *c)
{
	if (vetted->len != c->len || vetted->nfix != c->nfix ||
	    memcmp(vetted->fix, c->fix, c->nfix * sizeof(*c->fix)) ||
	    memcmp(vetted->code, c->code, c->len))
		return false;
	memcpy(c->depth, vetted->depth, c->len);
	c->words = vetted->words;
	c->writes = vetted->writes;
	c->signals = vetted->signals;
	return true;
}

static void put_owners(struct ki_long_code *c)
{
	while (c->nowners)
		module_put(c->owner[--c->nowners]);
}

void ki_long_again(struct ki_request *q)
{
	u32 i;

	for (i = 0; q->longs && i < q->arg.splice.nchunks; i++) {
		struct ki_long_code *c = q->longs[i].code;

		if (!c)
			continue;
		put_owners(c);
		c->words = c->writes = c->signals = false;
		memset(c->depth, 0, c->len);
		ki_yield();
	}
}

void ki_long_forget(struct ki_request *q)
{
	u32 i;

	for (i = 0; q->longs && i < q->arg.splice.nchunks; i++) {
		ki_long_free(q->longs[i].code);
		ki_yield();
	}
	ki_array_free(q->longs);
	q->longs = NULL;
}

void ki_long_free(struct ki_long_code *c)
{
	if (c)
		put_owners(c);
	ki_array_free(c);
}

void ki_long_retire(struct ki_long_code *c)
{
	lockdep_assert_held(&ki_lock);
	while (c && c->nowners)
		ki_retire_module(c->owner[--c->nowners]);
}
