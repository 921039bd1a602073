#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of examples/proxy/run.sh: a caching proxy on a disk whose directories are written
# at once, as those of its model were. Prints where its time goes, what is changed, and what that
# brings.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=${here%/examples/proxy}
export PATH=$top/build/release/bin:$PATH
requests=${1-200}
export LC_ALL=C

fail() {
	echo "proxy: $*" >&2
	exit 1
}

# The command of all runs: an empty cache, and the same requests. again create|reuse
again() {
	rm -rf /tmp/disk/cache && mkdir /tmp/disk/cache && /tmp/proxy "$1" /tmp/disk/cache "$requests"
}
export -f again
export requests

prepare() {
	cp "$top/build/examples/proxy" /tmp/proxy && mkdir -p /tmp/disk &&
		modprobe loop && modprobe ext4 && truncate -s 64M /tmp/image &&
		mkfs.ext4 -q /tmp/image && mount -o loop,dirsync /tmp/image /tmp/disk
}

# What a change brings: of a request, in all and in some functions.
functions=(__x64_sys_openat ext4:ext4_create ext4:ext4_lookup __x64_sys_unlink __x64_sys_write __x64_sys_read)
one() { # create|reuse
	kerninst stat -q --json -o /tmp/json --comm proxy -m calls,walltime "${functions[@]}" -- bash -c "again $1" >/tmp/said || fail "kerninst stat failed"
	awk -v r="$requests" -v names="${functions[*]}" 'FNR == NR { hits = $2; sum = $3; us = $4; next }
		match($0, /"point":"[^"]*"/) { p = substr($0, RSTART + 9, RLENGTH - 10) }
		match($0, /"value":[^,}]*/) { v = substr($0, RSTART + 8, RLENGTH - 8) }
		/"metric":"walltime"/ { us_in[p] = v * 1e6 / r }
		END {
			n = split(names, f, " ")
			for (i = 1; i <= n; i++)
				printf "%s\t%.1f\n", f[i], us_in[f[i]]
			printf "a request\t%s\nhits\t%s\nanswers\t%s\n", us, hits, sum
		}' /tmp/said /tmp/json
}

prepare || fail "no disk can be had"
for way in create reuse; do
	again $way >/tmp/said || fail "the proxy does not run"
done
echo "A proxy that creates a file for each object, where its time goes:"
echo
"$here/walk.sh" proxy bash -c 'again create' || fail "the walk failed"
echo
echo "Before, and when it writes new objects into the files of old ones:"
echo
one create >/tmp/before
one reuse >/tmp/after
printf '%-22s %12s %12s\n' 'us of a request' 'create' 'reuse'
paste /tmp/before /tmp/after | awk -F'\t' '{ printf "%-22s %12s %12s\n", $1, $2, $4 }'
umount /tmp/disk
