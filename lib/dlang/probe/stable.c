// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Providers whose probes mean the same in each kernel: a row for each probe says where the kernel
 * passes by when it does that, and which of the parameters there the probe's arguments are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/probe.h"

#define SET(n)                                                                                     \
	{                                                                                          \
		.kind = KI_D_PARAM_SET, .param = (n)                                               \
	}
#define FAILED                                                                                     \
	{                                                                                          \
		.kind = KI_D_FAILED                                                                \
	}
/* Of a socket's states, parameters 2 and 3. */
#define BECOMES(old, new)                                                                          \
	{                                                                                          \
		.kind = KI_D_PARAMS_ARE, .param = 2, .value = (uint64_t)(old) << 32 | (new)        \
	}
#define NO_SOCKET                                                                                  \
	{                                                                                          \
		.kind = KI_D_PARAM_IS, .param = 0                                                  \
	}
#define NOTHING                                                                                    \
	{                                                                                          \
		.kind = KI_D_NULL                                                                  \
	}

static const struct row {
	const char *provider, *name;
	const char *
		group; /* of a tracepoint, whose parameters are numbered from 1; NULL: a function */
	const char *place;
	const char *map;
	bool is_return;
	struct ki_d_guarded guard;
} rows[] = {
	{"proc", "exec", NULL, "__x64_sys_execve", "0", false, {0}},
	{"proc", "exec-failure", NULL, "__x64_sys_execve", NULL, true, FAILED},
	{"proc", "exec-success", "sched", "sched_process_exec", "-", false, {0}},
	{"proc", "create", "sched", "sched_process_fork", "2", false, {0}},
	{"proc", "start", NULL, "schedule_tail", "-", false, {0}},
	{"proc", "exit", "sched", "sched_process_exit", "-", false, {0}},
	{"proc", "lwp-create", "sched", "sched_process_fork", "2", false, {0}},
	{"proc", "lwp-start", NULL, "schedule_tail", "-", false, {0}},
	{"proc", "lwp-exit", "sched", "sched_process_exit", "-", false, {0}},
	{"proc", "signal-send", "signal", "signal_generate", "331", false, {0}},
	{"proc", "signal-handle", "signal", "signal_deliver", "12", false, {0}},
	{"sched", "on-cpu", NULL, "finish_task_switch.isra.0", "-", false, {0}},
	{"sched", "on-cpu", NULL, "finish_task_switch", "-", false, {0}},
	{"sched", "off-cpu", "sched", "sched_switch", "33", false, {0}},
	{"sched", "sleep", "sched", "sched_switch", "33", false, SET(4)},
	{"sched", "preempt", "sched", "sched_switch", "33", false, SET(1)},
	{"sched", "wakeup", "sched", "sched_wakeup", "11", false, {0}},
	{"sched", "enqueue", NULL, "enqueue_task_fair", "11", false, {0}},
	{"sched", "dequeue", NULL, "dequeue_task_fair", "11", false, {0}},
	{"sched", "tick", NULL, "scheduler_tick", "-", false, {0}},
	{"sched", "tick", NULL, "sched_tick", "-", false, {0}},
	{"sched", "migrate", "sched", "sched_migrate_task", "12", false, {0}},
	{"io", "start", "block", "block_bio_queue", "1", false, {0}},
	{"io", "done", "block", "block_bio_complete", "2", false, {0}},
	{"io", "wait-start", NULL, "io_schedule", "-", false, {0}},
	{"io", "wait-done", NULL, "io_schedule", "-", true, {0}},
	{"vfs", "open", NULL, "vfs_open", "01", false, {0}},
	{"vfs", "read", NULL, "vfs_read", "012", false, {0}},
	{"vfs", "read-done", NULL, "vfs_read", NULL, true, {0}},
	{"vfs", "write", NULL, "vfs_write", "012", false, {0}},
	{"vfs", "write-done", NULL, "vfs_write", NULL, true, {0}},
	{"vfs", "fsync", NULL, "vfs_fsync_range", "0123", false, {0}},
	{"vfs", "create", NULL, "vfs_create", "012", false, {0}},
	{"vfs", "unlink", NULL, "vfs_unlink", "012", false, {0}},
	{"vfs", "mkdir", NULL, "vfs_mkdir", "012", false, {0}},
	{"vfs", "rmdir", NULL, "vfs_rmdir", "012", false, {0}},
	{"vfs", "rename", NULL, "vfs_rename", "0", false, {0}},
	{"vfs", "getattr", NULL, "vfs_getattr", "01", false, {0}},
	{"lockstat", "adaptive-block", "lock", "contention_begin", "12", false, {0}},
	{"lockstat", "adaptive-block-end", "lock", "contention_end", "12", false, {0}},
	{"lockstat", "adaptive-release", NULL, "mutex_unlock", "0", false, {0}},
	{"lockstat", "spin-release", NULL, "_raw_spin_unlock", "0", false, {0}},
	{"kmem", "alloc", NULL, "__kmalloc", "01", false, {0}},
	{"kmem", "alloc", NULL, "__kmalloc_noprof", "01", false, {0}},
	{"kmem", "alloc-failure", NULL, "__kmalloc", NULL, true, NOTHING},
	{"kmem", "alloc-failure", NULL, "__kmalloc_noprof", NULL, true, NOTHING},
	{"kmem", "free", NULL, "kfree", "0", false, {0}},
	{"kmem", "cache-alloc", NULL, "kmem_cache_alloc", "01", false, {0}},
	{"kmem", "cache-alloc", NULL, "kmem_cache_alloc_noprof", "01", false, {0}},
	{"kmem", "cache-alloc-failure", NULL, "kmem_cache_alloc", NULL, true, NOTHING},
	{"kmem", "cache-alloc-failure", NULL, "kmem_cache_alloc_noprof", NULL, true, NOTHING},
	{"kmem", "cache-free", NULL, "kmem_cache_free", "01", false, {0}},
	{"kmem", "page-alloc", "kmem", "mm_page_alloc", "1234", false, {0}},
	{"kmem", "page-free", "kmem", "mm_page_free", "12", false, {0}},
	{"ip", "send", NULL, "ip_finish_output2", "221", false, {0}},
	{"ip", "receive", NULL, "ip_local_deliver", "00", false, {0}},
	{"ip", "send", NULL, "ip6_finish_output2", "221", false, {0}},
	{"ip", "receive", NULL, "ip6_input", "00", false, {0}},
	{"tcp", "send", NULL, "__tcp_transmit_skb", "10-0", false, {0}},
	{"tcp", "receive", NULL, "tcp_v4_rcv", "0", false, {0}},
	{"tcp", "receive", NULL, "tcp_v6_rcv", "0", false, {0}},
	{"tcp", "accept-refused", NULL, "tcp_v4_send_reset", "10", false, NO_SOCKET},
	{"tcp", "accept-refused", NULL, "tcp_v6_send_reset", "10", false, NO_SOCKET},
	{"tcp", "connect-request", NULL, "tcp_connect", "00-0", false, {0}},
	{"tcp", "state-change", "sock", "inet_sock_set_state", "11-123", false, {0}},
	{"tcp", "connect-established", "sock", "inet_sock_set_state", "11-123", false,
	 BECOMES(2, 1)},
	{"tcp", "connect-refused", "sock", "inet_sock_set_state", "11-123", false, BECOMES(2, 7)},
	{"tcp", "accept-established", "sock", "inet_sock_set_state", "11-123", false,
	 BECOMES(3, 1)},
	{"tcp", "retransmit", "tcp", "tcp_retransmit_skb", "21-1", false, {0}},
	{"udp", "send", NULL, "udp_sendmsg", "012", false, {0}},
	{"udp", "send", NULL, "udpv6_sendmsg", "012", false, {0}},
	{"udp", "receive", NULL, "udp_queue_rcv_skb", "10", false, {0}},
	{"udp", "receive", NULL, "udpv6_queue_rcv_skb", "10", false, {0}},
	{"callout", "timer-start", "timer", "timer_expire_entry", "12", false, {0}},
	{"callout", "timer-end", "timer", "timer_expire_exit", "1", false, {0}},
	{"callout", "hrtimer-start", "timer", "hrtimer_expire_entry", "12", false, {0}},
	{"callout", "hrtimer-end", "timer", "hrtimer_expire_exit", "1", false, {0}},
	{"callout", "work-queue", "workqueue", "workqueue_activate_work", "1", false, {0}},
	{"callout", "work-start", "workqueue", "workqueue_execute_start", "1", false, {0}},
	{"callout", "work-end", "workqueue", "workqueue_execute_end", "12", false, {0}},
	{"callout", "softirq-start", "irq", "softirq_entry", "1", false, {0}},
	{"callout", "softirq-end", "irq", "softirq_exit", "1", false, {0}},
	{"callout", "tasklet-start", "irq", "tasklet_entry", "12", false, {0}},
	{"callout", "tasklet-end", "irq", "tasklet_exit", "12", false, {0}},
	{"callout", "thread-start", NULL, "kthread", "0", false, {0}},
};
#define ROWS (sizeof(rows) / sizeof(*rows))

/* Is there such a tracepoint in this kernel? */
static bool has_event(struct ki_d_match *m, const struct row *r)
{
	char want[128];
	const char *events = ki_d_match_events(m), *at;
	size_t n = (size_t)snprintf(want, sizeof(want), "%s:%s", r->group, r->place);

	for (at = events; at && (at = strstr(at, want)); at += n)
		if ((at == events || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
			return true;
	return false;
}

static int found(struct ki_d_match *m, const struct ki_d_provider *self, const struct row *r)
{
	struct ki_d_hook hook = {.kind = r->group ? KI_D_HOOK_TRACEPOINT : KI_D_HOOK_FUNCTION,
				 .is_return = r->is_return,
				 .group = r->group,
				 .event = r->place,
				 .map = r->map};
	struct ki_d_probe p = {.provider = self,
			       .module = KI_D_KERNEL,
			       .function = "",
			       .name = r->name,
			       .id = KI_D_FIRST_STABLE + (uint32_t)(r - rows),
			       .hook = &hook};

	hook.guard[1] = r->guard;
	if (r->group ? !has_event(m, r)
		     : !(p.sym = ki_target_symbol_named(m->t, "", r->place, NULL)))
		return 0;
	return ki_d_found_probe(m, &p);
}

int ki_d_find_stable(struct ki_d_match *m, const struct ki_d_provider *self)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < ROWS; i++)
		if (!strcmp(rows[i].provider, self->name) &&
		    ki_d_field_matches(m->pattern->field[1], KI_D_KERNEL) &&
		    ki_d_field_matches(m->pattern->field[2], "") &&
		    ki_d_field_matches(m->pattern->field[3], rows[i].name))
			ret = found(m, self, &rows[i]);
	return ret;
}

/* ---- tracepoints as they are ---- */

int ki_d_find_events(struct ki_d_match *m, const struct ki_d_provider *self)
{
	const char *line = ki_d_match_events(m);
	uint32_t number = 0;
	int ret = 0;

	for (; !ret && line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct ki_d_hook hook = {.kind = KI_D_HOOK_TRACEPOINT, .first = 1};
		struct ki_d_probe p = {.provider = self, .function = "", .hook = &hook};
		size_t n = strcspn(line, ":\n"), len = strcspn(line, "\n");

		number++;
		if (line[n] != ':')
			continue;
		p.owned = strndup(line, len);
		if (!p.owned)
			return ki_d_no_memory(m->err);
		p.owned[n] = 0;
		p.module = p.owned;
		p.name = p.owned + n + 1;
		p.id = KI_D_FIRST_EVENT + 10000 * (self->number - 1) + number;
		/* System calls are a provider of their own. */
		if (strcmp(p.module, "syscalls") != 0 &&
		    ki_d_field_matches(m->pattern->field[1], p.module) &&
		    ki_d_field_matches(m->pattern->field[2], "") &&
		    ki_d_field_matches(m->pattern->field[3], p.name))
			ret = ki_d_found_probe(m, &p);
		free(p.owned);
	}
	return ret;
}
