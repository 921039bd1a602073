// SPDX-License-Identifier: GPL-2.0-only
// Curves as rows of numbers, sorted by any column.
import type { Cell } from "./csv";
import { h, setText } from "./dom";
import { curveName, removeButton, swatch } from "./legend";
import { rateUnit, si } from "./units";
import type { Body, Curve, Visi } from "./visi";

interface Column {
	name: string;
	value(c: Curve): number;
	unit(c: Curve): string;
}

const rate = (c: Curve): string => rateUnit(c.metric, c.unit, c.form);
const columns: Column[] = [
	{ name: "current", value: (c) => c.summary.current, unit: rate },
	{ name: "average", value: (c) => c.summary.average, unit: rate },
	{ name: "least", value: (c) => c.summary.min, unit: rate },
	{ name: "most", value: (c) => c.summary.max, unit: rate },
	{ name: "total", value: (c) => (c.form === "total" ? c.summary.total : NaN), unit: (c) => c.unit },
];

export class TableBody implements Body {
	readonly element: HTMLElement;
	private head = h("thead");
	private body = h("tbody");
	private cells = new Map<Curve, HTMLElement[]>();
	private order: Curve[] = [];
	private by = -1; // column; -1: as they were added
	private down = true;
	private last = 0;

	constructor(private visi: Visi) {
		this.element = h("div.tablebody", { tabIndex: 0, role: "region", "aria-label": "Table" }, h("table", null, this.head, this.body));
	}

	private sortBy(i: number): void {
		this.down = this.by === i ? !this.down : true;
		this.by = i;
		this.rebuild();
	}

	private sorted(): Curve[] {
		const curves = [...this.visi.curves];
		if (this.by < 0) return curves;
		const key = (c: Curve): number => columns[this.by].value(c);
		const known = (x: number): number => (Number.isNaN(x) ? -Infinity : x);
		return curves.sort((a, b) => (known(key(b)) - known(key(a)) || 0) * (this.down ? 1 : -1) || a.number - b.number);
	}

	rebuild(): void {
		this.cells.clear();
		this.order = this.sorted();
		this.head.replaceChildren(h("tr", null, h("th", { scope: "col" }, "curve"), ...columns.map((c, i) =>
			h("th.num", { scope: "col", "aria-sort": this.by !== i ? "none" : this.down ? "descending" : "ascending" },
				h("button.link", { onclick: () => this.sortBy(i) }, c.name + (this.by !== i ? "" : this.down ? " ▾" : " ▴")))), h("th")));
		this.body.replaceChildren(...this.order.map((c) => {
			const cells = columns.map(() => h("td.num"));
			this.cells.set(c, cells);
			return h("tr" + (c.id === null ? ".dead" : ""), null, h("td", null, swatch(this.visi, c), curveName(this.visi, c)), ...cells, h("td", null, removeButton(this.visi, c)));
		}));
		this.last = 0;
		this.draw();
	}

	draw(): void {
		if (performance.now() < this.last + 240) return;
		this.last = performance.now();
		const order = this.sorted();
		if (order.some((c, i) => c !== this.order[i])) return this.rebuild();
		for (const [c, cells] of this.cells) columns.forEach((col, i) => setText(cells[i], si(col.value(c), col.unit(c))));
	}

	rows(): Cell[][] {
		return [
			["metric", "point", "cpu", "predicate", "unit", ...columns.map((c) => c.name), "total's unit", "seconds known"],
			...this.order.map((c) => [c.metric, c.point, c.cpu, c.predicate, rate(c) || "1", ...columns.map((col) => col.value(c)),
				c.form === "total" ? c.unit || "1" : "", +c.summary.seconds.toFixed(6)]),
		];
	}

	close(): void {}
}
