// SPDX-License-Identifier: GPL-2.0-only
// A function's page, and the page on a phone.
import { readFile } from "node:fs/promises";
import { assert, run, test, until } from "./browser.mjs";
import { frames, longestTask, painted, postsTo, ready, selectFunction, selectMetric } from "./steps.mjs";

const graphReady = (page) => page.waitForSelector("canvas.graph[data-ready]", { timeout: 60000 });

async function rowsOf(page) {
	return page.$$eval(".disasm .vrow", (rows) => rows.map((r) => r.textContent));
}

await run(async ({ open, at, errors, request, token }) => {
	const code = await (await request("/api/function?name=vfs_read", { headers: { Authorization: "Bearer " + token } })).json();
	let page = await open();

	await test("a function's page shows graph, instructions, free registers", async () => {
		await ready(page, at(""));
		await page.fill("#search", "vfs_read");
		await page.focus(".tree .vlist");
		await page.keyboard.press("Enter");
		await graphReady(page);
		assert((await page.textContent(".function h2")) === "vfs_read", "another function");
		assert((await page.textContent(".function header")).includes(`${code.blocks.length} blocks · ${code.insns.length} instructions`), await page.textContent(".function header"));
		const rows = await rowsOf(page);
		const first = code.insns[0];
		const row = rows.find((r) => r.includes(first.original));
		assert(row?.includes(first.text) && row.endsWith(first.free), row);
		assert((await painted(page, "canvas.graph")) > 0.02, "an empty graph");
		assert(page.posts.length === 0, "it inserted something");
	});

	await test("instructions that differ from the original are marked, both are shown", async () => {
		const differ = code.insns.filter((i) => i.now !== i.original);
		assert(differ.length > 0, "nothing differs in the recording");
		const marked = await page.$$eval(".disasm .changed", (r) => r.map((x) => x.textContent));
		const seen = differ.find((d) => marked.some((m) => m.includes(d.original) && m.includes(d.now) && m.includes(d.now_text)));
		assert(seen, marked.join("\n"));
	});

	await test("blocks that cannot be instrumented say why", async () => {
		const refused = code.blocks.filter((b) => b.window.refused);
		assert(refused.length > 0, "nothing is refused in the recording");
		assert((await page.textContent(".fline")).includes(`${refused.length} of ${code.blocks.length} blocks`), await page.textContent(".fline"));
		const rows = await page.$$eval(".disasm .d-block .warn", (r) => r.map((x) => x.textContent));
		assert(rows.some((r) => r === refused[0].window.refused + ": " + refused[0].window.message), rows.join());
	});

	await test("counting puts a counter into each block that can have one, and shows counts and shares", async () => {
		await page.click("#count-blocks");
		await until(page, () => /% of calls/.test(document.querySelector(".d-block").textContent), null, "the counts");
		const asked = postsTo(page, "/api/curves").flatMap((p) => p.body.curves);
		const blocks = code.blocks.filter((b) => !b.window.refused).map((b) => `vfs_read:block/${b.index}`);
		assert(asked.filter((c) => c.metric === "count").map((c) => c.point).join() === blocks.join(), "other blocks");
		await page.waitForTimeout(1000);
		const first = await page.textContent(".d-block");
		assert(/[\d.]+ k?\/s · 100 % of calls · [\d.]+ % of instructions/.test(first), first);
		assert(/of one CPU's time inside/.test(await page.textContent(".fnumbers")), await page.textContent(".fnumbers"));
		await page.shot("function-light");
		const [d] = await Promise.all([page.waitForEvent("download"), page.click('.function button:has-text("CSV")')]);
		const csv = (await readFile(await d.path(), "utf8")).trimEnd().split("\r\n").map((l) => l.split(","));
		assert(csv.length === code.blocks.length + 1, csv.length + " rows");
		const work = csv.slice(1).reduce((a, r) => a + Number(r[6]), 0);
		assert(Math.abs(work - 1) < 1e-6, "the shares of all instructions are together " + work);
	});

	await test("a call's target is a link to its page, and who leaves takes his counters along", async () => {
		await page.click(".disasm a >> nth=0");
		await until(page, () => document.querySelector(".function h2")?.textContent !== "vfs_read", null, "another page");
		await page.waitForTimeout(300);
		const r = await (await request("/api/inserted", { headers: { Authorization: "Bearer " + token } })).json();
		assert(r.rows.length === 0, r.rows.length + " are left");
		await page.goBack();
		await graphReady(page);
	});

	await test("who is quicker than the stream waits for it", async () => {
		const slow = await open();
		await slow.route("**/api/events*", async (route) => {
			await new Promise((go) => setTimeout(go, 2000));
			await route.continue();
		});
		await slow.goto(at("#view=function&fn=vfs_read"));
		await slow.click("#count-blocks");
		assert((await slow.textContent("#link")) === "connecting …", "the stream was there already");
		await until(slow, () => /% of calls/.test(document.querySelector(".d-block").textContent), null, "the counts");
		await until(slow, () => /of one CPU's time inside/.test(document.querySelector(".fnumbers").textContent), null, "the time inside");
		await slow.done();
	});

	await test("a refused function says why", async () => {
		await page.goto(at("#view=function&fn=dput"));
		await until(page, () => /NOINSTR/.test(document.querySelector(".function > .warn")?.textContent), null, "the reason");
	});

	await test("the graph of 600 blocks does not freeze the page", async () => {
		let early, seen;
		await page.goto("about:blank");
		const task = await longestTask(page, async () => {
			await page.goto(at("#view=function&fn=big_switch_handler"));
			await page.waitForSelector(".graphstatus:has-text('laying out 600')");
			await page.waitForTimeout(100);
			early = await painted(page, "canvas.graph");
			seen = await frames(page, 1500);
			await graphReady(page);
		});
		const ms = await page.getAttribute("canvas.graph", "data-ready");
		assert(early > 0.02, "nothing is shown while it is laid out");
		assert(task > 1 && task < 250, `the page was busy for ${Math.round(task)} ms at once`);
		assert(seen.rate > 20, `${seen.rate.toFixed(1)} frames a second`);
		return `${seen.rate.toFixed(0)} frames a second meanwhile, at most ${Math.round(task)} ms of work at once; laid out in ${ms} ms`;
	});

	await test("and moves while 600 blocks are counted", async () => {
		await page.click("#count-blocks");
		await until(page, () => /% of calls/.test(document.querySelector(".d-block").textContent), null, "the counts");
		const box = await (await page.$("canvas.graph")).boundingBox();
		await page.mouse.move(box.x + 200, box.y + 400);
		for (let i = 0; i < 6; i++) await page.mouse.wheel(0, 200);
		await page.shot("graph-600");
		await page.click('.graphtools button:has-text("Fit")');
		const [moving] = await Promise.all([frames(page, 3000), (async () => {
			await page.mouse.down();
			for (let i = 0; i < 40; i++) {
				await page.mouse.move(box.x + 200 + 4 * i, box.y + 400);
				await page.waitForTimeout(60);
			}
			await page.mouse.up();
		})()]);
		await page.shot("graph-600-all");
		assert(moving.rate > 20, `${moving.rate.toFixed(1)} frames a second`);
		return `${moving.rate.toFixed(0)} frames a second`;
	});

	await test("the same in the dark", async () => {
		await page.goto("about:blank");
		await page.goto(at("#view=function&fn=tcp_v4_rcv&theme=dark"));
		await graphReady(page);
		await page.click("#count-blocks");
		await until(page, () => /% of calls/.test(document.querySelector(".d-block").textContent), null, "the counts");
		await page.waitForTimeout(600);
		await page.shot("function-dark");
	});
	await page.done();

	page = await open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
	const noOverflow = async (where) => {
		const [have, want] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
		assert(have <= want, `${where} is ${have} pixels wide`);
	};

	await test("on a phone: choose, start, look, function, inserted, nothing wider than the screen", async () => {
		await ready(page, at(""));
		await selectFunction(page, "vfs_read");
		await selectFunction(page, "tcp_sendmsg");
		await page.fill("#search", "");
		await selectMetric(page, "calls");
		await selectMetric(page, "walltime");
		await page.shot("phone-choose");
		await noOverflow("choose");
		await page.tap("#start");
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 4, null, "four curves");
		await page.waitForTimeout(3000);
		await page.shot("phone-plots");
		await noOverflow("plots");
		await page.tap('nav [data-go="choose"]');
		await page.fill("#search", "vfs_read");
		await page.tap(".t-fn .page");
		await graphReady(page);
		await page.tap("#count-blocks");
		await until(page, () => /% of calls/.test(document.querySelector(".d-block").textContent), null, "the counts");
		await page.shot("phone-function");
		await noOverflow("function");
		await page.tap('nav [data-go="inserted"]');
		await page.waitForSelector(".inserted .vrow");
		await page.shot("phone-inserted");
		await noOverflow("inserted");
	});
	await page.done();

	await test("no script failed, and the content-security policy had nothing to say", async () => {
		assert(errors.length === 0, errors.join("\n"));
	});
});
