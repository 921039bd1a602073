#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What D knows of a process's files, arguments and stacks, against what /proc and the shell say.
# shellcheck disable=SC2016 # $target is kdtrace's, $ in quotes perl's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
dir=/tmp/paths

# d PROGRAM [OPTION...]: its output, quiet, without the blanks at both ends of lines
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }
me='syscall::getpriority:entry /pid == $target/'

# said NAME FORMAT,ARGUMENTS PERL [OPTION...]: what D prints of a process is what that knows
# (known LINE); $n is arg0
said() {
	local name=$1 values=$2
	printf 'sub known { open K, ">", "%s/known"; print K @_, "\\n"; close K } sub content { local (@ARGV, $/) = @_; <> }\n%s; getpriority $n || 0, 0;\n' \
		$dir "$3" > $dir/said.pl
	shift 3
	is "$name" "$(d "$me { printf($values); }" -c "perl $dir/said.pl one 'two  words' '' last" "$@")" "$(cat $dir/known)"
}

mkdir -p "$dir/there" "$dir/with blank" $dir/bound $dir/jail/in $dir/tmp
mount --bind $dir/there $dir/bound
mount -t tmpfs none $dir/tmp

# ---- directories ----

cwd='known readlink q(/proc/self/cwd)'
said "cwd" '"%s\n", cwd' "chdir q($dir/there); $cwd"
said "with blanks" '"%s\n", cwd' "chdir q($dir/with blank); $cwd"
said "at the root" '"%s\n", cwd' "chdir q(/); $cwd"
said "where something is bound" '"%s\n", cwd' "chdir q($dir/bound); $cwd"
said "in another file system" '"%s\n", cwd' "mkdir q($dir/tmp/a); chdir q($dir/tmp/a); $cwd"
said "at its root" '"%s\n", cwd' "chdir q($dir/tmp); $cwd"
said "in a directory that is gone" '"%s\n", cwd' "mkdir q($dir/gone); chdir q($dir/gone); rmdir q($dir/gone); $cwd"
deep="chdir q($dir/there); for (1 .. 60) { mkdir qq(d\$_); chdir qq(d\$_) }"
said "60 directories deep" '"%s\n", cwd' "$deep $cwd" -x strsize=1024
is "of which there are many" "$(tr -cd / < $dir/known | wc -c)" $((60 + 3))
said "cut off at its end" '"%s\n", cwd' "$deep known substr readlink(q(/proc/self/cwd)), 0, 99" -x strsize=100
said "too deep: nothing" '"<%s>\n", cwd' "chdir q($dir/there); for (1 .. 300) { mkdir q(x); chdir q(x) } known q(<>)" -x strsize=4096
said "root" '"%s %s\n", root, cwd' "chdir q(/tmp); known q(/ /tmp)"
said "of who is in a jail" '"%s %s\n", root, cwd' "known q($dir/jail /in); chroot q($dir/jail); chdir q(/in)"
said "and of who is out of it" '"%s %s\n", root, cwd' "known q($dir/jail $dir/there); chdir q($dir/there); chroot q($dir/jail)"
is "of a kernel thread" "$(d 'fbt::process_one_work:entry { @[cwd, root, execargs, curpsinfo->pr_arglen, curpsinfo->pr_psargs == execname] = count(); } tick-1s { exit(0); } END { printa("%s %s <%s> %d %d\n", @); }')" "$(readlink /proc/2/cwd) / <> 0 1"

# ---- where names are changed ----

mkdir $dir/tmp/x $dir/tmp/x/in
is "under the locks of renaming and mounting" "$(d 'fbt::__d_move:entry,fbt::umount_tree:entry /cwd == "/tmp/paths/tmp/x"/ { @[probefunc, root] = count(); } END { printa("%s %s\n", @); }' \
	-c 'sh -c "cd /tmp/paths/tmp/x; mkdir a; mv a b; mount --bind in b; umount b"' | sort | tr '\n' ' ')" "__d_move / umount_tree / "
cat > $dir/renames.pl << 'P'
chdir "/tmp/paths/tmp/x/in"; getpriority 0, 0; $end = time + 3;
while (time < $end) { for (1 .. 100) { rename "/tmp/paths/tmp/x", "/tmp/paths/tmp/y"; rename "/tmp/paths/tmp/y", "/tmp/paths/tmp/x" } }
getpriority 0, 0;
P
d 'self int on; syscall::getpriority:entry /pid == $target/ { self->on = !self->on; } profile-997 /self->on/ { @[cwd] = count(); } END { printa("%s %@d\n", @); }' -c "perl $dir/renames.pl" | sort > $dir/while
is "in interrupts meanwhile it is one or the other: $(tr '\n' ' ' < $dir/while)" "$(cut -d' ' -f1 $dir/while | tr '\n' ' ')" "$dir/tmp/x/in $dir/tmp/y/in "

# ---- files ----

open='open F, q(+<), $f or die; $n = fileno F; sysread F, $x, 3; $l = readlink qq(/proc/self/fd/$n)'
info='sub info { content(qq(/proc/self/fdinfo/$n)) =~ /^$_[0]:\s*(\d+)/m; $1 }'
tell='($d, $b) = $l =~ m{(.*)/(.*)}; known join q(|), $l, $d, $b, $m, $t, info(q(pos)), sprintf q(%o), oct(info(q(flags))) & ~02000000'
of='"%s|%s|%s|%s|%s|%d|%o\n", fds[arg0].fi_pathname, fds[arg0].fi_dirname, fds[arg0].fi_name, fds[arg0].fi_mount, fds[arg0].fi_fs, fds[arg0].fi_offset, fds[arg0].fi_oflags & ~02000000'
for at in /tmp/paths/there/f /tmp/paths/bound/f /tmp/paths/tmp/f /proc/self/comm; do
	[ -e $at ] || echo content > $at
	read -r mounted type < <(findmnt -n -o TARGET,FSTYPE -T "$(dirname $at)")
	said "fds[] of $at, of $type at $mounted" "$of" "\$f = q($at); $open; $info; (\$m, \$t) = (q($mounted), q($type)); $tell"
done
said "of a file that is gone" '"%s\n", fds[arg0].fi_pathname' "open G, q(>), \$f = q($dir/there/g); close G; $open; unlink \$f; known readlink qq(/proc/self/fd/\$n)"
said "of none" '"%s %s %s %s %s\n", fds[arg0].fi_pathname, fds[arg0].fi_dirname, fds[arg0].fi_name, fds[arg0].fi_mount, fds[arg0].fi_fs' 'open F, q(/); $n = fileno F; close F; known join q( ), (q(<none>)) x 5'
said "of a pipe" '"<%s> %s\n", fds[arg0].fi_pathname, fds[arg0].fi_fs' 'pipe R, W; $n = fileno R; known q(<> pipefs)'
is "a path that cannot be read is a fault" "$(d 'BEGIN { trace(d_path((struct path *)8)); } ERROR { printf("%d %d\n", arg4, arg5); } BEGIN { exit(0); }')" "1 8"

# ---- arguments ----

cmdline='$_ = content q(/proc/self/cmdline); $len = length; s/\0+$//; y/\0/ /'
said "execargs" '"%s\n", execargs' "$cmdline; known \$_"
said "cut off" '"%s\n", execargs' "$cmdline; known substr \$_, 0, 30" -x strsize=31
said "pr_psargs, pr_arglen" '"%s %d\n", curpsinfo->pr_psargs, curpsinfo->pr_arglen' "$cmdline; known substr(\$_, 0, 79), q( ), \$len"
is "of what is executed" "$(d 'proc:::exec-success /ppid == $target/ { printf("%s\n", execargs); }' -c 'sh -c "/bin/echo a bc > /dev/null; true"')" "/bin/echo a bc"

# ---- stacks ----

is "stackdepth: of stack()" "$(d "$me"' { printf("%d", stackdepth); stack(127); printf("end\n"); }' -c 'perl -e "getpriority 0, 0"' | awk '/end/ { print (d == n && n > 2); n = d = 0; next } !d { d = $1; next } { n++ }')" 1
is "ustackdepth: of ustack(), and ucaller is its second line" "$(d 'syscall::write:entry /pid == $target && arg2 == 4321/ { printf("%d %A\n", ustackdepth, uaddr(ucaller)); ustack(127); printf("end\n"); }' -c "$prog/deep 1 1" |
	awk '/end/ { print (d == n && n > 60), (c == second && c ~ /down/); d = n = 0; next } !d { d = $1; c = $2; next } ++n == 2 { second = $1 }' | tr '\n' ';')" "1 1;1 1;"
is "without a process: none" "$(d 'fbt::process_one_work:entry { @[ustackdepth, ucaller] = count(); } tick-1s { exit(0); } END { printa("%d %x\n", @); }')" "0 0"

# ---- what is written ----

buffer='$b = q(-) x 20; $n = unpack q(Q), pack q(p), $b; syscall 140, $n, 0; open K, q(>), q(/tmp/paths/known); print K $b'
put() { # PROGRAM: the process's 20 bytes after it
	printf '%s\n' "$buffer" > $dir/buffer.pl
	timeout 60 "$kd" -qwn "$me { $1 }" -c "perl $dir/buffer.pl" > /tmp/kd.out 2> /tmp/kd.err
	tr '\0' '0' < $dir/known
}
is "copyout()" "$(put 'this->p = (char *)alloca(8); bcopy("abcdef", this->p, 6); copyout(this->p + 1, arg0 + 2, 4);')" "--bcde--------------"
is "copyoutstr()" "$(put 'copyoutstr("abcdef", arg0 + 1, 20);')" "-abcdef0------------"
is "no more than it may" "$(put 'copyoutstr(execname, arg0 + 1, 2);')" "-pe-----------------"
is "of the kernel's memory" "$(put 'copyout(curthread->comm, arg0, 4);')" "perl----------------"
is "where nothing may be written: a fault" "$(put 'copyoutstr("abc", 4096, 4);') $(tr -d '\n' < /tmp/kd.out)" "-------------------- "
is "which ERROR is told" "$(d "$me"' { copyoutstr("abc", 4096, 4); } ERROR { printf("%d %d\n", arg4, arg5); exit(0); }' -w -c 'perl -e "getpriority 0, 0"')" "1 4096"
is "from where nothing can be read" "$(d "$me"' { copyout((void *)8, arg0, 4); } ERROR { printf("%d %d\n", arg4, arg5); exit(0); }' -w -c 'perl -e "getpriority 0, 0"')" "1 8"
is "bcopy() of a string, and zeros behind it" "$(d 'BEGIN { this->p = (char *)alloca(8); this->p[5] = 7; this->s = strjoin("a", "bc"); bcopy(this->s, this->p + 1, 6); printf("%d %s %d\n", *this->p, stringof(this->p + 1), this->p[5]); exit(0); }')" "0 abc 0"
for p in 'copyout((void *)arg0, arg1, 1)' 'copyoutstr("a", arg1, 1)'; do
	timeout 60 "$kd" -qn "BEGIN { $p; exit(0); }" > /tmp/kd.out 2> /tmp/kd.err
	is "$p needs -w" "$? $(cat /tmp/kd.err)" "1 kdtrace: could not enable tracing: Destructive actions not allowed"
done
setpriv --bounding-set=-sys_module --inh-caps=-sys_module timeout 60 "$kd" -qwn 'BEGIN { copyoutstr("a", arg1, 1); exit(0); }' > /tmp/kd.out 2> /tmp/kd.err
is "and the right to load modules: $(tail -n 1 /tmp/kd.err)" "$? $(grep -c 'load modules' /tmp/kd.err)" "0 1"
umount $dir/bound $dir/tmp
soon "nothing is left" 0 field windows
finish
