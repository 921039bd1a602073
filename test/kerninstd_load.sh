#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/kerninstd_load.sh [KERNINSTD [SECONDS]]
# kerninstd under what it must bear, on recordings: a fuzzer of requests, 50 clients, readers that
# are slow or do not read, half-open connections, a disk that is full.
# shellcheck disable=SC2317,SC2154 # functions are called through check; stream sets id_* and pid_*
set -u
cd "$(dirname "$0")/.." || exit 1
kd=${1:-build/asan/bin/kerninstd}
seconds=${2:-20}
# shellcheck source=test/lib.sh
. test/lib.sh
# shellcheck source=test/kerninstd_lib.sh
. test/kerninstd_lib.sh
export LC_ALL=C
work=$tmp
trap 'kill -9 $(jobs -p) 2> /dev/null; umount "$tmp/small" 2> /dev/null; rm -rf "$tmp"' EXIT
same() { check "$1" is "$2" "$3"; }

# 300 samples of 400 curves: 10 each
jq -nc '{"kerninst-session": 1, info: {kernel: "6.1-test", cpus: [0], driver: "5"}, metrics: []},
	{t: 0, event: "curves", data: {curves: [range(400) | {id: ., metric: "calls", point: "f\(.)", function: "f\(.)", unit: "", form: "total", cpu: "all", predicate: ""}]}},
	([range(400) | {("\(.)"): 10}] | add) as $v | (range(300) | {t: (. / 10 + 0.1), event: "sample", data: {from: (. / 10), to: (. / 10 + 0.1), values: $v}})' > "$tmp/long"

# told NAME ID: what samples say, and what gaps say is missing: samples and gaps together
told() { echo $(($(data sample "$1" | wc -l) + $(data gap "$1" | jq -s '[.[].samples] | add // 0'))); }
# One that does not end behind its samples: who has had them is still there.
{ cat "$tmp/long"; echo '{"t": 100000, "event": "modules", "data": {"came": [], "gone": []}}'; } > "$tmp/open"

# ---- 50 clients at once, one that does not read, and half-open connections ----
daemon_start --socket "$tmp/sock" --replay "$tmp/long" --speed 5
host=${url#http://}
exec 7<> "/dev/tcp/${host%:*}/${host#*:}" 8<> "/dev/tcp/${host%:*}/${host#*:}"
printf 'GET /api/info HTTP/1.1\r\nHost: ' >&7
printf 'GET /api/events?token=%s HTTP/1.1\r\nHost: %s\r\n\r\n' "$token" "$host" >&8 # and never reads
for i in $(seq 50); do
	curl -sSN "$url/api/events?token=$token" > "$tmp/c$i" 2> "$tmp/c$i.err" &
done
curl -sSN --limit-rate 20000 "$url/api/events?token=$token" > "$tmp/crawl" 2> /dev/null &
crawler=$!
for i in $(seq 50); do wait_for 300 ended "c$i"; done
complete=0
for i in $(seq 50); do
	[ "$(told "c$i") $(data sample "c$i" | jq -s 'map(.values | add) | add == 4000 * length')" != "300 true" ] || complete=$((complete + 1))
done
same "50 clients: each sample is there, or counted as missing" $complete 50
echo "# gaps: $(for i in $(seq 50); do data gap "c$i"; done | wc -l)"
check "it answers meanwhile" test "$(status -H "Authorization: Bearer $token" "$url/api/info")" = 200
exec 7>&- 8>&-
daemon_stop
same "it ends" $? 0
kill $crawler 2> /dev/null # who has more to read than there is time

# ---- a slow reader: gaps are gaps ----
make_wide() { # samples of 60 KB: a socket and the queue are full soon
	jq -nc '{"kerninst-session": 1, info: {kernel: "6.1-test", cpus: [0], driver: "5"}, metrics: []},
	([range(5000) | {("\(.)"): 1234567}] | add) as $v | (range(200) | {t: (. / 10 + 0.1), event: "sample", data: {from: (. / 10), to: (. / 10 + 0.1), values: $v}})'
}
make_wide > "$tmp/wide"
daemon_start --socket none --replay "$tmp/wide" --speed 10
# He reads no byte behind the greeting until one who came later has had all: a pipe is full, then curl
# waits, then its socket.
mkfifo "$tmp/wake"
: > "$tmp/slow"
curl -sSN "$url/api/events?token=$token" 2> /dev/null |
	{ sed -u '/^event: hello/q'; read -r _ < "$tmp/wake"; cat; } > "$tmp/slow" &
wait_for 120 grep -q '^event: hello' "$tmp/slow"
stream quick
wait_for 300 ended quick
echo > "$tmp/wake"
wait_for 300 ended slow
check "who slept misses samples" test "$(data gap slow | wc -l)" -gt 0
same "what he has and what is said to be missing are all" "$(told slow)" 200
same "each sample is whole" "$(data sample slow | jq -s 'map(.values | length == 5000) | all')" true
check "a gap stands where samples are missing" python3 - "$tmp/slow" <<'P'
import json, sys
at, gap = 0.0, 0
for block in open(sys.argv[1]).read().split("\n\n"):
    lines = dict(l.split(": ", 1) for l in block.split("\n") if ": " in l)
    if lines.get("event") == "gap":
        gap += json.loads(lines["data"])["samples"]
    if lines.get("event") == "sample":
        s = json.loads(lines["data"])
        assert round((s["from"] - at) * 10) == gap, (at, gap, s["from"])
        at, gap = s["to"], 0
P
daemon_stop

# ---- a disk that is full ----
mkdir "$tmp/small"
if mount -t tmpfs -o size=64k tmpfs "$tmp/small" 2> /dev/null; then
	daemon_start --socket none --spool "$tmp/small" --replay "$tmp/open" --speed 20
	stream full
	all_told() { [ "$(told full)" = 300 ]; }
	wait_for 300 all_told
	get "/api/recording?client=$id_full" > "$tmp/saved"
	same "the stream has all" "$(told full)" 300
	same "of a recording on a full disk each line is whole" "$(jq -c . "$tmp/saved" | wc -l)" "$(wc -l < "$tmp/saved")"
	check "it has some" test "$(grep -c '"sample"' "$tmp/saved")" -gt 2
	n=$(jq -s 'map(select(.event == "sample")) | length' "$tmp/saved")
	check "and does not have all" test "$n" -lt 300
	head -c 30000 /dev/zero > "$tmp/small/more" 2> /dev/null
	daemon_stop
	daemon_start --socket none --record-max 0 --replay "$tmp/open" --speed 50
	stream none
	wait_for 300 came none 1
	same "a recording that may not grow has nothing but its head" "$(get "/api/recording?client=$id_none" | wc -l)" 1
	daemon_stop
	umount "$tmp/small"
else
	count=$((count + 1))
	echo "ok $count a full disk # SKIP no tmpfs can be mounted"
fi

# ---- malformed requests ----
daemon_start --socket "$tmp/sock" --replay "$tmp/long"
check "the fuzzer ends, and answers were right" test/fuzz/http.py "$tmp/sock" 1 "$seconds"
check "it is still there" kill -0 $daemon
same "and answers" "$(status --unix-socket "$tmp/sock" http://localhost/api/info)" 200
daemon_stop
same "it ends" $? 0
check "nothing was complained of" is "$(cat "$tmp/complaints")" ""
finish
