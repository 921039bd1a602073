// SPDX-License-Identifier: GPL-2.0-only
// For a session that is opened again: what was recorded in it, to be shown with one click.
import type { App } from "./app";
import { h } from "./dom";
import type { VisiState } from "./state";
import type { CurveAnswer, Wanted } from "./types";

const MOST = 12; // curves in one plot that nobody has chosen

export class Recorded {
	readonly element = h("div.recorded", { hidden: true });
	private curves = new Map<number, CurveAnswer>();

	constructor(private app: App, private open: (state: VisiState) => void) {}

	add(curves: CurveAnswer[]): void {
		for (const c of curves) if (c.id !== undefined) this.curves.set(c.id, c);
		const file = typeof this.app.info?.replay === "string" ? " " + this.app.info.replay : "";
		this.element.hidden = false;
		this.element.replaceChildren(h("span", null, `Recording${file}: ${this.curves.size} curves, no kernel.`),
			h("button", { id: "show-recorded", onclick: () => this.show() }, "Show what was recorded"));
	}

	// Blocks belong to their function's page.
	private show(): void {
		const by = new Map<string, Wanted[]>();
		for (const c of this.curves.values()) {
			if (/:block\//.test(c.point)) continue;
			const key = (c.form === "histogram" ? "heat" : "time") + " " + c.metric;
			const list = by.get(key) ?? [];
			by.set(key, list);
			if (list.length < MOST) list.push({ metric: c.metric, point: c.point, cpu: c.cpu ?? "all", ...(c.predicate ? { predicate: c.predicate } : {}) });
		}
		for (const [key, curves] of by) this.open({ kind: key.startsWith("heat") ? "heat" : "time", curves, zoom: null });
		this.app.change({ view: "plots" }, true);
	}
}
