#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/fuzz/run.sh [SECONDS]: run every libFuzzer target of build/fuzz/bin (make test-fuzz-host)
# from its corpus, with a fixed seed. What it finds new is kept in build/fuzz/corpus, an input
# that fails in build/fuzz/NAME-*. Then build/tsan/threads: no data race in building a program.
#
# How test/fuzz/corpus was made: test/fuzz/run.sh 900, then test/fuzz/run.sh --merge.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${1-20}
n=0 failed=0

# The corpus anew: what was written by hand, and few small inputs that reach what all do.
if [ "${1-}" = --merge ]; then
	for bin in build/fuzz/bin/*; do
		name=$(basename "$bin")
		new=$(mktemp -d)
		find "test/fuzz/corpus/$name" -type f ! -regex '.*/[0-9a-f]*' -exec cp {} "$new" \;
		"$bin" -set_cover_merge=1 -max_len=65536 -timeout=5 -rss_limit_mb=1024 "$new" \
			"test/fuzz/corpus/$name" "build/fuzz/corpus/$name"
		rm -rf "test/fuzz/corpus/$name" && mv "$new" "test/fuzz/corpus/$name"
		chmod 755 "test/fuzz/corpus/$name"
	done
	exit
fi
fuzz() { # SEED
	"$bin" -max_total_time="$seconds" -seed="$1" -max_len=65536 -timeout=5 -rss_limit_mb=1024 \
		-print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" \
		"test/fuzz/corpus/$name" > "build/fuzz/$name.log" 2>&1
}
# Five seconds by the clock: on a machine that stood still it is none of the input's.
stood_still() {
	local input
	input=$(sed -n 's/.*Test unit written to \(.*-timeout-[0-9a-f]*\)$/\1/p' "build/fuzz/$name.log")
	[ -f "$input" ] && "$bin" -timeout=5 -rss_limit_mb=1024 "$input" > "build/fuzz/$name.again" 2>&1 &&
		echo "# $name: $input took no 5 s when it was tried again" && rm "$input"
}
for bin in build/fuzz/bin/*; do
	[ -x "$bin" ] || continue
	name=$(basename "$bin")
	n=$((n + 1))
	mkdir -p "build/fuzz/corpus/$name"
	if fuzz 1 || { stood_still && fuzz 2; } || { stood_still && fuzz 3; }; then
		echo "ok $n fuzz $name: $(sed -n 's/.*number_of_executed_units: *//p' "build/fuzz/$name.log") inputs in $seconds s"
	else
		failed=1
		echo "not ok $n fuzz $name"
		tail -n 40 "build/fuzz/$name.log" | sed 's/^/# /'
	fi
done
n=$((n + 1))
image=$(vm/kernel 6.1 modules)/kernel/fs/xfs/xfs.ko
if TSAN_OPTIONS=history_size=7 build/tsan/threads "$image" > build/fuzz/threads.log 2>&1; then
	echo "ok $n four threads build a program"
else
	failed=1
	echo "not ok $n four threads build a program"
	tail -n 40 build/fuzz/threads.log | sed 's/^/# /'
fi
if [ $n = 1 ]; then
	echo "not ok 1 no fuzz target is built: make test-fuzz-host"
	failed=1
fi
echo "1..$n"
exit $failed
