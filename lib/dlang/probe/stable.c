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
#define TAKEN                                                                                      \
	{                                                                                          \
		.kind = KI_D_SUCCEEDED                                                             \
	}
/* A signal's result, parameter 5. */
#define IGNORED                                                                                    \
	{                                                                                          \
		.kind = KI_D_PARAM_IS, .param = 5, .value = 1                                      \
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
	{"proc", "exec", NULL, "__x64_sys_execveat", "<", false, {0}},
	{"proc", "exec-failure", NULL, "__x64_sys_execve", NULL, true, FAILED},
	{"proc", "exec-failure", NULL, "__x64_sys_execveat", NULL, true, FAILED},
	{"proc", "exec-success", "sched", "sched_process_exec", "-", false, {0}},
	{"proc", "create", "sched", "sched_process_fork", "2", false, {0}},
	{"proc", "start", NULL, "schedule_tail", "-", false, {0}},
	{"proc", "exit", "sched", "sched_process_exit", "-", false, {0}},
	{"proc", "lwp-create", "sched", "sched_process_fork", "2", false, {0}},
	{"proc", "lwp-start", NULL, "schedule_tail", "-", false, {0}},
	{"proc", "lwp-exit", "sched", "sched_process_exit", "-", false, {0}},
	{"proc", "signal-send", "signal", "signal_generate", "331", false, {0}},
	{"proc", "signal-discard", "signal", "signal_generate", "331", false, IGNORED},
	{"proc", "signal-handle", "signal", "signal_deliver", "12", false, {0}},
	{"sched", "on-cpu", NULL, "finish_task_switch.isra.0", "-", false, {0}},
	{"sched", "on-cpu", NULL, "finish_task_switch", "-", false, {0}},
	{"sched", "off-cpu", "sched", "sched_switch", "33", false, {0}},
	{"sched", "sleep", "sched", "sched_switch", "33", false, SET(4)},
	{"sched", "preempt", "sched", "sched_switch", "33", false, SET(1)},
	{"sched", "surrender", NULL, "do_sched_yield", "-", false, {0}},
	{"sched", "wakeup", "sched", "sched_wakeup", "11", false, {0}},
	{"sched", "enqueue", NULL, "enqueue_task_fair", "11", false, {0}},
	{"sched", "dequeue", NULL, "dequeue_task_fair", "11", false, {0}},
	{"sched", "tick", NULL, "scheduler_tick", "-", false, {0}},
	{"sched", "tick", NULL, "sched_tick", "-", false, {0}},
	{"sched", "migrate", "sched", "sched_migrate_task", "12", false, {0}},
	{"io", "start", "block", "block_bio_queue", "1", false, {0}},
	{"io", "done", "block", "block_bio_complete", "2", false, {0}},
	{"io", "wait-start", NULL, "submit_bio_wait", "0", false, {0}},
	{"io", "wait-done", NULL, "submit_bio_wait", "k", true, {0}},
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
	{"lockstat", "adaptive-acquire", NULL, "mutex_lock", "k", true, {0}},
	{"lockstat", "adaptive-acquire", NULL, "__mutex_lock.constprop.0", "K", true, {0}},
	{"lockstat", "adaptive-acquire", NULL, "__mutex_lock", "K", true, {0}},
	{"lockstat", "adaptive-acquire-error", NULL, "mutex_lock_killable", "kv", true, FAILED},
	{"lockstat", "adaptive-acquire-error", NULL, "mutex_lock_interruptible", "kv", true,
	 FAILED},
	{"lockstat", "adaptive-acquire-error", NULL, "__mutex_lock.constprop.0", "Kv", true,
	 FAILED},
	{"lockstat", "adaptive-acquire-error", NULL, "__mutex_lock", "Kv", true, FAILED},
	{"lockstat", "adaptive-block", NULL, "__mutex_lock.constprop.0", "kt", true, {0}},
	{"lockstat", "adaptive-block", NULL, "__mutex_lock", "kt", true, {0}},
	{"lockstat", "adaptive-release", NULL, "mutex_unlock", "0", false, {0}},
	{"lockstat", "adaptive-spin", NULL, "__mutex_lock.constprop.0", "kt", true, {0}},
	{"lockstat", "adaptive-spin", NULL, "__mutex_lock", "kt", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_read_lock", "ky", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_read_lock_bh", "ky", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_read_lock_irq", "ky", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_read_lock_irqsave", "ky", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_read_trylock", "ky", true, TAKEN},
	{"lockstat", "rw-acquire", NULL, "_raw_write_lock", "k-", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_write_lock_bh", "k-", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_write_lock_irq", "k-", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_write_lock_irqsave", "k-", true, {0}},
	{"lockstat", "rw-acquire", NULL, "_raw_write_trylock", "k-", true, TAKEN},
	{"lockstat", "rw-release", NULL, "_raw_read_unlock", "0y", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_read_unlock_bh", "0y", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_read_unlock_irq", "0y", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_read_unlock_irqrestore", "0y", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_write_unlock", "0-", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_write_unlock_bh", "0-", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_write_unlock_irq", "0-", false, {0}},
	{"lockstat", "rw-release", NULL, "_raw_write_unlock_irqrestore", "0-", false, {0}},
	{"lockstat", "rw-spin", NULL, "queued_read_lock_slowpath", "kty", true, {0}},
	{"lockstat", "rw-spin", NULL, "queued_write_lock_slowpath", "kt-", true, {0}},
	{"lockstat", "spin-acquire", NULL, "_raw_spin_lock", "k", true, {0}},
	{"lockstat", "spin-acquire", NULL, "_raw_spin_lock_bh", "k", true, {0}},
	{"lockstat", "spin-acquire", NULL, "_raw_spin_lock_irq", "k", true, {0}},
	{"lockstat", "spin-acquire", NULL, "_raw_spin_lock_irqsave", "k", true, {0}},
	{"lockstat", "spin-acquire", NULL, "_raw_spin_trylock", "k", true, TAKEN},
	{"lockstat", "spin-acquire", NULL, "_raw_spin_trylock_bh", "k", true, TAKEN},
	{"lockstat", "spin-release", NULL, "_raw_spin_unlock", "0", false, {0}},
	{"lockstat", "spin-release", NULL, "_raw_spin_unlock_bh", "0", false, {0}},
	{"lockstat", "spin-release", NULL, "_raw_spin_unlock_irq", "0", false, {0}},
	{"lockstat", "spin-release", NULL, "_raw_spin_unlock_irqrestore", "0", false, {0}},
	{"lockstat", "spin-spin", NULL, "native_queued_spin_lock_slowpath", "kt", true, {0}},
	{"lockstat", "spin-spin", NULL, "queued_spin_lock_slowpath", "kt", true, {0}},
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
	{"ip", "send", NULL, "ip6_finish_output2", "221", false, {0}},
	{"ip", "receive", NULL, "ip_local_deliver", "00", false, {0}},
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

static bool same_probe(const struct row *a, const struct row *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

/* Is what it stands at in this kernel? */
static bool is_here(struct ki_d_match *m, const struct row *r)
{
	return r->group ? has_event(m, r)
			: ki_target_symbol_named(m->t, "", r->place, NULL) != NULL;
}

static void describe(struct ki_d_hook *h, const struct row *r)
{
	h->kind = r->group ? KI_D_HOOK_TRACEPOINT : KI_D_HOOK_FUNCTION;
	h->is_return = r->is_return;
	h->group = r->group;
	h->event = r->place;
	h->map = r->map;
	h->guard[1] = r->guard;
}

/* A probe of n rows, one after the other. */
static int found(struct ki_d_match *m, const struct ki_d_provider *self, const struct row *r,
		 size_t n)
{
	const struct row *first = NULL;
	struct ki_d_hook hook = {0};
	struct ki_d_probe p = {.provider = self,
			       .module = KI_D_KERNEL,
			       .function = "",
			       .name = r->name,
			       .id = KI_D_FIRST_STABLE + (uint32_t)(r - rows),
			       .hook = &hook};

	for (size_t i = 0; i < n; i++)
		if (is_here(m, &r[i])) {
			first = first ? first : &r[i];
			hook.there |= UINT64_C(1) << i;
		}
	if (!first)
		return 0;
	describe(&hook, first);
	if (!first->group)
		p.sym = ki_target_symbol_named(m->t, "", first->place, NULL);
	return ki_d_found_probe(m, &p);
}

int ki_d_find_stable(struct ki_d_match *m, const struct ki_d_provider *self)
{
	int ret = 0;
	size_t n;

	for (size_t i = 0; !ret && i < ROWS; i += n) {
		for (n = 1; i + n < ROWS && same_probe(&rows[i], &rows[i + n]);)
			n++;
		if (!strcmp(rows[i].provider, self->name) &&
		    ki_d_field_matches(m->pattern->field[1], KI_D_KERNEL) &&
		    ki_d_field_matches(m->pattern->field[2], "") &&
		    ki_d_field_matches(m->pattern->field[3], rows[i].name))
			ret = found(m, self, &rows[i], n);
	}
	return ret;
}

uint32_t ki_d_stable_places(const struct ki_d_probe *p)
{
	return (uint32_t)__builtin_popcountll(p->hook->there);
}

/* Is a row of it where another one's function jumps to? */
static bool goes_on(const struct ki_d_probe *p)
{
	const struct row *r = &rows[p->id - KI_D_FIRST_STABLE];

	for (unsigned int i = 0; i < 64; i++)
		if (p->hook->there >> i & 1 && r[i].map && strchr(r[i].map, 'K'))
			return true;
	return false;
}

void ki_d_stable_turn(struct ki_target *t, struct ki_d_probe *p, uint32_t place)
{
	const struct row *r = &rows[p->id - KI_D_FIRST_STABLE];
	uint64_t there = p->hook->there;

	while (place--)
		there &= there - 1;
	r += __builtin_ctzll(there);
	if (r->group) /* the only one, and found by ki_d_hook_find */
		return;
	describe(p->hook, r);
	p->hook->jumps = goes_on(p);
	p->sym = ki_target_symbol_named(t, "", r->place, NULL);
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
