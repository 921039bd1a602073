# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A program that is told what to do by lines: its input is the descriptor $to, its output $from.

# run COMMAND...: $pid; it has said that it is ready
run() {
	rm -f /tmp/to /tmp/from
	mkfifo /tmp/to /tmp/from
	"$@" < /tmp/to > /tmp/from 2> /tmp/its &
	pid=$!
	exec {to}> /tmp/to {from}< /tmp/from
	read -r -t 60 -u "$from" line && [ "$line" = ready ]
}
end() {
	exec {to}>&- {from}<&-
	wait "$pid" 2> /dev/null
}
# ask WORDS: what the program answers, in /tmp/answer; for other shells, too
ask() {
	echo "$*" >&"$to"
	read -r -t 200 -u "$from" answer && echo "$answer" > /tmp/answer
}
export -f ask
