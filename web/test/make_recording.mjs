// SPDX-License-Identifier: GPL-2.0-only
// Makes a session that no kernel has seen, for the page's tests: 50,000 functions, one of 600 blocks,
// curves ten times a second, a gap. Always the same one.
//
// usage: node web/test/make_recording.mjs FILE [SECONDS]
import { createWriteStream } from "node:fs";

export const GAP = [6, 7.5];
export const HOT = "vfs_read"; // a small function
export const LARGE = "big_switch_handler"; // of 600 blocks
const known = [
	"vfs_read", "vfs_write", "tcp_v4_rcv", "tcp_sendmsg", "tcp_recvmsg", "do_sys_openat2", "__schedule", "try_to_wake_up",
	"handle_mm_fault", "kmem_cache_alloc", "kmem_cache_free", "ksys_read", "ksys_write", "path_openat", "link_path_walk",
	"lookup_fast", "dput", "d_alloc", "filp_close", "do_filp_open", "vfs_statx", "ext4_file_read_iter", "sock_sendmsg", "sock_recvmsg",
	"ip_rcv", "ip_queue_xmit", "dev_queue_xmit", "napi_gro_receive", "pick_next_task_fair", "enqueue_task_fair", "dequeue_task_fair",
	"update_curr", "hrtimer_start_range_ns", "do_futex", "futex_wait", "futex_wake", "do_exit", "copy_process", "wake_up_new_task",
	"mmap_region", "unmap_region", "do_user_addr_fault", "filemap_fault", "filemap_map_pages", "__alloc_pages", "free_unref_page",
	"pipe_read", "pipe_write", "eventfd_read", "ep_poll",
];
const first = ["ext4", "tcp", "udp", "ip6", "blk", "nvme", "usb", "drm", "acpi", "pci", "snd", "xfs", "btrfs", "nfs", "mm", "cgroup", "bpf", "sched", "irq", "rcu", "cpu", "kvm", "crypto", "dma"];
const second = ["alloc", "free", "get", "put", "init", "exit", "read", "write", "map", "unmap", "queue", "flush", "lookup", "insert", "remove", "update", "check", "parse", "send", "recv", "lock", "unlock", "wait", "wake"];
const third = ["page", "node", "inode", "entry", "list", "tree", "buf", "skb", "req", "ctx", "dev", "port", "ring", "desc", "key", "task", "group", "slot", "state", "event", "work", "timer", "range", "table"];

let seed = 12345;
function random() {
	seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
	return seed / 0x7fffffff;
}
const pick = (list) => list[Math.floor(random() * list.length)];
const hex = (n, width) => n.toString(16).padStart(width, "0");

function functionNames(count) {
	const names = new Set([...known, LARGE]);
	for (let i = 0; names.size < count; i++) {
		const part = `${first[i % 24]}_${second[Math.floor(i / 24) % 24]}_${third[Math.floor(i / 576) % 24]}`;
		names.add(i < 13824 ? part : `${part}_${Math.floor(i / 13824)}`);
	}
	return [...names];
}

function modules() {
	let at = 0xffffffff81000000n;
	const list = (name, names) => ({ name, names, addr: names.map(() => "0x" + (at += 16n * BigInt(1 + Math.floor(random() * 30))).toString(16)) });
	const all = functionNames(46000);
	// Two static functions of one name: they are told apart by their addresses.
	const out = [list("", [...all, "cleanup_twin", "cleanup_twin"])];
	for (let m = 0; m < 40; m++) {
		const names = Array.from({ length: 100 }, (_, i) => `mod${m}_${second[i % 24]}_${third[(i + m) % 24]}${i > 23 ? "_" + Math.floor(i / 24) : ""}`);
		at = 0xffffffffc0000000n + BigInt(m) * 0x100000n;
		out.push(list("module" + m, names));
	}
	return out;
}

const registers = ["rax", "rcx", "rdx", "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
const plain = [
	[3, () => `mov ${pick(registers)}, ${pick(registers)}`], [4, () => `mov ${pick(registers)}, [rdi+0x${hex(8 * Math.floor(random() * 15), 1)}]`],
	[3, () => `test ${pick(registers)}, ${pick(registers)}`], [4, () => `add ${pick(registers)}, 0x${hex(Math.floor(random() * 100), 1)}`],
	[7, () => `lea ${pick(registers)}, [${pick(registers)}+8*${pick(registers)}+0x40]`], [2, () => `push ${pick(registers)}`],
	[3, () => `xor ${pick(registers)}, ${pick(registers)}`], [7, () => `cmp dword [${pick(registers)}+0x10], 0x7f`],
];
const bytes = (n) => Array.from({ length: n }, () => hex(Math.floor(random() * 256), 2)).join(" ");
const free = () => registers.filter(() => random() < 0.35).concat(random() < 0.8 ? "flags" : []).join(" ");

function edgesOf(b, n) {
	if (b === n - 1) return [];
	if (random() < 0.08 && b > 2) return [{ to: null, target: "kfree", kind: "jump", index: 0 }];
	if (random() < 0.15) return [{ to: b + 1, kind: "call-fall", index: 0 }];
	const far = random() < 0.12 ? Math.max(1, b - Math.floor(random() * 12)) : Math.min(n - 1, b + 2 + Math.floor(random() * 8));
	return [{ to: far, kind: "taken", index: 0 }, { to: b + 1, kind: "fall", index: 1 }];
}

function makeFunction(name, addr, blockCount) {
	const blocks = [], insns = [];
	let at = BigInt(addr);
	const start = at;
	const push = (block, size, text, target) => {
		const original = bytes(size);
		insns.push({ addr: "0x" + at.toString(16), block, original, now: original, text, now_text: text, ...(target ? { target } : {}), free: free() });
		at += BigInt(size);
	};
	for (let b = 0; b < blockCount; b++) {
		const edges = edgesOf(b, blockCount), from = at, firstInsn = insns.length;
		for (let i = 2 + Math.floor(random() * 5); i > 0; i--) {
			const [size, text] = pick(plain);
			push(b, size, text());
		}
		if (edges[0]?.kind === "taken") push(b, 6, `j${pick(["e", "ne", "l", "ge", "b", "ae"])} block ${edges[0].to}`);
		else if (edges[0]?.kind === "call-fall") push(b, 5, "call kmem_cache_alloc", "kmem_cache_alloc");
		else if (edges.length) push(b, 5, "jmp kfree", "kfree");
		else push(b, 1, "ret");
		const window = b === 0 ? { refused: "FTRACE_SITE", message: "the function's ftrace site: ftrace, BPF and livepatch write it" }
			: b % 97 === 5 ? { refused: "JUMP_LABEL", message: "a static branch: the kernel rewrites it at any time" }
				: { kind: b % 23 === 0 ? "bounce" : b % 151 === 7 ? "int3" : "jump" };
		if (b === 0) Object.assign(window, { refused: undefined, message: undefined, kind: "jump" });
		if (b % 40 === 1) Object.assign(insns[firstInsn], { now: "e9 " + bytes(4), now_text: "jmp 0xffffffffc0a1" + hex(b * 64, 4) });
		blocks.push({ index: b, addr: "0x" + from.toString(16), end: "0x" + at.toString(16), edges, window });
	}
	return { name, module: "", addr: "0x" + start.toString(16), size: Number(at - start), blocks, insns };
}

const metric = (name, unit, form, text, code, functions_only = true, unsupported) => ({ name, unit, form, text, code, functions_only, ...(unsupported ? { unsupported } : {}) });
const metrics = [
	metric("calls", "", "total", "how often the function is called", "entry: counter += 1"),
	metric("exits", "", "total", "how often it is left: by a return, or by a jump to another function", "returns and jumps: counter += 1"),
	metric("count", "", "total", "how often a point is passed: a block, an edge, an instruction", "point: counter += 1", false),
	metric("walltime", "s", "total", "time that threads have spent inside, running or asleep", "entry: the thread's word = clock; return: total += clock - word, word = 0"),
	metric("walltime/call", "s", "mean", "the mean of it over calls that have ended", "entry: the thread's word = clock; return: total += clock - word, word = 0, calls += 1"),
	metric("concurrency", "threads", "mean", "how many threads are inside, on average", "entry: the thread's word = clock; return: total += clock - word, word = 0"),
	metric("latency", "s", "histogram", "histogram of the time from call to return, running or asleep", "entry: the thread's word = clock; return: histogram[log2(ns)] += 1, word = 0"),
	metric("vtime", "s", "total", "time that threads have run inside", "entry: the thread's word = the thread's clock; return: total += the thread's clock - word, word = 0"),
	metric("vtime/call", "s", "mean", "the mean of it over calls that have ended", "entry: the thread's word = the thread's clock; return: total += the thread's clock - word, word = 0, calls += 1"),
	metric("cycles", "", "total", "cycles of the processor", "entry: the thread's word = its cycles; return: total += its cycles - word, word = 0", true, "the machine has no counter for it"),
];

function makeCurves(functions) {
	const curves = [];
	const add = (name, point, value, extra = {}) => {
		const m = metrics.find((x) => x.name === name);
		curves.push({ answer: { id: curves.length + 1, metric: name, point, function: point.replace(/:block.*/, ""), unit: m.unit, form: m.form, cpu: "all", predicate: "", ...extra }, value });
	};
	const wave = (i, t) => 1 + 0.6 * Math.sin(t / (1.5 + (i % 7)) + i) + 0.15 * Math.sin(t * 3 + i);
	known.forEach((f, i) => {
		const rate = 20000 / (i + 1);
		add("calls", f, (t, d) => Math.round(rate * d * wave(i, t)));
		add("walltime", f, (t, d) => rate * d * wave(i + 11, t) * 2e-6 * (1 + (i % 5)));
		add("walltime/call", f, (t) => (wave(i, t) < 0.4 ? null : 2e-6 * (1 + (i % 5)) * wave(i + 3, t)));
		if (i < 8) {
			for (const cpu of [0, 1]) add("calls", f, (t, d) => Math.round(rate * d * wave(i + cpu, t) / 2), { cpu });
			add("latency", f, (t, d) => Array.from({ length: 64 }, (_, b) => Math.round(rate * d * (0.3 * Math.exp(-((b - 11 - 2 * Math.sin(t / 4 + i)) ** 2) / 2) + 0.02 * Math.exp(-((b - 20) ** 2) / 3)))));
			add("vtime", f, (t, d) => rate * d * wave(i, t) * 1e-6);
		}
	});
	for (const fn of functions) {
		add("vtime", fn.name, (t, d) => 0.2 * d * wave(2, t));
		fn.blocks.forEach((b, i) => {
			if (b.window.refused) return;
			const rate = 4000 * Math.exp(-i / 90) * (i % 11 === 3 ? 0.02 : 1) * (i % 17 === 8 ? 9 : 1) * (i % 13 === 12 ? 0 : 1);
			add("count", `${fn.name}:block/${i}`, (t, d) => Math.round(rate * d * wave(i % 3, t)));
		});
	}
	return curves;
}

// What a D program has printed, in parts that end anywhere, as they come.
function printed() {
	const rows = [[1, 0], [2, 40], [4, 20], [8, 10], [16, 0]];
	const again = [[2, 5], [4, 30], [8, 2]];
	const table = (rows) => "\n  sizes\n           value  ------------- Distribution ------------- count    \n" +
		rows.map(([v, n]) => String(v).padStart(16) + " |" + "@".repeat(n / 2).padEnd(41) + n + "\n").join("");
	const text = "  %d\n" + table(rows) + table(again) + "\nend of it\n";
	return [{ matched: 3, left_out: 1 }, { text: text.slice(0, 150) }, { text: text.slice(150) }, { warning: "invalid address (0x0)" }, { missing: 12 },
		{ ended: { status: 0, drops: { records: 2, aggregations: 0 } } }];
}

/** past: so many seconds come at once, five seconds after the beginning, as if the page had been there. */
export function writeRecording(path, seconds, past = 0) {
	const lists = modules();
	const addrOf = (name) => lists[0].addr[lists[0].names.indexOf(name)];
	const functions = [makeFunction(HOT, addrOf(HOT), 30), makeFunction("tcp_v4_rcv", addrOf("tcp_v4_rcv"), 182), makeFunction(LARGE, addrOf(LARGE), 600)];
	const refused = { name: "irqentry_enter", module: "", addr: addrOf("dput"), size: 80, refused: { reason: "NOINSTR", message: "noinstr code: runs where no instrumentation is allowed" }, blocks: [], insns: [] };
	const curves = makeCurves(functions);
	const out = createWriteStream(path);
	const line = (o) => out.write(JSON.stringify(o) + "\n");
	const info = { version: "0", kernel: "6.1.0-56-amd64", cpus: [0, 1], driver: "5", interval_ms: 100, pid: 1, read_only: false, replay: false };
	line({ "kerninst-session": 1, info, metrics });
	line({ t: 0, event: "functions", data: { modules: lists } });
	for (const f of [...functions, { ...refused, name: "dput" }]) line({ t: 0, event: "function", data: f });
	line({ t: 0, event: "curves", data: { curves: curves.map((c) => c.answer) } });
	for (const data of printed()) line({ t: 0, event: "d", data });
	const sample = (t, from, to) => {
		const values = Object.fromEntries(curves.map((c) => {
			const v = c.value(from, to - from);
			return [c.answer.id, typeof v === "number" ? +v.toPrecision(5) : v];
		}));
		line({ t, event: "sample", data: { from, to, values } });
	};
	for (let i = 0; i < seconds * 10; i++) {
		const from = i / 10, to = (i + 1) / 10;
		if (past) {
			const gone = i < 50 ? 0 : past;
			if (i === 50) for (let s = 0; s < past; s += 0.5) sample(from, from + s, from + s + 0.5);
			sample(to, gone + from, gone + to);
			continue;
		}
		if (from >= GAP[0] && from < GAP[1]) {
			if (to >= GAP[1] - 1e-9) line({ t: to, event: "gap", data: { samples: Math.round((GAP[1] - GAP[0]) * 10) } });
			continue;
		}
		sample(to, from, to);
	}
	return new Promise((done) => out.end(done));
}

if (import.meta.url === "file://" + process.argv[1]) {
	if (!process.argv[2]) {
		console.error("usage: make_recording.mjs FILE [SECONDS]");
		process.exit(2);
	}
	await writeRecording(process.argv[2], Number(process.argv[3] ?? 60));
}
