#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the guest, with -icount: what it takes kerninstd to sample 1,000 metrics ten times a second.
# Prints lines "# NAME NUMBER".
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=test/kerninstd_lib.sh
. "$top/test/kerninstd_lib.sh"
# shellcheck disable=SC2034 # daemon_start's
kd=$top/build/release/bin/kerninstd
work=$(mktemp -d /tmp/sampling.XXXXXX)
metrics=1000
seconds=10

# spent: ns that the daemon's threads have run: instructions, here
spent() { cat /proc/"$daemon"/task/*/schedstat | awk '{ n += $1 } END { printf "%d\n", n }'; }
now() { date +%s%N; }
# during NAME: instructions of the daemon in a second
during() {
	local from at
	sleep 1
	from=$(spent)
	at=$(now)
	sleep $seconds
	echo "# $1 $((($(spent) - from) * 1000000000 / ($(now) - at)))"
}

daemon_start --socket none --interval 100 || { cat "$work/complaints" >&2; exit 1; }
stream s
during idle
get /api/functions | jq -r '.modules[0].names[]' | grep -E '^(acpi|pci|usb|drm|serial|tty|ata|scsi)_[a-z_]*$' | sort -u |
	head -n $((metrics + 300)) > "$work/names"
jq -Rnc --arg c "${id_s:?}" '{client: $c, curves: [inputs | {metric: "calls", point: .}]}' < "$work/names" > "$work/body"
post /api/curves "@$work/body" > "$work/answer"
# Some functions are refused: what is over a thousand goes again.
jq -c --arg c "$id_s" --argjson n $metrics '{client: $c, ids: [.curves[] | select(.id).id][$n:]}' "$work/answer" > "$work/over"
post /api/curves/remove "@$work/over" > /dev/null
sleep 2
echo "# metrics $(data sample s | tail -n 1 | jq '.values | length')"
before=$(data sample s | wc -l)
during sampling
echo "# samples $(($(data sample s | wc -l) - before))"
daemon_stop
rm -rf "$work"
