// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who changes the kernel's text, told to those who watch.
 *
 * Each window that is installed, changed or removed is an event of the tracepoint kerninst:change,
 * which costs nothing while no tool listens. A request may have thousands of windows. So the
 * system's audit gets one record of each request (of each session that ends, of each eviction),
 * with how many, and the first. It is written when ki_lock has been let go: audit may make the
 * process wait until its queue has room. The first replacement of a function or a call taints the
 * kernel as live patching does (TAINT_LIVEPATCH): a bug report must say that functions are not
 * what the kernel's source says.
 *
 * What is changed in a process comes in one request, and goes at once: an event, and a record, of
 * each.
 */
#define CREATE_TRACE_POINTS
#include "watch/trace.h"
#include "yield.h"

#include <linux/audit.h>
#include <linux/cred.h>
#include <linux/lockdep.h>
#include <linux/panic.h>
#include <linux/sched.h>

static struct ki_who *ki_who_now;
static u64 ki_who_session; /* whose windows are changed now */
static u32 ki_changes;

struct ki_who_last ki_who_last[KI_WHO_LAST];

u32 ki_who_count(void)
{
	return READ_ONCE(ki_changes);
}

const char *ki_who_word(u8 what)
{
	static const char *const words[KI_WHO_WHATS] = {"installed", "changed", "removed"};

	return what < KI_WHO_WHATS ? words[what] : "?";
}

void ki_who_begin(struct ki_who *w, const struct ki_session *s)
{
	lockdep_assert_held(&ki_lock);
	*w = (struct ki_who){.session = s ? s->serial : 0};
	ki_who_session = w->session;
	ki_who_now = w;
}

void ki_who_end(void)
{
	lockdep_assert_held(&ki_lock);
	ki_holders_update();
	ki_who_now = NULL;
	ki_who_session = 0;
}

void ki_who_is(const struct ki_session *s)
{
	lockdep_assert_held(&ki_lock);
	ki_who_session = s->serial;
}

/* What a chunk that comes now has the window replaced by; 0. */
static unsigned long replaced_by(const struct ki_win *w)
{
	const struct ki_piece *p;

	list_for_each_entry (p, &w->more, in_window)
		if (ki_piece_replaces(p))
			return p->target;
	return 0;
}

static void taint_once(const struct ki_win *w, unsigned long by)
{
	if (test_taint(TAINT_LIVEPATCH))
		return;
	pr_info("kerninst: session %llu (%s, process %d) replaces %pS by %pS: the kernel is tainted, as by live patching\n",
		ki_who_session, current->comm, task_tgid_nr(current), (void *)w->addr, (void *)by);
	add_taint(TAINT_LIVEPATCH, LOCKDEP_STILL_OK);
}

static void note_window(const struct ki_win *w, enum ki_who_what what)
{
	unsigned long by = replaced_by(w);

	ki_who_last[ki_changes % KI_WHO_LAST] = (struct ki_who_last){ki_who_session, w->addr, what};
	WRITE_ONCE(ki_changes, ki_changes + 1);
	trace_change(ki_who_session, what, w, by);
	if (by)
		taint_once(w, by);
	if (!ki_who_now)
		return;
	if (!ki_who_now->first)
		ki_who_now->first = w->addr;
	if (by && !ki_who_now->replaced++)
		ki_who_now->by = by;
	ki_who_now->windows[what]++;
}

void ki_who_changed(const struct ki_change *c)
{
	const struct ki_group *g = c->group;
	enum ki_who_what what = KI_WHO_CHANGE;
	u32 i;

	lockdep_assert_held(&ki_lock);
	if (!g->patch.addr)
		what = KI_WHO_INSTALL;
	else if (!c->patch.addr)
		what = KI_WHO_REMOVE;
	for (i = 0; i < g->n; i++) {
		note_window(g->v[i], what);
		ki_yield();
	}
}

void ki_who_tell(const struct ki_who *w)
{
	struct audit_buffer *ab;

	lockdep_assert_not_held(&ki_lock);
	if (!w->first || !audit_enabled)
		return;
	ab = audit_log_start(audit_context(), GFP_KERNEL, AUDIT_KERNEL_OTHER);
	if (!ab)
		return;
	audit_log_format(ab, "kerninst session=%llu installed=%u changed=%u removed=%u first=%pS",
			 w->session, w->windows[KI_WHO_INSTALL], w->windows[KI_WHO_CHANGE],
			 w->windows[KI_WHO_REMOVE], (void *)w->first);
	if (w->replaced)
		audit_log_format(ab, " replaced=%u by=%pS", w->replaced, (void *)w->by);
	audit_log_task_info(ab);
	audit_log_end(ab);
}

void ki_who_tell_process(const struct ki_who_process *w)
{
	struct audit_buffer *ab;

	lockdep_assert_not_held(&ki_lock);
	trace_process(w);
	if (!audit_enabled)
		return;
	ab = audit_log_start(audit_context(), GFP_KERNEL, AUDIT_KERNEL_OTHER);
	if (!ab)
		return;
	audit_log_format(
		ab, "kerninst session=%llu process=%u installed=%u removed=%u first=0x%llx",
		w->session, w->pid, w->back ? 0 : w->places, w->back ? w->places : 0, w->first);
	audit_log_task_info(ab);
	audit_log_end(ab);
}
