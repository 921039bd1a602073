// SPDX-License-Identifier: GPL-2.0-only
// What to measure: search and tree, what is selected, metrics, predicate, CPUs, and the start.
import { api } from "./api";
import type { App } from "./app";
import { h, notify, setText } from "./dom";
import { MetricPanel } from "./metrics";
import { makePlan } from "./plan";
import { ProcessPicker } from "./processes";
import { kinds, type Kind } from "./state";
import { Tree } from "./tree";
import type { Cpu } from "./types";
import { kindNames } from "./visi";

const intervals = [100, 200, 500, 1000, 2000, 5000, 10000, 60000];

export class Choose {
	readonly element: HTMLElement;
	readonly tree: Tree;
	private search: HTMLInputElement;
	private predicate: HTMLInputElement;
	private predicateNote = h("div.small.dim");
	private chips = h("div.chips", { id: "chosen" });
	private cpus = h("div.cpus", { role: "group", "aria-label": "CPUs" });
	private planText = h("div.plan", { id: "plan", role: "status" });
	private kind: HTMLSelectElement;
	private interval: HTMLSelectElement;
	private startButton: HTMLButtonElement;

	constructor(private app: App, start: (kind: Kind) => void) {
		this.tree = new Tree(app);
		this.search = h("input", {
			id: "search", type: "search", placeholder: "Search: vfs read, tcp_*, fuse:, 1234/malloc, 0xffff…", autocomplete: "off",
			spellcheck: false, "aria-label": "Search functions", oninput: () => app.change({ query: this.search.value }),
			onkeydown: (e: KeyboardEvent) => this.searchKey(e),
		});
		this.predicate = h("input", {
			id: "predicate", type: "text", placeholder: 'comm == "tar", pid == 1, arg2 > 4096; or pids', autocomplete: "off",
			spellcheck: false, "aria-label": "Only if", oninput: () => app.change({ predicate: this.predicate.value }),
		});
		this.kind = h("select", { id: "kind", "aria-label": "Kind of visualization", onchange: () => this.update() },
			...kinds.map((k) => h("option", { value: k }, kindNames[k])));
		this.interval = h("select", { id: "interval", "aria-label": "Update interval", onchange: () => void this.setInterval() },
			...intervals.map((ms) => h("option", { value: String(ms) }, ms / 1000 + " s")));
		this.startButton = h("button.primary", { id: "start", onclick: () => start(this.kind.value as Kind) }, "Start");
		this.element = this.layout();
		for (const part of ["state", "info", "metrics"] as const) app.on(part, () => this.update());
		app.on("info", () => this.drawCpus());
	}

	private layout(): HTMLElement {
		const clear = h("button.link", { onclick: () => this.app.change({ points: [], metrics: [], predicate: "", cpus: ["all"] }) }, "Clear all");
		return h("section.choose", { "aria-label": "What to measure" },
			h("div.part.resources", null, h("label.head", { for: "search" }, "Where"), this.search, new ProcessPicker(this.app).element, this.tree.element, this.chips),
			new MetricPanel(this.app).element,
			h("div.part.rest", null,
				h("label.head", { for: "predicate" }, "Only if"), this.predicate, this.predicateNote,
				h("div.row", null, h("span.head", null, "CPUs"), this.cpus),
				h("div.row.startrow", null, this.kind, this.startButton, h("label.small", null, "every ", this.interval)),
				h("div.row", null, this.planText, clear)));
	}

	focusSearch(): void {
		this.search.focus();
		this.search.select();
	}

	private searchKey(e: KeyboardEvent): void {
		if (e.key === "Escape" && this.search.value) this.app.change({ query: "" });
		else if (e.key === "Escape") this.search.blur();
		else if (e.key === "ArrowDown" || e.key === "Enter") this.tree.focus();
		else return;
		e.preventDefault();
	}

	private async setInterval(): Promise<void> {
		try {
			await api.interval(this.app.curves.client ?? "", Number(this.interval.value));
		} catch (e) {
			notify((e as Error).message, "error");
		}
	}

	private drawCpus(): void {
		const all: Cpu[] = ["all", "each", ...(this.app.info?.cpus ?? [])];
		this.cpus.replaceChildren(...all.map((c) =>
			h("button.toggle", { "data-cpu": c, onclick: () => this.toggleCpu(c), title: c === "all" ? "the sum" : c === "each" ? "one curve for each" : "CPU " + c }, String(c))));
		const ms = String(this.app.info?.interval_ms ?? 100);
		if ([...this.interval.options].some((o) => o.value === ms)) this.interval.value = ms;
		this.update();
	}

	private toggleCpu(c: Cpu): void {
		if (typeof c === "string") return this.app.change({ cpus: [c] });
		const numbers = this.app.state.cpus.filter((x) => typeof x === "number");
		const next = numbers.includes(c) ? numbers.filter((x) => x !== c) : [...numbers, c].sort((a, b) => a - b);
		this.app.change({ cpus: next.length ? next : ["all"] });
	}

	private update(): void {
		const s = this.app.state;
		if (this.search.value !== s.query) this.search.value = s.query;
		if (this.predicate.value !== s.predicate) this.predicate.value = s.predicate;
		for (const b of this.cpus.querySelectorAll<HTMLElement>("button"))
			b.setAttribute("aria-pressed", String(s.cpus.map(String).includes(b.dataset.cpu ?? "")));
		this.drawChips();
		this.drawPlan();
	}

	private drawChips(): void {
		const s = this.app.state;
		const shown = s.points.slice(0, 40);
		this.chips.replaceChildren(...shown.map((p) =>
			h("button.chip", { title: "Remove " + p, onclick: () => this.app.toggle("points", p) }, p, h("span.x", { "aria-hidden": "true" }, "×"))),
			s.points.length > shown.length ? h("span.dim", null, "and " + (s.points.length - shown.length) + " more") : "");
	}

	private drawPlan(): void {
		const s = this.app.state;
		const kind = this.kind.value as Kind;
		const plan = makePlan(s, this.app.metricsByName, kind);
		const asked = plan.wanted[0]?.predicate;
		setText(this.predicateNote, asked && asked !== s.predicate.trim() ? "= " + asked : "");
		const cpus = s.cpus[0] === "each" ? (this.app.info?.cpus.length ?? 1) : 1;
		const parts = [s.metrics.length + (s.metrics.length === 1 ? " metric" : " metrics"), s.points.length + (s.points.length === 1 ? " place" : " places")];
		if (s.cpus.length * cpus > 1) parts.push(s.cpus.length * cpus + " CPUs");
		const n = plan.wanted.length * cpus;
		const refused = plan.refused[0];
		setText(this.planText, parts.join(" × ") + ": " + n + (n === 1 ? " curve" : " curves") +
			(refused ? "; " + plan.refused.length + " not possible: " + refused.refused.message : ""));
		this.planText.classList.toggle("warn", !!refused);
		this.startButton.disabled = n === 0 || !!this.app.info?.read_only && !this.app.info.replay;
		this.startButton.title = this.app.info?.read_only && !this.app.info.replay ? "this daemon is read-only" : "Puts the code for these curves in";
	}
}
