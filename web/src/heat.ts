// SPDX-License-Identifier: GPL-2.0-only
// The latency heat map: time to the right, the value upwards by powers of two, the count as colour.
import type { Cell } from "./csv";
import { h, setText } from "./dom";
import { Heat } from "./fold";
import { curveName, removeButton } from "./legend";
import { heat, logShare, rgb } from "./scale";
import { color } from "./theme";
import { bucketText, si } from "./units";
import type { Body, Curve, Visi } from "./visi";

const LEFT = 64, BOTTOM = 20, TOP = 4, RIGHT = 6;

interface Shown {
	curve: Curve;
	canvas: HTMLCanvasElement;
	numbers: HTMLElement;
	hover: HTMLElement;
	scale: HTMLElement;
	low: number; // rows that are shown
	high: number;
}

/** The bucket below whose end a share of all counts lies; -1: there are none. */
export function quantileBucket(counts: readonly number[], share: number): number {
	const all = counts.reduce((a, b) => a + b, 0);
	if (!(all > 0)) return -1;
	let sum = 0;
	for (let r = 0; r < counts.length; r++) {
		sum += counts[r];
		if (sum >= all * share - 1e-9) return r;
	}
	return counts.length - 1;
}

export class HeatBody implements Body {
	readonly element = h("div.heatbody");
	private shown: Shown[] = [];
	private observer = new ResizeObserver(() => this.draw());
	private last = 0;

	constructor(private visi: Visi) {
		this.observer.observe(this.element);
	}

	rebuild(): void {
		this.shown = this.visi.curves.map((curve) => this.make(curve));
		this.element.replaceChildren(...this.shown.map((s) =>
			h("figure" + (s.curve.id === null ? ".dead" : ""), null,
				h("figcaption", null, curveName(this.visi, s.curve), s.numbers, h("span.grow"), removeButton(this.visi, s.curve)),
				s.canvas, h("div.heatfoot", null, s.scale, s.hover))));
		this.draw();
	}

	private make(curve: Curve): Shown {
		const canvas = h("canvas.heatmap", { role: "img", "aria-label": "Heat map of " + curve.label + "; percentiles are beside it" });
		const s: Shown = { curve, canvas, numbers: h("span.quantiles"), hover: h("output.hover"), scale: h("span.scale"), low: 0, high: 1 };
		canvas.addEventListener("pointermove", (e) => this.point(s, e));
		canvas.addEventListener("pointerleave", () => setText(s.hover, ""));
		return s;
	}

	draw(): void {
		// Whatever moves by one pixel in a second needs no more.
		if (performance.now() < this.last + 90) return;
		this.last = performance.now();
		for (const s of this.shown) this.drawOne(s);
	}

	private sums(c: Curve): number[] {
		const sums = new Array<number>(Heat.ROWS).fill(0);
		for (let b = 0; b < this.visi.axis.count; b++)
			for (let r = 0; r < Heat.ROWS; r++) sums[r] += c.heat!.at(b, r) || 0;
		return sums;
	}

	private drawOne(s: Shown): void {
		if (!s.curve.heat) return;
		const sums = this.sums(s.curve);
		const used = sums.map((n, r) => (n > 0 ? r : -1)).filter((r) => r >= 0);
		s.low = used.length ? Math.max(0, used[0] - 1) : 8;
		s.high = used.length ? Math.min(Heat.ROWS - 1, used[used.length - 1] + 1) : 20;
		const quantile = (share: number): string => {
			const r = quantileBucket(sums, share);
			return r < 0 ? "–" : "< " + bucketText(r + 1, s.curve.unit);
		};
		const all = sums.reduce((a, b) => a + b, 0);
		setText(s.numbers, `${si(Math.round(all))} calls · p50 ${quantile(0.5)} · p90 ${quantile(0.9)} · p99 ${quantile(0.99)}`);
		this.paint(s);
	}

	private most(s: Shown): number {
		let most = 0;
		for (let b = 0; b < this.visi.axis.count; b++)
			for (let r = s.low; r <= s.high; r++) most = Math.max(most, s.curve.heat!.at(b, r) || 0);
		return most;
	}

	private prepare(s: Shown): CanvasRenderingContext2D | null {
		const ratio = devicePixelRatio || 1;
		const width = Math.round(s.canvas.clientWidth * ratio), height = Math.round(s.canvas.clientHeight * ratio);
		const ctx = s.canvas.getContext("2d");
		if (!ctx || !width) return null;
		if (s.canvas.width !== width || s.canvas.height !== height) {
			s.canvas.width = width;
			s.canvas.height = height;
		}
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.clearRect(0, 0, s.canvas.clientWidth, s.canvas.clientHeight);
		return ctx;
	}

	// How many buckets the width shows: in steps, so that the picture does not creep.
	private columns(): number {
		return Math.max(50, Math.ceil(this.visi.axis.count / 50) * 50);
	}

	private paint(s: Shown): void {
		const ctx = this.prepare(s);
		if (!ctx) return;
		const { axis } = this.visi;
		const w = s.canvas.clientWidth - LEFT - RIGHT, hgt = s.canvas.clientHeight - BOTTOM - TOP;
		const dx = w / this.columns(), dy = hgt / (s.high - s.low + 1);
		const most = this.most(s);
		ctx.fillStyle = color("line");
		for (let b = 0; b < axis.count; b++) {
			const x = Math.round(LEFT + b * dx), wide = Math.round(LEFT + (b + 1) * dx) - x;
			if (Number.isNaN(s.curve.heat!.at(b, 0))) {
				ctx.fillStyle = color("gap");
				ctx.fillRect(x, TOP, wide, hgt);
				continue;
			}
			for (let r = s.low; r <= s.high; r++) {
				const n = s.curve.heat!.at(b, r);
				if (!(n > 0)) continue;
				ctx.fillStyle = rgb(heat(0.12 + 0.88 * logShare(n, most)));
				const y = Math.round(TOP + (s.high - r) * dy);
				ctx.fillRect(x, y, wide, Math.round(TOP + (s.high - r + 1) * dy) - y);
			}
		}
		this.axes(s, ctx, dx, dy);
		this.drawScale(s, most);
	}

	private axes(s: Shown, ctx: CanvasRenderingContext2D, dx: number, dy: number): void {
		const { axis } = this.visi;
		const bottom = s.canvas.clientHeight - BOTTOM;
		ctx.fillStyle = color("ink-2");
		ctx.font = "11px " + color("sans");
		ctx.textBaseline = "middle";
		ctx.textAlign = "right";
		const every = Math.max(1, Math.ceil(14 / dy));
		for (let r = s.low; r <= s.high; r += every) ctx.fillText(bucketText(r, s.curve.unit), LEFT - 6, TOP + (s.high - r + 1) * dy - 1);
		ctx.textAlign = "left";
		const step = Math.ceil(this.columns() / Math.max(2, Math.floor((dx * this.columns()) / 90)) / 10) * 10;
		if (!Number.isNaN(axis.start))
			for (let b = 0; b < this.columns(); b += step) ctx.fillText(+axis.time(b).toFixed(1) + " s", LEFT + b * dx, bottom + 11);
		ctx.strokeStyle = color("line");
		ctx.strokeRect(LEFT - 0.5, TOP - 0.5, dx * this.columns() + 1, bottom - TOP + 1);
	}

	private drawScale(s: Shown, most: number): void {
		const steps = [...new Set([1, Math.round(Math.expm1(Math.log1p(most) / 2)), Math.round(most)])].filter((n) => n >= 1);
		const text = steps.join();
		if (s.scale.dataset.text === text + document.documentElement.dataset.theme) return;
		s.scale.dataset.text = text + document.documentElement.dataset.theme;
		s.scale.replaceChildren("calls in a cell: ", ...steps.flatMap((n) => {
			const box = h("span.scalebox");
			box.style.backgroundColor = rgb(heat(0.12 + 0.88 * logShare(n, most)));
			return [box, si(n) + " "];
		}), h("span.scalebox.gapbox"), "unknown");
	}

	private point(s: Shown, e: PointerEvent): void {
		const { axis } = this.visi;
		const rect = s.canvas.getBoundingClientRect();
		const b = Math.floor(((e.clientX - rect.left - LEFT) / (rect.width - LEFT - RIGHT)) * this.columns());
		const r = s.high - Math.floor(((e.clientY - rect.top - TOP) / (rect.height - BOTTOM - TOP)) * (s.high - s.low + 1));
		if (b < 0 || b >= axis.count || r < s.low || r > s.high) return setText(s.hover, "");
		const n = s.curve.heat!.at(b, r);
		setText(s.hover, `${axis.time(b).toFixed(1)} s, ${bucketText(r, s.curve.unit)} to ${bucketText(r + 1, s.curve.unit)}: ${Number.isNaN(n) ? "unknown" : si(+n.toFixed(1)) + " calls"}`);
	}

	rows(): Cell[][] {
		const { axis } = this.visi;
		const head: Cell[] = ["curve", "from (s)", "to (s)"];
		for (let r = 0; r < Heat.ROWS; r++) head.push("from 2^" + (r - 1));
		head[3] = "0";
		const rows = [head];
		for (const c of this.visi.curves)
			for (let b = 0; b < axis.count; b++) {
				const row: Cell[] = [c.label + (c.unit === "s" ? " (ns)" : ""), +axis.time(b).toFixed(6), +Math.min(axis.end, axis.time(b + 1)).toFixed(6)];
				for (let r = 0; r < Heat.ROWS; r++) row.push(c.heat!.at(b, r));
				rows.push(row);
			}
		return rows;
	}

	close(): void {
		this.observer.disconnect();
	}
}
