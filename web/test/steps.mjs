// SPDX-License-Identifier: GPL-2.0-only
// What people do with the page, for the browser tests.
import { until } from "./browser.mjs";

export async function ready(page, url) {
	await page.goto(url);
	await page.waitForSelector(".t-module, .t-fn");
	await until(page, () => document.querySelector("#link")?.dataset.state === "open", null, "the stream");
}

export async function selectFunction(page, name) {
	await page.fill("#search", name);
	await page.click(`.t-fn[title="${name}"] .name`);
}

export async function selectMetric(page, name) {
	await page.fill("#metric-filter", name);
	await page.click(`#metrics .vrow:has(.name:text-is("${name}"))`);
	await page.fill("#metric-filter", "");
	await until(page, () => document.querySelectorAll("#metrics .vrow").length > 4, null, "all metrics again");
}

/** The numbers of a visualization's curves as they are shown, by name. */
export const values = (page) =>
	page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".visi .lrow, .visi .brow")].map((r) => [r.querySelector(".cname").textContent, r.querySelector(".value").textContent])));

export const postsTo = (page, path) => page.posts.filter((p) => p.path === path);

/** Fractions of a canvas that are not its ground colour. */
export const painted = (page, selector) =>
	page.evaluate((s) => {
		const c = document.querySelector(s);
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0;
		for (let i = 3; i < d.length; i += 4) if (d[i]) n++;
		return n / (c.width * c.height);
	}, selector);

/** Frames a second while the page does what it does, and the longest time without one. */
export const frames = (page, ms) =>
	page.evaluate((time) => new Promise((done) => {
		const begin = performance.now();
		let n = 0, last = begin, longest = 0;
		const tick = (now) => {
			n++;
			longest = Math.max(longest, now - last);
			last = now;
			if (now - begin < time) requestAnimationFrame(tick);
			else done({ rate: (n * 1000) / (now - begin), longest });
		};
		requestAnimationFrame(tick);
	}), ms);

/** Milliseconds of the CPU's time that the page's main thread was at work without a pause, at most, while f runs. What else the machine does is not in it. */
export async function longestTask(page, f) {
	const browser = page.context().browser();
	await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"] });
	await f();
	const { traceEvents } = JSON.parse(await browser.stopTracing());
	const main = new Set(traceEvents.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => e.pid + "/" + e.tid));
	return Math.max(0, ...traceEvents.filter((e) => /RunTask$/.test(e.name) && main.has(e.pid + "/" + e.tid)).map((e) => (e.tdur ?? 0) / 1000));
}
