/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the driver's own: below events/kerninst of tracefs.
 *
 * process: all that is changed in a process's text, or given back (by a thread of the kernel).
 * change: the bytes of one window. Session 0 is none: what had to be left is taken out later.
 * comm, pid and uid are of the process that makes the change; who evicts is not the session's own.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kerninst

#if !defined(KI_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KI_TRACE_H

#include <linux/tracepoint.h>

#include "watch/who.h"

TRACE_EVENT(change, TP_PROTO(u64 session, enum ki_who_what what, const struct ki_win *win, u64 by),
	    TP_ARGS(session, what, win, by),
	    TP_STRUCT__entry(__field(u64, session) __field(u64, addr) __field(u64, by)
				     __field(u32, pid) __field(u32, uid) __field(u8, len)
					     __field(u8, what) __array(char, comm, TASK_COMM_LEN)),
	    TP_fast_assign(__entry->session = session; __entry->addr = win->addr; __entry->by = by;
			   __entry->pid = task_tgid_nr(current);
			   __entry->uid = from_kuid(&init_user_ns, current_uid());
			   __entry->len = win->len; __entry->what = what;
			   memcpy(__entry->comm, current->comm, TASK_COMM_LEN);),
	    TP_printk("session=%llu pid=%u comm=%s uid=%u at=%pS len=%u what=%s by=%pS",
		      __entry->session, __entry->pid, __entry->comm, __entry->uid,
		      (void *)__entry->addr, __entry->len,
		      __print_symbolic(__entry->what, {0, "install"}, {1, "change"}, {2, "remove"}),
		      (void *)__entry->by));

TRACE_EVENT(
	process, TP_PROTO(const struct ki_who_process *w), TP_ARGS(w),
	TP_STRUCT__entry(__field(u64, session) __field(u64, first) __field(u32, process)
				 __field(u32, places) __field(u32, pid) __field(u32, uid)
					 __field(u8, back) __array(char, comm, TASK_COMM_LEN)),
	TP_fast_assign(__entry->session = w->session; __entry->first = w->first;
		       __entry->process = w->pid; __entry->places = w->places;
		       __entry->pid = task_tgid_nr(current);
		       __entry->uid = from_kuid(&init_user_ns, current_uid());
		       __entry->back = w->back;
		       memcpy(__entry->comm, current->comm, TASK_COMM_LEN);),
	TP_printk("session=%llu pid=%u comm=%s uid=%u process=%u places=%u first=0x%llx what=%s",
		  __entry->session, __entry->pid, __entry->comm, __entry->uid, __entry->process,
		  __entry->places, __entry->first, __entry->back ? "remove" : "install"));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH watch
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
