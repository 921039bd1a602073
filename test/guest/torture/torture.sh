#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: torture.sh [SEED [SECONDS [PART...]]]	parts: refuse once all hot sessions context
#        all: once, however long it takes
#        KI_FROM=N: once begins at symbol N, where an earlier run with this seed has ended
#
# Torture: everything that can be spliced, while stress-ng, a compiler and a web server run, whose
# results must be what they are without us. The seed makes the same order again.
# promise of torture, torture-once-all, torture-all: Every window of every touchable function
#   goes in under loads whose results stay the same.
# promise: Windows work in all code that NMIs, faults, breakpoints and the driver itself run
#   through.
# shellcheck disable=SC2317,SC2086 # functions are called by name; paths have no blanks
. "$(dirname "$0")/../common/lib.sh"
seed=${1:-1} seconds=${2:-150}
hottest=500
[ "$seconds" -lt 1800 ] || hottest=2000 # to find them takes minutes
shift 2
parts=${*:-refuse once hot sessions context}
t=$top/build/test/torture # before the loads in the queue: it sleeps while they run
work=/tmp/torture
mkdir -p $work/www $work/logs
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
start
echo "# seed $seed, $seconds seconds, parts: $parts"

# ---- the loads: each round's result must be that of the first, which ran alone ----
compile() {
	local f
	for f in lib/util/*.c test/guest/prog/hammer.c; do
		(cd "$top" && gcc -std=gnu11 -D_GNU_SOURCE -Iinclude -Ilib -O1 -c -o $work/x.o "$f") || return
		sha256sum < $work/x.o
	done | sha256sum
}
download() {
	for _ in 1 2 3 4; do
		curl -s http://127.0.0.1:8099/file | sha256sum
		curl -s http://127.0.0.1:8099/small | sha256sum
	done | sha256sum
}
web_start() {
	head -c 2000000 /dev/urandom > $work/www/file
	echo small > $work/www/small
	cat > $work/nginx.conf <<- END
		pid $work/nginx.pid;
		error_log $work/nginx.log;
		events {}
		http { access_log off; server { listen 127.0.0.1:8099; root $work/www; } }
	END
	chmod -R a+rX $work
	ip link set lo up
	nginx -c $work/nginx.conf
}
repeat() { # WHAT
	local want
	want=$(cat "$work/$1.want")
	while [ ! -e $work/stop ]; do
		[ "$($1)" = "$want" ] || echo "another result" >> "$work/$1.wrong"
		echo >> "$work/$1.rounds"
	done
}
stress() {
	nice -n 10 stress-ng --verify --temp-path /tmp --vm 1 --vm-bytes 32M --pipe 1 --switch 1 --fork 1 --mmap 1 --mmap-bytes 16M \
		--timer 1 --futex 1 --sock 1 --sem 1 --seek 1 --sigfd 1 --fault 1 -t 100000 > $work/stress.log 2>&1
}
loads_start() {
	rm -f $work/stop
	for load in compile download; do
		$load > "$work/$load.want"
		repeat $load &
		renice -n 5 -p $! > /dev/null
	done
	stress &
}
loads_stop() {
	touch $work/stop
	pkill -INT -x stress-ng # the parent alone: it asks its children, who else would not sum up
	wait
	for load in compile download; do
		ok "$load: $(wc -l < "$work/$load.rounds") rounds, each with the right result" \
			test ! -e "$work/$load.wrong" -a -s "$work/$load.rounds"
	done
	# The signal that ends it may come while it says so to its own child: that is no fault (EINTR).
	is "stress-ng: what it found wrong" \
		"$(grep -E 'fail:|error:' $work/stress.log | grep -v 'pipe: termination write failed, errno=4 ')" ""
	ok "stress-ng ran" grep -q 'successful run completed' $work/stress.log
}

logged() { # FILE COMMAND...
	local file=$1
	shift
	"$@" > "$file" 2>&1
}
part() { # NAME COMMAND...: its words become comments
	local name=$1
	shift
	ok "$name" logged "$work/logs/$name" nice -n -10 "$@"
	sed 's/^/# /' "$work/logs/$name"
}
share() { echo $((seconds * $1 / 100)); }

# ---- functions on the way of NMIs, breakpoints, faults, interrupts, and of the driver itself ----
# With +: must be reached.
context=(
	'+do_user_addr_fault' '+handle_mm_fault' '__handle_mm_fault' 'do_anonymous_page' 'lock_vma*'
	'handle_edge_irq' 'handle_fasteoi_irq' 'handle_irq_event*' '+__handle_irq_event_percpu' 'irq_enter*' 'irq_exit*'
	'__irq_exit_rcu' '__do_softirq' '+handle_softirqs*' '+hrtimer_interrupt' '__hrtimer_run_queues' 'tick_sched_*'
	'+update_process_times' 'scheduler_tick' 'sched_tick' 'account_process_tick' 'rcu_sched_clock_irq'
	'+schedule' '__schedule' 'pick_next_task_*' '+try_to_wake_up' 'ttwu_*' 'finish_task_switch*' 'update_curr'
	'note_gp_changes' 'rcu_core*' 'rcu_do_batch' 'call_rcu*' 'rcu_tasks_*' 'synchronize_rcu_tasks*'
	'text_poke' '+__text_poke' 'text_poke_memcpy' 'text_poke_bp*' 'text_poke_loc_init' 'text_poke_sync' 'do_sync_core'
	'+on_each_cpu*' 'smp_call_function_*' 'generic_exec_single' '__flush_smp_call_function_queue'
	'generic_smp_call_function_*' '+mutex_lock' 'mutex_unlock' '__mutex_*' 'switch_mm_irqs_off' 'flush_tlb_*'
	'+nmi_cpu_backtrace' 'nmi_trigger_cpumask_backtrace' 'show_regs' 'show_trace_log_lvl' '__unwind_start'
	'unwind_next_frame' 'vprintk_*' '_printk' 'console_*' 'register_kprobe' 'unregister_kprobe*' 'arm_kprobe*'
	'aggr_pre_handler' '+kprobe_dispatcher' 'kprobe_trace_func' '__kprobe_trace_func' 'kprobe_ftrace_handler'
	'insn_decode*' 'kallsyms_lookup*' 'ftrace_location*' 'alternatives_text_reserved' 'module_address_lookup'
	'__module_address' '__get_locked_pte' 'vmalloc_to_page' 'kvfree' 'kmem_cache_alloc*' '+kfree'
)
kprobes_and_nmis() { # while it is held
	echo l > /proc/sysrq-trigger
	# behind the ftrace site, and the endbr64 if there is one: a breakpoint
	if grep -q ' __pfx_vfs_open$' /proc/kallsyms; then at=9; else at=5; fi
	echo "p:kx vfs_open+$at" > /sys/kernel/tracing/kprobe_events
	echo 1 > /sys/kernel/tracing/events/kprobes/enable
	"$top/build/test/toggle" 60 vfs_read vfs_write ksys_read
	"$top/build/test/toggle" -w 6 do_sys_openat2 getname_flags
	echo l > /proc/sysrq-trigger
	cat /sys/kernel/tracing/kprobe_profile
	echo 0 > /sys/kernel/tracing/events/kprobes/enable
	echo > /sys/kernel/tracing/kprobe_events
}
context_part() {
	mkfifo $work/until
	nice -n -10 "$t" hold "${context[@]}" < $work/until > $work/logs/hold 2>&1 &
	local held=$!
	exec 9> $work/until
	until grep -q 'hold:.*windows of' $work/logs/hold || ! kill -0 $held 2> /dev/null; do sleep 0.2; done
	local end=$((SECONDS + $(share 15)))
	renice -n -10 -p $$ > /dev/null
	kprobes_and_nmis > $work/logs/others 2>&1
	renice -n 0 -p $$ > /dev/null
	dmesg > $work/logs/dmesg
	dmesg -C
	while [ $SECONDS -lt $end ]; do sleep 1; done
	exec 9>&-
	wait $held
	is "context: held all the while, and reached" $? 0
	sed 's/^/# /' $work/logs/hold $work/logs/others
	is "context: others toggled meanwhile" "$(grep -c 'toggle:.*hits' $work/logs/others)" 2
	ok "context: breakpoints came" grep -qE '^ *kx  *[1-9]' $work/logs/others
	ok "context: NMIs came" grep -q 'NMI backtrace for cpu' $work/logs/dmesg
	is "context: nothing but their backtraces was logged" \
		"$(grep -E 'WARNING:|BUG:|Oops|general protection|invalid opcode|int3:|rcu:.*detected.*stall|soft lockup|hard LOCKUP' $work/logs/dmesg)" ""
}

started=$SECONDS
echo "# refuse, before there is any load"
[[ " $parts " != *" refuse "* ]] || part refuse "$t" refuse
web_start
loads_start
echo "# the loads run, after $((SECONDS - started)) s"
for p in $parts; do
	echo "# $p: begins at $((SECONDS - started)) s"
	case $p in
	once) part once "$t" once "$seed" "$(share 35)" "${KI_FROM:-0}" ;;
	all) part all "$t" once "$seed" 0 ;;
	hot) part hot "$t" hot $hottest "$(share 10)" "$seed" ;;
	sessions) part sessions "$t" sessions "$seed" "$(share 20)" ;;
	context) context_part ;;
	esac
done
echo "# the parts end at $((SECONDS - started)) s"
loads_stop
nginx -c $work/nginx.conf -s stop
ok "the test's module can go" rmmod ki_mate
soon "heap in use" 0 field heap_used
is "windows" "$(field windows)" 0
finish
