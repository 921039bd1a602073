#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: boot a stock Debian kernel in a virtual machine, load it, and look into it.
#
# usage: examples/demo.sh [OPTION of vm/run...]
#
# FUNC names the function whose blocks are shown (default: tcp_v4_rcv). KEEP=1: the machine whose
# page is shown at the end stays until Ctrl-C; PORT: where (default: 7072).
set -u
cd "$(dirname "$0")/.." || exit 1
export FUNC=${FUNC:-tcp_v4_rcv} KI_VM_QUIET=1
kernel=6.1
for ((i = 1; i < $#; i++)); do
	[ "${!i}" = --kernel ] && { n=$((i + 1)); kernel=${!n}; }
done

echo "demo: booting Debian's kernel $(vm/kernel "$kernel" release) ($(vm/kernel "$kernel" version), unmodified) in a virtual machine" >&2
vm/run --timeout 240 "$@" -- env FUNC="$FUNC" examples/demo-guest.sh || exit
echo "demo: a second machine, which counts instructions, measures what a hit costs" >&2
vm/run --kernel "$kernel" --icount --timeout 120 -- examples/demo-cost.sh || exit

# ---- the page ----
port=${PORT:-7072}
log=$(mktemp)
trap 'kill "$machine" 2> /dev/null; wait "$machine" 2> /dev/null; rm -f "$log"' EXIT
echo "demo: a third machine serves the page" >&2
vm/run --kernel "$kernel" --forward "$port:$port" --timeout $((${KEEP:-0} ? 86400 : 120)) -- env PORT="$port" examples/demo-page.sh > "$log" 2>&1 &
machine=$!
until url=$(grep -o 'http://127[^ ]*' "$log"); do
	kill -0 "$machine" 2> /dev/null || { cat "$log" >&2; exit 1; }
	sleep 0.2
done
functions=$(curl -fsS -H "Authorization: Bearer ${url##*=}" "${url%%\?*}api/functions" | grep -o '0x' | wc -l)
[ "$functions" -gt 1000 ] || { echo "demo: the page does not answer" >&2; exit 1; }
printf '\n=== The kernel, live, in a browser\n\n%s\n' "$url"
echo "($functions functions to choose from)"
if [ "${KEEP:-0}" != 0 ]; then
	echo "It is there until Ctrl-C."
	wait "$machine"
else
	echo "It goes now; make demo KEEP=1 keeps it up."
fi
