// SPDX-License-Identifier: GPL-2.0-only
// Serves the page from a recording, as kerninstd --replay FILE does: the page's tests need no kernel and no C.
//
// usage: node web/test/server.mjs FILE [PORT]	prints the address, with a token
import { createServer } from "node:http";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../dist");
const LINGER_MS = 5000;
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const safe = { "Content-Security-Policy": csp, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" };
const files = {
	"/": ["index.html", "text/html; charset=utf-8"], "/app.js": ["app.js", "text/javascript"], "/worker.js": ["worker.js", "text/javascript"],
	"/app.css": ["app.css", "text/css"], "/favicon.svg": ["favicon.svg", "image/svg+xml"], "/LICENSES": ["LICENSES", "text/plain; charset=utf-8"],
};

export class Replay {
	constructor(path) {
		const lines = readFileSync(path, "utf8").trimEnd().split("\n").map((l) => JSON.parse(l));
		const [head, ...rest] = lines;
		if (!head["kerninst-session"]) throw new Error(path + " is no recorded session");
		this.token = randomBytes(16).toString("hex");
		this.info = { ...head.info, replay: basename(path) };
		this.metrics = head.metrics;
		this.events = rest;
		const all = (name) => rest.filter((e) => e.event === name).map((e) => e.data);
		this.functions = gzipSync(JSON.stringify(all("functions")[0]));
		this.codes = new Map(all("function").map((f) => [(f.module ? f.module + ":" : "") + f.name, f]));
		this.curves = all("curves").flatMap((d) => d.curves);
		this.clients = new Map();
		this.serial = 0;
	}

	find(w) {
		const cpus = w.cpu === "each" ? this.info.cpus : [w.cpu ?? "all"];
		return cpus.map((cpu) => this.curves.find((c) => c.metric === w.metric && c.point === w.point && c.cpu === cpu && (c.predicate || "") === (w.predicate || ""))
			?? { metric: w.metric, point: w.point, refused: { reason: "NOT_RECORDED", message: `${w.metric} of ${w.point} is not in this recording` } });
	}

	inserted(asking) {
		const rows = [...this.clients.values()].flatMap((c) => [...c.curves].map((id) => {
			const { metric, point, predicate } = this.curves.find((x) => x.id === id);
			return { client: c.id, since: (Date.now() - c.began) / 1000, metric, point, predicate, hits: null, cost_instructions: null, share: null };
		}));
		return { rows, windows: 0, heap_used: 0, heap_size: 0, sessions: 0, mine: rows.flatMap((r, i) => (r.client === asking ? [i] : [])) };
	}

	/** What has been played to a client, as a file that can be played again. */
	recording(client, functions) {
		const played = this.events.slice(0, client.next).filter((e) => functions || e.event !== "functions");
		return [{ "kerninst-session": 1, info: { ...this.info, replay: false }, metrics: this.metrics }, ...played].map((e) => JSON.stringify(e) + "\n").join("");
	}

	send(client, event, data) {
		client.stream?.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
	}

	/** Events at their times, from the client's beginning on. */
	play(client) {
		while (client.next < this.events.length) {
			const e = this.events[client.next];
			const wait = client.began + e.t * 1000 - Date.now();
			if (wait > 0) return void (client.timer = setTimeout(() => this.play(client), wait));
			client.next++;
			if (["sample", "gap", "curves", "curve", "d"].includes(e.event)) this.send(client, e.event, e.data);
		}
		this.send(client, "bye", { why: "end of the recording" });
		client.stream?.end();
	}

	open(id, response) {
		const client = this.clients.get(id) ?? { id: "c" + ++this.serial, began: Date.now(), next: 0, curves: new Set() };
		this.clients.set(client.id, client);
		clearTimeout(client.linger);
		clearTimeout(client.timer);
		client.stream = response;
		this.send(client, "hello", { client: client.id, info: this.info });
		this.play(client);
		response.on("close", () => {
			clearTimeout(client.timer);
			client.stream = null;
			client.linger = setTimeout(() => this.clients.delete(client.id), LINGER_MS);
		});
	}
}

const refuse = (status, reason, message) => ({ status, body: { error: { reason, message } } });

const gets = {
	"/api/info": (r) => ({ body: r.info }),
	"/api/metrics": (r) => ({ body: r.metrics }),
	"/api/functions": (r) => ({ gzip: r.functions }),
	"/api/function": (r, q) => {
		const name = q.get("name") ?? "";
		const code = r.codes.get(name.replace(/@0x.*/, ""));
		return code ? { body: code } : refuse(404, "NOT_RECORDED", `the code of ${name} is not in this recording`);
	},
	"/api/inserted": (r, q) => ({ body: r.inserted(q.get("client")) }),
	"/api/recording": (r, q) => ({ text: r.recording(r.clients.get(q.get("client")), q.get("functions") === "1") }),
};

const posts = {
	"/api/curves": (r, body, client) => {
		const curves = body.curves.flatMap((w) => r.find(w));
		for (const c of curves) if (c.id !== undefined) client.curves.add(c.id);
		return { body: { curves } };
	},
	"/api/curves/remove": (_, body, client) => {
		for (const id of body.ids) client.curves.delete(id);
		return { body: {} };
	},
	"/api/d": () => refuse(409, "REPLAY", "a recording has no kernel to look at"),
	"/api/d/stop": () => ({ body: {} }),
	"/api/interval": () => ({ body: {} }),
	"/api/clear": (r) => {
		for (const c of r.clients.values()) {
			for (const id of c.curves) r.send(c, "curve", { id, refused: { reason: "CLEARED", message: "somebody has taken everything out" } });
			c.curves.clear();
		}
		return { body: {} };
	},
};

async function answerPost(replay, request, path) {
	let text = "";
	for await (const chunk of request) text += chunk;
	const body = JSON.parse(text || "{}");
	const client = replay.clients.get(body.client);
	if (!client) return refuse(404, "NO_CLIENT", "there is no such client");
	return posts[path](replay, body, client);
}

async function answer(replay, request, response) {
	const url = new URL(request.url, "http://x");
	if (files[url.pathname]) {
		const [name, type] = files[url.pathname];
		return response.writeHead(200, { ...safe, "Content-Type": type }).end(readFileSync(join(dist, name)));
	}
	const given = request.headers.authorization?.replace(/^Bearer /, "") ?? (url.pathname === "/api/events" ? url.searchParams.get("token") : null);
	let a = refuse(404, "NO_SUCH_PAGE", "there is no such page");
	if (given !== replay.token) a = refuse(401, "TOKEN", "the token is missing or wrong");
	else if (url.pathname === "/api/events") {
		response.writeHead(200, { ...safe, "Content-Type": "text/event-stream" });
		return replay.open(url.searchParams.get("client"), response);
	} else if (request.method === "POST" && posts[url.pathname]) a = await answerPost(replay, request, url.pathname);
	else if (request.method === "GET" && gets[url.pathname]) a = gets[url.pathname](replay, url.searchParams);
	const head = { ...safe, "Content-Type": "application/json", ...(a.gzip ? { "Content-Encoding": "gzip" } : {}) };
	response.writeHead(a.status ?? 200, head).end(a.gzip ?? a.text ?? JSON.stringify(a.body));
}

/** The address, with the token, once it listens; and how to end it. */
export function serve(path, port = 0) {
	const replay = new Replay(path);
	const server = createServer((request, response) => {
		answer(replay, request, response).catch((e) => response.writeHead(400, safe).end(JSON.stringify({ error: { reason: "BAD_REQUEST", message: String(e) } })));
	});
	return new Promise((done) => server.listen(port, "127.0.0.1", () =>
		done({ url: `http://127.0.0.1:${server.address().port}/?token=${replay.token}`, close: () => (server.closeAllConnections(), server.close()) })));
}

if (import.meta.url === "file://" + process.argv[1]) console.log((await serve(process.argv[2], Number(process.argv[3] ?? 0))).url);
