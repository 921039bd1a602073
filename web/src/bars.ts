// SPDX-License-Identifier: GPL-2.0-only
// Bars: current value, average, or total. Bars of one unit have one scale.
import type { Cell } from "./csv";
import { h, setText } from "./dom";
import { curveName, removeButton } from "./legend";
import { stroke } from "./scale";
import { rateUnit, si } from "./units";
import type { Body, Curve, Visi } from "./visi";

type What = "current" | "average" | "total";
const whats: What[] = ["current", "average", "total"];

function valueOf(c: Curve, what: What): number {
	return what === "total" && c.form !== "total" ? NaN : c.summary[what];
}

function unitOf(c: Curve, what: What): string {
	return what === "total" ? c.unit : rateUnit(c.metric, c.unit, c.form);
}

interface Row {
	bar: HTMLElement;
	number: HTMLElement;
}

export class BarsBody implements Body {
	readonly element: HTMLElement;
	private list = h("div.bars", { role: "list", "aria-label": "Bars" });
	private what: What = "current";
	private rowOf = new Map<Curve, Row>();
	private buttons: HTMLButtonElement[];

	constructor(private visi: Visi) {
		this.buttons = whats.map((w) => h("button.toggle", { onclick: () => this.show(w) }, w));
		this.element = h("div.barsbody", null, h("div.row", { role: "group", "aria-label": "Bars show" }, ...this.buttons), this.list);
		this.show("current");
	}

	private show(w: What): void {
		this.what = w;
		this.buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(whats[i] === w)));
		this.draw();
	}

	rebuild(): void {
		this.rowOf.clear();
		this.list.replaceChildren(...this.visi.curves.map((c) => {
			const row: Row = { bar: h("div.bar"), number: h("output.value") };
			row.bar.style.backgroundColor = stroke(c.number, this.visi.curves.length).color;
			this.rowOf.set(c, row);
			return h("div.brow" + (c.id === null ? ".dead" : ""), { role: "listitem" }, curveName(this.visi, c), h("div.track", null, row.bar), row.number, removeButton(this.visi, c));
		}));
		this.draw();
	}

	draw(): void {
		const most = new Map<string, number>();
		for (const c of this.rowOf.keys()) {
			const u = unitOf(c, this.what);
			most.set(u, Math.max(most.get(u) ?? 0, valueOf(c, this.what) || 0));
		}
		for (const [c, row] of this.rowOf) {
			const v = valueOf(c, this.what), u = unitOf(c, this.what);
			row.bar.style.transform = `scaleX(${v > 0 ? v / most.get(u)! : 0})`;
			setText(row.number, si(v, u));
		}
	}

	rows(): Cell[][] {
		return [
			["curve", "unit", ...whats, "total's unit"],
			...this.visi.curves.map((c) => [c.label, unitOf(c, "current") || "1", ...whats.map((w) => valueOf(c, w)), c.form === "total" ? c.unit || "1" : ""]),
		];
	}

	close(): void {}
}
