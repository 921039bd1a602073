// SPDX-License-Identifier: GPL-2.0-only
// What the browser tests share: one Chromium, a page that is watched for errors, results in TAP, pictures.
import { chromium } from "playwright-core";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeRecording } from "./make_recording.mjs";
import { serve } from "./server.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const artefacts = join(root, "build/web");
const binaries = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].filter(Boolean);
let number = 0, failed = 0;

export async function test(name, f) {
	const begin = Date.now();
	try {
		const said = await f();
		console.log(`ok ${++number} - ${name}${said ? ": " + said : ""} (${Date.now() - begin} ms)`);
	} catch (e) {
		failed++;
		console.log(`not ok ${++number} - ${name}\n${String(e.stack).replace(/^/gm, "  # ")}`);
	}
}

export function assert(condition, text) {
	if (!condition) throw new Error(text);
}

/** KPERFMON_URL: a daemon that replays the recording; else the server of the tests does. */
async function start() {
	if (process.env.KPERFMON_URL) return { url: process.env.KPERFMON_URL, close: () => {} };
	mkdirSync(artefacts, { recursive: true });
	const path = join(artefacts, "session.jsonl");
	await writeRecording(path, 60);
	return serve(path);
}

/** Waits for what the page says, not for a time. What cannot be asked yet, as its element is not there, is not so yet. */
export async function until(page, f, arg, what, timeout = 60000) {
	for (const end = Date.now() + timeout; Date.now() < end; await new Promise((r) => setTimeout(r, 100)))
		if (await page.evaluate(f, arg).catch(() => false)) return;
	throw new Error("waited in vain for: " + what);
}

/** The same of what is not asked of the page: f is what comes true. */
export async function becomes(f, what, timeout = 60000) {
	for (const end = Date.now() + timeout; Date.now() < end; await new Promise((r) => setTimeout(r, 100)))
		if (await f()) return;
	throw new Error("waited in vain for: " + what);
}

export async function run(tests) {
	const servers = [await start()];
	const [server] = servers;
	const executablePath = binaries.find(existsSync);
	if (!executablePath) throw new Error("there is no Chromium: apt-get install chromium");
	const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
	const errors = [];
	const open = async (options = {}) => {
		const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
		context.setDefaultTimeout(120000);
		const page = await context.newPage();
		page.posts = [];
		page.on("request", (r) => r.method() === "POST" && page.posts.push({ path: new URL(r.url()).pathname, body: r.postDataJSON() }));
		page.on("pageerror", (e) => errors.push(String(e.stack)));
		page.on("console", (m) => m.type() === "error" && !/status of 4\d\d/.test(m.text()) && errors.push(m.text()));
		page.shot = (name) => page.screenshot({ path: join(artefacts, name + ".png") });
		page.done = () => context.close();
		return page;
	};
	const serveFile = async (path) => {
		servers.push(await serve(path));
		return servers.at(-1);
	};
	const at = (hash) => server.url + hash;
	try {
		// A session of which so much is past that the plots are nearly full.
		const serveLong = async (past) => {
			const path = join(artefacts, "long.jsonl");
			await writeRecording(path, 45, past);
			return serveFile(path);
		};
		await tests({ open, at, serveFile, serveLong, errors, request: (path, init) => fetch(new URL(path, server.url), init), token: new URL(server.url).searchParams.get("token") });
	} finally {
		await browser.close();
		for (const s of servers) s.close();
	}
	console.log(`1..${number}`);
	process.exitCode = failed ? 1 : 0;
}
