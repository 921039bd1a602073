// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device: what user space can ask for, and the module's start and end.
 *
 * Every request is copied in, its size compared, handled under ki_lock and copied out. What an
 * ioctl does is in one table.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "event.h"
#include "extreme.h"
#include "kcov.h"
#include "limit.h"
#include "permit.h"
#include "ring.h"
#include "stacks.h"
#include "table.h"

DEFINE_MUTEX(ki_lock);

#ifdef KI_TEST_FAIL
int ki_fail_at;
module_param(ki_fail_at, int, 0600);
#endif

static int do_info(struct ki_session *s, void *arg)
{
	struct ki_info *info = arg;

	*info = (struct ki_info){.size = sizeof(*info), .abi = KI_ABI_VERSION};
	info->text_start = ki_symbol("_stext");
	info->text_end = ki_symbol("_etext");
	info->sessions = ki_session_count();
	info->windows = ki_win_count();
	info->waits = ki_quiesce_count();
	info->filled = ki_fill_count();
	info->late = ki_trap_late();
	ki_heap_info(info);
	ki_counters_info(info);
	ki_globals_info(info);
	ki_words_info(info);
	ki_ring_info(info);
	info->skipped = ki_helper_skipped();
	ki_return_info(info);
#ifdef KI_TEST_NO_WAIT
	info->features |= KI_FEATURE_NO_WAIT;
#endif
	return 0;
}

static int copy_view(const struct ki_read *r)
{
	u64 at = 0;
	void *page;
	int err = 0;

	page = (void *)__get_free_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	while (at < r->len && !err) {
		size_t part = min_t(u64, r->len - at, PAGE_SIZE);

		err = ki_text_read(r->addr + at, page, part, r->view);
		if (!err && copy_to_user(u64_to_user_ptr(r->buf + at), page, part))
			err = -EFAULT;
		at += part;
		cond_resched();
	}
	free_page((unsigned long)page);
	return err;
}

static int do_read(struct ki_session *s, void *arg)
{
	const struct ki_read *r = arg;
	struct module *owner;
	u16 reason;
	int err;

	if (r->view > KI_VIEW_ORIG || !r->len || r->len > KI_READ_MAX)
		return -EINVAL;
	owner = ki_text_owner(r->addr, r->addr + r->len, &reason);
	if (reason)
		return -EFAULT;
	err = copy_view(r);
	module_put(owner);
	return err;
}

static int do_reserved(struct ki_session *s, void *arg)
{
	struct ki_reserved *r = arg;
	const struct ki_reserved_row *rows, *row;
	struct ki_reserved_row __user *to = u64_to_user_ptr(r->rows);
	u32 total, from = 0;
	int err;

	if (r->zero || r->end < r->start || r->max > KI_RESERVED_MAX)
		return -EINVAL;
	err = ki_reserved_get(&rows, &total);
	if (err)
		return err;
	r->count = 0;
	while ((row = ki_reserved_next(r->start, r->end, &from))) {
		if (r->count < r->max && copy_to_user(&to[r->count], row, sizeof(*row)))
			return -EFAULT;
		r->count++;
	}
	return r->count <= r->max ? 0 : -ENOSPC;
}

/* A session that has just ended keeps its counters for as long as somebody may still count. */
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
	while ((err == -ENOSPC || err == -EDQUOT) && !ki_bury_wait_runs());
	return err;
}

static int do_counters(struct ki_session *s, void *arg)
{
	struct ki_counters *c = arg;

	return take_run(ki_counters_take, s, c->count, &c->first, &c->reason);
}

static int do_globals(struct ki_session *s, void *arg)
{
	struct ki_globals *g = arg;

	return take_run(ki_globals_take, s, g->count, &g->first, &g->reason);
}

static int do_global(struct ki_session *s, void *arg)
{
	const struct ki_global *g = arg;

	return ki_global_set(s, g->number, g->value);
}

static int do_words(struct ki_session *s, void *arg)
{
	struct ki_words *w = arg;

	return take_run(ki_words_take, s, w->count, &w->first, &w->reason);
}

static int do_inside(struct ki_session *s, void *arg)
{
	return ki_words_inside(s, arg);
}

/* What others have just given back may be had in a moment. */
static bool may_come(int err)
{
	return (err == -ENOSPC || err == -ENOMEM || err == -EBUSY || err == -EDQUOT) &&
	       !ki_bury_wait_runs();
}

#define KI_DO_TAKE(what, type, check, take)                                                        \
	static int do_##what(struct ki_session *s, void *arg)                                      \
	{                                                                                          \
		struct type *req = arg;                                                            \
		int err = check;                                                                   \
                                                                                                   \
		if (err)                                                                           \
			return err;                                                                \
		do                                                                                 \
			err = take(s, req);                                                        \
		while (may_come(err));                                                             \
		return err;                                                                        \
	}

KI_DO_TAKE(ring, ki_ring, ki_ring_check(s, req), ki_ring_take)
KI_DO_TAKE(table, ki_table_request, ki_table_check(req), ki_table_take)
KI_DO_TAKE(stacks, ki_stacks, ki_stacks_check(s, req), ki_stacks_take)
KI_DO_TAKE(event, ki_event_req, ki_event_check(req), ki_event_take)

static int do_splice(struct ki_session *s, void *arg)
{
	return ki_splice(s, arg);
}

static int do_unsplice(struct ki_session *s, void *arg)
{
	return ki_unsplice(s, arg);
}

static int do_patches(struct ki_session *s, void *arg)
{
	return ki_session_patches(s, arg);
}

static const struct {
	unsigned int cmd;
	int (*handle)(struct ki_session *s, void *arg);
} ki_ioctls[] = {
	{KI_IOC_INFO, do_info},		{KI_IOC_READ, do_read},	    {KI_IOC_RESERVED, do_reserved},
	{KI_IOC_COUNTERS, do_counters}, {KI_IOC_SPLICE, do_splice}, {KI_IOC_UNSPLICE, do_unsplice},
	{KI_IOC_GLOBALS, do_globals},	{KI_IOC_WORDS, do_words},   {KI_IOC_INSIDE, do_inside},
	{KI_IOC_RING, do_ring},		{KI_IOC_TABLE, do_table},   {KI_IOC_STACKS, do_stacks},
	{KI_IOC_EVENT, do_event},	{KI_IOC_GLOBAL, do_global}, {KI_IOC_PATCHES, do_patches},
};

static int handle(struct file *file, u32 i, void __user *user)
{
	union {
		u32 size;
		struct ki_info info;
		struct ki_read read;
		struct ki_reserved reserved;
		struct ki_counters counters;
		struct ki_globals globals;
		struct ki_global global;
		struct ki_words words;
		struct ki_inside inside;
		struct ki_ring ring;
		struct ki_table_request table;
		struct ki_stacks stacks;
		struct ki_event_req event;
		struct ki_splice splice;
		struct ki_unsplice unsplice;
		struct ki_patches patches;
	} arg;
	u32 size = _IOC_SIZE(ki_ioctls[i].cmd);
	int err;

	if (copy_from_user(&arg, user, size))
		return -EFAULT;
	if (arg.size != size)
		return -EPROTO;
	err = ki_permit_request(file, ki_ioctls[i].cmd, &arg);
	if (!err) {
		if (mutex_lock_interruptible(&ki_lock))
			return -EINTR;
		err = ki_ioctls[i].handle(file->private_data, &arg);
		mutex_unlock(&ki_lock);
	}
	if (copy_to_user(user, &arg, size))
		return err ? err : -EFAULT;
	return err;
}

static long ki_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ki_ioctls); i++)
		if (ki_ioctls[i].cmd == cmd)
			return handle(file, i, (void __user *)arg);
	return -ENOTTY;
}

static int ki_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	int err = ki_permit_map();

	if (err)
		return err;
	if (ki_table_is_mapping(offset))
		return ki_table_map(file->private_data, vma, offset);
	switch (offset) {
	case KI_MAP_GLOBALS:
		return ki_globals_map(vma);
	case KI_MAP_RING:
		return ki_ring_map(file->private_data, vma);
	case KI_MAP_RING_TAILS:
		return ki_ring_map_tails(file->private_data, vma);
	case KI_MAP_STACKS:
		return ki_stacks_map(file->private_data, vma);
	default:
		return ki_counters_map(vma);
	}
}

static __poll_t ki_poll(struct file *file, poll_table *wait)
{
	return ki_ring_poll(file->private_data, file, wait);
}

static int ki_open(struct inode *inode, struct file *file)
{
	struct ki_session *s;
	int err = ki_permit_open(file);

	if (err)
		return err;
	err = mutex_lock_interruptible(&ki_lock);
	if (err)
		return err;
	err = ki_session_new(&s);
	mutex_unlock(&ki_lock);
	if (!err)
		file->private_data = s;
	return err;
}

static int ki_release(struct inode *inode, struct file *file)
{
	mutex_lock(&ki_lock);
	ki_session_end(file->private_data);
	mutex_unlock(&ki_lock);
	return 0;
}

static const struct file_operations ki_fops = {
	.owner = THIS_MODULE,
	.open = ki_open,
	.release = ki_release,
	.unlocked_ioctl = ki_ioctl,
	.mmap = ki_mmap,
	.poll = ki_poll,
	.llseek = noop_llseek,
};

static struct miscdevice ki_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kerninst",
	.fops = &ki_fops,
	.mode = 0666, /* the right is asked for when it is opened: permit.c */
};

/* In order; what has been started is ended in reverse. */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} ki_parts[] = {
	{ki_limits_init, NULL},
	{ki_symbols_init, NULL},
	{ki_quiesce_init, ki_quiesce_exit},
	{ki_faults_init, NULL},
	{ki_heap_init, ki_heap_exit},
	{ki_rows_init, NULL},
	{ki_counters_init, ki_counters_exit},
	{ki_globals_init, ki_globals_exit},
	{ki_words_init, ki_words_exit},
	{ki_extreme_init, NULL},
	{ki_ring_init, ki_ring_exit},
	{ki_tables_init, ki_tables_exit},
	{ki_stacks_init, ki_stacks_exit},
	{ki_events_init, ki_events_exit},
	{ki_reserved_init, ki_reserved_exit},
	{ki_trap_init, ki_trap_exit},
	{ki_probes_init, ki_probes_exit},
	{ki_returns_init, ki_returns_exit},
	{ki_kcov_init, ki_kcov_exit},
};

static void end_parts(int n)
{
	while (n--)
		if (ki_parts[n].exit)
			ki_parts[n].exit();
}

static int __init ki_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(ki_parts); i++) {
		err = ki_parts[i].init();
		if (err) {
			end_parts(i);
			return err;
		}
	}
	err = misc_register(&ki_device);
	if (err)
		end_parts(ARRAY_SIZE(ki_parts));
	return err;
}

static void __exit ki_exit(void)
{
	misc_deregister(&ki_device);
	ki_bury_finish();
	end_parts(ARRAY_SIZE(ki_parts));
}

module_init(ki_init);
module_exit(ki_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: splice code into the running kernel");
