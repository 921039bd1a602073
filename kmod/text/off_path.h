/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What code on the path of breakpoints (trap_path.c) calls where it does not go for a breakpoint of
 * ours: by name, as found in the tested kernels, without what a compiler appends (.part.0, .cold).
 */
#ifndef KI_OFF_PATH_H
#define KI_OFF_PATH_H

static const char *const ki_off_path[] = {
	/* No handler has taken it: the kernel dies. */
	"die",
	"do_trap",
	"ftrace_dump",
	"ftrace_dump_by_param",
	"panic",
	"show_signal",
	/* It came from a process: its signal, its uprobe, and the return there. */
	"arch_do_signal_or_restart",
	"arch_exit_to_user_mode_prepare",
	"blkcg_maybe_throttle_current",
	"do_int3_user",
	"do_nocb_deferred_wakeup",
	"exit_to_user_mode_loop",
	"exit_to_user_mode_prepare",
	"fire_user_return_notifiers",
	"fixup_vdso_exception",
	"force_sig",
	"force_sig_fault",
	"fpregs_assert_state_consistent",
	"__futex_fixup_robust_unlock",
	"__hrtimer_rearm_deferred",
	"irq_work_queue",
	"klp_update_patch_state",
	"mem_cgroup_handle_over_high",
	"__mem_cgroup_handle_over_high",
	"native_tss_update_io_bitmap",
	"rcu_nocb_flush_deferred_wakeup",
	"rseq_debug_update_user_cs",
	"__rseq_handle_notify_resume",
	"__rseq_handle_slowpath",
	"rseq_trace_ip_fixup",
	"__rseq_trace_update",
	"schedule",
	"switch_fpu_return",
	"task_work_run",
	"test_ti_thread_flag",
	"trace_user_enter",
	"trace_user_exit",
	"__traceiter_user_enter",
	"__traceiter_user_exit",
	"unhandled_signal",
	"uprobe_get_trap_addr",
	"uprobe_notify_resume",
	"uprobe_post_sstep_notifier",
	"uprobe_pre_sstep_notifier",
	"vtime_user_enter",
	"vtime_user_exit",
	/* It is no breakpoint: a watched address, a warning, an instruction that may fault. */
	"fixup_exception",
	"perf_bp_event",
	"pt_regs_offset",
	"report_bug",
	"report_bug_entry",
	/* An error, and its message. */
	"__ubsan_handle_out_of_bounds",
	"_printk",
	"__printk_ratelimit",
	"reenter_kprobe",
	"__warn_printk",
	/* RCU: left alone while in_nmi() is true, as it is in a breakpoint. */
	"irq_work_queue_on",
	"raise_softirq_irqoff",
	"rcu_preempt_deferred_qs",
	"rcu_preempt_deferred_qs_irqrestore",
	"__trace_set_need_resched",
	/* Interrupts and an invalid opcode only: a tick for RCU, letting others run, and CFI. */
	"__raw_spin_unlock",
	"_raw_spin_lock",
	"_raw_spin_unlock",
	"handle_cfi_failure",
	"raw_irqentry_exit_cond_resched",
	"tick_nohz_dep_set_cpu",
	/*
	 * Lockdep, which is switched off in NMIs, as breakpoints count, and KASAN's reports. (Of
	 * lock_acquire and lock_release it is the cold parts: they themselves are reserved.)
	 */
	"__lock_acquire",
	"__lock_release",
	"__traceiter_lock_acquire",
	"__traceiter_lock_release",
	"check_flags",
	"debug_lockdep_rcu_enabled",
	"debug_locks_off",
	"dump_stack",
	"find_held_lock",
	"kasan_report",
	"lock_acquire",
	"lock_release",
	"lockdep_rcu_suspicious",
	"mark_held_locks",
	"print_usage_bug",
	"reacquire_held_locks",
	"verify_lock_unused",
	/* While hwlat, or one of these events, is traced: doc/known-issues.md. */
	"__srcu_read_lock",
	"__srcu_read_unlock",
	"ct_irq_enter_irqson",
	"ct_irq_exit_irqson",
	"sched_clock",
	"__traceiter_irq_disable",
	"__traceiter_irq_enable",
	"__traceiter_nmi_noise",
	"__traceiter_notifier_run",
};

#endif
