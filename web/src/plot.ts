// SPDX-License-Identifier: GPL-2.0-only
// The time histogram: a line for each curve, an axis for each unit, gaps where nothing is known.
import uPlot from "uplot";
import type { Cell } from "./csv";
import { h } from "./dom";
import { BUCKETS } from "./fold";
import { Legend } from "./legend";
import { stroke } from "./scale";
import { color } from "./theme";
import { rateUnit, si } from "./units";
import type { Body, Curve, Visi } from "./visi";

const THIN = 16; // more curves than that have thin lines

type Column = (number | null)[];

export class TimeBody implements Body {
	readonly element: HTMLElement;
	private plotBox = h("div.plot", { role: "img" });
	private folded = h("div.small.dim.axisnote");
	private legend: Legend;
	private plot: uPlot | null = null;
	private xs: number[] = [];
	private columns = new Map<Curve, Column>();
	private folds = -1;
	private observer: ResizeObserver;

	constructor(private visi: Visi) {
		this.legend = new Legend(visi, (c) => this.highlight(c));
		this.element = h("div.timebody", null, h("div.plotcol", null, this.plotBox, this.folded), this.legend.element);
		this.observer = new ResizeObserver(() => this.resize());
		this.observer.observe(this.plotBox);
	}

	rebuild(): void {
		this.legend.rebuild();
		this.plot?.destroy();
		this.plot = null;
		this.columns = new Map(this.visi.curves.map((c) => [c, []]));
		for (const c of this.visi.curves) if (c.series) c.series.dirty = 0;
		this.xs = [];
		this.plotBox.setAttribute("aria-label", this.visi.curves.length + " curves over time; the numbers are beside it");
		if (this.visi.curves.length && this.plotBox.clientWidth) this.plot = new uPlot(this.options(), this.data(), this.plotBox);
		this.draw();
	}

	private units(): string[] {
		return [...new Set(this.visi.curves.map((c) => rateUnit(c.metric, c.unit, c.form)))];
	}

	private size(): { width: number; height: number } {
		return { width: this.plotBox.clientWidth, height: Math.max(160, this.plotBox.clientHeight) };
	}

	private options(): uPlot.Options {
		const ink = color("ink-2"), grid = { stroke: color("line"), width: 1 };
		const units = this.units();
		const axis = { stroke: ink, grid, ticks: grid, font: "11px " + color("sans") };
		return {
			...this.size(), legend: { show: false }, padding: [8, 8, 0, 4],
			cursor: { drag: { x: true, y: false }, points: { show: this.visi.curves.length <= 24 } },
			scales: { x: { time: false }, ...Object.fromEntries(units.map((u) => [u, { range: (_: uPlot, lo: number | null, hi: number | null) => this.range(lo, hi) }])) },
			axes: [
				{ ...axis, values: (_, ticks) => ticks.map((t) => +t.toFixed(3) + " s"), size: 28 },
				...units.map((u, i) => ({
					...axis, scale: u, side: i === 0 ? 3 : 1, size: (_: uPlot, texts: string[]) => 18 + 6.3 * Math.max(6, ...(texts ?? []).map((t) => t.length)), grid: i === 0 ? grid : { show: false },
					values: (_: uPlot, ticks: number[]) => ticks.map((t) => si(t, u)),
				} as uPlot.Axis)),
			],
			series: [{}, ...this.visi.curves.map((c) => this.line(c))],
			hooks: { setSelect: [(u) => this.selected(u)], ready: [(u) => u.over.addEventListener("dblclick", () => this.zoom(null))] },
		};
	}

	private range(lo: number | null, hi: number | null): [number, number] {
		if (lo === null || hi === null) return [0, 1];
		const low = Math.min(0, lo);
		return [low, hi > low ? hi + (hi - low) * 0.06 : low + 1];
	}

	private line(c: Curve): uPlot.Series {
		const many = this.visi.curves.length;
		const s = stroke(c.number, many);
		return {
			label: c.label, scale: rateUnit(c.metric, c.unit, c.form), stroke: s.color, dash: s.dash, width: many > THIN ? 1 : 1.5, spanGaps: false,
			points: { show: true, size: 4, filter: (u, i) => alone(u.data[i] as Column) },
		};
	}

	// Only what has changed is asked again; after a fold that is all.
	private data(): uPlot.AlignedData {
		const { axis } = this.visi;
		const n = axis.count;
		if (this.folds !== axis.folds || this.xs.length > n) this.xs.length = 0;
		for (let b = this.xs.length; b < n; b++) this.xs.push(axis.time(b) + axis.width / 2);
		for (const [c, column] of this.columns) {
			if (!c.series) continue;
			if (this.folds !== axis.folds) c.series.dirty = 0;
			column.length = Math.min(column.length, n);
			for (let b = Math.min(c.series.dirty, column.length); b < n; b++) {
				const v = c.series.at(b);
				column[b] = Number.isNaN(v) ? null : v;
			}
			c.series.dirty = BUCKETS;
		}
		this.folds = axis.folds;
		return [this.xs, ...this.columns.values()] as unknown as uPlot.AlignedData;
	}

	draw(): void {
		if (!this.plot && this.visi.curves.length && this.plotBox.clientWidth) {
			this.plot = new uPlot(this.options(), this.data(), this.plotBox);
		}
		if (this.plot) {
			const [from, to] = this.window();
			this.plot.batch(() => {
				this.plot!.setData(this.data(), false);
				this.plot!.setScale("x", { min: from, max: to });
			});
		}
		const { axis } = this.visi;
		const text = axis.count ? `${axis.count} of ${BUCKETS} buckets of ${si(axis.width, "s")}` : "waiting for the first sample";
		if (this.folded.textContent !== text) this.folded.textContent = text;
		this.legend.update();
	}

	// The axis grows by tens of seconds, so that it does not creep with each sample.
	private window(): [number, number] {
		if (this.visi.zoom) return this.visi.zoom;
		const { axis } = this.visi;
		if (Number.isNaN(axis.start)) return [0, 10];
		const step = 50 * axis.width;
		return [axis.start, axis.start + Math.max(step, Math.ceil((axis.end - axis.start) / step) * step)];
	}

	private selected(u: uPlot): void {
		if (u.select.width < 6) return;
		const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
		u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
		this.zoom([from, to]);
	}

	zoom(range: [number, number] | null): void {
		this.visi.setZoom(range);
		this.draw();
	}

	private highlight(c: Curve | null): void {
		const i = c ? this.visi.curves.indexOf(c) + 1 : 0;
		this.plot?.setSeries(i || null, { focus: true });
		this.visi.curves.forEach((x, k) => {
			const s = this.plot?.series[k + 1];
			if (s) s.width = x === c ? 3 : this.visi.curves.length > THIN ? 1 : 1.5;
		});
		this.plot?.redraw(false);
	}

	private resize(): void {
		if (!this.plot) return this.draw();
		const size = this.size();
		if (size.width && (size.width !== this.plot.width || size.height !== this.plot.height)) this.plot.setSize(size);
	}

	rows(): Cell[][] {
		const { axis, curves } = this.visi;
		const head = ["from (s)", "to (s)", ...curves.map((c) => `${c.label} (${rateUnit(c.metric, c.unit, c.form) || "1"})`)];
		const rows: Cell[][] = [head];
		for (let b = 0; b < axis.count; b++)
			rows.push([+axis.time(b).toFixed(6), +Math.min(axis.end, axis.time(b + 1)).toFixed(6), ...curves.map((c) => c.series?.at(b))]);
		return rows;
	}

	close(): void {
		this.observer.disconnect();
		this.plot?.destroy();
		this.plot = null;
	}
}

/** Known values between unknown ones: a line has no length there, so they become points. */
function alone(column: Column): number[] {
	const out: number[] = [];
	for (let i = 0; i < column.length; i++)
		if (column[i] !== null && (i === 0 || column[i - 1] === null) && (i === column.length - 1 || column[i + 1] === null)) out.push(i);
	return out;
}
