// SPDX-License-Identifier: GPL-2.0-only
// The page and a live kernel: test/guest/tools/page.sh has the daemon and a load that comes and goes.
import { readFile } from "node:fs/promises";
import { assert, run, test, until } from "./browser.mjs";
import { painted, postsTo, ready, selectFunction, selectMetric, values } from "./steps.mjs";

const three = ["vfs_statx", "iterate_dir", "__x64_sys_getsid"];
const each = 100; // calls of the last one, which nobody else makes, come at once
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const REST = 12; // buckets without a call: 2.4 s

// From the first rest that the plot has to the last one: the calls, and how often the others were
// called in a second between the rests, and in them. Nothing before there are two rests.
function betweenRests([head, ...rows]) {
	const column = (f) => head.findIndex((c) => c.startsWith("calls " + f));
	const at = column(three[2]);
	const rate = (r, c) => (r[c] === "" ? NaN : +r[c]);
	const rests = new Set();
	for (let i = 0, n = 0; i < rows.length; i++) {
		n = rate(rows[i], at) === 0 ? n + 1 : 0;
		for (let k = 0; n >= REST && k < REST; k++) rests.add(rows[i - k]);
	}
	const part = rows.slice(rows.findIndex((r) => rests.has(r)), rows.findLastIndex((r) => rests.has(r)) + 1);
	const sum = (list, c) => list.reduce((s, r) => s + rate(r, c) * (r[1] - r[0]), 0);
	const seconds = (list) => list.reduce((s, r) => s + (r[1] - r[0]), 0);
	const calls = sum(part, at);
	if (!(calls > 0)) return null;
	const loud = part.filter((r) => !rests.has(r)), quiet = part.filter((r) => rests.has(r));
	return { calls, others: three.slice(0, 2).map((f) => [f, ...[loud, quiet].map((l) => sum(l, column(f)) / seconds(l))]) };
}

await run(async ({ open, at, errors, request, token }) => {
	const page = await open();
	const ask = async (path) => (await request(path, { headers: { Authorization: "Bearer " + token } })).json();
	const untilWindows = async (page, wanted) => {
		for (let i = 0; i < 300; i++) {
			const { windows } = await ask("/api/inserted");
			if (wanted(windows)) return windows;
			await page.waitForTimeout(100);
		}
		throw new Error("the kernel has " + (await ask("/api/inserted")).windows + " windows");
	};

	// What a button saves: a line of the file to an array.
	const saved = async () => {
		const [d] = await Promise.all([page.waitForEvent("download"), page.click('.visi button:has-text("CSV")')]);
		return (await readFile(await d.path(), "utf8")).trimEnd().split("\r\n").map((l) => l.split(","));
	};

	await test("all functions of the running kernel are there", async () => {
		await ready(page, at(""));
		await page.fill("#search", "vfs_");
		await until(page, () => /^\d+ of \d{5} functions$/.test(document.querySelector(".tree > .small").textContent), null, "the number of finds");
		const info = await ask("/api/info");
		assert(/^6\./.test(info.kernel) && !info.replay, JSON.stringify(info));
		return info.kernel + ", " + (await page.textContent(".tree > .small"));
	});

	await test("choosing two metrics and three functions puts nothing in", async () => {
		for (const f of three) await selectFunction(page, f);
		for (const m of ["calls", "walltime"]) await selectMetric(page, m);
		assert((await page.textContent("#plan")) === "2 metrics × 3 places: 6 curves", await page.textContent("#plan"));
		await page.shot("live-choose");
		assert(page.posts.length === 0 && (await ask("/api/inserted")).windows === 0, "something is in");
	});

	await test("a time histogram of six curves, and all of them move", async () => {
		await page.click("#start");
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 6, null, "six curves", 60000);
		await untilWindows(page, (n) => n >= 3);
		const seen = new Map();
		const moved = () => [...seen.values()].filter((s) => s.size > 1).length;
		for (let i = 0; i < 600 && moved() < 6; i++) {
			for (const [k, v] of Object.entries(await values(page))) seen.set(k, (seen.get(k) ?? new Set()).add(v));
			await page.waitForTimeout(100);
		}
		assert(seen.size === 6 && moved() === 6, JSON.stringify([...seen].map(([k, s]) => [k, ...s])));
		assert((await painted(page, ".visi canvas")) > 0.01, "an empty plot");
	});

	await test("the curves follow the load, which comes and goes, to the last call", async () => {
		let seen;
		for (let i = 0; i < 45 && !seen; i++) {
			await page.waitForTimeout(2000);
			seen = betweenRests(await saved());
		}
		assert(seen, "the load has not come between two rests");
		await page.shot("live-plots");
		const times = seen.calls / each;
		assert(Math.round(times) >= 1 && Math.abs(times - Math.round(times)) < 0.01, `${seen.calls} calls, which is not so many times ${each}`);
		for (const [name, loud, quiet] of seen.others) assert(loud > 2 * quiet, `${name}: ${loud} a second under load, ${quiet} without`);
		return `${Math.round(seen.calls)} calls; ` + seen.others.map(([name, loud, quiet]) => `${name} ${loud.toFixed(0)} and ${quiet.toFixed(0)} a second`).join(", ");
	});

	await test("the graph of a hot function, with its blocks counted", async () => {
		const begin = Date.now();
		await page.evaluate(() => (location.hash = location.hash.replace(/view=\w+/, "view=function") + "&fn=vfs_read"));
		await page.waitForSelector("canvas.graph[data-ready]", { timeout: 60000 });
		const there = Date.now() - begin;
		await page.click("#count-blocks");
		await until(page, () => /% of calls/.test(document.querySelector(".d-block")?.textContent), null, "the counts", 60000);
		await until(page, () => document.querySelectorAll(".disasm .changed").length > 0, null, "what has changed in the code", 60000);
		const counted = postsTo(page, "/api/curves").flatMap((p) => p.body.curves).filter((c) => c.metric === "count");
		assert(counted.length > 5 && counted.every((c) => c.point.startsWith("vfs_read:block/")), JSON.stringify(counted[0]));
		assert((await painted(page, "canvas.graph")) > 0.02, "an empty graph");
		return `there after ${there} ms`;
	});

	await test("a module that is loaded is listed, and measured", async () => {
		await page.keyboard.press("m");
		for (const f of three) await page.click(`.chip:has-text("${f}")`);
		await page.fill("#search", "ki_metrics_spin");
		await page.waitForSelector('.t-fn[title="ki_metrics:ki_metrics_spin"]', { timeout: 20000 });
		await page.click('.t-fn[title="ki_metrics:ki_metrics_spin"] .name');
		await page.click("#start");
		await until(page, () => [...document.querySelectorAll(".visi .lrow")].some((r) => r.textContent.includes("ki_metrics_spin")), null, "its curve", 60000);
	});

	await test("what is inserted is listed, with its cost", async () => {
		await page.keyboard.press("i");
		await until(page, () => document.querySelectorAll(".inserted .vrow").length > 6, null, "its rows");
		const { rows, windows, others } = await ask("/api/inserted");
		assert(rows.some((r) => r.hits > 0 && r.cost_instructions > 0), JSON.stringify(rows[0]));
		assert(windows >= rows.filter((r) => r.metric === "count").length && !others, `${windows} windows, others: ${JSON.stringify(others)}`);
		await page.shot("live-inserted");
	});

	await test("the same in the dark and on a phone", async () => {
		const small = await open(phone);
		await ready(small, at("#theme=dark"));
		await selectFunction(small, "vfs_statx");
		await small.fill("#search", "");
		await selectMetric(small, "latency");
		await small.selectOption("#kind", "heat");
		await small.tap("#start");
		await until(small, () => document.querySelector(".visi canvas.heatmap"), null, "the heat map", 60000);
		await until(small, () => /calls · p50/.test(document.querySelector(".visi .quantiles")?.textContent), null, "its numbers", 60000);
		await small.waitForTimeout(3000);
		await small.shot("live-phone-dark");
		const [have, want] = await small.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
		assert(have <= want, `${have} pixels wide`);
		await small.done();
	});

	await test("which registers are free is there when the kernel has been analysed", async () => {
		await page.keyboard.press("f");
		await until(page, () => /rax|rcx|flags/.test(document.querySelector(".d-insn .d-free")?.textContent), null, "the free registers", 300000);
		await page.shot("live-function");
	});

	await test("closing takes everything out", async () => {
		await page.click(".function button.close");
		for (let left = await page.$$eval(".visi", (v) => v.length); left > 0; left--) await page.click(".visi:last-of-type button.close");
		await untilWindows(page, (n) => n === 0);
		assert((await ask("/api/inserted")).rows.length === 0, "curves are left");
	});

	await test("a module that is unloaded is listed no more", async () => {
		await until(page, () => /module ki_metrics unloaded/.test(document.querySelector("#notices").textContent), null, "the notice", 30000);
		await page.fill("#search", "ki_metrics_spin");
		await until(page, () => /^0 of/.test(document.querySelector(".tree > .small").textContent), null, "its end");
	});

	await test("one button removes everything, from the kernel too", async () => {
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.press("m");
		await selectFunction(page, "vfs_statx");
		await page.click("#start");
		await untilWindows(page, (n) => n > 0);
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.press("i");
		await until(page, () => document.querySelectorAll(".inserted .vrow").length > 0, null, "its rows");
		await page.click("#remove-all");
		await untilWindows(page, (n) => n === 0);
		await until(page, () => /^Nothing is inserted/.test(document.querySelector(".inserted .empty:not([hidden])")?.textContent), null, "nothing inserted");
		assert((await ask("/api/inserted")).rows.length === 0, "curves are left");
	});
	await page.done();

	await test("no script failed, and the content-security policy had nothing to say", async () => {
		assert(errors.length === 0, errors.join("\n"));
	});
});
