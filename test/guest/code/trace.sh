#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The loads that trace_host.sh watches from outside, with a mark before each, and at the end the
# graph of the kernel that ran them: to stdout, packed. Results go to stderr.
exec 3>&1 1>&2
. "$(dirname "$0")/../common/lib.sh"
cd "$top" || exit 1
work=$(mktemp -d)
modules() { cut -d' ' -f1,6 /proc/modules | sort; }

# shellcheck disable=SC2317 # called through ok
compile() {
	local flags=(-O2 -Iinclude -Ilib -D_GNU_SOURCE -c)
	gcc "${flags[@]}" -o "$work/a.o" lib/code/function/entries.c &
	gcc "${flags[@]}" -o "$work/b.o" lib/splice/apply.c && wait $!
}

# shellcheck disable=SC2317
answered() { awk '$2 == "requests" { n += $1 } END { exit !(n > 100) }' "$work/wrk"; }
# shellcheck disable=SC2317
network() {
	mkdir -p /var/log/nginx /var/lib/nginx
	cat > "$work/nginx.conf" <<-END
		daemon off; worker_processes 1; pid $work/nginx.pid; error_log /dev/null crit;
		events { }
		http { access_log off; server { listen 127.0.0.1:8080; root $top; } }
	END
	nginx -c "$work/nginx.conf" 2> /dev/null &
	until_true 120 eval '(: < /dev/tcp/127.0.0.1/8080) 2> /dev/null'
	for _ in {1..12}; do
		wrk -t 1 -c 4 -d 5s http://127.0.0.1:8080/README.md >> "$work/wrk"
		answered && break
	done
	kill $!
	wait
	answered
}

# shellcheck disable=SC2317
stress() {
	local kind each=()
	for kind in vm fork pipe signal mmap futex switch timer poll sock udp dentry hdd sem \
		msg mq eventfd epoll fault get; do
		each+=("--$kind" 1)
	done
	stress-ng --temp-path "$work" --timeout 20 --vm-bytes 16m --hdd-bytes 4m --mmap-bytes 4m \
		"${each[@]}" 2> "$work/words" < /dev/null || { tail "$work/words"; false; }
}

start
modules > "$work/modules"
"$prog/mark"
ok "a compile" compile
"$prog/mark"
ok "a network load" network
"$prog/mark"
ok "stress-ng" stress
"$prog/mark"
is "no module came or went" "$(modules)" "$(cat "$work/modules")"
ok "the graph is written" bash -c 'set -o pipefail
	build/release/test/check_transfers dump | zstd -q -1 >&3'
exec 3>&-
finish
