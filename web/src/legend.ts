// SPDX-License-Identifier: GPL-2.0-only
// Curves with their strokes, current values and units.
import { h, setText } from "./dom";
import { stroke } from "./scale";
import type { Curve, Visi } from "./visi";
import { rateUnit, si } from "./units";

const SVG = "http://www.w3.org/2000/svg";

export function swatch(v: Visi, c: Curve): SVGElement {
	const { color, dash } = stroke(c.number, v.curves.length);
	const svg = document.createElementNS(SVG, "svg");
	const line = document.createElementNS(SVG, "line");
	const attributes = { x1: "1", x2: "25", y1: "6", y2: "6", stroke: color, "stroke-width": "2.5", "stroke-dasharray": dash.join(" ") };
	for (const [k, v] of Object.entries(attributes)) line.setAttribute(k, v);
	svg.setAttribute("class", "swatch");
	svg.setAttribute("viewBox", "0 0 26 12");
	svg.setAttribute("aria-hidden", "true");
	svg.append(line);
	return svg;
}

export function removeButton(v: Visi, c: Curve): HTMLElement {
	return h("button.icon", { title: "Takes this curve out", "aria-label": "Remove " + c.label, onclick: () => v.removeCurve(c) }, "×");
}

/** The name of a curve; what opens the function's page. */
export function curveName(v: Visi, c: Curve): HTMLElement {
	const rest = (c.cpu === "all" ? "" : " cpu " + c.cpu) + (c.predicate ? " if " + c.predicate : "");
	return h("span.cname", { title: c.label + (c.why ? "\nno longer in the kernel: " + c.why : "") },
		h("span.dim", null, c.metric + " "),
		h("a", { href: "#", onclick: (e: Event) => (e.preventDefault(), v.app.openFunction(c.point)) }, c.point), rest);
}

export class Legend {
	readonly element = h("div.legend", { role: "list", "aria-label": "Curves" });
	private values = new Map<Curve, HTMLElement>();
	private last = 0;
	private pending = 0;

	constructor(private visi: Visi, private hover: (c: Curve | null) => void) {}

	rebuild(): void {
		this.values.clear();
		this.element.replaceChildren(...this.visi.curves.map((c) => this.row(c)));
		this.update(true);
	}

	private row(c: Curve): HTMLElement {
		const value = h("output.value");
		this.values.set(c, value);
		return h("div.lrow" + (c.id === null ? ".dead" : ""), { role: "listitem", onpointerenter: () => this.hover(c), onpointerleave: () => this.hover(null) },
			swatch(this.visi, c), curveName(this.visi, c), value, removeButton(this.visi, c));
	}

	/** Numbers that change ten times a second cannot be read: four times are enough. */
	update(now = false): void {
		const wait = this.last + 250 - performance.now();
		if (!now && wait > 0) {
			if (!this.pending) this.pending = window.setTimeout(() => this.update(true), wait);
			return;
		}
		clearTimeout(this.pending);
		this.pending = 0;
		this.last = performance.now();
		for (const [c, e] of this.values)
			setText(e, c.id === null ? "ended" : si(c.summary.current, rateUnit(c.metric, c.unit, c.form)));
	}
}
