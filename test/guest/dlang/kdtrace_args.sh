#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Translators, and the typed arguments of probes, against what the kernel and known work say.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 100 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
calls='perl -e "setpgrp 0, 0; getpriority 0, 0 for 1 .. 50"'
# shellcheck disable=SC2016 # perl's
reads='perl -e "open F, q(</proc/self/status); sysread F, \$x, 3; sysread F, \$x, 2"'

is "a translator of the program's: number, string, array, struct" "$(d 'struct in { int a; char c[8]; }; struct out { int x; string s; char t[8]; int *p; };
	translator struct out < struct in *i > { x = i->a * 2 + 1; s = i->c; t = i->c; p = &i->a; };
	translator struct out < struct in v > { x = v.a + 5; s = v.c; }; translator struct out < int n > { x = n - 1; };
	BEGIN { this->i = (struct in *)alloca(sizeof(struct in)); this->i->a = 20; this->i->c[0] = 104; this->i->c[1] = 105; this->o = xlate<struct out *>(this->i);
	printf("%d %s %s %d %d %d %d", this->o->x, xlate<struct out *>(this->i)->s, this->o->t, *this->o->p, xlate<struct out>(*this->i).x, xlate<struct out>(8).x, this->o == NULL); exit(0); }')" \
	"41 hi hi 20 25 7 0"
is "the process and the thread" "$(d 'syscall::getpriority:entry /pid == $target/ { @[curpsinfo->pr_fname, curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid, curpsinfo->pr_pgid == pid,
	curpsinfo->pr_uid == uid, curpsinfo->pr_psargs == execargs, curlwpsinfo->pr_lwpid == tid] = count(); @c[curlwpsinfo->pr_onpro == cpu, curlwpsinfo->pr_name, curpsinfo->pr_nlwp] = count(); }' -c "$calls" | tr '\n' ';')" \
	"perl 1 1 1 1 1 1 50;1 perl 1 50;"
is "open files" "$(d 'syscall::read:entry /pid == $target && fds[arg0].fi_name == "status"/ { printf("%s %d %d;", fds[arg0].fi_fs, fds[arg0].fi_offset, arg2); }' -c "$reads")" "proc 0 3;proc 3 2;"
is "a function's arguments and what it gives" "$(d 'fbt::vfs_read:entry /pid == $target && stringof(args[0]->f_path.dentry->d_name.name) == "status"/ { self->in = 1; printf("%d ", args[2]); }
	fbt::vfs_read:return /self->in/ { printf("%d;", args[1]); self->in = 0; }' -c "$reads")" "3 3;2 2;"
is "a tracepoint's" "$(d 'rawtp:::sched_process_exec /args[0]->tgid == pid && basename(stringof(args[2]->filename)) == "true"/ { @ = count(); }' -c 'sh -c "for i in 1 2 3; do /bin/true; done"')" 3
is "a system call's" "$(d 'syscall::read:entry /pid == $target && args[2] == 3/ { self->r = 1; } syscall::read:return /self->r/ { printf("%d;", args[0]); self->r = 0; }' -c "$reads")" "3;"
is "a system call's whose provider is not named" "$(d 'read:entry /pid == $target && args[2] == 3/ { printf("%d %d;", args[0] == arg0, probeprov == "syscall"); }' -c "$reads")" "1 1;"
d 'fbt::exit_creds:return { trace(args[0]); trace(args[1]); exit(0); }' > /dev/null
is "what returns nothing has no args[1]" "$(grep -c 'has no args\[1\]' /tmp/kd.err)" 1
is "what is executed" "$(d 'proc:::exec /ppid == $target || pid == $target/ { printf("%s;", stringof(args[0])); }' -c 'sh -c "/bin/true; exec /bin/echo -n"' | awk -F';' '{ print $(NF - 2), $(NF - 1) }')" "/bin/true /bin/echo"
is "arguments and environment, where the process has them" "$(d 'syscall::getpriority:entry /pid == $target/ { printf("%d %s %s", curpsinfo->pr_argc, copyinstr(*(uintptr_t *)copyin(curpsinfo->pr_argv + 8, 8)), copyinstr(*(uintptr_t *)copyin(curpsinfo->pr_envp, 8))); exit(0); }' \
	-c 'env -i KEY=value perl -e "getpriority 0, 0"')" "3 -e KEY=value"
is "who has been forked has its parent's" "$(d 'proc:::create /pid == $target/ { printf("%s;", args[0]->pr_psargs); }' -c 'perl -e "fork; wait"')" "perl -e fork; wait;"
is "who is created" "$(d 'proc:::create /pid == $target/ { printf("D%d%d\n", args[0]->pr_pid, args[0]->pr_ppid == $target); }' \
	-c 'perl -e "\$p = fork; exit if !\$p; waitpid \$p, 0; print qq(D\${p}1\n)"' | sort -u | wc -l)" 1
is "signals: to whom, and which" "$(d 'proc:::signal-send /pid == $target && args[2] == SIGUSR1/ { printf("%d %s %d;", args[1]->pr_pid == $target, args[1]->pr_fname, args[0]->pr_lwpid == tid); }' \
	-c 'perl -e "\$SIG{USR1} = sub {}; kill USR1 => \$\$ for 1 .. 2"')" "1 perl 1;1 perl 1;"
is "a process ends once, with its name, and each of its threads" "$(d 'proc:::exit /ppid == $target && curpsinfo->pr_psargs == "sleep 0.1" && args[0] == CLD_EXITED/ { @e = count(); } proc:::lwp-exit /pid == $target && execname == "python3"/ { @t = count(); } proc:::exit /pid == $target/ { @x = count(); }' \
	-c 'python3 -c "import threading, time, os; [threading.Thread(target=time.sleep, args=(.2,)).start() for i in range(3)]; os.spawnlp(os.P_WAIT, \"sleep\", \"sleep\", \"0.1\")"' | tr '\n' ' ')" "1 4 1 "
is "why it could not be executed" "$(d 'proc:::exec-failure /pid == $target && args[0] == -ENOENT && arg0 == args[0] && execname == "perl"/ { @ = count(); }' -c 'perl -e "exec q(/no/such)"')" 1
is "a signal that was waited for" "$(d 'proc:::signal-clear /pid == $target && args[0] == SIGUSR1/ { @ = count(); }' -c 'python3 -c "import signal, os; s = [signal.SIGUSR1]; signal.pthread_sigmask(signal.SIG_BLOCK, s); os.kill(os.getpid(), s[0]); signal.sigwait(s); signal.sigtimedwait(s, 0.1)"')" 1
is "how processes end" "$(d 'proc:::exit /ppid == $target/ { @[args[0]] = count(); }' -c 'perl -e "for (1 .. 3) { if (!fork) { exit 1 } wait } if (!fork) { kill 9, \$\$ } wait"' | tr '\n' ';')" "2 1;1 3;"
is "and their arg0" "$(d 'proc:::exit /ppid == $target/ { @[arg0] = count(); }' -c 'perl -e "if (!fork) { exit 1 } wait; if (!fork) { kill 9, \$\$ } wait"' | tr '\n' ';')" "1 1;2 1;"
is "an argument that the system call has not" "$("$kd" -xerrtags -n 'syscall::read:entry { trace(args[3]); }' 2>&1 | grep -o 'D_ARGS_IDX') $("$kd" -xerrtags -en 'syscall::read:entry { trace(args[2]); } syscall::*:entry { trace(args[5]); }' 2>&1)" "D_ARGS_IDX "
is "who runs next, who is woken" "$(d 'sched:::off-cpu { @[args[1]->pr_pid == ((struct task_struct *)arg1)->tgid && args[0]->pr_lwpid == ((struct task_struct *)arg0)->pid] = count(); }
	sched:::enqueue { @e[args[2]->cpu_id == cpu] = count(); } tick-500ms { exit(0); }' | awk '{ print $1 }' | tr '\n' ' ')" "1 1 "
# Since 6.2 a char of the kernel has no sign.
timeout 60 "$kd" -lvn 'lockstat:::rw-spin,sched:::dequeue' 2>&1 | sed 's/^ *[0-9][0-9]* */ID /' > /tmp/kd.out
is "a list with all of a probe" "$(sed -n '2,18p' /tmp/kd.out | tr -s ' ')" "ID lockstat vmlinux rw-spin

	Probe Description Attributes
		Identifier Names: Private
		Data Semantics: Private
		Dependency Class: Unknown

	Argument Attributes
		Identifier Names: Evolving
		Data Semantics: Evolving
		Dependency Class: ISA

	Argument Types
		args[0]: struct rwlock *
		args[1]: uint64_t
		args[2]: int"
is "each probe has them" "$(grep -c Attributes /tmp/kd.out) $(grep 'args' /tmp/kd.out | tail -n 3 | tr -d '\t' | tr '\n' ';')" "4 args[0]: lwpsinfo_t *;args[1]: psinfo_t *;args[2]: cpuinfo_t *;"
# least PROGRAM: what -v says of its descriptions and its statements
least() { timeout 60 "$kd" -vqn "$1" 2> /dev/null | awk '/Names|Semantics|Class/ { printf "%s%s", $3, n++ % 3 < 2 ? "/" : " " }'; }
is "how stable a program is" "$(least 'BEGIN { trace(pid); exit(0); }'; least 'dtrace:::BEGIN { trace(curthread); exit(0); }'; least 'dtrace:::BEGIN { trace(curthread->pid); exit(0); } fbt::vfs_read:entry { @ = count(); }')" \
	"Unstable/Unstable/Common Stable/Stable/Common Stable/Stable/Common Stable/Private/Common Private/Private/ISA Private/Private/Unknown "
is "the types of arguments" "$(timeout 60 "$kd" -lvn 'fbt::vfs_read:entry,fbt::vfs_read:return,sched:::enqueue,io:::start,syscall::read:entry,dtrace:::BEGIN' 2>&1 | awk '/^ *[0-9]/ { printf "%s%s:%s:%s", n++ ? ";" : "", $2, $(NF - 1), $NF } /args/ || /None/ { printf " %s", substr($0, 3) } END { print ";" }' | sed 's/vmlinux//g; s/unsigned char/char/' | tr -d '\n')" \
	"fbt:vfs_read:entry args[0]: struct file * args[1]: char * args[2]: unsigned long args[3]: long *;fbt:vfs_read:return args[0]: long args[1]: long;sched::enqueue args[0]: lwpsinfo_t * args[1]: psinfo_t * args[2]: cpuinfo_t * args[3]: int;io::start args[0]: bufinfo_t * args[1]: devinfo_t * args[2]: fileinfo_t *;syscall:read:entry args[0]: long args[1]: long args[2]: long;dtrace:dtrace:BEGIN None;"
is "a member that faults" "$(d 'BEGIN { trace(xlate<psinfo_t *>((struct task_struct *)8)->pr_pid); } ERROR { printf("%d %d", arg4, arg5 == 8 + offsetof(struct task_struct, tgid)); exit(0); }')" "1 1"
part=bd_partno
[ "$(d 'BEGIN { trace(offsetof(struct block_device, bd_partno)); exit(0); }')" ] || part=__bd_flags
is "a bio that is made up: what b_flags say, who is called at its end, driver and part" "$(d 'BEGIN { b = (struct bio *)alloca(sizeof(struct bio)); this->x = xlate<bufinfo_t *>(b); printf("%x ", this->x->b_flags); b->bi_opf = 1 | 1 << __REQ_SYNC; b->bi_end_io = (void *)&`bio_put;
	printf("%x %a", this->x->b_flags, (uint64_t)this->x->b_iodone); }
	BEGIN { b = (struct bio *)alloca(sizeof(struct bio)); at = (struct block_device *)alloca(sizeof(struct block_device)); disk = (struct gendisk *)alloca(sizeof(struct gendisk)); b->bi_bdev = at; at->bd_disk = disk;
	disk->disk_name[0] = 97; printf(" %s", xlate<devinfo_t *>(b)->dev_statname); *((char *)at + offsetof(struct block_device, '"$part"')) = 3; at->bd_dev = 259 << 20; printf(" %s %s", xlate<devinfo_t *>(b)->dev_statname, xlate<devinfo_t *>(b)->dev_name); exit(0); }')" \
	"460 120 vmlinux\`bio_put a a3 blkext"
disk=
for at in /sys/block/[!rz]*; do [ -e "$at" ] && disk=${disk:-${at##*/}}; done
if [ "$disk" ] && [ -b "/dev/$disk" ] && [ "$(cat "/sys/block/$disk/size")" -gt 8 ]; then
	is "a disk's" "$(d 'io:::start /pid == $target/ { printf("%s %d:%d %d %d;", args[1]->dev_statname, args[1]->dev_major, args[1]->dev_minor, args[0]->b_bcount, args[0]->b_flags & B_READ ? 1 : 0); }' \
		-c "dd if=/dev/$disk of=/dev/null bs=4096 count=1 iflag=direct 2> /dev/null")" "$disk $(cat "/sys/block/$disk/dev") 4096 1;"
else
	echo "# no disk"
fi
soon "nothing is left" 0 field windows
finish
