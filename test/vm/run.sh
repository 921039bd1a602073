#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/vm/run.sh [KERNEL]: does vm/run keep its promises? Ten boots.
# promise: A guest sees more files than the host may open.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
run=$top/vm/run
kernel=${1-6.1}
export KI_VM_QUIET=1
unset KI_VM_LOG
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# All that vm/run starts has this path in its arguments: nothing else does.
export TMPDIR=$tmp/run
mkdir "$TMPDIR"

count=0 failed=0

# check NAME COMMAND...: ok if COMMAND is true.
check() {
	local name=$1
	shift
	count=$((count + 1))
	if "$@"; then
		echo "ok $count $name"
	else
		echo "not ok $count $name"
		failed=$((failed + 1))
	fi
}

is() {
	[[ $1 == "$2" ]] || { echo "# got '$1', want '$2'"; false; }
}

said() { # PATTERN: on stderr
	grep -q "$1" "$tmp/err" && return
	sed 's/^/# /' "$tmp/err"
	false
}

one_line() { said "^vm/run: .*$1" && is "$(wc -l <"$tmp/err")" 1; }

# guest ARG...: run, keep output and status.
guest() {
	"$run" --kernel "$kernel" --no-module "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# Processes may take a moment to be gone after their parent was killed.
nothing_left() {
	for _ in {1..600}; do
		pgrep -f "$TMPDIR" >/dev/null || return 0
		sleep 0.1
	done
	pgrep -af "$TMPDIR" | sed 's/^/# /'
	false
}

no_directory() {
	is "$(ls "$TMPDIR")" ""
}

# start ARG...: run in the background, with its own process group and with
# SIGINT not ignored (that is what -m is for), until COMMAND says "up".
start() {
	set -m
	# Who is started in the background may have been told to ignore SIGINT, for good.
	env --default-signal=INT "$run" --kernel "$kernel" --no-module "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null &
	job=$!
	set +m
	for _ in {1..3000}; do
		grep -q up "$tmp/out" && return
		kill -0 "$job" 2>/dev/null || return
		sleep 0.1
	done
}

finish() {
	wait "$job" 2>/dev/null
	status=$?
}

test_options() {
	"$run" >"$tmp/out" 2>"$tmp/err"
	check "no arguments: usage, status 2" is "$?$(head -c 6 "$tmp/err")" 2usage:
	"$run" --help >"$tmp/out" 2>"$tmp/err"
	check "--help: usage, status 0" is "$?$(head -c 6 "$tmp/out")" 0usage:
	local args
	for args in "--nonsense -- true" "--cpus 0 -- true" "--cpu 94 -- true" "--mem much -- true" "--nodes 0 -- true" \
		"--icount --thread multi -- true" "--kernel 5.10 -- true" \
		"--forward 80 -- true" "--plugin /none -- true" "--thread x -- true" \
		"--timeout" "--cpus 2 --"; do
		# shellcheck disable=SC2086
		guest $args
		check "bad options: $args" is $status 2
		check "one line for: $args" one_line ""
	done
}

test_module_build() {
	local clone=$tmp/clone
	mkdir "$clone" && cp -r "$top/vm" "$clone"
	printf 'kmod:\n\t@echo no compiler >&2; false\n' >"$clone/Makefile"
	"$clone/vm/run" --kernel "$kernel" -- true >"$tmp/out" 2>"$tmp/err"
	check "module does not build: status 1" is $? 1
	check "module does not build: make's words" said 'no compiler'
}

# One boot for all that concerns a command that ends by itself.
test_command() {
	# shellcheck disable=SC1003,SC2016
	local args=('' ' two  spaces ' $'new\nline' "it's" '"$HOME" `id` \' '*' $'\xff\x01' 'a;b&c|d>e' 'ä')
	head -c 300000 /dev/urandom >"$tmp/in"
	mkdir "$tmp/a dir"
	cd "$tmp/a dir" || exit 1
	# shellcheck disable=SC2016
	guest -- bash -c '
		printf "%s\0" "$@" >&2
		pwd
		echo "$(id -u) $(type -P insmod) $KI_VM_QUIET ${PATH%%:*}"
		echo gone >written && cat written
		test -c /dev/null -a -d /sys/kernel/tracing/events -a -d /sys/kernel/debug/bdi && echo mounted
		modprobe dummy && echo modprobe
		echo ok >/dev/stdout
		sleep 1000 &
		cat
		printf partial
		exit 42' name "${args[@]}" <"$tmp/in"
	cd "$top" || exit 1
	printf '%s\0' "${args[@]}" >"$tmp/want"
	check "stderr and arguments are exact" cmp "$tmp/err" "$tmp/want"
	{
		printf '%s\n' "$tmp/a dir" "0 /usr/sbin/insmod 1 $top/build/release/bin" gone mounted modprobe ok
		cat "$tmp/in"
		printf partial
	} >"$tmp/want"
	check "stdout, stdin, directory, file systems" cmp "$tmp/out" "$tmp/want"
	check "exit status" is $status 42
	check "what the guest writes stays there" test ! -e "$tmp/a dir/written"
	check "nothing is left running" nothing_left
	check "no directory is left" no_directory
}

# The file server holds a descriptor for each file that the guest remembers.
test_many_files() {
	mkdir "$tmp/many"
	(cd "$tmp/many" && seq -f file%g 6000 | xargs touch)
	# shellcheck disable=SC2016
	prlimit --nofile=1024:1024 "$run" --kernel "$kernel" --no-module -- \
		sh -c 'find "$1" -type f -print0 | xargs -0 stat -c %s | wc -l && exec /usr/bin/id -u' sh "$tmp/many" \
		>"$tmp/out" 2>"$tmp/err"
	check "more files than the host may open: status 0" is $? 0
	check "more files than the host may open: all are seen" is "$(paste -sd' ' "$tmp/out")" "6000 0"
	check "more files than the host may open: nothing is said" is "$(cat "$tmp/err")" ""
	rm -rf "$tmp/many"
}

test_big_output() {
	guest -- sh -c 'head -c 100000000 /dev/zero; printf end; exec missing-program'
	check "100 MB of output" is "$(wc -c <"$tmp/out") $(tail -c 3 "$tmp/out")" "100000003 end"
	check "command not found: 127" is $status 127
}

test_timeout() {
	guest --timeout 1 -- sleep 1000
	check "timeout: 124" is $status 124
	check "timeout: said" said "stopped sleep after 1 s (--timeout)"
	check "timeout: the kernel's words" said "^\\[ *[0-9.]*\\] "
	check "timeout: nothing is left" nothing_left
}

test_panic() {
	# It panics when what it has said has arrived.
	: >"$tmp/out"
	guest -- sh -c 'echo 1 >/proc/sys/kernel/sysrq; echo before; read -r line; echo c >/proc/sysrq-trigger' \
		< <(for _ in {1..3000}; do
			! grep -q before "$tmp/out" || break
			sleep 0.1
		done; echo now)
	check "panic: 255" is $status 255
	check "panic: output until then" is "$(cat "$tmp/out")" before
	check "panic: the kernel's words" said 'Kernel panic - not syncing: sysrq'
	check "panic: nothing is left" nothing_left
}

# signal_booting SIGNAL: to the QEMU of the run that is booting
signal_booting() {
	for _ in {1..300}; do
		[[ -s $(ls "$TMPDIR"/*/console 2>/dev/null) ]] && break
		sleep 0.02
	done
	kill -"$1" "$(pgrep -nf "qemu-system.*$TMPDIR")"
}

# Before anything of ours is there it may end once, and all that is lost is time.
test_no_boot() {
	signal_booting KILL &
	guest -- echo once
	check "QEMU ends while it boots: it is started again" is "$status $(cat "$tmp/out")" "0 once"
	check "QEMU ends while it boots: one line" one_line "once more"
	check "QEMU ends while it boots: nothing is left" nothing_left
	signal_booting STOP &
	KI_VM_BOOT_LIMIT=60 guest -- echo once
	check "QEMU stands while it boots: it is started again" is "$status $(cat "$tmp/out")" "0 once"
	check "QEMU stands while it boots: one line" one_line "stood .* once more"
	check "QEMU stands while it boots: nothing is left" nothing_left
}

# A cache of our own, of which only the image is whole.
test_kernel_files() {
	local own=$tmp/cache boot image one two
	image=$("$top/vm/kernel" "$kernel" image)
	boot=$own/kernel-$kernel/boot
	mkdir -p "$boot" "$own/qemu"
	cp "$image" "$boot"
	cp "${image%/boot/*}/facts" "$own/kernel-$kernel/"
	cp "${image%/kernel-*}/qemu/facts" "$own/qemu/"
	KI_CACHE=$own "$top/vm/kernel" "$kernel" vmlinux >"$tmp/one" 2>"$tmp/err" &
	two=$(KI_CACHE=$own "$top/vm/kernel" "$kernel" vmlinux 2>&1)
	wait $!
	one=$(cat "$tmp/one")
	check "vmlinux: two at once get one file" is "$one" "$two"
	check "vmlinux: nothing is said" is "$(cat "$tmp/err")" ""
	check "vmlinux: it has sections" grep -q '\.text' <(readelf -SW "$one")
	check "vmlinux: nothing else is left" is "$(find "$boot" -type f | wc -l)" 2
	rm -f "$one"
	truncate -s 1000000 "$boot"/vmlinuz-*
	KI_CACHE=$own "$top/vm/kernel" "$kernel" vmlinux >"$tmp/out" 2>"$tmp/err"
	check "vmlinux: the image is cut off: status 1" is $? 1
	check "vmlinux: the image is cut off: one line" is "$(wc -l <"$tmp/err")" 1
	check "vmlinux: the image is cut off: nothing is left" is "$(find "$boot" -type f | wc -l)" 1
	printf hello >"$(echo "$boot"/vmlinuz-*)"
	KI_CACHE=$own "$top/vm/kernel" "$kernel" vmlinux >"$tmp/out" 2>"$tmp/err"
	check "vmlinux: no image: status 1" is $? 1
	check "vmlinux: no image: one line" is "$(wc -l <"$tmp/err")" 1
}

test_insmod_failure() {
	# shellcheck disable=SC2016
	printf 'kmod:\n\t@d=build/kmod/$$(vm/kernel $(KERNEL) release); mkdir -p $$d; echo >$$d/kerninst.ko\nall:\n' \
		>"$tmp/clone/Makefile"
	"$tmp/clone/vm/run" --kernel "$kernel" -- true >"$tmp/out" 2>"$tmp/err"
	check "insmod fails: 255" is $? 255
	check "insmod fails: says so" said '^vm/run: insmod .*kerninst.ko failed: '
}

test_interrupt() {
	start -- sh -c 'echo up; sleep 1000'
	kill -INT -- "-$job"
	finish
	check "Ctrl-C: ended by the signal" is $status 130
	check "Ctrl-C: nothing is left" nothing_left
	check "Ctrl-C: no directory is left" no_directory
}

# The first port from 20000 + its own number on that nobody listens at.
free_port() {
	local port=$((20000 + $$ % 10000))
	while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((port + 1))
	done
	echo "$port"
}

# Until the guest listens, QEMU accepts a connection and closes it again.
first_line_from() {
	local line='' deadline=$((SECONDS + 120))
	until [[ $line ]] || ((SECONDS > deadline)); do
		sleep 0.5
		read -r -t 30 line <"/dev/tcp/127.0.0.1/$1"
	done 2>/dev/null
	echo "$line"
}

test_kill_and_forward() {
	local busybox port
	port=$(free_port)
	busybox=$("$top/vm/kernel" "$kernel" image)
	busybox=${busybox%/kernel-*}/qemu/bin/busybox
	start --forward "$port:80" -- sh -c "echo up; sleep 2; while sleep 0.1; do $busybox nc -l -p 80 -e echo hello; done"
	check "--forward" is "$(first_line_from "$port")" hello
	guest --forward "$port:80" -- true
	check "--forward to a used port: status 1" is $status 1
	check "--forward to a used port: one line" one_line "forwarding"
	kill -KILL "$job"
	finish
	check "kill -9: nothing is left" nothing_left
	guest --plugin "$tmp/in" -- true
	check "unusable plugin: status 1" is $status 1
	check "directory of the killed run is removed" no_directory
}

test_options
test_module_build
test_command
test_many_files
test_big_output
test_timeout
test_panic
test_no_boot
test_kernel_files
test_insmod_failure
test_interrupt
test_kill_and_forward
echo "1..$count"
((failed == 0))
