#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tables: every change that is asked for is done or lost, and counted once: by threads on all CPUs,
# in interrupts, in tables that are full, in shared ones; tables go with their sessions, their
# memory too; hostile requests.
#
# usage: test/guest/tables/tables.sh [cost]: what a change costs; needs -icount
# promise: D6, D7 (in part): Tables stay right when all CPUs and interrupts change them, and when
#   they are full. [test_table.c, test_table_shared.c]
set -- "${1-}"
. "$(dirname "$0")/../common/lib.sh"
start
count=13
[ "$1" != cost ] || count=3
cases "" $count "$top/build/test/tables" "$@"

# kerninst stat --by, beside what dd says that it has done
by() { "$ki" stat -q "$@"; }
# shellcheck disable=SC2317 # bash -c calls it
dds() { # COUNTS...: so many blocks of 512, 1024 ... bytes
	local bs=512
	for n; do
		dd if=/dev/zero of=/dev/null bs="$bs" count="$n" 2> /dev/null
		bs=$((bs * 2))
	done
}
export -f dds
rows() { grep -E '^(300|70|11),' /tmp/by.csv | cut -d, -f1,4- | tr '\n' ' '; }
counts() { # what is known of the calls
	by -x, --by 'comm,size:arg2' --if 'comm == "dd" && arg2 >= 512 && arg2 <= 2048' vfs_write -- bash -c 'dds 300 70 11' > /tmp/by.csv
	is "stat --by: counts by name and size" "$(rows)" "300,dd,512 70,dd,1024 11,dd,2048 "
	by --json --by tid --hist 'arg2:0:4096:512' --if 'comm == "dd" && arg2 >= 512 && arg2 <= 2048' vfs_write -- bash -c 'dds 300 70 11' > /tmp/by.json
	is "stat --hist: sums" "$(sed -n 's/.*"count":\([0-9]*\),"sum":\([0-9]*\),.*/\1 \2/p' /tmp/by.json | tr '\n' ' ')" "300 153600 70 71680 11 22528 "
	is "stat --hist: buckets" "$(grep -o '"range":"[^"]*","count":[0-9]*' /tmp/by.json | tr '\n' ' ')" \
		'"range":"512 - 1023","count":300 "range":"1024 - 1535","count":70 "range":"2048 - 2559","count":11 '
	is "stat --by: nothing is lost" "$(grep -o '"lost":[0-9]*' /tmp/by.json)" '"lost":0'
	by --json --rows 1 --by tid --if 'comm == "dd" && arg2 == 512' vfs_write -- taskset 1 bash -c 'dds 300; dds 70' > /tmp/by.json 2> /tmp/by.err
	is "stat --by: what is lost is said" "$(grep -o '"lost":[0-9]*' /tmp/by.json) $(grep -c '70 changes were lost' /tmp/by.err)" '"lost":70 1'
	by -x, --by size:arg2 --hist arg2:0:4096:512 --if 'comm == "dd" && arg2 >= 512 && arg2 <= 2048' vfs_write -- bash -c 'dds 300 70 11' > /tmp/by.csv
	is "stat --hist: as values" "$(sed 1d /tmp/by.csv | cut -d, -f1,3,8- | tr '\n' ' ')" \
		"300,153600,vfs_write,512,512 - 1023,300 70,71680,vfs_write,1024,1024 - 1535,70 11,22528,vfs_write,2048,2048 - 2559,11 "
	by --json --hist 'arg2 > 600 ? 1 : 0' --if 'comm == "dd" && arg2 >= 512 && arg2 <= 2048' vfs_write -- bash -c 'dds 300 70 11' > /tmp/by.json
	is "stat --hist: of a conditional expression" "$(grep -o '"range":"[^"]*","count":[0-9]*' /tmp/by.json | tr '\n' ' ')" '"range":"0 - 0","count":300 "range":"1 - 1","count":81 '
	by --json --by stack --hist '(1 << 53) + (arg2 == 512)' --if 'comm == "dd" && arg2 == 512' vfs_write -- bash -c 'dds 1' > /tmp/by.json
	is "stat --hist: large numbers" "$(grep -o '"\(sum\|min\|max\)":[^,]*' /tmp/by.json | sort -u -t: -k2 | xargs)" 'sum:9007199254740993'
	is "stat --hist: by stacks" "$(grep -c '"stack":"vfs_write.*"count":1,"sum".*"histogram":.{"range":"9007199254740992 - 18014398509481983","count":1}' /tmp/by.json)" 1
	# shellcheck disable=SC2016 # $rsp is no variable of the shell
	by --by 'from/code:*(u64 *)$rsp,len/bytes:arg2,less:(i32)(arg2 - 600),t/ns:arg2 * 1000' --if 'comm == "dd" && arg2 == 512' vfs_write -- bash -c 'dds 3' > /tmp/by.txt
	ok "stat --by: shown as records are" grep -qE '^ +3 .* ksys_write[+]0x[0-9a-f]+ +512 bytes +-88 +512[.]00 us$' /tmp/by.txt
	by --by 'comm,buf:ustr(arg1,24)' --if 'arg2 == 23' vfs_write -- bash -c 'printf "a\033[31mb" > /proc/$$/comm; printf "\033[2J%018d\n" 7 > /dev/null' > /tmp/by.txt
	is "stat --by: what others have written does nothing to the terminal" "$(LC_ALL=C grep -c '[^ -~]' /tmp/by.txt) $(grep -c 'a?.31mb  *?.2J0*7?$' /tmp/by.txt)" "0 1"
	by -n 1 --by size:arg2 --hist arg2 --if 'comm == "dd" && arg2 >= 512 && arg2 <= 2048' vfs_write -- bash -c 'dds 300 70' > /tmp/by.txt
	ok "stat --by: the first rows, as text" grep -q 'and 1 rows more' /tmp/by.txt
	ok "stat --hist: drawn" grep -qE '512 - 1023 +300 #{40}' /tmp/by.txt
	by -n 0 -x, --by 'name:ustr(arg1,40)' --if 'comm == "bash"' do_sys_openat2 -- bash -c 'for i in 1 2 3 4 5 6 7; do : < /etc/hostname; done; : < /etc/passwd' > /tmp/by.csv
	is "stat --by: names of files" "$(grep -E 'hostname|passwd' /tmp/by.csv | cut -d, -f1,4 | tr '\n' ' ')" "7,/etc/hostname 1,/etc/passwd "
	by -x, --by stack --if 'comm == "dd" && arg2 == 512' vfs_write -- bash -c 'dds 300' > /tmp/by.csv
	ok "stat --by: stacks" grep -qE '^300,[^,]*,vfs_write,vfs_write([+]0x5)?;ksys_write[+]0x[0-9a-f]+;.*;entry_SYSCALL_64_after_hwframe[+]0x[0-9a-f]+$' /tmp/by.csv
	is "stat --by: one stack" "$(grep -c '^[0-9]' /tmp/by.csv)" 1
}
[ "$1" = cost ] || counts
finish
