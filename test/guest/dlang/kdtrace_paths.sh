#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What D knows of a process's files, arguments and stacks, against what /proc and the shell say.
# promise: D2, D3, D4: D has paths, arguments and stacks of processes as /proc shows them.
#   [errors.sh, accepts.sh]
# shellcheck disable=SC2016 # $target is kdtrace's, $ in quotes perl's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
dir=/tmp/paths

# d PROGRAM [OPTION...]: its output, quiet, without the blanks at both ends of lines
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }
me='syscall::getpriority:entry /pid == $target/'

# tell NAME PERL: what a process of its own does, and knows of itself (known LINE); $n is arg0
names=()
tell() {
	names+=("$1")
	# shellcheck disable=SC2016 # perl's
	printf 'unless (fork) { $at = %d; %s; getpriority $n || 0, $at; exit } wait;\n' ${#names[@]} "$2" >> $dir/told.pl
}
# said FORMAT,ARGUMENTS [OPTION...]: that is what D prints of each that was told
said() {
	local values=$1 i
	shift
	rm -f $dir/known.*
	printf 'sub known { open K, ">", "%s/known.$at"; print K @_, "\n"; close K } sub content { local (@ARGV, $/) = @_; <> }\n' $dir > $dir/said.pl
	cat $dir/told.pl >> $dir/said.pl
	d "syscall::getpriority:entry /ppid == \$target/ { printf(\"%d \", arg1); printf($values); }" -c "perl $dir/said.pl one 'two  words' '' last" "$@" > $dir/said
	for ((i = 1; i <= ${#names[@]}; i++)); do
		is "${names[i - 1]}" "$(sed -n "s/^$i //p" $dir/said)" "$(cat $dir/known.$i || echo 'it knows nothing')"
	done
	names=()
	rm $dir/told.pl
}

mkdir -p "$dir/there" "$dir/with blank" $dir/bound $dir/jail/in $dir/tmp
mount --bind $dir/there $dir/bound
mount -t tmpfs none $dir/tmp

# ---- directories ----

cwd='known readlink q(/proc/self/cwd)'
tell "cwd" "chdir q($dir/there); $cwd"
tell "with blanks" "chdir q($dir/with blank); $cwd"
tell "at the root" "chdir q(/); $cwd"
tell "where something is bound" "chdir q($dir/bound); $cwd"
tell "in another file system" "mkdir q($dir/tmp/a); chdir q($dir/tmp/a); $cwd"
tell "at its root" "chdir q($dir/tmp); $cwd"
tell "in a directory that is gone" "mkdir q($dir/gone); chdir q($dir/gone); rmdir q($dir/gone); $cwd"
said '"%s\n", cwd'
deep="chdir q($dir/there); for (1 .. 60) { mkdir qq(d\$_); chdir qq(d\$_) }"
tell "60 directories deep" "$deep $cwd"
said '"%s\n", cwd' -x strsize=1024
is "of which there are many" "$(tr -cd / < $dir/known.1 | wc -c)" $((60 + 3))
tell "cut off at its end" "$deep known substr readlink(q(/proc/self/cwd)), 0, 99"
said '"%s\n", cwd' -x strsize=100
tell "too deep: nothing" "chdir q($dir/there); for (1 .. 300) { mkdir q(x); chdir q(x) } known q(<>)"
said '"<%s>\n", cwd' -x strsize=4096
tell "root" "chdir q(/tmp); known q(/ /tmp)"
tell "of who is in a jail" "known q($dir/jail /in); chroot q($dir/jail); chdir q(/in)"
tell "and of who is out of it" "known q($dir/jail $dir/there); chdir q($dir/there); chroot q($dir/jail)"
said '"%s %s\n", root, cwd'
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
	tell "fds[] of $at, of $type at $mounted" "\$f = q($at); $open; $info; (\$m, \$t) = (q($mounted), q($type)); $tell"
done
tell "of none" 'open F, q(/); $n = fileno F; close F; known join q(|), (q(<none>)) x 5, 0, 0'
said "$of"
type=$(findmnt -n -o FSTYPE -T $dir/there)
tell "of a file that is gone" "open G, q(>), \$f = q($dir/there/g); close G; $open; unlink \$f; known q(<), readlink qq(/proc/self/fd/\$n), q(> $type)"
tell "of a pipe" 'pipe R, W; $n = fileno R; known q(<> pipefs)'
said '"<%s> %s\n", fds[arg0].fi_pathname, fds[arg0].fi_fs'
is "a path that cannot be read is a fault" "$(d 'BEGIN { trace(d_path((struct path *)8)); } ERROR { printf("%d %d\n", arg4, arg5); } BEGIN { exit(0); }')" "1 8"

# ---- arguments ----

cmdline='$_ = content q(/proc/self/cmdline); $len = length; s/\0+$//; y/\0/ /'
tell "execargs, pr_psargs, pr_arglen" "$cmdline; known \$_, q(|), substr(\$_, 0, 79), q( ), \$len"
said '"%s|%s %d\n", execargs, curpsinfo->pr_psargs, curpsinfo->pr_arglen'
tell "cut off" "$cmdline; known substr \$_, 0, 30"
said '"%s\n", execargs' -x strsize=31
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
is "copyout() of a string" "$(put 's = "abcdef"; copyout(s, arg0 + 1, 3);')" "-abc----------------"
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
