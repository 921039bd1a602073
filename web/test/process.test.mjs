// SPDX-License-Identifier: GPL-2.0-only
// Points of a process in the page, beside the kernel's: test/guest/tools/page_process.sh has the
// daemon and the program, whose number is KPERFMON_PROCESS. In each round the program calls step
// 4,000 times, and its library's getppid 125 times; and it reads a line.
import { readFile } from "node:fs/promises";
import { assert, becomes, run, test, until } from "./browser.mjs";
import { painted, postsTo, ready, selectFunction, selectMetric, values } from "./steps.mjs";

const pid = process.env.KPERFMON_PROCESS;
const step = pid + "/pie:step", leap = pid + "/pie:leap", library = pid + "/libc.so.6:getppid", kernel = "vfs_read";
const EACH = 32; // calls of step for one of getppid

await run(async ({ open, at, errors, request, token }) => {
	const page = await open();
	const inserted = async () => (await request("/api/inserted", { headers: { Authorization: "Bearer " + token } })).json();
	// What came of each curve, as a button saves it.
	const sums = async () => {
		const [d] = await Promise.all([page.waitForEvent("download"), page.click('.visi button:has-text("CSV")')]);
		const [head, ...rows] = (await readFile(await d.path(), "utf8")).trimEnd().split("\r\n").map((l) => l.split(","));
		const of = (point) => head.findIndex((c) => c.startsWith("count " + point));
		return (point) => rows.reduce((s, r) => s + (r[of(point)] === "" ? 0 : r[of(point)] * (r[1] - r[0])), 0);
	};

	await test("a process is chosen by its number, and its modules are in the tree", async () => {
		await ready(page, at(""));
		await page.fill("#process", pid);
		await page.click("#process-add");
		await page.waitForSelector(`#processes .chip:has-text("process ${pid}")`);
		await page.fill("#search", pid + "/step");
		await page.waitForSelector(`.t-fn[title="${step}"]`);
		await page.fill("#search", "");
		await page.waitForSelector(`.t-module:has-text("${pid}/libc.so.6")`);
		assert(page.posts.length === 0 && (await inserted()).rows.length === 0, "something is in");
	});

	await test("what is no process is said so, and the tree stays", async () => {
		await page.fill("#process", "4194303");
		await page.click("#process-add");
		await until(page, () => /process/.test(document.querySelector("#notices").textContent), null, "the notice");
		assert((await page.$$("#processes .chip")).length === 1, "it is shown as one");
	});

	await test("functions of it, a block, and one of the kernel are chosen", async () => {
		for (const f of [step, library, kernel]) await selectFunction(page, f);
		await page.fill("#search", leap);
		await page.click(`.t-fn[title="${leap}"] .twist`);
		await page.click(`.t-block[title="${leap}:block/1"] .name`);
		await selectMetric(page, "count");
		assert((await page.textContent("#plan")) === "1 metric × 4 places: 4 curves", await page.textContent("#plan"));
		await page.shot("process-choose");
	});

	await test("their curves move, beside each other", async () => {
		await page.click("#start");
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 4, null, "four curves");
		const seen = new Map();
		const moved = () => [...seen.values()].filter((s) => s.size > 1).length;
		await becomes(async () => {
			for (const [k, v] of Object.entries(await values(page))) seen.set(k, (seen.get(k) ?? new Set()).add(v));
			return moved() === 4;
		}, "what moves");
		assert((await painted(page, ".visi canvas")) > 0.01, "an empty plot");
		assert((await inserted()).rows.length === 4, "other rows than these");
	});

	await test("they say what the program does", async () => {
		let of;
		await becomes(async () => (of = await sums())(library) > 1000, "a thousand calls of getppid");
		const ratio = of(step) / of(library);
		assert(Math.abs(ratio / EACH - 1) < 0.1, `${of(step)} calls of step, ${of(library)} of getppid`);
		assert(of(kernel) >= of(library) / 125, `${of(kernel)} reads in the kernel, ${of(library)} calls of getppid`);
		await page.shot("process-plots");
		return `${ratio.toFixed(1)} calls of step for one of getppid`;
	});

	await test("its code: the graph with blocks counted, and the instructions as they stand", async () => {
		await page.evaluate((f) => (location.hash = location.hash.replace(/view=\w+/, "view=function") + "&fn=" + f), leap);
		await page.waitForSelector("canvas.graph[data-ready]");
		await page.click("#count-blocks");
		await until(page, () => /% of calls/.test(document.querySelector(".d-block")?.textContent), null, "the counts");
		await until(page, () => document.querySelectorAll(".disasm .changed").length > 0, null, "what has changed in the code");
		const counted = postsTo(page, "/api/curves").at(-1).body.curves.filter((c) => c.metric === "count");
		assert(counted.length > 10 && counted.every((c) => c.point.startsWith(leap + ":block/")), JSON.stringify(counted[0]));
		assert((await painted(page, "canvas.graph")) > 0.02, "an empty graph");
		await page.shot("process-function");
	});

	await test("the address brings the process back", async () => {
		const again = await open();
		await ready(again, at("#pid=" + pid));
		await again.waitForSelector(`.t-module:has-text("${pid}/pie")`);
		await again.done();
	});

	await test("closing takes everything out", async () => {
		await page.click(".function button.close");
		await page.click(".visi button.close");
		await becomes(async () => (await inserted()).rows.length === 0, "nothing inserted");
		await page.click("#processes .chip");
		await until(page, () => !document.querySelector("#processes .chip"), null, "the tree without it");
	});
	await page.done();

	await test("no script failed, and the content-security policy had nothing to say", async () => {
		assert(errors.length === 0, errors.join("\n"));
	});
});
