// SPDX-License-Identifier: GPL-2.0-only
// The page: its bar, its views, and the stream that feeds them.
import "uplot/dist/uPlot.min.css";
import { api, ApiError, setToken, takeToken } from "./api";
import { App } from "./app";
import { Choose } from "./choose";
import { download } from "./csv";
import { DPage } from "./d";
import { byId, h, notify, setText } from "./dom";
import { FunctionPage } from "./function";
import { InsertedPage } from "./inserted";
import { installKeys } from "./keys";
import { Recorded } from "./recorded";
import { decodeState, themes, type Kind, type View, type VisiState } from "./state";
import { Stream, type Link } from "./stream";
import { onTheme, setTheme } from "./theme";
import type { ModuleList } from "./types";
import { Visi } from "./visi";

takeToken();
const app = new App();
const visis: Visi[] = [];
const plots = h("section.plots", { "aria-label": "Visualizations" });
const nothing = h("p.empty", null, "Choose places on the left, metrics below them, and start a visualization. Nothing is inserted into the kernel before that.");
const choose = new Choose(app, (kind) => void start(kind));
const dPage = new DPage(app);
const recorded = new Recorded(app, (state) => addVisi(state));
const link = h("span.linkstate", { id: "link", role: "status" });
const insertedCount = h("span.badge", { id: "inserted-count" });
const kernel = h("span.kernel.dim");

function addVisi(state: VisiState): Visi {
	const v = new Visi(app, state, { closed: removeVisi, changed: saveVisis });
	visis.push(v);
	nothing.hidden = true;
	plots.append(v.element);
	return v;
}

function removeVisi(v: Visi): void {
	visis.splice(visis.indexOf(v), 1);
	nothing.hidden = visis.length > 0;
	saveVisis();
}

function saveVisis(): void {
	app.change({ visis: visis.map((v) => v.state) });
}

async function start(kind: Kind): Promise<void> {
	const v = addVisi({ kind, curves: [], zoom: null });
	app.change({ view: "plots" }, true);
	await v.addSelection();
	saveVisis();
	v.element.scrollIntoView({ block: "nearest" });
}

function showView(): void {
	document.body.dataset.view = app.state.view;
	for (const b of document.querySelectorAll<HTMLElement>("nav [data-go]"))
		b.setAttribute("aria-current", b.dataset.go === app.state.view ? "page" : "false");
}

function go(view: View): void {
	app.change({ view }, true);
}

function nextTheme(): void {
	app.change({ theme: themes[(themes.indexOf(app.state.theme) + 1) % themes.length] });
	setTheme(app.state.theme);
	notify("theme: " + app.state.theme);
}

async function save(): Promise<void> {
	if (!app.curves.client) return;
	try {
		download("kperfmon-" + new Date().toISOString().replace(/[:.]/g, "-") + ".jsonl", "application/x-ndjson", await api.recording(app.curves.client));
	} catch (e) {
		notify((e as Error).message, "error");
	}
}

function layout(): void {
	const help = installKeys([
		{ key: "/", text: "search functions", run: () => (["inserted", "function", "d"].includes(app.state.view) ? go("choose") : 0, choose.focusSearch()) },
		{ key: "a", text: "start a visualization of what is selected", run: () => byId("start").click() },
		{ key: "m", text: "measure: choose, and look at plots", run: () => go("plots") },
		{ key: "f", text: "the function's page", run: () => go("function") },
		{ key: "i", text: "what is inserted", run: () => go("inserted") },
		{ key: "d", text: "D programs", run: () => go("d") },
		{ key: "t", text: "theme: as the system, light, dark", run: nextTheme },
		{ key: "s", text: "save this session", run: () => void save() },
	]);
	const tab = (view: View, text: string, ...more: Node[]): HTMLElement => h("button", { "data-go": view, onclick: () => go(view) }, text, ...more);
	byId("app").replaceChildren(
		h("header.topbar", null, h("h1", null, "kperfmon"), kernel, link, h("span.grow"),
			h("nav", { "aria-label": "Views" }, tab("choose", "Choose"), tab("plots", "Plots"), tab("function", "Function"), tab("inserted", "Inserted", insertedCount), tab("d", "D")),
			h("button", { onclick: () => void save(), title: "Saves what was measured since this page began; kerninstd --replay opens it" }, "Save"),
			h("button", { id: "theme", onclick: nextTheme, title: "Theme: system, light, dark" }, "◐"),
			h("button", { onclick: help, title: "Keys" }, "?")),
		recorded.element,
		h("main", null, choose.element, h("div.work", null, plots, new FunctionPage(app).element, new InsertedPage(app).element, dPage.element)));
	plots.append(nothing);
}

function showLink(state: Link, why?: string): void {
	link.dataset.state = state;
	const texts: Record<Link, string> = { connecting: "connecting …", open: "live", lost: "no connection; trying again", ended: (why ?? "ended") + "; reload to begin again" };
	setText(link, app.info?.replay && state === "open" ? "recording" : texts[state]);
	if (state !== "ended") return;
	app.curves.ended = why ?? "the daemon has ended";
	app.curves.lost(app.curves.ended);
	dPage.lost(app.curves.ended);
}

const stream = new Stream({
	hello(client, info, isNew) {
		if (isNew && app.curves.client) app.curves.lost("the connection was lost for too long: the daemon has taken this out");
		app.curves.join(client);
		app.info = info;
		setText(kernel, info.kernel);
		showLink("open");
		app.tell("info");
	},
	sample: (s) => app.curves.sample(s),
	gap: (n) => notify(n + " samples are missing: the page or the connection was too slow"),
	curve: (id, refused) => app.curves.gone(id, refused),
	recorded: (curves) => recorded.add(curves),
	modules(came, gone) {
		const say = (names: string[], what: string): string => (names.length ? (names.length > 1 ? "modules " : "module ") + names.join(", ") + what : "");
		notify([say(came, " loaded"), say(gone, " unloaded")].filter(Boolean).join("; "));
		if (!app.info?.replay) api.functions().then(setFunctions).catch((e) => notify((e as Error).message, "error"));
	},
	process(pid, ended) {
		if (!app.state.pids.includes(pid)) return;
		if (ended) notify("process " + pid + " has ended, or become another program");
		if (ended) app.closeProcess(pid);
		else void app.openProcess(pid);
	},
	d: (e) => dPage.event(e),
	link: showLink,
});

function askToken(): void {
	const input = h("input", { type: "text", "aria-label": "Token", autocomplete: "off" });
	byId("app").replaceChildren(h("form.token", {
		onsubmit: (e: Event) => {
			e.preventDefault();
			setToken(input.value.trim());
			location.reload();
		},
	}, h("h1", null, "kperfmon"), h("p", null, "This page needs the token that kerninstd has printed when it began."), input, h("button.primary", null, "Open")));
}

function setFunctions({ modules }: { modules: ModuleList[] }): void {
	app.setFunctions(modules);
}

async function load(): Promise<void> {
	try {
		const [metrics, functions] = await Promise.all([api.metrics(), api.functions()]);
		app.setMetrics(metrics);
		setFunctions(functions);
		for (const pid of app.state.pids) void app.openProcess(pid);
		requestAnimationFrame(() => performance.mark("kperfmon-tree"));
		stream.open();
	} catch (e) {
		if (e instanceof ApiError && e.status === 401) return askToken();
		notify((e as Error).message, "error");
		setTimeout(() => void load(), 2000);
	}
}

setTheme(app.state.theme);
layout();
for (const v of app.state.visis) addVisi(v);
app.on("state", showView);
app.curves.onChange(() => setText(insertedCount, app.curves.count ? String(app.curves.count) : ""));
onTheme(() => visis.forEach((v) => v.redraw()));
addEventListener("popstate", () => {
	const { visis: _, ...rest } = decodeState(location.hash);
	app.change(rest);
	setTheme(app.state.theme);
});
addEventListener("pagehide", () => app.curves.leavePage());
app.tell("state");
void load();
