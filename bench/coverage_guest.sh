#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's part of bench/coverage.sh: lines "HOW LOOP INSTRUCTIONS", and "totals HOW ...".
set -u
cd "$(dirname "$0")/.." || exit 1
ki=build/release/bin/kerninst
ip link set lo up
work=$(mktemp -d)

cat > "$work/load" <<-END
	#!/bin/bash
	# shellcheck disable=all
	cd "$PWD"
	build/test/loops
	build/test/cputime gcc -O1 -Iinclude -Ilib -D_GNU_SOURCE -c -o $work/x.o lib/util/vec.c
END
chmod +x "$work/load"

measure() { # HOW OPTION...
	local how=$1
	shift
	"$ki" cover -q --all -o "$work/json" "$@" > /dev/null || exit 1
	sed "s/^/$how /" "$work/out"
	python3 -c '
import json, sys
t = json.loads(open(sys.argv[1]).readline().rsplit("\"functions\":", 1)[0].rstrip(", ") + "}")["totals"]
print("totals", sys.argv[2], "%d probes, %.0f s to install, %.0f s to remove" % (t["probes"], t["seconds_install"], t["seconds_remove"]))' "$work/json" "$how"
}

"$work/load" > "$work/out" || exit 1 # for the caches
"$work/load" | sed 's/^/none /'
measure hit -- sh -c "$work/load > $work/out"
measure every --every -- sh -c "$work/load > $work/out"
measure removed --once -- sh -c "$work/load > $work/out; sleep 10; $work/load > $work/out; sleep 10; $work/load > $work/out"
