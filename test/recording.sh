# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A recording of kerninstd with known numbers: two curves, then so many samples, a tenth of a second
# each.
make_recording() { # SAMPLES FILE
	jq -nc --argjson n "$1" '
	{"kerninst-session": 1, info: {version: "0", kernel: "6.1-test", cpus: [0, 1], driver: "interface 5", interval_ms: 100, pid: 1, read_only: false, replay: null},
	 metrics: [{name: "calls", unit: "", form: "total", text: "how often", code: "+1", functions_only: true},
		   {name: "latency", unit: "s", form: "histogram", text: "how long", code: "log2", functions_only: true}]},
	{t: 0, event: "curves", data: {curves: [
		{id: 7, metric: "calls", point: "vfs_read", function: "vfs_read", unit: "", form: "total", cpu: "all", predicate: ""},
		{id: 8, metric: "calls", point: "vfs_read", function: "vfs_read", unit: "", form: "total", cpu: 1, predicate: ""},
		{id: 9, metric: "latency", point: "fuse:fuse_read", function: "fuse_read", unit: "s", form: "histogram", cpu: "all", predicate: "pid == 1"}]}},
	(range($n) | {t: (. / 10 + 0.1), event: "sample", data: {from: (. / 10), to: (. / 10 + 0.1),
		values: {"7": 10, "8": 4, "9": [range(64) | if . == 3 then 2 else 0 end]}}}),
	{t: ($n / 10), event: "modules", data: {came: ["fuse"], gone: []}},
	{t: ($n / 10), event: "function", data: {name: "vfs_read", module: "", addr: "0xffffffff81234560", size: 16, blocks: [], insns: []}}
	' > "$2"
}
