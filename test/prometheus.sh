#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/prometheus.sh
# Debian's Prometheus reads what kerninstd exports: promtool's rules, a scrape by the example's
# configuration, and the dashboard's queries. On a recording.
# promise: P1: Prometheus reads /metrics, and every query of the dashboard gives values.
# not shown: P1: Grafana itself: a check of its types stands for it.
# shellcheck disable=SC2317,SC2016 # functions are called through check; jq and Grafana have $ too
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

# ---- a recording that goes on for longer than this: 100 calls a second, latencies of 2^10 to 2^12 ns ----
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
	(range(9000) | {t: (. / 10 + 0.1), event: "sample", data: {from: (. / 10), to: (. / 10 + 0.1), values:
		{"1": 10, "2": 20, "3": 0.05, "4": 0.01, "5": 0.005, "6": [range(64) | if . == 11 then 5 elif . == 12 then 5 else 0 end]}}})
' > "$tmp/session"
(umask 077; head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$tmp/token")
daemon_start --socket none --token-file "$tmp/token" --replay "$tmp/session"
url=$(sed -n 's|/  (token: .*||p' "$tmp/where")
token=$(cat "$tmp/token")
[ "$url" ] || { echo "not ok - the daemon is not up"; cat "$tmp/complaints"; exit 1; }

check "promtool finds nothing in the text format" is "$(get /metrics | promtool check metrics 2>&1)" ""
check "the configuration is one" promtool check config --syntax-only examples/prometheus/prometheus.yml

# ---- the example's configuration, with this address and this token, ten times as often ----
sed -e "s|127.0.0.1:7072|${url#http://}|; s|/etc/prometheus/kerninst.token|$tmp/token|; s|15s|500ms|" \
	examples/prometheus/prometheus.yml > "$tmp/prometheus.yml"
answers() { ! kill -0 "$prometheus" || curl -sf -m 10 "http://127.0.0.1:$port/-/ready"; }
for _ in 1 2 3; do # somebody else may take the port before it does
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
		--web.listen-address="127.0.0.1:$port" > "$tmp/log" 2>&1 &
	prometheus=$!
	wait_for 120 answers
	! kill -0 $prometheus 2> /dev/null || break
done
query() { curl -sS -m 60 -G --data-urlencode "query=$1" "http://127.0.0.1:$port/api/v1/query"; }
value() { query "$1" | jq -r '.data.result[0].value[1] // empty'; }
scraped() {
	n=$(value 'count_over_time(kerninst_calls_total[1m])')
	[ "${n:-0}" -ge 26 ]
}
wait_for 240 scraped
# A scrape may be late, or fail, on a machine that stands still: what is asked then is asked again.
retry() { # COMMAND...
	wait_for 120 "$@" || "$@"
}
near() { # QUERY WANTED
	local got
	got=$(value "$1")
	awk -v g="$got" -v w="$2" 'BEGIN { exit !(g > w * 0.8 && g < w * 1.2) }' || { echo "got '$got', wanted '$2'"; false; }
}
exactly() { is "$(value "$1")" "$2"; }
label() { is "$(query kerninst_calls_total | jq -r '.data.result[0].metric.predicate')" 'comm == "a\b"'; }
types() {
	is "$(curl -s -m 60 "http://127.0.0.1:$port/api/v1/metadata" | jq -c '[.data.kerninst_calls[0].type, .data.kerninst_latency_seconds[0].type, .data.kerninst_walltime_seconds[0].unit]')" \
		'["counter","histogram","seconds"]'
}
check "it is up" retry exactly 'up{job="kerninst"}' 1
check "100 calls a second" retry near 'rate(kerninst_calls_total[10s])' 100
check "half a thread inside" retry near 'rate(kerninst_walltime_seconds_total[10s])' 0.5
check "a mean" retry exactly kerninst_walltime_per_call_seconds 0.005
check "half of the calls take up to 1 us" retry near 'histogram_quantile(0.5, rate(kerninst_latency_seconds_bucket[10s]))' 2.047e-6
check "a label is as it was" retry label
check "types are known" retry types

# ---- the dashboard: its form (its types are checked with the page's), what it asks for ----
board=examples/prometheus/dashboard.json
form() { check "the dashboard: $1" jq -e "$2" $board; } # NAME FILTER
form "it says which schema it has, and that of a Grafana that can draw heat maps of buckets" '.schemaVersion >= 37 and (.uid | length) > 0 and .title == "kerninst"'
form "panels have numbers of their own, and none lies on another" '
	[.panels[] | .id] as $ids | ($ids | length) == ($ids | unique | length) and
	([.panels[].gridPos | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | [$x, $y]] | length == (unique | length)) and
	all(.panels[].gridPos; .x + .w <= 24)'
form "each query of a panel has a letter of its own, a name and a format" '
	all(.panels[]; (.targets | length) > 0 and ([.targets[].refId] | length == (unique | length))) and
	all(.panels[].targets[]; (.refId | test("^[A-Z]$")) and (.legendFormat | length) > 0 and (.format | IN("time_series", "heatmap")))'
form "all variables that are used are there" '
	[.templating.list[].name] as $known | all([.. | strings | scan("\\$\\{?([a-z]+)") | .[0]] | unique[]; IN($known[]))'
form "each panel, and each variable that asks, asks the source that is chosen" '
	all(.panels[], (.templating.list[] | select(.type == "query")); .datasource == {type: "prometheus", uid: "${source}"}) and
	any(.templating.list[]; .type == "datasource" and .query == "prometheus" and .name == "source")'

# expression EXPR: as Grafana sends it, with nothing chosen
expression() { sed 's/\$__rate_interval/10s/g; s/\$instance/.*/g; s/\$function/.*/g' <<< "$1"; }
gives() {
	query "$1" > "$tmp/answer"
	jq -e '.status == "success" and (.data.result | length) > 0' "$tmp/answer"
}
asks() { # NAME EXPR: accepted, and something comes
	check "the dashboard's $1 gives values" retry gives "$(expression "$2")"
}
while IFS=$'\t' read -r title ref expr; do
	asks "\"$title\" $ref" "$expr"
done < <(jq -r '.panels[] | .title as $t | .targets[] | [$t, .refId, .expr] | @tsv' $board | sed 's/\\\\/\\/g')
query 'rate(kerninst_calls_total{' > "$tmp/answer"
check "what is no expression is refused" jq -e '.status == "error"' "$tmp/answer"

# label_values(SERIES, LABEL) is a request of its own.
labels() { # VARIABLE WANTED
	local series label
	IFS=$'\t' read -r series label < <(jq -r --arg v "$1" '.templating.list[] | select(.name == $v).query |
		capture("^label_values\\((?<s>.*), (?<l>[a-z]+)\\)$") | "\(.s)\t\(.l)"' $board)
	check "the dashboard's variable $1" is "$(curl -sS -m 60 -G --data-urlencode "match[]=$series" "http://127.0.0.1:$port/api/v1/label/$label/values" | jq -c .data)" "$2"
}
labels instance "[\"${url#http://}\"]"
labels function '["vfs_read"]'
daemon_stop
finish
