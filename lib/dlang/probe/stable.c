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
#define POSITIVE                                                                                   \
	{                                                                                          \
		.kind = KI_D_POSITIVE                                                              \
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
/* A listener has accepted: its new socket has no addresses yet. */
#define NOT_COPIED                                                                                 \
	{                                                                                          \
		.kind = KI_D_PARAMS_ARE_NOT, .param = 2, .value = 10ull << 32 | 3                  \
	}
#define NO_SOCKET                                                                                  \
	{                                                                                          \
		.kind = KI_D_PARAM_IS, .param = 0                                                  \
	}
#define NOTHING                                                                                    \
	{                                                                                          \
		.kind = KI_D_NULL                                                                  \
	}

/* Of what handle_mm_fault returns, VM_FAULT_MAJOR. */
#define FROM_DISK                                                                                  \
	{                                                                                          \
		.kind = KI_D_HAS_BIT, .value = 4                                                   \
	}
/* The least byte of bi_opf of the struct bio, REQ_OP_READ or REQ_OP_WRITE. */
#define BIO_IS(v)                                                                                  \
	{                                                                                          \
		.kind = KI_D_BYTE_IS, .offset = 16, .value = (v)                                   \
	}
/* What leaves the CPU has not been going to sleep. */
#define STILL_RUNS                                                                                 \
	{                                                                                          \
		.kind = KI_D_PARAM_IS, .param = 4                                                  \
	}

#define ALWAYS                                                                                     \
	{                                                                                          \
		0                                                                                  \
	}
#define ASLEEP	  SET(4)
#define PREEMPTED SET(1)
#define CONNECTED BECOMES(2, 1)
#define REFUSED	  BECOMES(2, 7)
#define ACCEPTED  BECOMES(3, 1)

/* A function is called; it returns; the kernel passes by at a tracepoint of a group. */
#define CALL	     NULL, false
#define RETURN	     NULL, true
#define AT_SCHED     "sched", false
#define AT_SIGNAL    "signal", false
#define AT_BLOCK     "block", false
#define AT_KMEM	     "kmem", false
#define AT_SOCK	     "sock", false
#define AT_TCP	     "tcp", false
#define AT_TIMER     "timer", false
#define AT_WORKQUEUE "workqueue", false
#define AT_IRQ	     "irq", false
#define AT_MODULE    "module", false
#define AT_VMSCAN    "vmscan", false

/* A lock has a function for each of what it keeps away meanwhile. */
#define LOCKS(name, where, lock, last, map)                                                        \
	{"lockstat", name, where, lock, map, ALWAYS},                                              \
		{"lockstat", name, where, lock "_bh", map, ALWAYS},                                \
		{"lockstat", name, where, lock "_irq", map, ALWAYS},                               \
	{                                                                                          \
		"lockstat", name, where, lock last, map, ALWAYS                                    \
	}

/* What reads or writes a file at once. */
#define CALLS(name, call)                                                                          \
	{"sysinfo", name, CALL, "__x64_sys_" call, "y", ALWAYS},                                   \
		{"sysinfo", name, CALL, "__x64_sys_" call "v", "y", ALWAYS},                       \
		{"sysinfo", name, CALL, "__x64_sys_p" call "64", "y", ALWAYS},                     \
		{"sysinfo", name, CALL, "__x64_sys_p" call "v", "y", ALWAYS},                      \
	{                                                                                          \
		"sysinfo", name, CALL, "__x64_sys_p" call "v2", "y", ALWAYS                        \
	}

static const struct row {
	const char *provider, *name;
	/* of a tracepoint, whose parameters are numbered from 1; NULL: a function */
	const char *group;
	bool is_return;
	const char *place;
	const char *map; /* "": none */
	struct ki_d_guarded guard;
} rows[] = {
	{"proc", "exec", CALL, "__x64_sys_execve", "0", ALWAYS},
	{"proc", "exec", CALL, "__x64_sys_execveat", "<", ALWAYS},
	{"proc", "exec-failure", RETURN, "__x64_sys_execve", "vv", FAILED},
	{"proc", "exec-failure", RETURN, "__x64_sys_execveat", "vv", FAILED},
	{"proc", "exec-success", AT_SCHED, "sched_process_exec", "-", ALWAYS},
	{"proc", "create", AT_SCHED, "sched_process_fork", "2", ALWAYS},
	{"proc", "start", CALL, "schedule_tail", "-", ALWAYS},
	{"proc", "exit", CALL, "taskstats_exit", "-", SET(1)}, /* of its last thread */
	{"proc", "lwp-create", AT_SCHED, "sched_process_fork", "2", ALWAYS},
	{"proc", "lwp-start", CALL, "schedule_tail", "-", ALWAYS},
	{"proc", "lwp-exit", CALL, "taskstats_exit", "-", ALWAYS},
	{"proc", "signal-send", AT_SIGNAL, "signal_generate", "331", ALWAYS},
	{"proc", "signal-discard", AT_SIGNAL, "signal_generate", "331", IGNORED},
	{"proc", "signal-clear", RETURN, "__x64_sys_rt_sigtimedwait", "v", POSITIVE},
	{"proc", "signal-handle", AT_SIGNAL, "signal_deliver", "12", ALWAYS},
	{"sched", "on-cpu", CALL, "finish_task_switch.isra.0", "-", ALWAYS},
	{"sched", "on-cpu", CALL, "finish_task_switch", "-", ALWAYS},
	{"sched", "off-cpu", AT_SCHED, "sched_switch", "33", ALWAYS},
	{"sched", "sleep", AT_SCHED, "sched_switch", "33", ASLEEP},
	{"sched", "preempt", AT_SCHED, "sched_switch", "33", PREEMPTED},
	{"sched", "surrender", CALL, "do_sched_yield", "-", ALWAYS},
	{"sched", "wakeup", AT_SCHED, "sched_wakeup", "11", ALWAYS},
	{"sched", "enqueue", CALL, "enqueue_task_fair", "11", ALWAYS},
	{"sched", "dequeue", CALL, "dequeue_task_fair", "11", ALWAYS},
	{"sched", "tick", CALL, "scheduler_tick", "-", ALWAYS},
	{"sched", "tick", CALL, "sched_tick", "-", ALWAYS},
	{"sched", "change-pri", CALL, "set_user_nice", "001", ALWAYS},
	{"sched", "migrate", AT_SCHED, "sched_migrate_task", "12", ALWAYS},
	{"io", "start", AT_BLOCK, "block_bio_queue", "1", ALWAYS},
	{"io", "done", AT_BLOCK, "block_bio_complete", "2", ALWAYS},
	{"io", "wait-start", CALL, "submit_bio_wait", "0", ALWAYS},
	{"io", "wait-done", RETURN, "submit_bio_wait", "k", ALWAYS},
	{"vfs", "open", CALL, "vfs_open", "01", ALWAYS},
	{"vfs", "read", CALL, "vfs_read", "012", ALWAYS},
	{"vfs", "read-done", RETURN, "vfs_read", "", ALWAYS},
	{"vfs", "write", CALL, "vfs_write", "012", ALWAYS},
	{"vfs", "write-done", RETURN, "vfs_write", "", ALWAYS},
	{"vfs", "fsync", CALL, "vfs_fsync_range", "0123", ALWAYS},
	{"vfs", "create", CALL, "vfs_create", "012", ALWAYS},
	{"vfs", "unlink", CALL, "vfs_unlink", "012", ALWAYS},
	{"vfs", "mkdir", CALL, "vfs_mkdir", "012", ALWAYS},
	{"vfs", "rmdir", CALL, "vfs_rmdir", "012", ALWAYS},
	{"vfs", "rename", CALL, "vfs_rename", "0", ALWAYS},
	{"vfs", "getattr", CALL, "vfs_getattr", "01", ALWAYS},
	{"lockstat", "adaptive-acquire", RETURN, "mutex_lock", "k", ALWAYS},
	{"lockstat", "adaptive-acquire", RETURN, "__mutex_lock.constprop.0", "K", ALWAYS},
	{"lockstat", "adaptive-acquire", RETURN, "__mutex_lock", "K", ALWAYS},
	{"lockstat", "adaptive-acquire-error", RETURN, "mutex_lock_killable", "kv", FAILED},
	{"lockstat", "adaptive-acquire-error", RETURN, "mutex_lock_interruptible", "kv", FAILED},
	{"lockstat", "adaptive-acquire-error", RETURN, "__mutex_lock.constprop.0", "Kv", FAILED},
	{"lockstat", "adaptive-acquire-error", RETURN, "__mutex_lock", "Kv", FAILED},
	{"lockstat", "adaptive-block", RETURN, "__mutex_lock.constprop.0", "kt", ALWAYS},
	{"lockstat", "adaptive-block", RETURN, "__mutex_lock", "kt", ALWAYS},
	{"lockstat", "adaptive-release", CALL, "mutex_unlock", "0", ALWAYS},
	{"lockstat", "adaptive-spin", RETURN, "__mutex_lock.constprop.0", "kt", ALWAYS},
	{"lockstat", "adaptive-spin", RETURN, "__mutex_lock", "kt", ALWAYS},
	LOCKS("rw-acquire", RETURN, "_raw_read_lock", "_irqsave", "ky"),
	{"lockstat", "rw-acquire", RETURN, "_raw_read_trylock", "ky", TAKEN},
	LOCKS("rw-acquire", RETURN, "_raw_write_lock", "_irqsave", "k-"),
	{"lockstat", "rw-acquire", RETURN, "_raw_write_trylock", "k-", TAKEN},
	LOCKS("rw-release", CALL, "_raw_read_unlock", "_irqrestore", "0y"),
	LOCKS("rw-release", CALL, "_raw_write_unlock", "_irqrestore", "0-"),
	{"lockstat", "rw-spin", RETURN, "queued_read_lock_slowpath", "kty", ALWAYS},
	{"lockstat", "rw-spin", RETURN, "queued_write_lock_slowpath", "kt-", ALWAYS},
	LOCKS("spin-acquire", RETURN, "_raw_spin_lock", "_irqsave", "k"),
	{"lockstat", "spin-acquire", RETURN, "_raw_spin_trylock", "k", TAKEN},
	{"lockstat", "spin-acquire", RETURN, "_raw_spin_trylock_bh", "k", TAKEN},
	LOCKS("spin-release", CALL, "_raw_spin_unlock", "_irqrestore", "0"),
	{"lockstat", "spin-spin", RETURN, "native_queued_spin_lock_slowpath", "kt", ALWAYS},
	{"lockstat", "spin-spin", RETURN, "queued_spin_lock_slowpath", "kt", ALWAYS},
	{"kmem", "alloc", CALL, "__kmalloc", "01", ALWAYS},
	{"kmem", "alloc", CALL, "__kmalloc_noprof", "01", ALWAYS},
	{"kmem", "alloc-failure", RETURN, "__kmalloc", "", NOTHING},
	{"kmem", "alloc-failure", RETURN, "__kmalloc_noprof", "", NOTHING},
	{"kmem", "free", CALL, "kfree", "0", ALWAYS},
	{"kmem", "cache-alloc", CALL, "kmem_cache_alloc", "01", ALWAYS},
	{"kmem", "cache-alloc", CALL, "kmem_cache_alloc_noprof", "01", ALWAYS},
	{"kmem", "cache-alloc-failure", RETURN, "kmem_cache_alloc", "", NOTHING},
	{"kmem", "cache-alloc-failure", RETURN, "kmem_cache_alloc_noprof", "", NOTHING},
	{"kmem", "cache-free", CALL, "kmem_cache_free", "01", ALWAYS},
	{"kmem", "page-alloc", AT_KMEM, "mm_page_alloc", "1234", ALWAYS},
	{"kmem", "page-free", AT_KMEM, "mm_page_free", "12", ALWAYS},
	{"ip", "send", CALL, "ip_finish_output2", "221", ALWAYS},
	{"ip", "send", CALL, "ip6_finish_output2", "221", ALWAYS},
	{"ip", "receive", CALL, "ip_local_deliver", "00", ALWAYS},
	{"ip", "receive", CALL, "ip6_input", "00", ALWAYS},
	{"tcp", "send", CALL, "__tcp_transmit_skb", "10-0", ALWAYS},
	{"tcp", "receive", CALL, "tcp_v4_rcv", "0", ALWAYS},
	{"tcp", "receive", CALL, "tcp_v6_rcv", "0", ALWAYS},
	{"tcp", "accept-refused", CALL, "tcp_v4_send_reset", "10", NO_SOCKET},
	{"tcp", "accept-refused", CALL, "tcp_v6_send_reset", "10", NO_SOCKET},
	{"tcp", "connect-request", CALL, "tcp_connect", "00-0", ALWAYS},
	{"tcp", "state-change", AT_SOCK, "inet_sock_set_state", "11-123", NOT_COPIED},
	{"tcp", "state-change", CALL, "inet_csk_clone_lock", "11-1lr", ALWAYS}, /* of its request */
	{"tcp", "state-change", CALL, "tcp_time_wait", "00-0sw", ALWAYS},
	{"tcp", "connect-established", AT_SOCK, "inet_sock_set_state", "11-123", CONNECTED},
	{"tcp", "connect-refused", AT_SOCK, "inet_sock_set_state", "11-123", REFUSED},
	{"tcp", "accept-established", AT_SOCK, "inet_sock_set_state", "11-123", ACCEPTED},
	{"tcp", "retransmit", AT_TCP, "tcp_retransmit_skb", "21-1", ALWAYS},
	{"udp", "send", CALL, "udp_sendmsg", "012", ALWAYS},
	{"udp", "send", CALL, "udpv6_sendmsg", "012", ALWAYS},
	{"udp", "receive", CALL, "udp_queue_rcv_skb", "10", ALWAYS},
	{"udp", "receive", CALL, "udpv6_queue_rcv_skb", "10", ALWAYS},
	{"callout", "timer-start", AT_TIMER, "timer_expire_entry", "12", ALWAYS},
	{"callout", "timer-end", AT_TIMER, "timer_expire_exit", "1", ALWAYS},
	{"callout", "hrtimer-start", AT_TIMER, "hrtimer_expire_entry", "12", ALWAYS},
	{"callout", "hrtimer-end", AT_TIMER, "hrtimer_expire_exit", "1", ALWAYS},
	{"callout", "work-queue", AT_WORKQUEUE, "workqueue_activate_work", "1", ALWAYS},
	{"callout", "work-start", AT_WORKQUEUE, "workqueue_execute_start", "1", ALWAYS},
	{"callout", "work-end", AT_WORKQUEUE, "workqueue_execute_end", "12", ALWAYS},
	{"callout", "softirq-start", AT_IRQ, "softirq_entry", "1", ALWAYS},
	{"callout", "softirq-end", AT_IRQ, "softirq_exit", "1", ALWAYS},
	{"callout", "tasklet-start", AT_IRQ, "tasklet_entry", "12", ALWAYS},
	{"callout", "tasklet-end", AT_IRQ, "tasklet_exit", "12", ALWAYS},
	{"callout", "thread-start", CALL, "kthread", "0", ALWAYS},
	{"vminfo", "anonpgin", CALL, "swap_readpage", "y", ALWAYS},
	{"vminfo", "anonpgin", CALL, "swap_read_folio", "y", ALWAYS},
	{"vminfo", "anonpgout", CALL, "__swap_writepage", "y", ALWAYS},
	{"vminfo", "as_fault", CALL, "handle_mm_fault", "y", ALWAYS},
	{"vminfo", "cow_fault", CALL, "wp_page_copy", "y", ALWAYS},
	{"vminfo", "cow_fault", CALL, "do_cow_fault", "y", ALWAYS},
	{"vminfo", "dfree", AT_VMSCAN, "mm_vmscan_lru_shrink_inactive", "3", SET(3)},
	{"vminfo", "maj_fault", RETURN, "handle_mm_fault", "y", FROM_DISK},
	{"vminfo", "pgin", CALL, "submit_bio", "y", BIO_IS(0)},
	{"vminfo", "pgout", CALL, "submit_bio", "y", BIO_IS(1)},
	{"vminfo", "pgpgin", CALL, "submit_bio", "b", BIO_IS(0)},
	{"vminfo", "pgpgout", CALL, "submit_bio", "b", BIO_IS(1)},
	{"vminfo", "pgrrun", AT_VMSCAN, "mm_vmscan_kswapd_wake", "y", ALWAYS},
	{"vminfo", "prot_fault", CALL, "bad_area_access_error", "y", ALWAYS},
	{"vminfo", "scan", AT_VMSCAN, "mm_vmscan_lru_isolate", "4", SET(4)},
	{"vminfo", "zfod", CALL, "do_anonymous_page", "y", ALWAYS},
	{"sysinfo", "bread", CALL, "submit_bio", "y", BIO_IS(0)},
	{"sysinfo", "bwrite", CALL, "submit_bio", "y", BIO_IS(1)},
	{"sysinfo", "cpu_ticks_kernel", CALL, "account_system_time", "y", ALWAYS},
	{"sysinfo", "cpu_ticks_user", CALL, "account_user_time", "y", ALWAYS},
	{"sysinfo", "idlethread", CALL, "set_next_task_idle", "y", ALWAYS},
	{"sysinfo", "inv_swtch", AT_SCHED, "sched_switch", "y", STILL_RUNS},
	{"sysinfo", "modload", AT_MODULE, "module_load", "y", ALWAYS},
	{"sysinfo", "modunload", AT_MODULE, "module_free", "y", ALWAYS},
	{"sysinfo", "msg", CALL, "__x64_sys_msgsnd", "y", ALWAYS},
	{"sysinfo", "msg", CALL, "__x64_sys_msgrcv", "y", ALWAYS},
	{"sysinfo", "mutex_adenters", CALL, "__mutex_lock.constprop.0", "y", ALWAYS},
	{"sysinfo", "mutex_adenters", CALL, "__mutex_lock", "y", ALWAYS},
	{"sysinfo", "namei", CALL, "filename_lookup", "y", ALWAYS},
	{"sysinfo", "namei", CALL, "do_filp_open", "y", ALWAYS},
	{"sysinfo", "namei", CALL, "filename_parentat", "y", ALWAYS},
	{"sysinfo", "namei", CALL, "__filename_parentat", "y", ALWAYS},
	{"sysinfo", "nthreads", AT_SCHED, "sched_process_fork", "y", ALWAYS},
	{"sysinfo", "pswitch", AT_SCHED, "sched_switch", "y", ALWAYS},
	{"sysinfo", "readch", RETURN, "vfs_read", "v", POSITIVE},
	{"sysinfo", "readch", RETURN, "vfs_readv", "v", POSITIVE},
	{"sysinfo", "rw_rdfails", CALL, "rwsem_down_read_slowpath", "y", ALWAYS},
	{"sysinfo", "rw_wrfails", CALL, "rwsem_down_write_slowpath", "y", ALWAYS},
	{"sysinfo", "sema", CALL, "__x64_sys_semop", "y", ALWAYS},
	{"sysinfo", "sema", CALL, "__x64_sys_semtimedop", "y", ALWAYS},
	{"sysinfo", "sysexec", CALL, "__x64_sys_execve", "y", ALWAYS},
	{"sysinfo", "sysexec", CALL, "__x64_sys_execveat", "y", ALWAYS},
	{"sysinfo", "sysfork", CALL, "__x64_sys_fork", "y", ALWAYS},
	{"sysinfo", "sysfork", CALL, "__x64_sys_clone", "y", ALWAYS},
	{"sysinfo", "sysfork", CALL, "__x64_sys_clone3", "y", ALWAYS},
	CALLS("sysread", "read"),
	{"sysinfo", "sysvfork", CALL, "__x64_sys_vfork", "y", ALWAYS},
	CALLS("syswrite", "write"),
	{"sysinfo", "writech", RETURN, "vfs_write", "v", POSITIVE},
	{"sysinfo", "writech", RETURN, "vfs_writev", "v", POSITIVE},
	{"sysinfo", "xcalls", CALL, "native_send_call_func_single_ipi", "y", ALWAYS},
	{"sysinfo", "xcalls", CALL, "native_send_call_func_ipi", "y", ALWAYS},
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
	h->map = *r->map ? r->map : NULL;
	h->guard[0] = (struct ki_d_guarded)ALWAYS; /* a tracepoint's comes when it is found */
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
		if (p->hook->there >> i & 1 && strchr(r[i].map, 'K'))
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
	if (r->group) /* the first one, and found by ki_d_hook_find */
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
