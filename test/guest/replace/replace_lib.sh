# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests of replacements: the test module is loaded; sessions that replace begin and end.
. "$(dirname "${BASH_SOURCE[0]}")/../common/lib.sh"
ok "the test module loads" insmod "$top/build/replace/$(uname -r)/ki_replace.ko"
start
results() {
	cat /proc/ki_replace
}

# shellcheck disable=SC2317 # called through ok
wait_for() { # RESULTS
	for _ in $(seq 1200); do
		[ "$(results)" = "$1" ] && return
		sleep 0.1
	done
	echo "the results are $(results), not $1"
	return 1
}

pids=()
begin() { # NAME WHAT=WHAT RESULTS: in a session of its own
	"$ki" replace -q "$2" < /dev/null > /dev/null 2> /tmp/replace_err &
	pids[$1]=$!
	until_true 120 measures "${pids[$1]}" || ok "session $1 is in" false
	ok "$2" wait_for "$3"
}

end() { # NAME RESULTS
	kill -INT "${pids[$1]}"
	wait "${pids[$1]}"
	is "session $1 is taken out" "$(results)" "$2"
}

replaced_while() { # ARGUMENT... -- : the results while these are replaced
	"$ki" replace -q "$@" cat /proc/ki_replace 2>&1
}

# shellcheck disable=SC2317 # called through ok
refuses() { # STATUS PATTERN ARGUMENT...
	local want=$1 pattern=$2 out status
	shift 2
	out=$("$ki" replace "$@" -- true 2>&1)
	status=$?
	echo "$status: $out"
	[ "$status" = "$want" ] && grep -qiE "$pattern" <<< "$out"
}
