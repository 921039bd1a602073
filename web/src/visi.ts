// SPDX-License-Identifier: GPL-2.0-only
// A visualization: some curves, on one time axis, shown in one of several ways.
import type { App } from "./app";
import { BarsBody } from "./bars";
import type { Owner } from "./curves";
import { csv, download } from "./csv";
import { h, notify } from "./dom";
import { Axis, Heat, Series, Summary } from "./fold";
import { HeatBody } from "./heat";
import { makePlan, type Plan } from "./plan";
import { TimeBody } from "./plot";
import type { Kind, VisiState } from "./state";
import { TableBody } from "./table";
import type { Cell } from "./csv";
import type { CurveAnswer, Form, Refusal, Sample, Value, Wanted } from "./types";

export interface Curve {
	id: number | null; // null: not in the kernel now
	number: number; // in its visualization: the colour
	metric: string;
	point: string;
	cpu: number | "all";
	predicate: string;
	unit: string;
	form: Form;
	label: string;
	why: string; // why it is not in the kernel
	series: Series | null;
	heat: Heat | null;
	summary: Summary;
}

/** A way to show them. */
export interface Body {
	element: HTMLElement;
	/** Curves came or went, or the colours are others. */
	rebuild(): void;
	/** There are new values. */
	draw(): void;
	rows(): Cell[][];
	zoom?(range: [number, number] | null): void;
	close(): void;
}

export const kindNames: Record<Kind, string> = { time: "Time histogram", bars: "Bars", table: "Table", heat: "Latency heat map" };

const bodies: Record<Kind, new (v: Visi) => Body> = { time: TimeBody, bars: BarsBody, table: TableBody, heat: HeatBody };

export function label(metric: string, point: string, cpu: number | "all", predicate: string): string {
	return metric + " " + point + (cpu === "all" ? "" : " cpu " + cpu) + (predicate ? " if " + predicate : "");
}

const FRAME_MS = 17;

let serial = 0;

export class Visi implements Owner {
	readonly element: HTMLElement;
	readonly axis = new Axis();
	curves: Curve[] = [];
	zoom: [number, number] | null;
	paused = false;
	private kind: Kind;
	private body: Body;
	private refusedBox = h("div.refused", { role: "status" });
	private waiting: Wanted[]; // of the address: nothing is inserted before somebody says so
	private next = 0;
	private frame = 0;
	private spent = 0; // ms that the last drawing took
	private drawn = 0;
	readonly name = "Visualization " + ++serial;

	constructor(readonly app: App, state: VisiState, private hooks: { closed: (v: Visi) => void; changed: () => void }) {
		this.kind = state.kind;
		this.waiting = state.curves;
		this.zoom = state.zoom;
		this.element = h("article.visi", { "aria-label": this.name });
		this.body = new bodies[this.kind](this);
		this.layout();
	}

	private layout(): void {
		const same = (Object.keys(kindNames) as Kind[]).filter((k) => (k === "heat") === (this.kind === "heat"));
		const select: HTMLSelectElement = h("select", { "aria-label": "Shown as", onchange: () => this.setKind(select.value as Kind) },
			...same.map((k) => h("option", { value: k, selected: k === this.kind }, kindNames[k])));
		const pause = h("button", { "aria-pressed": String(this.paused), title: "Stop drawing; measuring goes on" }, this.paused ? "Draw" : "Hold");
		pause.onclick = () => {
			this.paused = !this.paused;
			this.layout();
			this.soon();
		};
		this.element.replaceChildren(
			h("header", null, h("h2", null, same.length > 1 ? select : kindNames[this.kind]),
				h("span.grow"),
				h("button", { title: "Adds a curve for each metric, place and CPU that is selected", onclick: () => void this.addSelection() }, "+ Selection"),
				pause,
				h("button", { title: "What is shown as comma-separated values", onclick: () => this.saveCsv() }, "CSV"),
				h("button.close", { title: "Takes its curves out of the kernel", onclick: () => void this.close() }, "Close")),
			this.refusedBox, this.waitingBox() ?? this.body.element);
		this.element.dataset.kind = this.kind;
	}

	private waitingBox(): HTMLElement | null {
		if (!this.waiting.length) return null;
		return h("div.waiting", null,
			h("p", null, `${this.waiting.length} curves, of which nothing is in the kernel yet:`),
			h("ul.mono.small", null, ...this.waiting.slice(0, 8).map((w) => h("li", null, `${w.metric} ${w.point} ${w.cpu === "all" ? "" : "cpu " + w.cpu} ${w.predicate ? "if " + w.predicate : ""}`)),
				this.waiting.length > 8 ? h("li.dim", null, `and ${this.waiting.length - 8} more`) : ""),
			h("button.primary", { onclick: () => void this.startWaiting() }, "Start"));
	}

	private async startWaiting(): Promise<void> {
		const wanted = this.waiting;
		this.waiting = [];
		await this.add({ wanted, refused: [] });
	}

	private setKind(kind: Kind): void {
		this.body.close();
		this.kind = kind;
		this.body = new bodies[kind](this);
		this.layout();
		this.body.rebuild();
		this.changed();
	}

	addSelection(): Promise<void> {
		return this.add(makePlan(this.app.state, this.app.metricsByName, this.kind));
	}

	/** Puts curves into the kernel and shows them; says what is refused, and why. */
	async add(plan: Plan): Promise<void> {
		const has = new Set(this.curves.map((c) => c.label));
		const wanted = plan.wanted.filter((w) => w.cpu === "each" || !has.has(label(w.metric, w.point, w.cpu, w.predicate ?? "")));
		this.element.classList.add("busy");
		let answers: CurveAnswer[] = [];
		try {
			if (wanted.length) answers = await this.app.curves.add(this, wanted);
		} catch (e) {
			notify((e as Error).message, "error");
			this.waiting.push(...wanted);
		}
		this.element.classList.remove("busy");
		const added = answers.filter((a) => a.id !== undefined).map((a) => this.addCurve(a));
		this.sayRefused([...plan.refused, ...answers.flatMap((a) => (a.refused ? [{ metric: a.metric, point: a.point, refused: a.refused }] : []))]);
		this.layout();
		this.body.rebuild();
		this.app.curves.catchUp(this, new Set(added.map((c) => c.id!)));
		this.changed();
	}

	private addCurve(a: CurveAnswer): Curve {
		const known = this.app.metricsByName.get(a.metric);
		const form = a.form ?? known?.form ?? "total";
		const c: Curve = {
			id: a.id!, number: this.next++, metric: a.metric, point: a.point, cpu: a.cpu ?? "all", predicate: a.predicate ?? "",
			unit: a.unit ?? known?.unit ?? "", form, label: label(a.metric, a.point, a.cpu ?? "all", a.predicate ?? ""), why: "",
			series: form === "histogram" ? null : new Series(this.axis),
			heat: form === "histogram" ? new Heat(this.axis) : null, summary: new Summary(),
		};
		this.curves.push(c);
		return c;
	}

	private sayRefused(refused: { metric: string; point: string; refused: Refusal }[]): void {
		if (!refused.length) return this.refusedBox.replaceChildren();
		this.refusedBox.replaceChildren(
			h("details", { open: refused.length <= 3 }, h("summary", null, refused.length + " refused: " + refused[0].refused.message),
				h("ul", null, ...refused.slice(0, 200).map((r) =>
					h("li", null, h("span.mono", null, r.metric + " " + r.point), " ", h("b", null, r.refused.reason), " ", r.refused.message)))),
			h("button.icon", { title: "Close", "aria-label": "Close", onclick: () => this.refusedBox.replaceChildren() }, "×"));
	}

	removeCurve(c: Curve): void {
		this.curves = this.curves.filter((x) => x !== c);
		c.series?.leave();
		c.heat?.leave();
		if (c.id !== null) this.app.curves.remove(this, [c.id]).catch((e) => notify((e as Error).message, "error"));
		this.body.rebuild();
		this.changed();
	}

	sample(s: Sample): void {
		let any = false;
		for (const c of this.curves) {
			const v = c.id === null ? undefined : s.values[c.id];
			if (v === undefined) continue;
			if (!any) this.axis.reach(s.from, s.to);
			any = true;
			this.take(c, s.from, s.to, v);
		}
		if (any) this.soon();
	}

	private take(c: Curve, from: number, to: number, v: Value): void {
		if (!(to > from)) return;
		if (v === null) return c.summary.unknown();
		if (Array.isArray(v)) {
			c.heat?.add(from, to, v);
			c.summary.add(from, to, v.reduce((a, b) => a + b, 0) / (to - from));
			return;
		}
		const rate = c.form === "total" ? v / (to - from) : v;
		c.series?.add(from, to, rate);
		c.summary.add(from, to, rate);
	}

	gone(id: number, refused: Refusal): void {
		for (const c of this.curves)
			if (c.id === id) {
				c.id = null;
				c.why = refused.reason + ": " + refused.message;
			}
		this.body.rebuild();
	}

	lost(why: string): void {
		for (const c of this.curves) {
			c.id = null;
			c.why = why;
		}
		this.body.rebuild();
	}

	// Drawing never takes more than a third of the time, whatever there is to draw.
	private soon(): void {
		if (this.frame || this.paused) return;
		const wait = Math.max(0, this.drawn + 3 * this.spent - performance.now());
		this.frame = window.setTimeout(() => requestAnimationFrame(() => {
			this.frame = 0;
			if (document.hidden || !this.element.isConnected) return;
			const begin = performance.now();
			this.body.draw();
			this.drawn = performance.now();
			this.spent = this.drawn - begin;
			// What is drawn is painted after this: when the next frame comes, it is over.
			requestAnimationFrame(() => (this.spent = Math.max(this.spent, performance.now() - begin - FRAME_MS)));
		}), wait);
	}

	setZoom(range: [number, number] | null): void {
		this.zoom = range;
		this.changed();
	}

	private changed(): void {
		this.hooks.changed();
	}

	private saveCsv(): void {
		download("kperfmon-" + this.kind + ".csv", "text/csv;charset=utf-8", csv(this.body.rows()));
	}

	get state(): VisiState {
		const curves: Wanted[] = this.curves.map((c) => ({ metric: c.metric, point: c.point, cpu: c.cpu, ...(c.predicate ? { predicate: c.predicate } : {}) }));
		return { kind: this.kind, curves: [...curves, ...this.waiting], zoom: this.zoom };
	}

	redraw(): void {
		this.body.rebuild();
	}

	async close(): Promise<void> {
		this.body.close();
		clearTimeout(this.frame);
		this.element.remove();
		this.hooks.closed(this);
		try {
			await this.app.curves.close(this);
		} catch (e) {
			notify("taking curves out: " + (e as Error).message, "error");
		}
	}
}
