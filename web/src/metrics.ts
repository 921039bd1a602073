// SPDX-License-Identifier: GPL-2.0-only
// The table of metrics: units, what they mean, what code they put where, what this machine lacks.
import type { App } from "./app";
import { h } from "./dom";
import { VirtualList } from "./list";
import type { Metric } from "./types";

export class MetricPanel {
	readonly element: HTMLElement;
	private list: VirtualList;
	private shown: Metric[] = [];
	private filter: HTMLInputElement;
	private about = h("div.about", { id: "metric-about", "aria-live": "polite" });

	constructor(private app: App) {
		this.list = new VirtualList({
			label: "Metrics", rowHeight: 22, role: "listbox",
			draw: (row, i) => this.draw(row, i),
			key: (key, i) => (key === " " || key === "Enter") && (this.toggle(i), true),
			click: (i) => this.toggle(i),
		});
		this.list.element.id = "metrics";
		this.list.element.addEventListener("keydown", () => this.explain(this.shown[this.list.active]));
		this.list.element.addEventListener("pointerover", (e) => this.hover(e));
		this.filter = h("input", {
			id: "metric-filter", type: "search", placeholder: "Search metrics", spellcheck: false, autocomplete: "off",
			"aria-label": "Search metrics", oninput: () => this.refill(),
			onkeydown: (e: KeyboardEvent) => e.key === "ArrowDown" && (e.preventDefault(), this.list.element.focus()),
		});
		this.element = h("div.part.metrics", null,
			h("div.row", null, h("label.head", { for: "metric-filter" }, "What"), this.filter), this.list.element, this.about);
		app.on("metrics", () => this.refill());
		app.on("state", () => this.list.refresh());
	}

	private refill(): void {
		const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
		this.shown = this.app.metrics.filter((m) => words.every((w) => (m.name + " " + m.text + " " + m.unit).toLowerCase().includes(w)));
		this.list.setCount(this.shown.length);
		this.explain(this.shown[0]);
	}

	private toggle(i: number): void {
		const m = this.shown[i];
		this.explain(m);
		this.app.toggle("metrics", m.name);
	}

	private hover(e: PointerEvent): void {
		const row = (e.target as HTMLElement).closest<HTMLElement>(".vrow");
		if (row && e.pointerType === "mouse") this.explain(this.shown[Number(row.dataset.index)]);
	}

	private explain(m: Metric | undefined): void {
		if (!m) return this.about.replaceChildren();
		this.about.replaceChildren(
			h("div", null, h("b", null, m.name), " · ", m.form, m.unit ? " · " + m.unit : " · count", m.functions_only ? " · of functions" : " · of functions, blocks, instructions"),
			h("div", null, m.text),
			h("div.mono.small.dim", null, m.code),
			m.unsupported ? h("div.warn", null, "not on this machine: " + m.unsupported) : "");
	}

	private draw(row: HTMLElement, i: number): void {
		const m = this.shown[i];
		const chosen = this.app.state.metrics.includes(m.name);
		row.classList.toggle("chosen", chosen);
		row.classList.toggle("off", !!m.unsupported);
		row.setAttribute("role", "option");
		row.setAttribute("aria-selected", String(chosen));
		row.replaceChildren(h("span.box", { "aria-hidden": "true" }, chosen ? "✓" : ""), h("span.name", null, m.name),
			h("span.side", null, (m.form === "histogram" ? "histogram " : "") + (m.unit || "#")));
	}
}
