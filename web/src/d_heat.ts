// SPDX-License-Identifier: GPL-2.0-only
// Distributions that a D program prints again and again, as heat maps: a column for each time.
import { orderOf, type Bucket } from "./d_text";
import { h } from "./dom";
import { heat, logShare, rgb } from "./scale";
import { color } from "./theme";

const MOST_MAPS = 6, MOST_COLUMNS = 120, LEFT = 90, ROW = 12, WIDE = 6;

interface Shown {
	element: HTMLElement;
	canvas: HTMLCanvasElement;
	columns: Map<string, number>[];
}

export class DHeat {
	readonly element = h("div.dmaps");
	private maps = new Map<string, Shown>();

	clear(): void {
		this.maps.clear();
		this.element.replaceChildren();
	}

	/** One time; a map is shown from the second one on. */
	add(key: string, rows: readonly Bucket[]): void {
		let m = this.maps.get(key);
		if (!m && this.maps.size >= MOST_MAPS) return;
		if (!m) {
			const canvas = h("canvas.dmap", { role: "img", "aria-label": "Heat map of " + (key || "the distribution") + "; its numbers are in the text" });
			m = { canvas, element: h("figure", null, h("figcaption.small", null, key || "distribution"), canvas), columns: [] };
			this.maps.set(key, m);
		}
		m.columns.push(new Map(rows.map((r) => [r.value, r.count])));
		if (m.columns.length > MOST_COLUMNS) m.columns.shift();
		if (m.columns.length === 2) this.element.append(m.element);
		if (m.columns.length >= 2) this.draw(m);
	}

	private draw({ canvas, columns }: Shown): void {
		const values = [...new Set(columns.flatMap((c) => [...c.keys()]))].sort((a, b) => orderOf(b) - orderOf(a));
		const most = Math.max(...columns.flatMap((c) => [...c.values()]), 1);
		canvas.width = LEFT + MOST_COLUMNS * WIDE;
		canvas.height = values.length * ROW;
		const ctx = canvas.getContext("2d");
		if (!ctx) return;
		ctx.font = "10px " + color("mono");
		ctx.textAlign = "right";
		ctx.textBaseline = "middle";
		values.forEach((value, r) => {
			ctx.fillStyle = color("ink-2");
			ctx.fillText(value, LEFT - 6, (r + 0.5) * ROW);
			columns.forEach((c, i) => {
				const n = c.get(value) ?? 0;
				if (!(n > 0)) return;
				ctx.fillStyle = rgb(heat(0.12 + 0.88 * logShare(n, most)));
				ctx.fillRect(LEFT + i * WIDE, r * ROW, WIDE, ROW);
			});
		});
	}
}
