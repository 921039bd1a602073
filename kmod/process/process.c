// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live processes, changed from outside: who may, whose memory, and the end of it.
 *
 * Requests take three steps like all others, but what concerns the process itself is done in the
 * last one, where ki_lock is not held: its pages may be another's to bring, its locks held for
 * long. The session's mutex and the process's own keep order there.
 *
 * Memory that the process shares is the kernel's (shmem), held by those that have it mapped. So
 * nothing of the driver has to outlive a session: what is left in processes needs no driver. Text
 * is given back by a thread of the kernel: a task that is being killed may fetch none.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "account/limit.h"
#include "array.h"
#include "process/process.h"
#include "symbols.h"
#include "user.h"
#include "watch/who.h"

struct workqueue_struct *ki_process_queue;

/* ---- the process ---- */

static struct task_struct *find_task(pid_t number)
{
	struct pid *pid = find_get_pid(number);
	struct task_struct *t = get_pid_task(pid, PIDTYPE_PID);

	put_pid(pid);
	return t;
}

static u16 refused_task(struct task_struct *t, struct mm_struct *mm)
{
	if (IS_ERR(mm))
		return PTR_ERR(mm) == -ESRCH ? KI_R_PROCESS_GONE : KI_R_PROCESS_PERMISSION;
	if (!mm || t->flags & PF_KTHREAD)
		return KI_R_PROCESS_GONE;
	return test_tsk_thread_flag(t, TIF_ADDR32) ? KI_R_PROCESS_32BIT : KI_R_OK;
}

/* By mmget; NULL: *reason says why. */
static struct mm_struct *take_mm(struct ki_process_open *req, struct ki_sleeper *who, u16 *reason)
{
	struct task_struct *t = req->pid > 0 ? find_task(req->pid) : NULL;
	struct mm_struct *mm;

	*reason = KI_R_PROCESS_GONE;
	if (!t)
		return NULL;
	mm = ki_call(mm_access)(t, PTRACE_MODE_ATTACH_REALCREDS);
	*reason = refused_task(t, mm);
	ki_sleeper_note(who, t->group_leader);
	req->apart = !*reason && ki_process_are_apart(t);
	put_task_struct(t);
	if (!*reason)
		return mm;
	if (!IS_ERR_OR_NULL(mm))
		mmput(mm);
	return NULL;
}

void ki_process_changed(const struct ki_process *p, bool back)
{
	ki_who_tell_process(&(struct ki_who_process){.session = p->session,
						     .first = p->edits[0].addr,
						     .pid = p->who.pid,
						     .places = ki_process_places(p),
						     .back = back});
}

static int new_process(struct ki_process **out, struct mm_struct *mm)
{
	struct ki_process *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int err;

	if (!p)
		return -ENOMEM;
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->spaces);
	INIT_LIST_HEAD(&p->ranges);
	ki_hold_init(&p->hold);
	ki_process_end_init(p);
	err = ki_spaces_begin(p, mm);
	if (err)
		kfree(p);
	else
		*out = p;
	return err;
}

int ki_process_take(struct ki_request *q)
{
	struct ki_process_open *req = &q->arg.process;
	struct ki_sleeper who;
	struct mm_struct *mm;
	u16 reason;
	int err;

	if (req->apart || req->reason)
		return -EINVAL;
	mm = take_mm(req, &who, &reason);
	if (!mm)
		return ki_refuse(&req->reason, reason);
	err = new_process(&q->process, mm);
	if (!err)
		q->process->who = who;
	mmput(mm);
	return err;
}

int ki_process(struct ki_request *q)
{
	lockdep_assert_held(&ki_lock);
	if (q->session->process)
		return -EEXIST;
	q->process->session = q->session->serial;
	smp_store_release(&q->session->process, q->process);
	q->process = NULL;
	return 0;
}

/* ---- its memory ---- */

int ki_process_memory_take(struct ki_request *q)
{
	struct ki_process_memory *req = &q->arg.process_memory;

	if (req->reason || !req->bytes || req->bytes > KI_PROCESS_BYTES ||
	    offset_in_page(req->bytes))
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	q->file = shmem_file_setup("kerninst", req->bytes, KI_VMA_NORESERVE);
	return IS_ERR(q->file) ? PTR_ERR(q->file) : 0;
}

int ki_process_memory(struct ki_request *q)
{
	struct ki_process_memory *req = &q->arg.process_memory;
	struct ki_process *p = q->session->process;
	u64 pages = req->bytes >> PAGE_SHIFT;
	int err;

	lockdep_assert_held(&ki_lock);
	if (!p)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (p->memory)
		return -EEXIST;
	err = ki_account_take(q->session->account, KI_LIMIT_PAGES, pages, &req->reason);
	if (err)
		return err;
	p->pages = pages;
	smp_store_release(&p->memory, q->file);
	q->file = NULL;
	return 0;
}

int ki_process_mmap(struct ki_session *s, struct vm_area_struct *vma)
{
	struct ki_process *p = smp_load_acquire(&s->process);
	struct file *memory = p ? smp_load_acquire(&p->memory) : NULL;

	if (!memory)
		return -ENXIO;
	vma->vm_pgoff -= KI_MAP_PROCESS >> PAGE_SHIFT;
	vma_set_file(vma, memory);
	return memory->f_op->mmap(memory, vma);
}

/* ---- changing its text ---- */

static bool is_semaphore(const struct ki_process_edit *e)
{
	return e->flags == KI_PROCESS_SEMAPHORE && e->len == sizeof(u16) && !(e->addr & 1) &&
	       !e->via && !memchr_inv(e->orig, 0, sizeof(e->orig)) &&
	       !memchr_inv(e->now, 0, sizeof(e->now));
}

static bool is_edit(const struct ki_process_edit *e)
{
	bool jump = e->len == KI_JMP_LEN && e->now[0] == KI_JMP;
	bool breakpoint = e->len == 1 && e->now[0] == KI_INT3;

	if (memchr_inv(e->zero, 0, sizeof(e->zero)) || e->addr < KI_LOWEST ||
	    e->addr >= TASK_SIZE_MAX - KI_JMP_LEN)
		return false;
	if (is_semaphore(e))
		return true;
	if (e->flags &&
	    !(breakpoint && (e->flags == KI_PROCESS_HIT || e->flags == KI_PROCESS_HOLD)))
		return false;
	return (breakpoint || jump) && e->via >= KI_LOWEST && e->via < TASK_SIZE_MAX;
}

static int check_edits(const struct ki_process_edit *v, struct ki_process_edits *req)
{
	u64 end = 0;

	for (req->bad = 0; req->bad < req->count; req->bad++) {
		const struct ki_process_edit *e = &v[req->bad];

		if (!is_edit(e) || e->addr < end)
			return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
		end = e->addr + e->len;
		cond_resched();
	}
	return 0;
}

int ki_process_edit_take(struct ki_request *q)
{
	struct ki_process_edits *req = &q->arg.process_edits;
	int err = 0;

	if (req->reason || req->bad || !req->count)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->count > KI_BATCH_WINDOWS)
		return ki_refuse(&req->reason, KI_R_TOO_MANY);
	q->edits = ki_user_array(req->edits, req->count, sizeof(*q->edits), &err);
	return err ? err : check_edits(q->edits, req);
}

/* A request that fails may be made again: what it was charged for stays until the session ends. */
int ki_process_edit(struct ki_request *q)
{
	struct ki_process_edits *req = &q->arg.process_edits;
	struct ki_process *p = q->session->process;
	u32 more;
	int err;

	lockdep_assert_held(&ki_lock);
	if (!p)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	more = req->count > p->windows ? req->count - p->windows : 0;
	err = ki_account_take(q->session->account, KI_LIMIT_WINDOWS, more, &req->reason);
	if (!err)
		p->windows += more;
	return err;
}

static int edit(struct ki_process *p, struct ki_request *q)
{
	struct ki_process_edits *req = &q->arg.process_edits;
	int err;

	if (p->over)
		return ki_refuse(&req->reason, KI_R_EVICTED);
	if (p->n)
		return -EEXIST;
	err = ki_process_text_write(p, q->edits, req->count, req);
	if (!err)
		q->edits = NULL;
	return err;
}

int ki_process_edit_answer(struct ki_request *q, int err)
{
	struct ki_process *p = q->session->process;

	if (err)
		return err;
	mutex_lock(&p->lock);
	err = edit(p, q);
	mutex_unlock(&p->lock);
	if (!err)
		ki_process_changed(p, false);
	return err;
}

/* ---- giving back a part ---- */

int ki_process_release_take(struct ki_request *q)
{
	struct ki_process_release *req = &q->arg.process_release;
	int err = 0;
	u32 i;

	if (req->reason || req->zero || !req->count)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	if (req->count > KI_BATCH_WINDOWS)
		return ki_refuse(&req->reason, KI_R_TOO_MANY);
	q->ids = ki_user_array(req->numbers, req->count, sizeof(*q->ids), &err);
	for (i = 1; !err && i < req->count; i++)
		if (q->ids[i] <= q->ids[i - 1])
			return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	return err;
}

int ki_process_release(struct ki_request *q)
{
	lockdep_assert_held(&ki_lock);
	return q->session->process ? 0
				   : ki_refuse(&q->arg.process_release.reason, KI_R_BAD_REQUEST);
}

/* Those that are asked for, if they are its, and can be given back before the end. */
static u16 choose(const struct ki_process *p, const struct ki_request *q, unsigned long *which)
{
	const u32 n = q->arg.process_release.count;
	u32 i;

	if (q->ids[n - 1] >= p->n)
		return KI_R_BAD_REQUEST;
	for (i = 0; i < n; i++) {
		if (p->edits[q->ids[i]].flags == KI_PROCESS_SEMAPHORE)
			return KI_R_BAD_REQUEST;
		__set_bit(q->ids[i], which);
	}
	return KI_R_OK;
}

/* Threads that have met one until now go on as they do. */
static void note_given(struct ki_process *p, const unsigned long *which)
{
	bitmap_or(p->given, p->given, which, p->n);
	WRITE_ONCE(p->ngiven, bitmap_weight(p->given, p->n));
}

static int release(struct ki_process *p, const struct ki_request *q, u32 *said)
{
	unsigned long *which = p->n ? bitmap_zalloc(p->n, KI_GFP) : NULL;
	unsigned long *given = p->given || !p->n ? p->given : bitmap_zalloc(p->n, KI_GFP);
	u16 reason = KI_R_BAD_REQUEST;
	int err = 0;

	if (given && !p->given)
		smp_store_release(&p->given, given);
	if (p->n)
		reason = which && given ? choose(p, q, which) : KI_R_NO_MEMORY;
	if (!reason)
		err = ki_process_text_release(p, which);
	if (err == -ENOMEM)
		reason = KI_R_NO_MEMORY;
	if (!reason && !err)
		note_given(p, which);
	bitmap_free(which);
	return reason ? ki_refuse(said, reason) : err;
}

int ki_process_release_answer(struct ki_request *q, int err)
{
	struct ki_process *p = q->session->process;

	if (err)
		return err;
	mutex_lock(&p->lock);
	if (!p->over)
		err = release(p, q, &q->arg.process_release.reason);
	mutex_unlock(&p->lock);
	return err;
}

/* ---- what is told of it ---- */

void ki_process_tell(const struct ki_process *p, struct ki_session_row *row)
{
	lockdep_assert_held(&ki_lock);
	if (!p)
		return;
	row->process = p->who.pid;
	row->places = READ_ONCE(p->over) ? 0 : ki_process_places(p);
}

/* ---- the end ---- */

void ki_process_give(struct ki_session *s)
{
	struct ki_process *p = s->process;

	lockdep_assert_held(&ki_lock);
	if (!p)
		return;
	ki_account_give(s->account, KI_LIMIT_PAGES, p->pages + p->own_pages);
	ki_account_give(s->account, KI_LIMIT_WINDOWS, p->windows);
}

int ki_processes_init(void)
{
	int err;

	ki_process_queue = alloc_workqueue("kerninst", WQ_UNBOUND, 0);
	if (!ki_process_queue)
		return -ENOMEM;
	err = ki_spaces_init();
	if (err)
		destroy_workqueue(ki_process_queue);
	return err;
}

void ki_processes_exit(void)
{
	ki_spaces_exit();
	ki_holds_exit();
	destroy_workqueue(ki_process_queue);
}
