#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every block of the running kernel and its modules carries a probe, while a compiler, stress-ng
# and a web server run.
# promise: N1: At least 99 % of the touchable blocks carry a probe at the same time, in kernel
#   and modules. [test/guest/cover/coverage.sh]
# shellcheck disable=SC2016,SC2317 # for eval; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
start
work=$(mktemp -d)
cat > "$work/load" <<-END
	#!/bin/bash
	cd "$top"
	for f in lib/util/*.c; do
		gcc -Iinclude -Ilib -D_GNU_SOURCE -O1 -c -o $work/x.o \$f || exit
		sha256sum < $work/x.o
	done | sha256sum
	curl -s http://127.0.0.1:8099/file | sha256sum
END
chmod +x "$work/load"
ip link set lo up
mkdir "$work/www"
head -c 2000000 /dev/urandom > "$work/www/file"
cat > "$work/nginx.conf" <<-END
	pid $work/nginx.pid;
	error_log $work/nginx.log;
	events {}
	http { access_log off; server { listen 127.0.0.1:8099; root $work/www; } }
END
chmod -R a+rX "$work"
nginx -c "$work/nginx.conf"
wanted=$("$work/load")
stress() {
	stress-ng --verify --temp-path "$work" --vm 1 --vm-bytes 32M --pipe 1 --switch 1 --fork 1 --mmap 1 \
		--mmap-bytes 16M --timer 1 --futex 1 --sock 1 --sem 1 -t "$1" > "$work/stress.log" 2>&1
}
export -f stress
export work
total() { python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline().rsplit("\"functions\":", 1)[0].rstrip(", ") + "}")["totals"][sys.argv[2]])' "$work/$1" "$2"; }

into() { "$ki" cover --all -o "$@" > /dev/null 2> "$work/said"; }
# whole NAME OPTION...: all blocks while the load runs
whole() {
	local name=$1
	shift
	ok "$name: all blocks" into "$work/$name" "$@" -- bash -c \
		"stress 10 & $work/load > $work/got && wait \$!"
	sed 's/^/# /' "$work/said"
	is "$name: the load's result" "$(cat "$work/got")" "$wanted"
	echo "# $(total "$name" probes) probes of $(total "$name" blocks_touchable) blocks, $(total "$name" known) known, $(total "$name" hit) hit, $(total "$name" heap_bytes) bytes"
	echo "# $(total "$name" seconds_install) s to install, $(total "$name" seconds_remove) s to remove"
	soon "$name: the heap is empty" "0 0" eval 'echo $(field windows) $(field heap_used)'
	ok "$name: the text is what it was" text_is_back
}
whole every --every
ok "99 % of all blocks carry a probe" test $(($(total every probes) * 100)) -ge $(($(total every blocks_touchable) * 99))
seconds() { awk -v s="$(total "$1" "$2")" -v most="$3" 'BEGIN { exit !(s > 0 && s < most) }'; }
ok "installed in less than 60 s" seconds every seconds_install "${KI_SECONDS:-60}"
ok "removed in less than 60 s" seconds every seconds_remove "${KI_SECONDS:-60}"
progress() { awk -v what="$1" -F '[ :]+' '$2 " " $3 == what || $2 == what { n = $(NF - 2); of = $NF } END { exit !(n > 0 && n <= of) }' "$work/said"; }
ok "progress is shown of what is put in" progress instrumenting
ok "and of what is taken out" progress "taking out"
ok "patches, and memory in all: $(total every heap_bytes), $(total every memory_bytes) bytes" \
	test 0 -lt "$(total every heap_bytes)" -a "$(total every heap_bytes)" -lt "$(total every memory_bytes)" -a "$(total every memory_bytes)" -lt 1000000000
whole removed --once
ok "99 % of all blocks are known without a probe in each" test $(($(total removed known) * 100)) -ge $(($(total removed blocks_touchable) * 99))
ok "what was hit took itself out" test "$(total removed removed)" -gt 10000
kill "$(cat "$work/nginx.pid")"
finish
