// SPDX-License-Identifier: GPL-2.0-only
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../bundle.mjs";

const { csv } = await source("csv");
const { si, percent, bytes, duration, rateUnit, bucketText } = await source("units");
const { encodeState, decodeState, emptyState } = await source("state");
const { makePlan, predicateOf } = await source("plan");

// Reads what the RFC says, to check what was written.
function parse(text) {
	const rows = [[]];
	let cell = "", quoted = false;
	for (let i = 0; i < text.length; i++) {
		const c = text[i];
		if (quoted && c === '"' && text[i + 1] === '"') cell += text[++i];
		else if (c === '"') quoted = !quoted;
		else if (!quoted && c === ",") rows.at(-1).push(cell), (cell = "");
		else if (!quoted && c === "\r" && text[i + 1] === "\n") rows.at(-1).push(cell), (cell = ""), rows.push([]), i++;
		else cell += c;
	}
	rows.pop();
	return rows;
}

test("CSV comes back as it was, whatever is in it", () => {
	const rows = [["a", 'say "x", y', "two\nlines", "\r\n"], ["", "ü µ", ",", '"']];
	assert.deepEqual(parse(csv(rows)), rows);
});

test("CSV: unknown is empty, zero is zero, numbers are exact", () => {
	assert.equal(csv([[NaN, null, undefined, 0, 0.1 + 0.2, -1e-9]]), ",,,0,0.30000000000000004,-1e-9\r\n");
});

test("numbers have three digits, a prefix and their unit", () => {
	const wanted = [[0, "", "0"], [0, "s", "0 s"], [1234, "/s", "1.23 k/s"], [12345, "/s", "12.3 k/s"], [123456, "", "123 k"], [999.6, "", "1.00 k"],
		[8.7e-4, "s", "870 µs"], [2.5e-9, "s", "2.50 ns"], [0.0612, "threads", "0.0612 threads"], [1e9, "B", "1.00 GB"], [NaN, "s", "–"], [null, "", "–"], [-1500, "", "-1.50 k"], [7, "", "7"], [12, "/s", "12 /s"], [Infinity, "", "∞"]];
	for (const [value, unit, text] of wanted) assert.equal(si(value, unit), text);
});

test("shares, sizes and times", () => {
	assert.deepEqual([0, 0.5, 0.0123, 0.9994, 1, 8.337, 0.00001, NaN].map(percent), ["0 %", "50.0 %", "1.23 %", "99.9 %", "100 %", "834 %", "<0.1 %", "–"]);
	assert.deepEqual([12, 2048, 50 * 2 ** 20, null].map(bytes), ["12 B", "2.0 KiB", "50 MiB", "–"]);
	assert.deepEqual([5, 65, 3700].map(duration), ["5 s", "1 min 5 s", "1 h 1 min"]);
	assert.deepEqual([0, 1, 11, 31].map((b) => bucketText(b, "s")), ["0 s", "1.00 ns", "1.02 µs", "1.07 s"]);
});

test("totals become rates: of time they are threads or CPUs", () => {
	assert.deepEqual([["calls", "", "total"], ["walltime", "s", "total"], ["vtime", "s", "total"], ["vtime/call", "s", "mean"], ["concurrency", "threads", "mean"]].map((a) => rateUnit(...a)),
		["/s", "threads", "CPUs", "s", "threads"]);
});

test("the state is in the address and comes back", () => {
	const state = {
		view: "function", query: "tcp_* & #,;=%", fn: "fuse:fuse_read@0xffffffffc0001000", pids: [1234], points: ["1234/libc.so.6:malloc", "vfs_read", "vfs_read:block/3", "a,b;c"], metrics: ["calls", "walltime/call"],
		predicate: 'comm == "a,b;c&d" && pid != 1', cpus: [0, 12], theme: "dark",
		visis: [
			{ kind: "time", zoom: [1.5, 20.25], curves: [{ metric: "calls", point: "vfs_read", cpu: "all" }, { metric: "walltime/call", point: "m:f+0x3", cpu: 3, predicate: "x == 1, y" }] },
			{ kind: "heat", zoom: null, curves: [] },
		],
	};
	const hash = encodeState(state);
	assert.ok(!/[\s"<>#]/.test(hash), hash);
	assert.deepEqual(decodeState("#" + hash), state);
	assert.equal(encodeState(decodeState(hash)), hash);
});

test("an address that says nothing, or nonsense, is an empty state", () => {
	for (const hash of ["", "#", "#view=nowhere&cpu=x&theme=pink&visi=pie;a,b&__proto__=1&constructor=2&%%%", "#q=%E0%A4%A"]) assert.deepEqual(decodeState(hash), emptyState());
	assert.deepEqual(decodeState("#visi=time,9,1;calls,f,all,;;x;calls,f,1e9,").visis, [{ kind: "time", zoom: null, curves: [{ metric: "calls", point: "f", cpu: "all" }] }]);
});

test("a plan is metrics x places x CPUs, and says what cannot be", () => {
	const metrics = new Map([["calls", { name: "calls", form: "total", functions_only: true }], ["count", { name: "count", form: "total" }], ["latency", { name: "latency", form: "histogram", functions_only: true }],
		["cycles", { name: "cycles", form: "total", unsupported: "no counter" }]].map(([k, v]) => [k, v]));
	const plan = makePlan({ metrics: ["calls", "count"], points: ["f", "g", "h"], cpus: [0, 1], predicate: "" }, metrics, "time");
	assert.equal(plan.wanted.length, 12);
	assert.equal(plan.refused.length, 0);
	assert.equal(new Set(plan.wanted.map((w) => JSON.stringify(w))).size, 12);
	const odd = makePlan({ metrics: ["calls", "latency", "cycles", "gone"], points: ["f:block/2", "f"], cpus: ["all"], predicate: " pid == 1 " }, metrics, "time");
	assert.deepEqual(odd.refused.map((r) => r.refused.reason), ["FUNCTIONS_ONLY", "FUNCTIONS_ONLY", "HISTOGRAM", "UNSUPPORTED", "UNSUPPORTED", "NO_METRIC", "NO_METRIC"]);
	assert.deepEqual(odd.wanted, [{ metric: "calls", point: "f", cpu: "all", predicate: "pid == 1" }]);
	assert.equal(makePlan({ metrics: ["calls"], points: ["f"], cpus: ["all"], predicate: "" }, metrics, "heat").refused[0].refused.reason, "NOT_HISTOGRAM");
});

test("a list of process ids is a predicate", () => {
	assert.equal(predicateOf("12, 34 56"), "pid == 12 || pid == 34 || pid == 56");
	assert.equal(predicateOf(" 7 "), "pid == 7");
	for (const p of ["pid == 1", "arg2 > 4096", "", "1 +"]) assert.equal(predicateOf(p), p);
});
