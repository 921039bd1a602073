#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver that nobody uses takes little memory, and what was taken in use is given back: pages of the
# heap, of its rows and of variables by its own count, and all by the kernel's list of areas.
# shellcheck disable=SC2016,SC2317 # for eval; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
start
params=/sys/module/kerninst/parameters
pages() { cat $params/pages_taken; }
# What the module was loaded with, and each area that has pages; in KiB.
taken() {
	awk '$1 == "kerninst" { n += $2 / 1024 } END { print int(n) }' /proc/modules
	awk '/\[kerninst\]/ { for (i = 4; i <= NF; i++) if ($i ~ /^pages=/) n += substr($i, 7) * 4 } END { print n + 0 }' /proc/vmallocinfo
}
all() { taken | awk '{ n += $1 } END { print n + '"$(pages)"' * 4 }'; }
is_small() { [ "$(all)" -le 1024 ]; }

ok "idle: 1 MiB at most" until_true 20 is_small
echo "# $(all) KiB"
used() { "$ki" stat -q -m blocks 'vfs_*' -- cat "$params/pages_taken" > /tmp/used 2> /tmp/words; }
ok "in use" used
ok "it takes pages: $(head -n1 /tmp/used)" test "$(head -n1 /tmp/used)" -gt 256
ok "and gives them back" until_true 30 eval '[ $(pages) = 0 ]'
ok "all of them" until_true 20 is_small

# ---- the heap has an end ----
echo 1048576 > $params/heap
"$ki" cover -o /tmp/all '[a-d]*' -- true > /dev/null 2> /tmp/words
is "a heap of 1 MiB: one line says what found no room" "$? $(grep -c 'room for' /tmp/words)" "0 1"
sed 's/^/# /' /tmp/words | grep room
soon "nothing is left" "0 0" eval 'echo $(field windows) $(field heap_used)'
echo 67108864 > $params/heap

# ---- whose memory it is ----
group=/sys/fs/cgroup/ki_idle
mount -t cgroup2 none /sys/fs/cgroup 2> /dev/null
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir -p $group
soon "no page before" 0 pages
cat > /tmp/look <<-END
	cat $params/pages_taken
	awk '\$1 == "kernel" { print \$2 }' $group/memory.stat
END
in_group() { bash -c 'echo $$ > "$0"; exec "$@"' "$group/cgroup.procs" "$ki" stat -q -m blocks 'vfs_*' -- sh /tmp/look > /tmp/used 2> /tmp/words; }
ok "in a control group" in_group
ok "its pages are that group's: $(tr '\n' ' ' < /tmp/used)" awk 'NR == 1 { n = $1 * 4096 } NR == 2 { exit !(n > 1000000 && $1 >= n) }' /tmp/used
soon "nothing is left at the end" "0 0" eval 'echo $(field windows) $(field heap_used)'
ok "and no page" until_true 30 eval '[ $(pages) = 0 ]'
finish
