#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/mariadb.sh
# A database at work: 10,000 of its functions are counted, analysis included, in a second and 300 MB. It answers
# meanwhile, and its text is as it was. mariadbd and mariadb are looked for in PATH, then below $KI_PROGRAMS, where
# their packages are unpacked (mariadb-server-core, mariadb-client-core, libmariadb3, libaio1, libnuma1, liburing2).
# promise: 10,000 functions of mariadbd are counted within a second of CPU time and 300 MB.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh
root=${KI_PROGRAMS:-/nonexistent}/usr
libraries=$root/lib/x86_64-linux-gnu
server=$(command -v mariadbd || echo "$root/sbin/mariadbd") client=$(command -v mariadb || echo "$root/bin/mariadb")
if [ ! -x "$server" ] || [ ! -x "$client" ]; then
	echo "ok 1 a database # SKIP no mariadbd and mariadb here"
	echo 1..1
	exit
fi

own() { LD_LIBRARY_PATH=$libraries "$@"; }
messages=/usr/share/mysql
[ -d $messages ] || messages=$root/share/mysql
options=(--no-defaults --datadir="$tmp/data" --lc-messages-dir="$messages" --user="$(id -un)" --innodb-use-native-aio=0)
sql() { own "$client" -S "$tmp/socket" -D "${2-t}" -N -e "$1"; }
begin_server() {
	mkdir "$tmp/data"
	echo 'create database t;' | own "$server" "${options[@]}" --bootstrap > "$tmp/log" 2>&1 || { tail -n 5 "$tmp/log"; return 1; }
	LD_LIBRARY_PATH=$libraries "$server" "${options[@]}" --skip-grant-tables --skip-networking --socket="$tmp/socket" > "$tmp/log" 2>&1 &
	echo $! >> "$tmp/started"
	local i
	for ((i = 0; i < 300; i++)); do
		sql 'select 1' > "$tmp/its" 2>&1 && break
		sleep 0.1
	done
	sql 'create table t.a (i int primary key, s varchar(50)); insert into t.a select seq, md5(seq) from seq_1_to_5000'
}
check "a database" begin_server
pid=$(tail -n 1 "$tmp/started")
program=$(basename "$(readlink "/proc/$pid/exe")")

# Work that goes on: what it says each time is the same.
work() { while sql 'select count(*), sum(length(s)), sum(s like "%ab%") from t.a' >> "$tmp/answers"; do :; done; }
many() {
	local functions before
	before=$(text)
	"$ki" list "$pid/$program:*" 2> "$tmp/said" | awk 'NR > 1 && $NF == "yes" { print $2 }' | shuf -n 10400 --random-source="$ki" |
		sed "s,^,$pid/$program:," > "$tmp/points"
	mapfile -t points < "$tmp/points"
	functions=${#points[@]}
	work &
	local worker=$!
	/usr/bin/time -f '%U %S %e %M' -o "$tmp/time" "$ki" stat -x, -o "$tmp/csv" --for 0.5 "${points[@]}" 2> "$tmp/said" || { tail -n 5 "$tmp/said"; return 1; }
	kill $worker
	grep held "$tmp/said"
	echo "$functions functions; $(cat "$tmp/time"): seconds of its own, of the kernel's, in all (0.5 of them counting), KB"
	[ "$(awk -F, 'NR > 1 && $1 != "" { n++ } END { print n }' "$tmp/csv")" -ge 10000 ] &&
		[ "$(awk -F, 'NR > 1 { n += $1 } END { print (n > 1000) }' "$tmp/csv")" = 1 ] || return
	awk 'END { exit !($1 + $2 < 1 && $4 < 300000) }' "$tmp/time" && is "$(sort -u "$tmp/answers" | wc -l)" 1 && is "$(text)" "$before"
}
check "10,000 of its functions while it works: in a second, and 300 MB" many
finish
