#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/prometheus.sh
# Debian's Prometheus reads what kerninstd exports: promtool's rules, a scrape by the example's
# configuration, and the dashboard's queries. On a recording.
# shellcheck disable=SC2317 # functions are called through check
set -u
cd "$(dirname "$0")/.." || exit 1
kd=build/release/bin/kerninstd
# shellcheck source=test/lib.sh
. test/lib.sh
# shellcheck source=test/kerninstd_lib.sh
. test/kerninstd_lib.sh
export LC_ALL=C
work=$tmp
trap 'kill -9 $(jobs -p) 2> /dev/null; rm -rf "$tmp"' EXIT

# ---- a recording that goes on for 40 s: 100 calls a second, latencies of 2^10 to 2^12 ns ----
jq -nc '
	def curve($id; $metric; $unit; $form): {id: $id, metric: $metric, point: "vfs_read", function: "vfs_read", unit: $unit, form: $form, cpu: "all", predicate: "comm == \"a\\b\""};
	{"kerninst-session": 1, info: {kernel: "6.1-test", cpus: [0], driver: "5"}, metrics: [
		{name: "calls", unit: "", form: "total", text: "how often the function is called", code: "", functions_only: true},
		{name: "count", unit: "", form: "total", text: "how often a point is passed", code: "", functions_only: false},
		{name: "walltime", unit: "s", form: "total", text: "time inside", code: "", functions_only: true},
		{name: "vtime", unit: "s", form: "total", text: "time inside, running", code: "", functions_only: true},
		{name: "walltime/call", unit: "s", form: "mean", text: "the mean of it", code: "", functions_only: true},
		{name: "latency", unit: "s", form: "histogram", text: "histogram of it", code: "", functions_only: true}]},
	{t: 0, event: "curves", data: {curves: [curve(1; "calls"; ""; "total"), curve(2; "count"; ""; "total"), curve(3; "walltime"; "s"; "total"),
		curve(4; "vtime"; "s"; "total"), curve(5; "walltime/call"; "s"; "mean"), curve(6; "latency"; "s"; "histogram")]}},
	(range(400) | {t: (. / 10 + 0.1), event: "sample", data: {from: (. / 10), to: (. / 10 + 0.1), values:
		{"1": 10, "2": 20, "3": 0.05, "4": 0.01, "5": 0.005, "6": [range(64) | if . == 11 then 5 elif . == 12 then 5 else 0 end]}}})
' > "$tmp/session"
head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$tmp/token"
daemon_start --socket none --token-file "$tmp/token" --replay "$tmp/session"
url=$(sed -n 's|/  (token: .*||p' "$tmp/where")
token=$(cat "$tmp/token")

check "promtool finds nothing in the text format" is "$(get /metrics | promtool check metrics 2>&1)" ""
check "the configuration is one" promtool check config --syntax-only examples/prometheus/prometheus.yml

# ---- the example's configuration, with this address and this token, ten times as often ----
sed -e "s|127.0.0.1:7072|${url#http://}|; s|/etc/prometheus/kerninst.token|$tmp/token|; s|15s|500ms|" \
	examples/prometheus/prometheus.yml > "$tmp/prometheus.yml"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
	--web.listen-address="127.0.0.1:$port" > "$tmp/log" 2>&1 &
query() { curl -sS -m 10 -G --data-urlencode "query=$1" "http://127.0.0.1:$port/api/v1/query"; }
value() { query "$1" | jq -r '.data.result[0].value[1] // empty'; }
for _ in $(seq 60); do
	n=$(value 'count_over_time(kerninst_calls_total[1m])')
	[ "${n:-0}" -lt 26 ] 2> /dev/null || break
	sleep 0.5
done
check "it is up" is "$(value 'up{job="kerninst"}')" 1
near() { awk -v g="$1" -v w="$2" 'BEGIN { exit !(g > w * 0.8 && g < w * 1.2) }' || { echo "got '$1', wanted '$2'"; false; }; }
check "100 calls a second" near "$(value 'rate(kerninst_calls_total[10s])')" 100
check "half a thread inside" near "$(value 'rate(kerninst_walltime_seconds_total[10s])')" 0.5
check "a mean" is "$(value kerninst_walltime_per_call_seconds)" 0.005
check "half of the calls take up to 1 us" near "$(value 'histogram_quantile(0.5, rate(kerninst_latency_seconds_bucket[10s]))')" 2.047e-6
check "a label is as it was" is "$(query kerninst_calls_total | jq -r '.data.result[0].metric.predicate')" 'comm == "a\b"'
check "types are known" is "$(curl -s "http://127.0.0.1:$port/api/v1/metadata" | jq -c '[.data.kerninst_calls[0].type, .data.kerninst_latency_seconds[0].type, .data.kerninst_walltime_seconds[0].unit]')" \
	'["counter","histogram","seconds"]'

# ---- the dashboard's queries, each of which must give something ----
bad=
while read -r expr; do
	expr=${expr//\$__rate_interval/10s}
	expr=${expr//\$instance/.*}
	expr=${expr//\$function/.*}
	[ "$(query "$expr" | jq '.data.result | length')" -gt 0 ] || bad+="$expr; "
done < <(jq -r '.panels[].targets[].expr' examples/prometheus/dashboard.json)
check "the dashboard's queries give values" is "$bad" ""
daemon_stop
finish
