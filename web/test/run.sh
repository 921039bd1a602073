#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The page's tests, in TAP: types, web/dist, its parts by themselves, and in a real browser.
#
# usage: web/test/run.sh [parts|page|function|daemon|speed|cover|live|process]...	default: all but the last three;
# daemon: page and function with kerninstd --replay in place of the tests' own server, which make has
# built; live, process: kerninstd with a virtual machine's kernel, with a program in one
#
# Needs node and chromium, and fetches the pinned packages once. Pictures are left in build/web. With
# KPERFMON_URL, the address (with its token) that kerninstd --replay build/web/session.jsonl has printed,
# the browser tests look at that daemon.
# promise of cover-page: N14 (in part): The report of a whole kernel's coverage works in a
#   browser, by keyboard and on a phone.
# promise of page-live: P1, P2, P9, P12, P14, P15, P16, P17: The page's curves follow a running
#   kernel, and its text is the same afterwards.
# promise of page-process: Points of a process are chosen, measured and shown in the page
#   beside the kernel's.
# promise of page, page-browser, page-function, page-daemon, page-speed: P1, P2, P14, P15: The
#   page's tree, curves, tables, maps and graphs work in a browser, at speed.
# not shown: P1: A panel of counter registers: events are metrics there, and `kerninst info
#   --events` has the table.
set -u
cd "$(dirname "$0")/.." || exit 1
number=0 failed=0

check() { # NAME COMMAND...
	local name=$1 log
	shift
	number=$((number + 1))
	if log=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		tail -n 20 <<< "$log" | sed 's/^/  # /'
	fi
}

# What Grafana itself says a dashboard is.
# shellcheck disable=SC2317 # called through check
dashboard_types() {
	printf 'import type { Dashboard } from "@grafana/schema";\nexport const dashboard: Dashboard =\n%s;\n' \
		"$(cat ../examples/prometheus/dashboard.json)" > node_modules/.dashboard.ts
	npx --no-install tsc --ignoreConfig --noEmit --strict --skipLibCheck --module nodenext node_modules/.dashboard.ts
}

parts() {
	check "the page's types are right" npx --no-install tsc --noEmit -p .
	check "web/dist is what web/src gives, byte by byte" node build.mjs --check
	check "the example's dashboard has Grafana's types" dashboard_types
	node --test --test-reporter=tap test/unit/*.test.mjs || failed=1
}

# The daemon itself, in place of the tests' own server.
with_daemon() {
	local log
	log=$(mktemp)
	mkdir -p ../build/web && node test/make_recording.mjs ../build/web/session.jsonl > "$log" 2>&1
	../build/release/bin/kerninstd --port 0 --socket none --replay ../build/web/session.jsonl > "$log" 2>&1 &
	for _ in $(seq 100); do
		KPERFMON_URL=$(grep -o 'http://127[^ ]*' "$log") && break
		sleep 0.1
	done
	check "kerninstd serves the session" test -n "$KPERFMON_URL"
	export KPERFMON_URL
	timeout 300 node test/page.test.mjs || failed=1
	timeout 300 node test/function.test.mjs || failed=1
	kill %1
	rm -f "$log"
}

# A daemon that looks into a running kernel: the machine's results stand behind the page's.
live() { # TEST SCRIPT
	local log port machine
	log=$(mktemp)
	port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
	PORT=$port KI_VM_QUIET=1 ../vm/run --forward "$port:$port" --timeout 600 -- env PORT="$port" "$PWD/../test/guest/tools/$2" > "$log" 2>&1 &
	machine=$!
	until KPERFMON_URL=$(grep -o 'http://127[^ ]*' "$log") || ! kill -0 $machine 2> /dev/null; do sleep 0.2; done
	check "kerninstd serves the page from the machine" test -n "$KPERFMON_URL"
	KPERFMON_PROCESS=$(sed -n 's/^process \([0-9]*\).*/\1/p' "$log")
	export KPERFMON_URL KPERFMON_PROCESS
	timeout 300 node "test/$1.test.mjs" || failed=1
	wait $machine || failed=1
	grep -E '^(ok|not ok|#) ' "$log"
	rm -f "$log"
}

# One at a time: two suites may begin at once.
mkdir -p ../build && exec 9> ../build/npm.lock && flock 9
if [ package-lock.json -nt node_modules/.package-lock.json ]; then
	npm ci --no-audit --no-fund --ignore-scripts > /dev/null 2>&1 || {
		echo "not ok 1 - npm ci in web/"
		exit 1
	}
fi
exec 9>&-
[ $# -gt 0 ] || set -- parts page function daemon speed
for part in "$@"; do
	case $part in
	parts) parts ;;
	daemon) with_daemon ;;
	live) live live page.sh ;;
	process) live process page_process.sh ;;
	*) timeout 300 node "test/$part.test.mjs" || failed=1 ;;
	esac
done
exit $failed
