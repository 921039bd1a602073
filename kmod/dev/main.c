// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device, and the module's start and end. What user space can ask for: request.c.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "account/limit.h"
#include "vet/permit.h"
#include "data/event.h"
#include "data/minmax.h"
#include "data/ring.h"
#include "data/stacks.h"
#include "data/table.h"
#include "data/texts.h"
#include "dev/request.h"
#include "heap/rows.h"
#include "helpers/signal.h"
#include "kcov/kcov.h"
#include "process/process.h"
#include "reach/reach.h"
#include "retire/retire.h"
#include "text/unknown.h"
#include "watch/who.h"

#ifdef KI_TEST_FAIL
int ki_fail_at;
module_param(ki_fail_at, int, 0600);
bool ki_fail_large;
module_param(ki_fail_large, bool, 0600);
#endif

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
	case KI_MAP_PROCESS:
		return ki_process_mmap(file->private_data, vma);
	case KI_MAP_TEXTS:
		return ki_texts_map(file->private_data, vma);
	default:
		return ki_counters_map(vma);
	}
}

static __poll_t ki_poll(struct file *file, poll_table *wait)
{
	const struct ki_session *s = file->private_data;
	const struct ki_process *p = smp_load_acquire(&s->process);

	return p ? ki_hold_poll(p, file, wait) : ki_ring_poll(file->private_data, file, wait);
}

static int ki_open(struct inode *inode, struct file *file)
{
	struct ki_session *s;
	struct ki_who who;
	int err = ki_permit_open(file);

	if (err)
		return err;
	err = mutex_lock_interruptible(&ki_lock);
	if (err)
		return err;
	ki_who_begin(&who, NULL);
	err = ki_session_new(&s);
	ki_who_end();
	mutex_unlock(&ki_lock);
	ki_who_tell(&who);
	if (!err)
		file->private_data = s;
	return err;
}

static int ki_release(struct inode *inode, struct file *file)
{
	struct ki_session *s = file->private_data;
	struct ki_process *p = s->process;
	struct ki_who who;

	ki_process_end(p);
	mutex_lock(&ki_lock);
	ki_who_begin(&who, s);
	ki_process_give(s);
	ki_session_end(s);
	ki_who_end();
	mutex_unlock(&ki_lock);
	ki_process_free(p);
	ki_who_tell(&who);
	return 0;
}

static const struct file_operations ki_fops = {
	.owner = THIS_MODULE,
	.open = ki_open,
	.release = ki_release,
	.unlocked_ioctl = ki_request_make,
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
	{ki_reach_init, ki_reach_exit},
	{ki_region_init, ki_region_exit},
	{ki_rows_init, NULL},
	{ki_heap_init, ki_heap_exit},
	{ki_counters_init, ki_counters_exit},
	{ki_globals_init, NULL},
	{ki_words_init, ki_words_exit},
	{ki_minmax_init, NULL},
	{ki_ring_init, NULL},
	{ki_tables_init, NULL},
	{ki_stacks_init, NULL},
	{ki_texts_init, NULL},
	{ki_paths_init, NULL},
	{ki_signals_init, ki_signals_exit},
	{ki_events_init, ki_events_exit},
	{ki_reserved_init, ki_reserved_exit},
	{ki_trap_init, ki_trap_exit},
	{ki_unknown_init, NULL},
	{ki_probes_init, ki_probes_exit},
	{ki_returns_init, ki_returns_exit},
	{ki_kcov_init, ki_kcov_exit},
	{ki_processes_init, ki_processes_exit},
	{ki_evict_init, ki_evict_exit},
	{ki_panic_init, ki_panic_exit},
	{ki_session_init, NULL},
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
	ki_retire_finish();
	end_parts(ARRAY_SIZE(ki_parts));
}

module_init(ki_init);
module_exit(ki_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kerninst: splice code into the running kernel");
