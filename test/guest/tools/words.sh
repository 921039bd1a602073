#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each command of README, the manuals' EXAMPLES and doc/, run as it stands there, in a directory
# that has what the commands name. One that goes on until Ctrl-C gets it after a few seconds.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
# shellcheck source=test/recording.sh
. "$top/test/recording.sh"
start
PATH=${ki%/*}:$PATH
dir=/tmp/words
image=$1 map=$2 # an ELF file of the kernel with symbols' map

# What the commands name: a project, an instrument, a program that fuzzes, recordings, an image.
furnish() {
	mkdir $dir && cd $dir || return
	printf 'all:\n\tcat /etc/services > copy\n' > Makefile
	printf '#!/bin/sh\ncat /etc/services > copy\n' > configure
	chmod +x configure
	cp "$top/build/test/kcov_example" fuzzer
	cat > mine.c <<-'C'
		#include <kerninst/instrument.h>
		#include <linux/fs.h>
		KI_INSTRUMENT(mine, "the file's position", (struct file *file))
		{
			return file->f_pos;
		}
		KI_INSTRUMENT_MODULE("positions of reads");
	C
	ln -s "$image" vmlinux
	ln -s "$map" System.map
	mkdir -p /etc/kerninst
	make_recording 20 session.kperfmon
	kerninst cover -o old.json vfs_read -- make > /dev/null && cp old.json new.json
	modprobe ext4
	sleep 1000 &
	victim=$!
	python3 -m http.server 80 &> /dev/null &
	server=$!
}

# Not to be run as they stand, and why.
cannot() {
	case $1 in
	*1234/squid*) echo "a program for the reader's own" ;;
	*"mod:old=mod:new"*) echo "mod, old and new stand for the reader's own" ;;
	*) return 1 ;;
	esac
}

# How many seconds it may take: none of those without an end has a command of its own.
patience() {
	case $1 in
	*" -- "* | *" -c "* | *--dry-run* | *" --for "* | *" -b "*) echo 120 ;;
	*"kerninst stat "* | *"kerninst record "* | *"kerninst top "* | kdtrace* | kerninstd*) echo 5 ;;
	*) echo 120 ;;
	esac
}

# run COMMAND: as at a prompt; interrupted when it goes on for long; its status
run() {
	local command=${1#vm/run -- } status
	[[ $command != *"kerninst top "* || $command == *" -b "* ]] ||
		command="script -qec '${command//\'/\'\\\'\'}' /dev/null"
	command=${command//--pid 1234/--pid $victim}
	command=${command//1234\//$victim/}
	timeout --preserve-status -s INT -k 60 "$(patience "$command")" bash -c "$command" < /dev/null > /tmp/said 2>&1
	status=$?
	pkill -TERM -x kerninst # of a command with &
	return "$status"
}

works() {
	local status
	run "$1"
	status=$?
	[ "$status" = 0 ] && ! grep -E 'Too many open files|command not found' /tmp/said && return
	echo "status $status"
	tail -n 15 /tmp/said
	return 1
}

furnish
n=0
while IFS= read -r -d '' place && IFS= read -r -d '' command; do
	n=$((n + 1))
	if why=$(cannot "$command"); then
		skip "$place: $command" "$why"
	else
		ok "$place: ${command//$'\n'/ }" works "$command"
	fi
done < <(cd "$top" && test/words/commands.py README.md doc/*.md man/*.[58])
ok "there are commands ($n)" test "$n" -ge 50
kill "$victim" "$server"
rmmod mine
finish
