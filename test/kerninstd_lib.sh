# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests of kerninstd share: a daemon, requests, clients. $kd is the program, $work a folder.

daemon=
# daemon_start ARGUMENT...: url, token; daemon is its process
daemon_start() {
	: > "$work/where"
	"$kd" --port 0 --spool "$work" "$@" > "$work/where" 2> "$work/complaints" &
	daemon=$!
	for _ in $(seq 1800); do
		[ ! -s "$work/where" ] || break
		kill -0 $daemon 2> /dev/null || break
		sleep 0.1
	done
	url=$(sed -n 's|/?token=.*||p' "$work/where")
	token=$(sed -n 's|.*?token=||p' "$work/where")
	[ "$url" ]
}

# daemon_stop: its exit status
daemon_stop() {
	kill -TERM $daemon
	wait $daemon
}

# get PATH [CURL ARGUMENT...], post PATH JSON: what is answered
get() {
	local path=$1
	shift
	curl -sS -m 120 -H "Authorization: Bearer $token" "$@" "$url$path"
}
post() { curl -sS -m 120 -H "Authorization: Bearer $token" -d "$2" "$url$1"; }

# status CURL ARGUMENT...: the number
status() { curl -sS -m 120 -o /dev/null -w '%{http_code}' "$@"; }

# stream NAME [QUERY]: a client, whose events go to $work/NAME; its process and number are pid_NAME
# and id_NAME
stream() {
	local name=$1
	: > "$work/$name"
	curl -sSN "$url/api/events?token=$token${2-}" > "$work/$name" 2> /dev/null &
	eval "pid_$name=$!"
	for _ in $(seq 1200); do
		[ -z "$(data hello "$name")" ] || break
		sleep 0.1
	done
	eval "id_$name=$(data hello "$name" | jq -r .client)"
}

# data EVENT NAME: the data of these events that have come in whole, a line each
data() {
	awk -v e="$1" '/^event: /{ now = $2 } /^data: / && now == e { is = 1; line = substr($0, 7) }
		/^$/ && is { print line; is = 0 }' "$work/$2"
}

# wait_for SECONDS COMMAND...: until it is true; false if it has not come true in time
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# came NAME N: so many samples; ended NAME: it has been said good-bye to
came() { [ "$(data sample "$1" | wc -l)" -ge "$2" ]; }
ended() { [ "$(data bye "$1")" ]; }

# had NAME: samples that the daemon has taken for this client by now, whatever of them has come
had() {
	local id="id_$1"
	get "/api/recording?client=${!id}" | grep -c '"event":"sample"'
}

# total NAME ID: of all samples of a curve, histograms too
total() { data sample "$1" | jq -s --arg id "$2" '[.[].values[$id] | select(. != null) | if type == "array" then add else . end] | add // 0'; }

# settled NAME: another two samples have come, one of which was begun after this was called. (A
# reader may have had no CPU: what comes to it now may have been taken before.)
settled() { wait_for 120 came "$1" $(($(had "$1") + 2)); }

# curves CLIENT CURVE...: added; the answer is in $work/answer. A curve is "METRIC POINT [CPU [PREDICATE]]"
curves() {
	local client=$1 list='' metric point cpu predicate
	shift
	for c in "$@"; do
		read -r metric point cpu predicate <<< "$c"
		[[ $cpu =~ ^[0-9]+$ ]] || cpu="\"${cpu:-all}\""
		list+=",$(jq -nc --arg m "$metric" --arg p "$point" --argjson c "$cpu" --arg w "$predicate" \
			'{metric: $m, point: $p, cpu: $c, predicate: $w}')"
	done
	post /api/curves "{\"client\":\"$client\",\"curves\":[${list#,}]}" > "$work/answer"
}

# answered FILTER: of the last curves
answered() { jq -r "$1" "$work/answer"; }
