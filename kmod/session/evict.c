// SPDX-License-Identifier: GPL-2.0-only
/*
 * Putting sessions out, by the machine's owner: what they have installed is taken out as when
 * they are closed, and nothing more is done for them.
 *
 * The descriptor stays its owner's, and so do its counters, buffers and mappings: the owner may be
 * in the middle of reading them, and a patch may be about to write there. They are given back when
 * the descriptor is closed.
 *
 * There are three ways to ask. A request of the device; it takes no descriptor for writing, since
 * under lockdown no tool gets one. A sysctl, kernel.kerninst_evict, for when the device does not
 * open or no tool is at hand: it returns when all is out. And a key of sysrq, for when nothing can
 * be started any more: it may come in an interrupt, so a work queue does it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/lockdep.h>
#include <linux/sysctl.h>
#include <linux/sysrq.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "ki.h"
#include "process/process.h"
#include "session/sessions.h"
#include "watch/who.h"

#define KI_SYSRQ_KEY 'y' /* free on x86; "yank" */

static bool may_evict(const struct ki_session *s)
{
	return s->owner.uid == from_kuid(&init_user_ns, current_uid()) || capable(CAP_SYS_ADMIN);
}

static bool put_out(struct ki_session *s)
{
	if (!s->owner.evicted)
		pr_info("kerninst: session %llu (%s, process %u) is evicted by %s, process %d\n",
			s->serial, s->owner.comm, s->owner.pid, current->comm,
			task_tgid_nr(current));
	s->owner.evicted = true;
	ki_who_is(s);
	ki_process_evict(s->process);
	return ki_unsplice_all(s);
}

static int evict_each(const struct ki_session *but, bool (*may)(const struct ki_session *s), u32 *n)
{
	struct ki_session *s;
	int err = 0;

	*n = 0;
	for (s = ki_owner_from(0); s; s = ki_owner_from(s->serial + 1)) {
		if (s == but || (may && !may(s)))
			continue;
		*n += !s->owner.evicted;
		if (!put_out(s))
			err = -EBUSY;
	}
	return err;
}

int ki_evict_all(u32 *n)
{
	lockdep_assert_held(&ki_lock);
	return evict_each(NULL, NULL, n);
}

static int evict_one(struct ki_evict *req)
{
	struct ki_session *s = ki_owner_from(req->session);

	if (!s || s->serial != req->session)
		return -ENOENT;
	if (!may_evict(s))
		return ki_refuse(&req->reason, KI_R_NOT_YOURS);
	req->evicted = !s->owner.evicted;
	return put_out(s) ? 0 : -EBUSY;
}

int ki_evict(struct ki_session *asker, struct ki_evict *req)
{
	int err;

	lockdep_assert_held(&ki_lock);
	req->reason = KI_R_OK;
	req->evicted = 0;
	if (req->flags & ~KI_EVICT_ALL || !req->flags == !req->session)
		return ki_refuse(&req->reason, KI_R_BAD_REQUEST);
	err = req->flags ? evict_each(asker, may_evict, &req->evicted) : evict_one(req);
	return err == -EBUSY ? ki_refuse(&req->reason, KI_R_FOREIGN_BREAKPOINT) : err;
}

static int evict_now(void)
{
	struct ki_who who;
	u32 n;
	int err;

	mutex_lock(&ki_lock);
	ki_who_begin(&who, NULL);
	err = ki_evict_all(&n);
	ki_who_end();
	mutex_unlock(&ki_lock);
	ki_process_evicted();
	ki_who_tell(&who);
	pr_info("kerninst: %u sessions have been evicted%s\n", n,
		err ? "; another tool stands in a window, which stays until it has gone" : "");
	return err;
}

/* Reads as 0. */
static int on_sysctl(ki_sysctl_row *row, int write, void *buffer, size_t *len, loff_t *at)
{
	unsigned int value = 0;
	struct ctl_table one = {.data = &value, .maxlen = sizeof(value), .mode = row->mode};
	int err = proc_douintvec(&one, write, buffer, len, at);

	if (err || !write)
		return err;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (value > 1)
		return -EINVAL;
	return value ? evict_now() : 0;
}

/* One row; kernels that are not told how many there are look for the empty one. */
static struct ctl_table ki_sysctls[] = {
	{.procname = "kerninst_evict", .mode = 0600, .proc_handler = on_sysctl},
	{},
};

static void on_work(struct work_struct *unused)
{
	evict_now();
}

static DECLARE_WORK(ki_evict_work, on_work);

static void on_sysrq(ki_sysrq_key key)
{
	queue_work(KI_QUEUE_ANYWHERE, &ki_evict_work);
}

/* Who may restart the machine by a key may give it back its text. */
static const struct sysrq_key_op ki_sysrq = {
	.handler = on_sysrq,
	.help_msg = "yank-out-kerninst(y)",
	.action_msg = "Evict all sessions of kerninst",
	.enable_mask = 0x80,
};

static struct ctl_table_header *ki_sysctl_header;
static bool ki_has_key;

/* Another module may have the key: then there is the sysctl. */
int ki_evict_init(void)
{
	ki_sysctl_header = ki_register_sysctl("kernel", ki_sysctls, 1);
	if (!ki_sysctl_header)
		return -ENOMEM;
	ki_has_key = !register_sysrq_key(KI_SYSRQ_KEY, &ki_sysrq);
	if (!ki_has_key)
		pr_warn("kerninst: the key %c of sysrq is not free\n", KI_SYSRQ_KEY);
	return 0;
}

void ki_evict_exit(void)
{
	if (ki_has_key)
		unregister_sysrq_key(KI_SYSRQ_KEY, &ki_sysrq);
	unregister_sysctl_table(ki_sysctl_header);
	cancel_work_sync(&ki_evict_work);
}
