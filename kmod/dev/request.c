// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: what user space can ask for.
 *
 * What an ioctl does is a row of one table, in three steps. `take` copies everything that the
 * request points to from user memory, `handle` works on these copies with ki_lock held, `answer`
 * copies to user memory. So no task that holds ki_lock ever waits for a page of the caller's, which
 * may never come. Meanwhile the session's own mutex is held: requests of one descriptor come one
 * after the other, and a descriptor that sleeps delays only itself.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "array.h"
#include "account/pages.h"
#include "vet/permit.h"
#include "data/event.h"
#include "data/ring.h"
#include "data/stacks.h"
#include "data/table.h"
#include "data/texts.h"
#include "dev/request.h"
#include "process/process.h"
#include "reach/reach.h"
#include "retire/retire.h"
#include "text/unknown.h"
#include "user.h"
#include "vet/long.h"
#include "watch/held.h"
#include "watch/who.h"
#include "yield.h"

static int do_info(struct ki_request *q)
{
	struct ki_info *info = &q->arg.info;

	*info = (struct ki_info){.size = sizeof(*info), .abi = KI_ABI_VERSION};
	info->text_start = ki_symbol("_stext");
	info->text_end = ki_symbol("_etext");
	info->sessions = ki_session_count();
	info->windows = ki_win_count();
	info->waits = ki_quiesce_count();
	info->waited = ki_quiesce_waited();
	info->filled = ki_fill_count();
	info->late = ki_trap_late();
	ki_heap_info(info);
	ki_counters_info(info);
	ki_globals_info(info);
	ki_words_info(info);
	ki_ring_info(info);
	info->skipped = ki_helper_skipped();
	ki_return_info(info);
	ki_unknown_info(info);
#ifdef KI_TEST_NO_WAIT
	info->features |= KI_FEATURE_NO_WAIT;
#endif
	return 0;
}

/* ---- reading text ---- */

static int take_read(struct ki_request *q)
{
	const struct ki_read *r = &q->arg.read;

	if (r->view > KI_VIEW_ORIG || !r->len || r->len > KI_READ_MAX)
		return -EINVAL;
	q->out = ki_array(1, r->len, KI_GFP);
	return q->out ? 0 : -ENOMEM;
}

static bool is_in_heap(const struct ki_read *r)
{
	u64 start = (unsigned long)ki_reach_start(KI_REACH_HEAP);

	return r->addr >= start && r->addr - start <= KI_HEAP_SIZE - r->len;
}

static int do_read(struct ki_request *q)
{
	const struct ki_read *r = &q->arg.read;
	struct module *owner;
	u64 at, part;
	u16 reason;
	int err = 0;

	owner = ki_text_owner(r->addr, r->addr + r->len, &reason);
	if (reason && !is_in_heap(r))
		return -EFAULT;
	for (at = 0; at < r->len && !err; at += part) {
		part = min_t(u64, r->len - at, PAGE_SIZE);
		err = ki_text_read(r->addr + at, q->out + at, part, r->view);
		ki_yield();
	}
	module_put(owner);
	return err;
}

static int answer_read(struct ki_request *q, int err)
{
	const struct ki_read *r = &q->arg.read;

	return err ? err : ki_user_give(r->buf, q->out, r->len);
}

/* ---- reserved text ---- */

static void fill_reserved(const struct ki_reserved *r, struct ki_reserved_row *out)
{
	const struct ki_reserved_row *row;
	u32 from = 0, n = 0;

	while (n < r->max && (row = ki_reserved_next(r->start, r->end, &from)))
		out[n++] = *row;
}

static int do_reserved(struct ki_request *q)
{
	struct ki_reserved *r = &q->arg.reserved;
	const struct ki_reserved_row *rows;
	u32 total, from = 0, n;
	int err;

	if (r->zero || r->end < r->start || r->max > KI_RESERVED_MAX)
		return -EINVAL;
	err = ki_reserved_get(&rows, &total);
	if (err)
		return err;
	for (r->count = 0; ki_reserved_next(r->start, r->end, &from); r->count++)
		;
	n = min(r->count, r->max);
	if (n) {
		q->out = ki_array(n, sizeof(*rows), KI_GFP);
		if (!q->out)
			return -ENOMEM;
		fill_reserved(r, q->out);
	}
	return r->count <= r->max ? 0 : -ENOSPC;
}

static int answer_reserved(struct ki_request *q, int err)
{
	const struct ki_reserved *r = &q->arg.reserved;
	int failed = 0;

	if (q->out)
		failed = ki_user_give(r->rows, q->out,
				      min(r->count, r->max) * sizeof(struct ki_reserved_row));
	return failed ? failed : err;
}

/* ---- taking things that are numbered ---- */

/* A session that has just ended keeps its counters for as long as a task may still count. */
static int take_run(int (*take)(struct ki_session *s, u32 count, u32 *first, u32 *reason),
		    struct ki_session *s, u32 count, u32 *first, u32 *reason)
{
	int err;

	*first = 0;
	if (!count || *reason) {
		*reason = KI_R_BAD_REQUEST;
		return -EINVAL;
	}
	do
		err = take(s, count, first, reason);
	while ((err == -ENOSPC || err == -EDQUOT) && !ki_retire_wait_runs());
	return err;
}

static int do_counters(struct ki_request *q)
{
	struct ki_counters *c = &q->arg.counters;

	return take_run(ki_counters_take, q->session, c->count, &c->first, &c->reason);
}

static int do_globals(struct ki_request *q)
{
	struct ki_globals *g = &q->arg.globals;

	return take_run(ki_globals_take, q->session, g->count, &g->first, &g->reason);
}

static int do_global(struct ki_request *q)
{
	const struct ki_global *g = &q->arg.global;

	return ki_global_set(q->session, g->number, g->value);
}

static int do_words(struct ki_request *q)
{
	struct ki_words *w = &q->arg.words;

	return take_run(ki_words_take, q->session, w->count, &w->first, &w->reason);
}

static int answer_inside(struct ki_request *q, int err)
{
	const struct ki_inside *i = &q->arg.inside;

	return err ? err : ki_user_give(i->rows, q->out, i->count * sizeof(struct ki_inside_row));
}

/* What others have just given back may be had in a moment. */
static bool may_come(int err)
{
	return (err == -ENOSPC || err == -ENOMEM || err == -EBUSY || err == -EDQUOT) &&
	       !ki_retire_wait_runs();
}

#define KI_DO_TAKE(what, check, take)                                                              \
	static int do_##what(struct ki_request *q)                                                 \
	{                                                                                          \
		int err = check;                                                                   \
                                                                                                   \
		if (err)                                                                           \
			return err;                                                                \
		do                                                                                 \
			err = take;                                                                \
		while (may_come(err));                                                             \
		return err;                                                                        \
	}

KI_DO_TAKE(ring, ki_ring_check(q->session, &q->arg.ring), ki_ring_take(q->session, &q->arg.ring))
KI_DO_TAKE(table, 0, ki_table_take(q->session, &q->arg.table, q->init))
KI_DO_TAKE(texts, ki_texts_check(q->session, &q->arg.texts),
	   ki_texts_take(q->session, &q->arg.texts))
KI_DO_TAKE(stacks, ki_stacks_check(q->session, &q->arg.stacks),
	   ki_stacks_take(q->session, &q->arg.stacks))
KI_DO_TAKE(event, ki_event_check(&q->arg.event), ki_event_take(q->session, &q->arg.event))

static int take_table(struct ki_request *q)
{
	struct ki_table_request *t = &q->arg.table;
	int err = ki_table_check(t);

	if (err || !t->init)
		return err;
	q->init = ki_user_array(t->init, t->values, sizeof(*q->init), &err);
	if (err)
		t->reason = ki_pages_reason(err);
	return err;
}

static int do_patches(struct ki_request *q)
{
	return ki_session_patches(q->session, &q->arg.patches);
}

/* ---- sessions ---- */

static int do_session(struct ki_request *q)
{
	return ki_sessions_tell(q->session, &q->arg.row);
}

static int do_session_window(struct ki_request *q)
{
	return ki_sessions_tell_window(&q->arg.window);
}

static int do_evict(struct ki_request *q)
{
	return ki_evict(q->session, &q->arg.evict);
}

static int answer_evict(struct ki_request *q, int err)
{
	ki_process_evicted();
	return err;
}

static int do_held(struct ki_request *q)
{
	return ki_held_tell(&q->arg.held);
}

/* ---- all of them ---- */

static const struct ki_ioctl {
	unsigned int cmd;
	int (*handle)(struct ki_request *q);
	int (*take)(struct ki_request *q);	      /* NULL: there is nothing but arg */
	int (*answer)(struct ki_request *q, int err); /* NULL: the same */
} ki_ioctls[] = {
	{KI_IOC_INFO, do_info},
	{KI_IOC_READ, do_read, take_read, answer_read},
	{KI_IOC_RESERVED, do_reserved, NULL, answer_reserved},
	{KI_IOC_COUNTERS, do_counters},
	{KI_IOC_SPLICE, ki_splice, ki_splice_take, ki_splice_answer},
	{KI_IOC_UNSPLICE, ki_unsplice, ki_unsplice_take},
	{KI_IOC_GLOBALS, do_globals},
	{KI_IOC_WORDS, do_words},
	{KI_IOC_INSIDE, ki_words_inside, NULL, answer_inside},
	{KI_IOC_RING, do_ring},
	{KI_IOC_TABLE, do_table, take_table},
	{KI_IOC_STACKS, do_stacks},
	{KI_IOC_TEXTS, do_texts},
	{KI_IOC_EVENT, do_event},
	{KI_IOC_GLOBAL, do_global},
	{KI_IOC_PATCHES, do_patches},
	{KI_IOC_SESSION, do_session},
	{KI_IOC_SESSION_WINDOW, do_session_window},
	{KI_IOC_EVICT, do_evict, NULL, answer_evict},
	{KI_IOC_HELD, do_held},
	{KI_IOC_PROCESS, ki_process, ki_process_take},
	{KI_IOC_PROCESS_MEMORY, ki_process_memory, ki_process_memory_take},
	{KI_IOC_PROCESS_MAP, ki_process_map, ki_process_map_take, ki_process_map_answer},
	{KI_IOC_PROCESS_EDIT, ki_process_edit, ki_process_edit_take, ki_process_edit_answer},
	{KI_IOC_PROCESS_RELEASE, ki_process_release, ki_process_release_take,
	 ki_process_release_answer},
	{KI_IOC_PROCESS_GO, ki_process_go},
};

static void forget_copies(struct ki_request *q)
{
	ki_long_forget(q);
	ki_array_free(q->windows);
	ki_array_free(q->copies);
	ki_array_free(q->chunks);
	ki_array_free(q->ids);
	ki_array_free(q->init);
	ki_array_free(q->edits);
	ki_process_free(q->process);
	if (!IS_ERR_OR_NULL(q->file))
		fput(q->file);
	ki_array_free(q->out);
}

/* What is held: the session's mutex. */
static int run(struct ki_request *q, const struct ki_ioctl *c)
{
	int err = c->take ? c->take(q) : 0;
	struct ki_who who;

	if (err)
		return err;
	if (mutex_lock_interruptible(&ki_lock))
		return -EINTR;
	ki_who_begin(&who, q->session);
	err = ki_permit_session(q->asker, c->cmd, &q->arg);
	if (!err)
		err = c->handle(q);
	ki_who_end();
	mutex_unlock(&ki_lock);
	ki_who_tell(&who);
	return c->answer ? c->answer(q, err) : err;
}

static int make(struct file *file, const struct ki_ioctl *c, void __user *user)
{
	struct ki_request q = {.session = file->private_data, .asker = file};
	u32 size = _IOC_SIZE(c->cmd);
	int err;

	if (copy_from_user(&q.arg, user, size))
		return -EFAULT;
	if (q.arg.size != size)
		return -EPROTO;
	err = ki_permit_request(file, c->cmd, &q.arg);
	if (!err)
		err = run(&q, c);
	forget_copies(&q);
	if (copy_to_user(user, &q.arg, size))
		return err ? err : -EFAULT;
	return err;
}

long ki_request_make(struct file *file, unsigned int cmd, unsigned long user)
{
	struct ki_session *s = file->private_data;
	long err = -ENOTTY;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ki_ioctls) && ki_ioctls[i].cmd != cmd; i++)
		;
	if (i == ARRAY_SIZE(ki_ioctls))
		return err;
	if (mutex_lock_interruptible(&s->asking))
		return -EINTR;
	err = make(file, &ki_ioctls[i], (void __user *)user);
	mutex_unlock(&s->asking);
	return err;
}
