// SPDX-License-Identifier: GPL-2.0-only
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../bundle.mjs";

const { Lines, bucketOf, isHead, orderOf } = await source("d_text");
const { examples } = await source("d_examples");

test("text that comes in parts is lines", () => {
	const lines = new Lines();
	assert.deepEqual(lines.take("a"), []);
	assert.deepEqual(lines.take("b\nc\n\nd"), ["ab", "c", ""]);
	assert.deepEqual(lines.end(), ["d"]);
	assert.deepEqual(lines.end(), []);
});

test("rows of a distribution are known, other lines are not", () => {
	assert.ok(isHead("           value  ------------- Distribution ------------- count    "));
	assert.ok(!isHead("value and count"));
	assert.deepEqual(bucketOf("               2 |@@@@@@@@@@@@@@@@@@@@                     40       "), { value: "2", count: 40 });
	assert.deepEqual(bucketOf("            < -5 |                                         0        "), { value: "< -5", count: 0 });
	assert.deepEqual(bucketOf("              -1 |@@@@@@@@@@@@@@@@@@@@@----                -7        "), { value: "-1", count: -7 });
	for (const line of ["", "vfs_read 7", "a | b", "1 |@@@ x", "  |"]) assert.equal(bucketOf(line), null, line);
});

test("buckets have an order", () => {
	const values = ["< 0", "0", "1", ">= 10", "-1024", "2048"];
	assert.deepEqual(values.sort((a, b) => orderOf(a) - orderOf(b)), ["-1024", "< 0", "0", "1", ">= 10", "2048"]);
});

test("each example has a name and ends with its line", () => {
	assert.equal(new Set(examples.map((e) => e.name)).size, examples.length);
	for (const e of examples) assert.match(e.text, /^#pragma D option quiet\n[^]*\n}\n$/);
});
