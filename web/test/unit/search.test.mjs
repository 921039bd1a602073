// SPDX-License-Identifier: GPL-2.0-only
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "../bundle.mjs";

const { buildCatalog, find, pointOf, functionOf } = await source("search");
const lists = [
	{ name: "fuse", names: ["fuse_read", "entry_point", "cleanup"], addr: ["0xffffffffc0001000", "0xffffffffc0002000", "0xffffffffc0003000"] },
	{ name: "", names: ["vfs_write", "vfs_read", "ksys_read", "vfs_readv", "do_vfs_read", "cleanup", "twin", "twin", "tcp.cold", "tcp_v4_rcv"],
		addr: ["0xffffffff81000100", "0xffffffff81000200", "0xffffffff81000300", "0xffffffff81000400", "0xffffffff81000500", "0xffffffff81000600", "0xffffffff81000700", "0xffffffff81000800", "0xffffffff81000900", "0xffffffff81000a00"] },
];
const catalog = buildCatalog(lists);
const names = (q) => find(catalog, q).map((i) => pointOf(catalog, catalog.fns[i]));

test("the kernel comes first, then modules, functions by name", () => {
	assert.deepEqual(catalog.modules.map((m) => [m.name, m.first, m.count]), [["", 0, 10], ["fuse", 10, 3]]);
	assert.deepEqual(catalog.fns.slice(0, 3).map((f) => f.name), ["cleanup", "do_vfs_read", "ksys_read"]);
});

test("exact names come first, then beginnings, words, parts", () => {
	assert.deepEqual(names("vfs_read"), ["vfs_read", "vfs_readv", "do_vfs_read"]);
	assert.deepEqual(names("read"), ["vfs_read", "ksys_read", "vfs_readv", "fuse:fuse_read", "do_vfs_read"]);
	assert.deepEqual(names("VFS wri"), ["vfs_write"]);
	assert.deepEqual(names("nothing_like_this"), []);
});

test("globs match whole names, and nothing in them is a pattern of another kind", () => {
	assert.deepEqual(names("vfs_*"), ["vfs_read", "vfs_readv", "vfs_write"].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)));
	assert.deepEqual(names("tcp.*"), ["tcp.cold"]);
	assert.deepEqual(names("ksys_rea?"), ["ksys_read"]);
	assert.deepEqual(names("(*"), []);
});

test("module:name, and kernel:name", () => {
	assert.deepEqual(names("fuse:read"), ["fuse:fuse_read"]);
	assert.deepEqual(names("kernel:cleanup"), ["cleanup"]);
	assert.deepEqual(names("fuse:").length, 3);
});

test("a process's modules have its number before them, and it alone finds all of them", () => {
	const with1234 = buildCatalog([...lists,
		{ name: "1234/libc.so.6", names: ["malloc", "read"], addr: ["0x7f0000001000", "0x7f0000002000"] },
		{ name: "1234/squid", names: ["clientRead"], addr: ["0x550000001000"] },
		{ name: "99/squid", names: ["clientRead"], addr: ["0x550000001000"] }]);
	const found = (q) => find(with1234, q).map((i) => pointOf(with1234, with1234.fns[i]));
	assert.deepEqual(found("1234/read"), ["1234/libc.so.6:read", "1234/squid:clientRead"]);
	assert.deepEqual(found("1234/").length, 3);
	assert.deepEqual(found("1234/libc.so.6:mal"), ["1234/libc.so.6:malloc"]);
	assert.deepEqual(found("99/"), ["99/squid:clientRead"]);
	assert.equal(functionOf("1234/libc.so.6:malloc:block/3"), "1234/libc.so.6:malloc");
});

test("an address finds the function that it is in", () => {
	assert.deepEqual(names("0xffffffff81000208"), ["vfs_read"]);
	assert.deepEqual(names("0xFFFFFFFFC0001000"), ["fuse:fuse_read"]);
	assert.deepEqual(names("0x1000"), []);
});

test("functions of one name in one module are told apart, others need not be", () => {
	assert.deepEqual(names("twin"), ["twin@0xffffffff81000700", "twin@0xffffffff81000800"]);
	assert.deepEqual(names("cleanup"), ["cleanup", "fuse:cleanup"]);
});

test("the function of a point", () => {
	for (const [point, fn] of [["vfs_read", "vfs_read"], ["fuse:entry_point", "fuse:entry_point"], ["fuse:f:block/3:post", "fuse:f"], ["f@0xff00:edge/1-2", "f@0xff00"], ["f+0x31", "f"], ["f+12:after", "f"], ["f:exit:after", "f"], ["call_x:call/kfree", "call_x"], ["f:blocks", "f"]])
		assert.equal(functionOf(point), fn);
});

test("50,000 functions are searched in the time of sorting their names four times", () => {
	const many = Array.from({ length: 50000 }, (_, i) => `subsystem${(i * 7919) % 97}_do_something_${i}`);
	const big = buildCatalog([{ name: "", names: many, addr: many.map((_, i) => "0x" + (0xffffffff81000000n + BigInt(i)).toString(16)) }]);
	// The CPU's time, the least of some: what else runs on the machine is not meant.
	const time = (work) => Math.min(...Array.from({ length: 7 }, () => {
		const begin = process.cpuUsage();
		work();
		const { user, system } = process.cpuUsage(begin);
		return (user + system) / 1000;
	}));
	const sorted = time(() => many.map((n) => n.toLowerCase()).sort());
	for (const q of ["something 77", "system9 499", "*_4999?", "zzz", "s"]) {
		const took = time(() => find(big, q));
		assert.ok(took < 4 * sorted, `${q}: ${took} ms, sorted in ${sorted} ms`);
	}
	assert.equal(find(big, "something_49999").length, 1);
});
