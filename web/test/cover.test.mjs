// SPDX-License-Identifier: GPL-2.0-only
// The report of kerninst cover, of a whole kernel, as a browser shows it: opened from the disk.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { artefacts, assert, run, test, until } from "./browser.mjs";

const root = join(artefacts, "../..");
const json = join(artefacts, "cover.json"), dir = join(artefacts, "cover");
const kernel = (what) => execFileSync(join(root, "vm/kernel"), ["6.1", what], { encoding: "utf8" }).trim();
const page = (name) => pathToFileURL(join(dir, name)).href;

function build() {
	const image = kernel("vmlinux"), map = kernel("system-map");
	execFileSync(join(root, "build/test/coverage/make"), ["image", "count", "7", json, image, map]);
	rmSync(dir, { recursive: true, force: true });
	const begin = Date.now();
	execFileSync(join(root, "build/release/bin/kerninst"), ["cover", "-q", "--from", json, "--html", dir, "--image", image, "--system-map", map]);
	return `${Date.now() - begin} ms`;
}

const column = (view, table, n) => view.$$eval(`${table} tbody tr:not([hidden])`, (rows, i) => rows.map((r) => r.cells[i].textContent), n);
const number = (text) => Number(text.replaceAll(",", ""));

await run(async ({ open, errors }) => {
	await test("a report of a whole kernel is written", build);

	await test("its first page is there within two seconds, from the disk alone", async () => {
		const view = await open();
		const strange = [];
		view.on("request", (r) => /^(file|data):/.test(r.url()) || strange.push(r.url()));
		let least = Infinity;
		for (let i = 0; i < 5; i++) {
			await view.goto(page("index.html"));
			least = Math.min(least, await view.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd));
		}
		assert(least < 2000, `${least} ms`);
		assert(!strange.length, strange.join(" "));
		await view.shot("cover-index");
		await view.done();
		return `${least.toFixed(0)} ms`;
	});

	await test("tables are sorted by keyboard, and filtered", async () => {
		const view = await open();
		await view.goto(page("index.html"));
		await view.focus("#groups th:nth-child(1) button");
		await view.keyboard.press("Enter");
		const names = await column(view, "#groups", 0);
		assert(names.length > 100 && names.every((n, i) => !i || names[i - 1] <= n), "by name");
		await view.focus("#groups th:nth-child(4) button");
		await view.keyboard.press("Space");
		const hits = (await column(view, "#groups", 3)).map(number);
		assert(hits.every((n, i) => !i || hits[i - 1] >= n), "by hits");
		assert(await view.getAttribute("#groups th:nth-child(4)", "aria-sort") === "descending", "it says so");
		await view.keyboard.press("Space");
		assert(number((await column(view, "#groups", 3))[0]) === hits.at(-1), "the other way");
		await view.fill("input[data-filter=groups]", "tcp");
		const left = await column(view, "#groups", 0);
		assert(left.length && left.every((n) => n.includes("tcp")), left.join(" "));
		await view.done();
	});

	await test("the search finds functions, by keyboard", async () => {
		const view = await open();
		await view.goto(page("index.html"));
		await view.keyboard.press("/");
		await view.keyboard.type("hist_trigger_match");
		await until(view, () => document.querySelector(".search li a"), null, "something found");
		await view.keyboard.press("ArrowDown");
		await view.keyboard.press("Enter");
		await view.waitForSelector("h1");
		await until(view, () => document.querySelector("h1").textContent === "hist_trigger_match", null, "its page");
		const [drawn, listed] = [await view.$$(".graph a.b"), await view.$$("tr[id^=b]")];
		assert(drawn.length > 50 && drawn.length === listed.length, "its graph");
		await view.shot("cover-function");
		await view.done();
	});

	await test("a wide graph begins at the entry, and is shown whole", async () => {
		const view = await open();
		await view.goto(page("index.html"));
		const href = await view.evaluate(() => new Promise((done) => {
			window.kerninstNames = (all) => done(`f/${all[all.indexOf("tcp_v4_rcv") + 2]}.html`);
			document.head.append(Object.assign(document.createElement("script"), { src: "names.js" }));
		}));
		assert(existsSync(join(dir, href)), href);
		await view.goto(page(href));
		const inside = () => view.evaluate(() => {
			const g = document.querySelector(".graph").getBoundingClientRect(), b = document.querySelector("a.b").getBoundingClientRect();
			return b.left >= g.left && b.right <= g.right;
		});
		assert(await inside(), "the entry is out of sight");
		await view.click("button.tool");
		assert(await view.evaluate(() => document.querySelector(".graph").scrollWidth <= document.querySelector(".graph").clientWidth + 1), "not whole");
		await view.click(".graph a.b");
		await until(view, () => location.hash.startsWith("#b"), null, "its row");
		await view.done();
	});

	for (const [name, options] of Object.entries({ phone: { viewport: { width: 390, height: 800 } }, dark: { colorScheme: "dark" } }))
		await test(`${name}: nothing is wider than the page, and texts can be read`, async () => {
			const view = await open(options);
			for (const file of ["index.html", "g/0.html", "f/9643.html"]) {
				await view.goto(page(file));
				assert(await view.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${file} is too wide`);
				const bad = await view.evaluate(contrasts);
				assert(!bad.length, `${file}: ${bad.slice(0, 5).join("; ")}`);
			}
			await view.shot(`cover-${name}`);
			await view.done();
		});

	await test("no errors on the pages", () => assert(!errors.length, errors.join("\n")));
});

// In the page: texts in a graph's boxes whose contrast with the box is below 4.5.
function contrasts() {
	const light = (colour) => {
		const [r, g, b] = colour.match(/[\d.]+/g).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	return [...document.querySelectorAll("a.b text")].flatMap((t) => {
		const [a, b] = [light(getComputedStyle(t).fill), light(getComputedStyle(t.parentNode.querySelector("rect")).fill)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		return ratio < 4.5 ? [`${t.parentNode.getAttribute("class")} ${ratio.toFixed(1)}`] : [];
	});
}
