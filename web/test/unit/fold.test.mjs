// SPDX-License-Identifier: GPL-2.0-only
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../bundle.mjs";

const { Axis, BASE_WIDTH, BUCKETS, Heat, Series, Summary } = await source("fold");
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what}: ${a} instead of ${b}`);

// A small generator of our own: the same numbers each time.
function numbers(seed) {
	let x = seed;
	return () => (x = (Math.imul(x, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

// The integral of all buckets: what a total would be.
function integral(axis, series) {
	let sum = 0;
	for (let b = 0; b < axis.count; b++) {
		const v = series.at(b);
		if (!Number.isNaN(v)) sum += v * Math.min(axis.width, axis.end - axis.time(b));
	}
	return sum;
}

test("a delta is spread over buckets in proportion to its overlap", () => {
	const axis = new Axis(), s = new Series(axis);
	axis.reach(10, 10.5);
	s.add(10, 10.5, 4);
	assert.equal(axis.count, 3);
	for (const b of [0, 1, 2]) near(s.at(b), 4, "bucket " + b);
	assert.ok(Number.isNaN(s.at(3)));
	axis.reach(10.5, 10.6);
	s.add(10.5, 10.6, 10);
	near(s.at(2), (4 * 0.1 + 10 * 0.1) / 0.2, "two samples in one bucket");
});

test("what nobody measured is no number, also beside what is known", () => {
	const axis = new Axis(), s = new Series(axis);
	axis.reach(0, 0.2);
	s.add(0, 0.2, 5);
	axis.reach(1, 1.2);
	s.add(1, 1.2, 7);
	assert.deepEqual([0, 1, 2, 3, 4, 5].map((b) => Number.isNaN(s.at(b))), [false, true, true, true, true, false]);
	assert.ok(Math.abs(s.at(5) - 7) < 1e-9);
});

test("a zero that was measured is not a gap", () => {
	const axis = new Axis(), s = new Series(axis);
	axis.reach(0, 0.2);
	s.add(0, 0.2, 0);
	assert.equal(s.at(0), 0);
});

test("at 1,000 buckets pairs fold: the width doubles, the sum stays", () => {
	const axis = new Axis(), s = new Series(axis), random = numbers(1);
	let t = 0, total = 0;
	const widths = new Set();
	while (t < 1700) {
		const to = t + 0.05 + random() * 0.4, rate = random() * 100;
		axis.reach(t, to);
		s.add(t, to, rate);
		total += rate * (to - t);
		widths.add(axis.width);
		t = to;
	}
	assert.deepEqual([...widths], [0.2, 0.4, 0.8, 1.6, 3.2].slice(0, widths.size));
	assert.equal(axis.width, BASE_WIDTH * 2 ** axis.folds);
	assert.ok(axis.folds >= 3 && axis.count <= BUCKETS && axis.count > BUCKETS / 2);
	near(integral(axis, s), total, "the sum of all");
});

test("folding is the same as having had wide buckets from the beginning", () => {
	const axis = new Axis(), s = new Series(axis), wide = new Axis(), w = new Series(wide), random = numbers(2);
	wide.width = BASE_WIDTH * 4;
	for (let t = 0; t < 700; t += 0.1) {
		if (random() < 0.3) continue; // gaps
		const rate = random() * 50;
		for (const [a, x] of [[axis, s], [wide, w]]) {
			a.reach(0, t + 0.1);
			x.add(t, t + 0.1, rate);
		}
	}
	assert.equal(axis.width, wide.width);
	for (let b = 0; b < BUCKETS; b++)
		if (Number.isNaN(w.at(b))) assert.ok(Number.isNaN(s.at(b)), "bucket " + b);
		else near(s.at(b), w.at(b), "bucket " + b);
});

test("no number and x fold to x", () => {
	const axis = new Axis(), s = new Series(axis);
	axis.reach(0, 0.2);
	s.add(0, 0.2, 8);
	axis.reach(199.9, 200.1);
	assert.equal(axis.folds, 1);
	near(s.at(0), 8, "known half");
	assert.ok(Number.isNaN(s.at(1)));
});

test("all curves of an axis fold together, and those that have left do not", () => {
	const axis = new Axis(), a = new Series(axis), b = new Series(axis), gone = new Series(axis);
	for (const s of [a, b, gone]) {
		axis.reach(0, 0.4);
		s.add(0, 0.2, 1);
		s.add(0.2, 0.4, 3);
	}
	gone.leave();
	axis.reach(300, 300.1);
	for (const s of [a, b]) near(s.at(0), 2, "folded");
	near(gone.at(0), 1, "left before");
});

test("a jump of hours folds as often as it needs", () => {
	const axis = new Axis(), s = new Series(axis);
	axis.reach(0, 1);
	s.add(0, 1, 2);
	axis.reach(36000, 36000.1);
	s.add(36000, 36000.1, 6);
	assert.equal(axis.width, BASE_WIDTH * 2 ** 8);
	near(s.at(0), 2, "first");
	near(s.at(axis.count - 1), 6, "last");
});

test("only what has changed is dirty, and all after a fold", () => {
	const axis = new Axis(), s = new Series(axis);
	axis.reach(0, 2);
	s.add(0, 2, 1);
	s.dirty = BUCKETS;
	axis.reach(2, 2.1);
	s.add(2, 2.1, 1);
	assert.equal(s.dirty, 10);
	axis.reach(200, 200.1);
	assert.equal(s.dirty, 0);
});

test("heat maps keep their counts through folds, and their gaps", () => {
	const axis = new Axis(), heat = new Heat(axis);
	let total = 0;
	for (let i = 0; i < 5000; i++) {
		if (i >= 1000 && i < 1200) continue;
		const counts = new Array(64).fill(0);
		counts[10] = 3;
		counts[i % 64] += 1;
		axis.reach(0, (i + 1) / 10);
		heat.add(i / 10, (i + 1) / 10, counts);
		total += 4;
	}
	let sum = 0, unknown = 0;
	for (let b = 0; b < axis.count; b++) {
		if (Number.isNaN(heat.at(b, 0))) unknown++;
		for (let r = 0; r < 64; r++) sum += heat.at(b, r) || 0;
	}
	near(sum, total, "all counts");
	assert.equal(axis.width, 0.8);
	assert.ok(unknown >= 24 && unknown <= 25, unknown + " unknown buckets of 20 s");
});

test("a summary tells current, average, extremes and sum of what is known", () => {
	const s = new Summary();
	assert.ok(Number.isNaN(s.average) && Number.isNaN(s.total));
	s.add(0, 1, 10);
	s.add(3, 6, 2);
	near(s.average, 4, "average");
	near(s.total, 16, "total");
	assert.deepEqual([s.current, s.min, s.max, s.seconds], [2, 2, 10, 4]);
	s.unknown();
	assert.ok(Number.isNaN(s.current));
});
