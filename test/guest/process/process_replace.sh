#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst replace PID/WHAT=FUNCTION by the driver: what the functions return meanwhile, in all
# threads and in what is forked, a function of one byte among them; that the text is as it was however
# it ends; what is refused; a library that goes while its function stands for another.
# promise: K18 (in part): By the driver a process's functions are replaced while no thread is stopped.
# shellcheck disable=SC2016,SC2317 # for other shells; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start

# What one, by two calls of one caller, two, a jump and a pointer, returns; is getppid getpid?
usual="1 2 1 1 0 wrong 0"
round() {
	echo >&"$to"
	read -r -t 120 -u "$from" sum && echo "$sum"
}
export -f round
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
same() { [ "$(text)" = "$before" ]; }
guards() { pgrep -c kerninst-guard; }
begin() { # FORM
	run "$bin/$1" 2 300
	before=$(text)
	is "$1: as it is" "$(round)" "$usual"
}
# replaced RESULTS WHAT...: so it is while a command runs
replaced() {
	local results=$1
	shift
	env to="$to" from="$from" ki="$ki" "$ki" replace -q "${@/#/$pid/}" -- \
		bash -c 'round; ps -e -o comm= | grep -c kerninst-guard; true' > /tmp/sum 2> /tmp/words
	is "$form: $*" "$? $(paste -sd ' ' /tmp/sum)" "0 $results 0"
	sed 's/^/# /' /tmp/words
	ok "$form: the text is as it was" same
	is "$form: and what they return" "$(round)" "$usual"
}

for form in replaced replaced-static; do
	begin $form
	replaced "2 4 2 2 0 wrong 0" one=two
	replaced "1 4 1 1 0 wrong 0" "second->one=two"
	replaced "2 2 3 1 0 wrong 0" "first->one=two" "tail->one=three"
	replaced "3 6 3 3 0 wrong 0" one=two two=three
	replaced "3 4 2 2 0 wrong 0" one=two "first->one=three"
	replaced "2 4 2 2 0 wrong 0" one=two brief=brief_too
	end
done

form=replaced
begin $form
replaced "1 2 1 1 1 wrong 0" libc.so.6:getppid=libc.so.6:getpid
replaced "1 2 1 1 1 wrong 0" libc.so.6:getppid=replaced:same

# ---- however it ends ----
in_place() { # WHAT...: its tool is $tool
	(
		exec {to}>&- {from}<&- # else the program would never see their end
		exec "$ki" replace -q "${@/#/$pid/}" > /tmp/out 2> /tmp/words
	) &
	tool=$!
	ok "another tool replaces $*" until_true 60 eval '! same'
	is "by the driver" "$(guards)" 0
}
in_place one=two
is "so it is" "$(round)" "2 4 2 2 0 wrong 0"
refused() { # one line, and the first goes on
	"$ki" "$@" > /tmp/out 2> /tmp/words2
	echo "$? $(wc -l < /tmp/words2)"
}
is "another counter there is refused" "$(refused stat -q "$pid/one" -- true)" "1 1"
is "another replacement, too" "$(refused replace -q "$pid/one=three" -- true)" "1 1"
is "a counter of what stands for it is not" \
	"$(to=$to from=$from "$ki" stat -q -x, -o /tmp/csv "$pid/replaced:two" -- bash -c 'round > /dev/null' 2>&1; awk -F, 'NR == 2 { print ($1 >= 2 * 300 * 5) }' /tmp/csv)" 1
kill -9 "$tool"
wait "$tool" 2> /dev/null
ok "kill -9 gives the text back" until_true 10 same
is "and what they return" "$(round)" "$usual"
in_place one=two libc.so.6:getppid=same
is "in two files" "$(round)" "2 4 2 2 1 wrong 0"
kill -INT "$tool"
wait "$tool"
is "Ctrl-C" "$? $(round)" "0 $usual"
ok "gives the text back" same
in_place one=two
ok "it is evicted" "$ki" evict --all
ok "and the text is back" until_true 10 same
is "and what they return" "$(round)" "$usual"
kill -INT "$tool"
wait "$tool" 2> /dev/null
in_place one=two
kill -9 "$pid"
wait "$tool"
is "who replaces in a process that is killed ends" "$? $(grep -c "process $pid has ended" /tmp/words)" "0 1"
end

# ---- the library that holds it is unmapped ----
mkdir /tmp/lib
cp "$bin/libturned.so" /tmp/lib/
run "$bin/churn" /tmp/lib/libturned.so
ok "a library is mapped" ask keep 1
before=$(text)
in_place libc.so.6:getppid=libturned.so:turn
ok "it is unmapped" ask close 1
wait "$tool"
is "that is said, and all taken out" "$? $(grep -c 'libturned.so has been unmapped' /tmp/words)" "1 1"
sed 's/^/# /' /tmp/words
soon "nothing is left" 1 field sessions
ok "the program goes on" ask keep 1
end
finish
