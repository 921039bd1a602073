// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may do what.
 *
 * Questions, each asked of the one that can answer it:
 *
 *  - May this process look into the kernel? CAP_PERFMON, when the device is opened: as
 *    perf_event_open asks. The device's mode lets all users try. A descriptor that is handed on is
 *    a right that is handed on.
 *  - May this descriptor change something? Only one that is open for writing.
 *  - Does lockdown forbid it? Lockdown may be raised at any time, and is never lowered. So each
 *    request asks twice: before it takes anything from the caller, which may last for ever, and
 *    when it has ki_lock and begins. To write the kernel's text is forbidden in both of its modes,
 *    as the kernel's own debugger is. To write a process's is forbidden in both by the driver's
 *    rights as well. To read text or values is forbidden in confidentiality mode. Taking out of the
 *    kernel, and closing, is always allowed: it leads back to what was locked down.
 *
 *  - Does the driver know this kernel well enough to write its text (unknown.c)?
 *  - Has the session been evicted? Then it may look on, and change nothing more. Who may evict,
 *    evict.c says: that is asked of the caller, not of the descriptor.
 *
 * One question more is for what no check of code can make harmless: control that goes to a function
 * which the caller names, instead of another one or out of a chunk. That is what loading a module
 * is, so it takes CAP_SYS_MODULE, of the one that makes the request. So do chunks that write to the
 * memory of whatever process they run in. Chunks that send signals to it take CAP_KILL, as sending
 * them to another's process does.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/security.h>

#include "ki.h"
#include "vet/permit.h"
#include "text/unknown.h"

enum {
	KI_WRITES = 1,	/* the descriptor must be open for writing */
	KI_CHANGES = 2, /* lockdown: it leads to other text; so the kernel must be known */
	KI_READS = 4,	/* lockdown: it says what is in the kernel's memory */
	KI_EDITS = 8,	/* lockdown: it leads to other text of a process */
};

#define KI_NO_REASON 0 /* where the size is */

static const struct {
	unsigned int cmd;
	u8 is;
	u8 reason; /* where in the request */
} ki_permits[] = {
	{KI_IOC_INFO, 0, KI_NO_REASON},
	{KI_IOC_PATCHES, 0, KI_NO_REASON},
	{KI_IOC_SESSION, 0, KI_NO_REASON},
	{KI_IOC_SESSION_WINDOW, 0, KI_NO_REASON},
	{KI_IOC_HELD, 0, KI_NO_REASON},
	{KI_IOC_EVICT, 0, offsetof(struct ki_evict, reason)},
	{KI_IOC_READ, KI_READS, KI_NO_REASON},
	{KI_IOC_RESERVED, KI_READS, KI_NO_REASON},
	{KI_IOC_INSIDE, KI_READS, KI_NO_REASON},
	{KI_IOC_UNSPLICE, KI_WRITES, offsetof(struct ki_unsplice, reason)},
	{KI_IOC_SPLICE, KI_WRITES | KI_CHANGES, offsetof(struct ki_splice, reason)},
	{KI_IOC_COUNTERS, KI_WRITES | KI_CHANGES, offsetof(struct ki_counters, reason)},
	{KI_IOC_GLOBALS, KI_WRITES | KI_CHANGES, offsetof(struct ki_globals, reason)},
	{KI_IOC_GLOBAL, KI_WRITES | KI_CHANGES, KI_NO_REASON},
	{KI_IOC_WORDS, KI_WRITES | KI_CHANGES, offsetof(struct ki_words, reason)},
	{KI_IOC_RING, KI_WRITES | KI_CHANGES, offsetof(struct ki_ring, reason)},
	{KI_IOC_TABLE, KI_WRITES | KI_CHANGES, offsetof(struct ki_table_request, reason)},
	{KI_IOC_STACKS, KI_WRITES | KI_CHANGES, offsetof(struct ki_stacks, reason)},
	{KI_IOC_TEXTS, KI_WRITES | KI_CHANGES, offsetof(struct ki_texts, reason)},
	{KI_IOC_PROCESS, KI_WRITES | KI_EDITS, offsetof(struct ki_process_open, reason)},
	{KI_IOC_PROCESS_MEMORY, KI_WRITES | KI_EDITS, offsetof(struct ki_process_memory, reason)},
	{KI_IOC_PROCESS_MAP, KI_WRITES | KI_EDITS, offsetof(struct ki_process_map, reason)},
	{KI_IOC_PROCESS_EDIT, KI_WRITES | KI_EDITS, offsetof(struct ki_process_edits, reason)},
	{KI_IOC_PROCESS_RELEASE, KI_WRITES, offsetof(struct ki_process_release, reason)},
	{KI_IOC_PROCESS_GO, KI_WRITES | KI_EDITS, offsetof(struct ki_process_go, reason)},
	{KI_IOC_EVENT, KI_WRITES | KI_CHANGES, offsetof(struct ki_event_req, reason)},
};

/* The kernel's debugger writes and reads what we do, and lockdown has a word for each. */
static u16 locked_down(u8 is)
{
	if (is & (KI_CHANGES | KI_EDITS) && security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL))
		return KI_R_LOCKDOWN;
	if (is & KI_READS && security_locked_down(LOCKDOWN_DBG_READ_KERNEL))
		return KI_R_LOCKDOWN;
	return KI_R_OK;
}

static bool is_writable(const struct file *file)
{
	return file->f_mode & FMODE_WRITE;
}

/* First the right: who lacks it must not fill the log with what lockdown says. */
int ki_permit_open(const struct file *file)
{
	if (!perfmon_capable())
		return -EACCES;
	return locked_down(KI_READS | (is_writable(file) ? KI_CHANGES : 0)) ? -EPERM : 0;
}

static u16 refused(const struct file *file, u8 is)
{
	u16 reason = locked_down(is);

	if (!reason && is & KI_WRITES && !is_writable(file))
		reason = KI_R_READ_ONLY;
	if (!reason && is & KI_CHANGES && ki_unknown_refuses())
		reason = KI_R_UNKNOWN_KERNEL;
	return reason;
}

/* The row of a request; its index, or that after the last. */
static u32 permit_of(unsigned int cmd)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ki_permits) && ki_permits[i].cmd != cmd; i++)
		;
	return i;
}

static int refuse_request(u32 i, void *arg, u16 reason)
{
	u32 unsaid = KI_R_OK;

	if (reason && ki_permits[i].reason != KI_NO_REASON)
		*(u32 *)(arg + ki_permits[i].reason) = reason;
	return reason ? ki_refuse(&unsaid, reason) : 0;
}

int ki_permit_request(const struct file *file, unsigned int cmd, void *arg)
{
	u32 i = permit_of(cmd);

	if (WARN_ON_ONCE(i == ARRAY_SIZE(ki_permits)))
		return -EPERM; /* a request without a row has no right */
	return refuse_request(i, arg, refused(file, ki_permits[i].is));
}

/* Who has been put out may go on looking. */
int ki_permit_session(const struct file *file, unsigned int cmd, void *arg)
{
	const struct ki_session *s = file->private_data;
	u32 i = permit_of(cmd);

	lockdep_assert_held(&ki_lock);
	if (s->owner.evicted && ki_permits[i].is & KI_WRITES)
		return refuse_request(i, arg, KI_R_EVICTED);
	return refuse_request(i, arg, refused(file, ki_permits[i].is));
}

int ki_permit_map(void)
{
	return locked_down(KI_READS) ? -EPERM : 0;
}

u16 ki_permit_calls(void)
{
	return capable(CAP_SYS_MODULE) ? KI_R_OK : KI_R_NEEDS_MODULE_CAP;
}

u16 ki_permit_signals(void)
{
	return capable(CAP_KILL) ? KI_R_OK : KI_R_NEEDS_KILL_CAP;
}
