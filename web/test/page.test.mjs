// SPDX-License-Identifier: GPL-2.0-only
// The page in a real browser: what people do with it, from search to close.
import { readFile } from "node:fs/promises";
import { assert, becomes, run, test, until } from "./browser.mjs";
import { painted, postsTo, ready, selectFunction, selectMetric, values } from "./steps.mjs";

const three = ["vfs_read", "tcp_v4_rcv", "__schedule"];
const six = "#view=plots&visi=time;" + three.flatMap((f) => ["calls", "walltime"].map((m) => `${m},${f},all,`)).join(";");

async function csvOf(page, scope) {
	const [d] = await Promise.all([page.waitForEvent("download"), page.click(`${scope} button:has-text("CSV")`)]);
	return (await readFile(await d.path(), "utf8")).trimEnd().split("\r\n").map((l) => l.split(","));
}

async function inserted({ request, token }) {
	const r = await request("/api/inserted", { headers: { Authorization: "Bearer " + token } });
	return (await r.json()).rows.length;
}

await run(async (env) => {
	const { open, at, errors } = env;
	let page = await open();

	await test("the token leaves the address, and a wrong one opens nothing", async () => {
		await ready(page, at(""));
		assert(!page.url().includes("token"), page.url());
		await page.reload();
		await page.waitForSelector(".t-module");
		const r = await env.request("/api/inserted", { headers: { Authorization: "Bearer wrong" } });
		assert(r.status === 401, "status " + r.status);
		const other = await open();
		await other.goto(at("").replace(/token=.*/, "token=wrong"));
		await other.waitForSelector("form.token");
		await other.done();
	});

	await test("search finds among 50,000 functions, and what is chosen stays chosen", async () => {
		await page.fill("#search", "vfs");
		await until(page, () => /^\d+ of 50002 functions$/.test(document.querySelector(".tree > .small").textContent), null, "the number of finds");
		await page.shot("search");
		for (const f of three) await selectFunction(page, f);
		for (const m of ["calls", "walltime"]) await selectMetric(page, m);
		await page.fill("#search", "");
		const chips = await page.$$eval("#chosen .chip", (e) => e.length);
		assert(chips === 3, chips + " chips");
		assert((await page.textContent("#plan")) === "2 metrics × 3 places: 6 curves", await page.textContent("#plan"));
	});

	await test("nothing is inserted before the start", async () => {
		assert(page.posts.length === 0, JSON.stringify(page.posts));
		assert((await inserted(env)) === 0, "something is inserted");
	});

	await test("two metrics of three functions are six curves, and they move", async () => {
		await page.click("#start");
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 6, null, "six curves");
		await until(page, () => [...document.querySelectorAll(".visi .value")].every((v) => /\d/.test(v.textContent)), null, "six values");
		const before = await values(page);
		const moved = new Set();
		let after = before;
		await becomes(async () => {
			after = await values(page);
			for (const [k, v] of Object.entries(after)) if (v !== before[k]) moved.add(k);
			return moved.size === 6;
		}, "values that move");
		assert(Object.keys(after).length === 6, JSON.stringify(after));
		assert(Object.entries(after).every(([k, v]) => (k.startsWith("calls") ? /\/s$/ : / threads$/).test(v)), "units: " + JSON.stringify(after));
		const asked = postsTo(page, "/api/curves").flatMap((p) => p.body.curves.map((c) => c.metric + " " + c.point + " " + c.cpu));
		assert(asked.length === 6 && new Set(asked).size === 6, asked.join());
		assert((await inserted(env)) === 6, "the daemon has other curves");
		await becomes(async () => (await painted(page, ".visi canvas")) > 0.01, "a plot that is not empty");
	});

	await test("missing samples are a gap, in the plot and in the CSV", async () => {
		await until(page, () => +document.querySelector(".axisnote").textContent.split(" ")[0] > 50, null, "ten seconds");
		const rows = await csvOf(page, ".visi");
		assert(rows[0].length === 8 && /^calls vfs_read \(\/s\)$/.test(rows[0][2]), rows[0].join());
		const unknown = rows.slice(1).filter((r) => r.slice(2).every((c) => c === ""));
		const seconds = unknown.reduce((a, r) => a + (r[1] - r[0]), 0);
		assert(Math.abs(seconds - 1.5) < 0.45, `${seconds} s unknown`);
		assert(unknown.every((r) => +r[0] > 5.5 && +r[1] < 8), "the gap is elsewhere: " + unknown.join(" | "));
		const known = rows.slice(1).filter((r) => r[2] !== "");
		assert(known.every((r) => +r[2] > 3000 && +r[2] < 50000), "calls of vfs_read: " + known.map((r) => r[2]).join());
		await page.shot("time-light");
	});

	await test("the same curves as bars and as a table, without asking the daemon again", async () => {
		const posts = page.posts.length;
		await page.selectOption(".visi header select", "bars");
		await until(page, () => document.querySelectorAll(".visi .brow").length === 6, null, "six bars");
		await page.click('.visi .toggle:has-text("total")');
		await page.shot("bars");
		await page.selectOption(".visi header select", "table");
		await page.click('.visi th button:has-text("average")');
		const column = await page.$$eval(".visi tbody tr", (rows) => rows.map((r) => r.cells[2].textContent));
		assert(column.length === 6 && column.every((c) => /\d/.test(c)), column.join());
		await page.shot("table");
		assert(page.posts.length === posts, "it asked");
		await page.selectOption(".visi header select", "time");
	});

	await test("curves are added and taken out while it runs", async () => {
		await selectMetric(page, "calls");
		await selectMetric(page, "walltime");
		await selectMetric(page, "walltime/call");
		await page.click('.visi button:has-text("+ Selection")');
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 9, null, "nine curves");
		await page.click('.visi .lrow:first-child button');
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 8, null, "eight curves");
		await becomes(async () => (await inserted(env)) === 8, "the daemon's eight curves");
	});

	await test("each CPU is a curve of its own", async () => {
		await selectMetric(page, "walltime/call");
		await selectMetric(page, "calls");
		await page.click('.cpus button:has-text("each")');
		assert((await page.textContent("#plan")).endsWith("6 curves"), await page.textContent("#plan"));
		await page.click('.visi button:has-text("+ Selection")');
		await until(page, () => [...document.querySelectorAll(".visi .lrow")].filter((r) => / cpu [01]$/.test(r.querySelector(".cname").textContent)).length === 6, null, "six curves of CPUs");
		await page.click('.cpus button:has-text("all")');
	});

	await test("what cannot be is refused, with the reason", async () => {
		await page.click(".t-module:first-of-type .name", { force: true });
		await page.fill("#predicate", "pid == 77");
		await page.click('.visi button:has-text("+ Selection")');
		await until(page, () => /NOT_RECORDED/.test(document.querySelector(".visi .refused")?.textContent), null, "the daemon's refusal");
		await page.fill("#predicate", "");
		await selectMetric(page, "cycles");
		assert(/no counter/.test(await page.textContent("#plan")), await page.textContent("#plan"));
		await selectMetric(page, "cycles");
		await page.focus(".tree .vlist");
		await page.keyboard.press("Home");
		await page.keyboard.press(" ");
		await until(page, () => /not of a module/.test(document.querySelector("#notices").textContent), null, "the refusal of a module");
	});

	await test("a latency heat map has percentiles beside it", async () => {
		await selectMetric(page, "calls");
		await selectMetric(page, "latency");
		assert(/heat map/.test(await page.textContent("#plan")), await page.textContent("#plan"));
		await page.selectOption("#kind", "heat");
		await page.click("#start");
		await until(page, () => document.querySelectorAll(".visi[data-kind=heat] figure").length === 3, null, "three heat maps");
		await becomes(async () => (await painted(page, ".visi canvas.heatmap")) > 0.05, "a map that is not empty");
		await until(page, () => / calls · p50 /.test(document.querySelector(".visi[data-kind=heat] .quantiles").textContent), null, "percentiles");
		const text = await page.textContent(".visi[data-kind=heat] .quantiles");
		assert(/^[\d.]+ ?k? calls · p50 < [\d.]+ [nµm]s · p90 < .* · p99 < /.test(text), text);
		await page.evaluate(() => document.querySelector(".visi[data-kind=heat]").scrollIntoView());
		await page.shot("heat-light");
	});

	await test("closing takes everything out", async () => {
		for (let left = await page.$$eval(".visi", (v) => v.length); left > 0; left--) await page.click(".visi:last-of-type button.close");
		await until(page, () => !document.querySelector(".visi") && !document.querySelector("#inserted-count").textContent, null, "no visualization");
		await becomes(async () => (await inserted(env)) === 0, "no curves");
		const added = postsTo(page, "/api/curves").length, removed = postsTo(page, "/api/curves/remove").flatMap((p) => p.body.ids);
		assert(added >= 4 && removed.length >= 17, `${removed.length} curves were removed`);
	});
	await page.done();

	await test("an address brings a visualization back, but starts nothing", async () => {
		page = await open();
		await ready(page, at(six + "&theme=dark"));
		await until(page, () => /^6 curves/.test(document.querySelector(".visi .waiting").textContent), null, "six curves waiting");
		assert(page.posts.length === 0, "it inserted by itself");
		await page.click(".visi .waiting button");
		await until(page, () => document.querySelectorAll(".visi .lrow").length === 6, null, "six curves");
		await page.waitForTimeout(4000);
		await page.shot("time-dark");
		const hash = new URL(page.url()).hash;
		assert(hash.includes("visi=time;") && hash.includes("theme=dark"), hash);
	});

	await test("a page that goes away takes its curves along", async () => {
		assert((await inserted(env)) === 6, "there are " + (await inserted(env)));
		await page.goto("about:blank");
		await becomes(async () => (await inserted(env)) === 0, "no curves");
	});

	await test("a zoomed time range is in the address", async () => {
		await ready(page, at(six));
		await page.click(".visi .waiting button");
		await until(page, () => +document.querySelector(".axisnote").textContent.split(" ")[0] > 15, null, "three seconds");
		const box = await (await page.$(".visi .u-over")).boundingBox();
		await page.mouse.move(box.x + box.width * 0.1, box.y + 50);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * 0.3, box.y + 60, { steps: 4 });
		await page.mouse.up();
		await until(page, () => /visi=time,[\d.]+,[\d.]+;/.test(location.hash), null, "the range in the address");
		await page.mouse.dblclick(box.x + 40, box.y + 40);
		await until(page, () => /visi=time;/.test(location.hash), null, "the range gone");
	});

	await test("what is inserted is listed, and one button removes it all", async () => {
		await page.keyboard.press("i");
		await until(page, () => document.querySelectorAll(".inserted .vrow").length === 6, null, "six rows");
		assert((await page.textContent(".inserted .vrow .i-by")) === "this page", await page.textContent(".inserted .vrow"));
		await page.shot("inserted");
		await page.click("#remove-all");
		await until(page, () => /^Nothing is inserted/.test(document.querySelector(".inserted .empty:not([hidden])")?.textContent), null, "nothing inserted");
		assert((await inserted(env)) === 0, "curves are left");
		await page.keyboard.press("m");
		await until(page, () => [...document.querySelectorAll(".visi .value")].every((v) => v.textContent === "ended"), null, "curves that say so");
	});

	await test("what a D program prints: text, bars, what is missing, how it has ended", async () => {
		await page.keyboard.press("d");
		await until(page, () => /^ended/.test(document.querySelector("#d-status").textContent), null, "its end");
		await until(page, () => document.querySelectorAll("#d-out .drow").length === 8, null, "eight bars");
		const rows = await page.$$eval("#d-out .drow", (r) => r.map((x) => [x.querySelector(".dvalue").textContent, x.querySelector(".dbar").style.transform, x.querySelector(".dcount").textContent].join(" ")));
		assert(rows.join() === "1 scaleX(0) 0,2 scaleX(1) 40,4 scaleX(0.5) 20,8 scaleX(0.25) 10,16 scaleX(0) 0," +
			"2 scaleX(0.166667) 5,4 scaleX(1) 30,8 scaleX(0.0666667) 2", rows.join());
		const text = await page.textContent("#d-out");
		assert(/%d.*sizes.*Distribution.*end of it.*invalid address.*12 bytes are missing.*2 records dropped/s.test(text), text);
		assert((await page.$$eval(".dmaps figcaption", (c) => c.map((x) => x.textContent).join())) === "sizes", "another map");
		assert((await painted(page, ".dmap")) > 0.01, "an empty map");
		await page.shot("d");
	});

	await test("a D program is run, stopped, and refused with its line", async () => {
		const answer = (status, body) => ({ status, contentType: "application/json", body: JSON.stringify(body) });
		await page.fill("#d-text", "BEGIN { }");
		await page.click("#d-run");
		await until(page, () => /\[REPLAY\]$/.test(document.querySelector("#d-error").textContent), null, "the daemon's refusal");
		await page.route("**/api/d", (r) => r.fulfill(answer(400, { error: { reason: "D_IDENT_UNDEF", message: "failed to resolve nonsense", line: 2, column: 8 } })));
		await page.fill("#d-text", "BEGIN {\n\ttrace(nonsense);\n}");
		await page.focus("#d-text");
		await page.keyboard.press("Control+Enter");
		await until(page, () => /^line 2, column 8: failed to resolve nonsense \[D_IDENT_UNDEF\]/.test(document.querySelector("#d-error").textContent), null, "the error");
		assert((await page.$eval("#d-text", (t) => t.value.slice(t.selectionStart, t.selectionEnd))) === "\ttrace(nonsense);", "the line is not marked");
		await page.shot("d-error");
		assert(postsTo(page, "/api/d").at(-1).body.program.startsWith("BEGIN {\n"), "another program");
		await page.unroute("**/api/d");
		await page.route("**/api/d", (r) => r.fulfill(answer(200, {})));
		await page.selectOption("#d-example", { index: 1 });
		await page.click("#d-run");
		await until(page, () => document.querySelector("#d-run").disabled && !document.querySelector("#d-stop").disabled && document.querySelector("#d-error").hidden, null, "a program that runs");
		await page.click("#d-stop");
		await becomes(() => postsTo(page, "/api/d/stop").length === 1, "its stop");
		await page.click("#d-clear");
		assert((await page.textContent("#d-out")) === "", "output is left");
	});

	await test("all of it works with keys alone", async () => {
		await page.done();
		page = await open();
		await ready(page, at(""));
		await page.keyboard.press("/");
		await page.keyboard.type("vfs_read");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press(" ");
		await page.focus("#metric-filter");
		await page.keyboard.type("walltime/c");
		assert((await page.$$eval("#metrics .vrow", (r) => r.map((x) => x.querySelector(".name").textContent))).join() === "walltime/call", "the metrics' search");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		await page.keyboard.press("a");
		await until(page, () => /^walltime\/call vfs_read$/.test(document.querySelector(".visi .lrow .cname")?.textContent), null, "the curve");
		await page.keyboard.press("/");
		await page.keyboard.press("Escape");
		await page.keyboard.press("Escape");
		await page.keyboard.press("?");
		await page.waitForSelector("dialog[open] kbd");
		await page.shot("help");
		await page.keyboard.press("Escape");
		await page.keyboard.press("t");
		await until(page, () => /theme=light/.test(location.hash), null, "the theme");
	});

	await test("a recording shows what is in it with one click", async () => {
		await page.click("#show-recorded");
		await page.waitForSelector(".visi[data-kind=heat] .waiting");
		const waiting = await page.$$(".visi .waiting button");
		assert(waiting.length >= 3, waiting.length + " visualizations");
		await waiting[0].click();
		await until(page, () => document.querySelectorAll(".visi .lrow").length > 6, null, "its curves");
	});

	await test("a session that is saved can be opened again", async () => {
		await page.waitForTimeout(2500); // some samples more
		const [d] = await Promise.all([page.waitForEvent("download"), page.click('button:has-text("Save")')]);
		const saved = await d.path();
		const lines = (await readFile(saved, "utf8")).trimEnd().split("\n").map((l) => JSON.parse(l));
		assert(lines[0]["kerninst-session"] === 1 && lines[0].metrics.length > 0, "no head");
		const samples = lines.filter((l) => l.event === "sample"), curves = lines.filter((l) => l.event === "curves").flatMap((l) => l.data.curves);
		assert(samples.length > 10 && curves.length > 0, `${samples.length} samples of ${curves.length} curves`);
		const again = await env.serveFile(saved);
		const other = await open();
		await ready(other, again.url);
		await selectFunction(other, "vfs_read");
		await selectMetric(other, "calls");
		await other.click("#start");
		await until(other, () => / k\/s$/.test(document.querySelector(".visi .value")?.textContent), null, "its values");
		await other.done();
	});
	await page.done();

	await test("no script failed, and the content-security policy had nothing to say", async () => {
		assert(errors.length === 0, errors.join("\n"));
	});
});
