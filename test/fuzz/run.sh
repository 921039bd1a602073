#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/fuzz/run.sh [SECONDS]: run every libFuzzer target of build/fuzz/bin (make test-fuzz-host)
# from its corpus, with a fixed seed. What it finds new is kept in build/fuzz/corpus, an input
# that fails in build/fuzz/NAME-*.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${1-30}
n=0 failed=0
for bin in build/fuzz/bin/*; do
	[ -x "$bin" ] || continue
	name=$(basename "$bin")
	n=$((n + 1))
	mkdir -p "build/fuzz/corpus/$name"
	if "$bin" -max_total_time="$seconds" -seed=1 -max_len=65536 -timeout=20 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" \
		"test/fuzz/corpus/$name" > "build/fuzz/$name.log" 2>&1; then
		echo "ok $n fuzz $name: $(sed -n 's/.*number_of_executed_units: *//p' "build/fuzz/$name.log") inputs in $seconds s"
	else
		failed=1
		echo "not ok $n fuzz $name"
		tail -n 40 "build/fuzz/$name.log" | sed 's/^/# /'
	fi
done
if [ $n = 0 ]; then
	echo "not ok 1 no fuzz target is built: make test-fuzz-host"
	failed=1
fi
echo "1..$n"
exit $failed
