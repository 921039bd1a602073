// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is mapped into a live process, by a thread of the kernel that takes on the process's
 * address space for a moment. What it shares with the caller is a part of the session's memory.
 * What is its own is memory as it maps it itself, but that a child finds zeros there: words of
 * threads, which a child has none of. A process that unmaps ours, or puts its own there meanwhile,
 * does so to itself.
 */
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>

#include "account/limit.h"
#include "process/process.h"
#include "symbols.h"

#define KI_PROCESS_MAPS (KI_PROCESS_CODE | KI_PROCESS_OWN)

int ki_process_map_take(struct ki_request *q)
{
	struct ki_process_map *req = &q->arg.process_map;
	bool bad = req->flags & ~KI_PROCESS_MAPS || req->flags == KI_PROCESS_MAPS || req->reason ||
		   req->zero || !req->len || (req->flags == KI_PROCESS_OWN && req->offset);

	if (bad || offset_in_page(req->addr | req->len | req->offset) || req->addr < KI_LOWEST ||
	    req->len > KI_PROCESS_BYTES || req->addr > TASK_SIZE_MAX - req->len ||
	    req->offset > KI_PROCESS_BYTES)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	return 0;
}

/* What it was charged for stays until the session ends, as with edits. */
static int charge_own(struct ki_request *q)
{
	struct ki_process_map *req = &q->arg.process_map;
	struct ki_process *p = q->session->process;
	u64 pages = req->len >> PAGE_SHIFT;
	int err = ki_account_take(q->session->account, KI_LIMIT_PAGES, pages, &req->reason);

	if (!err)
		p->own_pages += pages;
	return err;
}

int ki_process_map(struct ki_request *q)
{
	struct ki_process_map *req = &q->arg.process_map;
	const struct ki_process *p = q->session->process;

	lockdep_assert_held(&ki_lock);
	if (p && req->flags & KI_PROCESS_OWN)
		return charge_own(q);
	if (!p || !p->memory || req->offset + req->len > p->pages << PAGE_SHIFT)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	return 0;
}

struct ki_map_job {
	struct work_struct work;
	struct ki_process *p;
	const struct ki_process_map *req;
	unsigned long at; /* or an error */
};

static unsigned long map_shared(const struct ki_map_job *j)
{
	bool code = j->req->flags & KI_PROCESS_CODE;

	return vm_mmap(j->p->memory, j->req->addr, j->req->len,
		       PROT_READ | (code ? PROT_EXEC : PROT_WRITE),
		       MAP_SHARED | MAP_FIXED_NOREPLACE, j->req->offset);
}

static unsigned long map_own(const struct ki_map_job *j)
{
	unsigned long at = vm_mmap(NULL, j->req->addr, j->req->len, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, 0);
	int err;

	if (IS_ERR_VALUE(at))
		return at;
	err = ki_call(do_madvise)(current->mm, at, j->req->len, MADV_WIPEONFORK);
	if (!err)
		return at;
	vm_munmap(at, j->req->len);
	return err;
}

static void map_as_process(struct work_struct *w)
{
	struct ki_map_job *j = container_of(w, struct ki_map_job, work);
	struct mm_struct *mm = j->p->own->mm;

	j->at = -ESRCH;
	if (!mmget_not_zero(mm))
		return;
	kthread_use_mm(mm);
	j->at = j->req->flags & KI_PROCESS_OWN ? map_own(j) : map_shared(j);
	kthread_unuse_mm(mm);
	mmput(mm);
}

static int map(struct ki_process *p, struct ki_process_map *req)
{
	struct ki_process_range *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	struct ki_map_job j = {.p = p, .req = req};

	if (!r)
		return -ENOMEM;
	INIT_WORK_ONSTACK(&j.work, map_as_process);
	queue_work(ki_process_queue, &j.work);
	flush_work(&j.work);
	destroy_work_on_stack(&j.work);
	if (!IS_ERR_VALUE(j.at)) {
		*r = (struct ki_process_range){
			.addr = req->addr, .len = req->len, .own = req->flags & KI_PROCESS_OWN};
		list_add_tail(&r->list, &p->ranges);
		return 0;
	}
	kfree(r);
	if (j.at == -ESRCH)
		return ki_refuse(&req->reason, KI_R_PROCESS_GONE);
	return (int)j.at;
}

int ki_process_map_answer(struct ki_request *q, int err)
{
	struct ki_process_map *req = &q->arg.process_map;
	struct ki_process *p = q->session->process;

	if (err)
		return err;
	mutex_lock(&p->lock);
	err = p->over ? ki_refuse(&req->reason, KI_R_EVICTED) : map(p, req);
	mutex_unlock(&p->lock);
	return err;
}
