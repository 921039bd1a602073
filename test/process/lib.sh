# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Programs to be measured, and what the tool says of them.
# shellcheck source=test/lib.sh
. test/lib.sh
export LC_ALL=C NO_COLOR=1
bin=build/test/process
ki=${1:-build/release/bin/kerninst}
# Tests are shells of their own: what they have started is in a file.
trap 'xargs -r kill -9 < "$tmp/started" 2> /dev/null; rm -rf "$tmp"' EXIT
: > "$tmp/started"

# start FORM ARGUMENT...: $pid; it waits for its first line. Without randomized addresses.
start() {
	[ -z "${to-}" ] || stop
	rm -f "$tmp/to" "$tmp/from"
	mkfifo "$tmp/to" "$tmp/from"
	setarch -R "$bin/$1" "${@:2}" < "$tmp/to" > "$tmp/from" 2> "$tmp/its" &
	pid=$!
	echo "$pid" >> "$tmp/started"
	exec {to}> "$tmp/to" {from}< "$tmp/from"
	read -r -t 20 -u "$from" line && [ "$line" = ready ]
}

# Can code ask where its thread's memory is (FSGSBASE, AT_HWCAP2's bit 1)?
has_words() { (($(LD_SHOW_AUXV=1 /bin/true | sed -n 's/^AT_HWCAP2: *//p') & 2)); }

# check_words NAME COMMAND...: what needs words of threads; a machine may have none
check_words() {
	if has_words; then
		check "$@"
	else
		count=$((count + 1))
		echo "ok $count $1 # SKIP this machine has no FSGSBASE"
	fi
}

# It is not to end with us.
stop() {
	exec {to}>&- {from}<&-
	to=
	wait "$pid" 2> /dev/null
	sed -i "/^$pid\$/d" "$tmp/started"
}

library=$PWD/$bin/libturned.so # that programs map and unmap
# ask WORDS: what the program answers, in $tmp/answer; for other shells, too
ask() {
	echo "$*" >&"$to"
	read -r -t 60 -u "$from" answer && echo "$answer" > "$tmp/answer"
}
export -f ask
export tmp

# One round: what it prints.
round() {
	echo >&"$to"
	read -r -t 60 -u "$from" sum && echo "$sum"
}
export -f round

# stat POINT...: counts while one round goes; lines "POINT COUNT" in $tmp/counts, the program's word in
# $tmp/sum.
stat() {
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "$@" -- bash -c 'round > "$0"' "$tmp/sum" &&
		awk -F, 'NR > 1 { print $3, $1 }' "$tmp/csv" | sort > "$tmp/counts"
}

# of POINT: what was counted
of() { awk -v p="$1" '$1 == p { print $2 }' "$tmp/counts"; }

text() { "$bin/oracle" text "$pid"; }
