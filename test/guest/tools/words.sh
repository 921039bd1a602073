#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each command of README, the manuals' EXAMPLES, doc/ and --help, run as it stands there, in a
# directory that has what the commands name (test/words/table says what else they need).
#
# usage: test/guest/tools/words.sh VMLINUX SYSTEM-MAP [PLACES]	globs of FILE:LINE
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
# shellcheck source=test/recording.sh
. "$top/test/recording.sh"
start
words=$top/test/words
dir=/tmp/words
image=$1 map=$2 places=${3:-*} # an ELF file of the kernel with symbols' map
PATH=$dir/bin:${ki%/*}:$PATH
export -f goes until_true

# What is not on each machine: sudo, where one is root already; programs that draw or show.
programs() {
	mkdir bin
	cp "$words"/bin/* bin
	printf 'all:\n\tcat /etc/services > copy\n' > Makefile
	printf '#!/bin/sh\ncat /etc/services > copy\n' | tee configure test > benchmark
	cp "$top/build/test/kcov_example" fuzzer
	gcc -g -o program "$words/squid.c" && cp program squid
	chmod +x bin/* configure test benchmark
}

# Modules of the reader's own: instruments; functions to replace and to be replaced with.
modules() {
	cp "$words/mine.c" "$top/examples/instrument/reads.c" "$top"/build/test/words/*.ko .
	kerninst load mymod.ko && modprobe ext4
}

# Those of this machine, which are read through and copied, may be any size.
directories() {
	mkdir share && cp /etc/*.conf share && mount --bind share /usr/share && mount --bind /usr/include/asm-generic /usr/include
}

files() {
	ln -s "$image" vmlinux
	ln -s "$map" System.map
	mkdir -p /etc/kerninst
	make_recording 20 session.kperfmon
	kerninst record -q -o run.rec vfs_read vfs_read:exit -- make || return
	kerninst cover -q -o old.json vfs_read -- make || return
	for file in new before after boot; do cp old.json "$file.json"; done
}

# Process 1234 is squid; a session has a number.
processes() {
	echo 1233 > /proc/sys/kernel/ns_last_pid
	./squid for ever &
	squid=$!
	kerninst stat -q vfs_write > /dev/null &
	session=$!
	python3 -m http.server 80 &> /dev/null &
	server=$!
	until_true 30 measures $session
	kerninst sessions --json | jq -r .session | head -n 1 > session
}

# Installed as DKMS would do it, and not loaded.
installed_driver() {
	mount -t tmpfs none "/lib/modules/$(uname -r)" && mkdir "/lib/modules/$(uname -r)/updates" &&
		cp "$top/build/kmod/$(uname -r)/kerninst.ko" "/lib/modules/$(uname -r)/updates" && depmod 2> /dev/null && goes kerninst
}

# phase NAME < COMMANDS: the lines of run.py become ours
phase() {
	while read -r line; do
		case $line in
		"ok "*) ok "${line#ok }" true ;;
		"not ok "*) ok "${line#not ok }" false ;;
		*) echo "$line" ;;
		esac
	done < <(python3 "$words/run.py" "$words/table" rows "$1" "$places")
}

mkdir $dir && cd $dir || exit
for part in programs modules directories files; do
	ok "there is what the commands name: $part" $part
done
processes > /dev/null 2>&1
ok "there is process 1234 ($squid), and a session ($(cat session))" test "$squid" = 1234 -a -s session
"$words/rows.sh" > rows
"$words/documents.sh" > commands
number=$(tr -cd '\0' < commands | wc -c)
ok "there are commands ($((number / 2)))" test "$number" -ge 300
phase main < commands
kill "$squid" "$server" "$session"
wait "$session" # its counters are out then
rmmod mine reads mymod 2> /dev/null
ok "the text is what it was" text_is_back
ok "the driver is where modprobe finds it" installed_driver
phase last < commands
modprobe kerninst
finish
