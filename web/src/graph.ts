// SPDX-License-Identifier: GPL-2.0-only
// A control-flow graph on a canvas: only what is in sight is drawn. Drag and wheel, two fingers, keys.
import type { BlockHeat } from "./counts";
import { h, once } from "./dom";
import { column, graphEdges, layOut, type GraphEdge, type Layout } from "./layout";
import { heat, ink, logShare, rgb } from "./scale";
import { color, onTheme } from "./theme";
import type { FunctionCode, Refusal } from "./types";
import { percent, si } from "./units";

const WIDTH = 132, HEIGHT = 48;

interface EdgeStyle {
	match: RegExp;
	color: string;
	dash: number[];
	text: string;
}

const styles: EdgeStyle[] = [
	{ match: /taken/, color: "edge-taken", dash: [], text: "taken" },
	{ match: /fall/, color: "edge-fall", dash: [], text: "falls through" },
	{ match: /table/, color: "edge-table", dash: [2, 2], text: "jump table" },
	{ match: /fixup|except/, color: "edge-fixup", dash: [5, 4], text: "exception" },
	{ match: /./, color: "edge-jump", dash: [8, 2], text: "jump" },
];

export class Graph {
	readonly element: HTMLElement;
	onBlock: (block: number) => void = () => {};
	selected = -1;
	private canvas: HTMLCanvasElement;
	private status = h("div.graphstatus", { role: "status" });
	private layout: Layout | null = null;
	private edges: GraphEdge[];
	private heats: BlockHeat[] = [];
	private refused: ReadonlyMap<number, Refusal> = new Map();
	private scale = 1;
	private x = 0; // of the graph at the canvas's left upper corner
	private y = 0;
	private touched = false;
	private pointers = new Map<number, { x: number; y: number }>();
	private moved = 0;
	private abort = new AbortController();
	private sizes: number[];
	readonly redraw = once(() => this.draw());

	constructor(private code: FunctionCode) {
		this.edges = graphEdges(code);
		this.sizes = code.blocks.map(() => 0);
		for (const i of code.insns) if (i.block < this.sizes.length) this.sizes[i.block]++;
		this.canvas = h("canvas.graph", { tabIndex: 0, role: "img", "aria-label": `Control-flow graph of ${code.name}: ${code.blocks.length} blocks. All numbers are in the list of instructions, too.` });
		this.element = h("div.graphbox", null, this.canvas, this.status, this.toolbar(), this.key());
		this.listen();
		const observer = new ResizeObserver(() => (this.touched ? this.redraw() : this.fit()));
		observer.observe(this.canvas);
		this.abort.signal.addEventListener("abort", () => observer.disconnect());
		this.abort.signal.addEventListener("abort", onTheme(this.redraw));
		void this.load();
	}

	private toolbar(): HTMLElement {
		const button = (text: string, title: string, f: () => void): HTMLElement => h("button", { title, "aria-label": title, onclick: f }, text);
		return h("div.graphtools", null, button("+", "Larger", () => this.zoom(1.3)), button("−", "Smaller", () => this.zoom(1 / 1.3)), button("Fit", "Whole graph", () => this.fit()));
	}

	private key(): HTMLElement {
		const used = styles.filter((s) => this.edges.some((e) => styles.find((x) => x.match.test(e.edge.kind)) === s));
		return h("div.graphkey", null, ...used.map((s) => {
			const line = h("i");
			line.style.borderTop = `2px ${s.dash.length ? "dashed" : "solid"} var(--${s.color})`;
			return h("span", null, line, s.text);
		}));
	}

	private async load(): Promise<void> {
		this.status.textContent = `laying out ${this.code.blocks.length} blocks …`;
		const request = { nodes: this.code.blocks.length, width: WIDTH, height: HEIGHT, edges: this.edges.map(({ from, to, fall }) => ({ from, to, fall })) };
		this.layout = column(request);
		try {
			this.layout = await layOut(request, this.abort.signal);
			this.status.textContent = "";
			this.touched = false;
			this.canvas.dataset.ready = String(Math.round(this.layout.ms));
			this.fit();
		} catch (e) {
			this.status.textContent = "no graph: " + (e as Error).message;
		}
	}

	setHeat(heats: BlockHeat[], refused: ReadonlyMap<number, Refusal>): void {
		this.heats = heats;
		this.refused = refused;
		this.redraw();
	}

	/** The whole graph, or, if that would be too small to read, its beginning. */
	private fit(): void {
		if (!this.layout) return;
		const w = this.canvas.clientWidth, hgt = this.canvas.clientHeight;
		this.scale = Math.min(1.2, Math.max(0.03, Math.min(w / this.layout.width, hgt / this.layout.height)));
		if (this.scale < 0.5 && !this.touched) {
			this.scale = 0.7;
			const [x, y] = this.layout.nodes[0];
			this.x = x - w / 2 / this.scale;
			this.y = y - 40 / this.scale;
		} else {
			this.x = this.layout.width / 2 - w / 2 / this.scale;
			this.y = this.layout.height / 2 - hgt / 2 / this.scale;
		}
		this.touched = true;
		this.redraw();
	}

	private zoom(factor: number, cx = this.canvas.clientWidth / 2, cy = this.canvas.clientHeight / 2): void {
		const next = Math.min(3, Math.max(0.02, this.scale * factor));
		this.x += cx / this.scale - cx / next;
		this.y += cy / this.scale - cy / next;
		this.scale = next;
		this.redraw();
	}

	show(block: number): void {
		this.selected = block;
		const at = this.layout?.nodes[block];
		if (!at) return;
		const w = this.canvas.clientWidth / this.scale, hgt = this.canvas.clientHeight / this.scale;
		if (at[0] < this.x || at[0] > this.x + w || at[1] < this.y || at[1] > this.y + hgt) {
			this.x = at[0] - w / 2;
			this.y = at[1] - hgt / 2;
		}
		this.redraw();
	}

	private listen(): void {
		const c = this.canvas;
		c.addEventListener("wheel", (e) => {
			e.preventDefault();
			const r = c.getBoundingClientRect();
			this.zoom(Math.exp(-e.deltaY * 0.0015), e.clientX - r.left, e.clientY - r.top);
		}, { passive: false });
		c.addEventListener("pointerdown", (e) => {
			c.setPointerCapture(e.pointerId);
			this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
			this.moved = 0;
		});
		c.addEventListener("pointermove", (e) => this.move(e));
		c.addEventListener("pointercancel", (e) => this.pointers.delete(e.pointerId));
		c.addEventListener("pointerup", (e) => {
			if (this.pointers.size === 1 && this.moved < 5) this.pick(e);
			this.pointers.delete(e.pointerId);
		});
		c.addEventListener("keydown", (e) => this.onKey(e));
	}

	private move(e: PointerEvent): void {
		const old = this.pointers.get(e.pointerId);
		if (!old) return;
		const others = [...this.pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
		const share = 1 / (others.length + 1);
		this.moved += Math.abs(e.clientX - old.x) + Math.abs(e.clientY - old.y);
		this.x -= ((e.clientX - old.x) * share) / this.scale;
		this.y -= ((e.clientY - old.y) * share) / this.scale;
		if (others.length === 1) {
			const rect = this.canvas.getBoundingClientRect();
			const far = (p: { x: number; y: number }): number => Math.hypot(p.x - others[0].x, p.y - others[0].y);
			this.zoom(far({ x: e.clientX, y: e.clientY }) / Math.max(1, far(old)), (e.clientX + others[0].x) / 2 - rect.left, (e.clientY + others[0].y) / 2 - rect.top);
		}
		this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
		this.redraw();
	}

	private onKey(e: KeyboardEvent): void {
		const step = 60 / this.scale;
		const actions: Record<string, () => void> = {
			ArrowLeft: () => (this.x -= step), ArrowRight: () => (this.x += step),
			ArrowUp: () => (this.y -= step), ArrowDown: () => (this.y += step),
			"+": () => this.zoom(1.3), "-": () => this.zoom(1 / 1.3), "0": () => this.fit(),
		};
		if (!(e.key in actions) || e.ctrlKey || e.metaKey || e.altKey) return;
		actions[e.key]();
		this.redraw();
		e.preventDefault();
		e.stopPropagation();
	}

	private pick(e: PointerEvent): void {
		const r = this.canvas.getBoundingClientRect();
		const x = this.x + (e.clientX - r.left) / this.scale, y = this.y + (e.clientY - r.top) / this.scale;
		const block = this.layout?.nodes.findIndex(([nx, ny]) => Math.abs(nx - x) <= WIDTH / 2 && Math.abs(ny - y) <= HEIGHT / 2) ?? -1;
		if (block < 0) return;
		this.selected = block;
		this.onBlock(block);
		this.redraw();
	}

	private draw(): void {
		const c = this.canvas, ratio = devicePixelRatio || 1;
		const ctx = c.getContext("2d");
		const w = c.clientWidth, hgt = c.clientHeight;
		if (!ctx || !w || !this.layout) return;
		if (c.width !== Math.round(w * ratio) || c.height !== Math.round(hgt * ratio)) {
			c.width = Math.round(w * ratio);
			c.height = Math.round(hgt * ratio);
		}
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.clearRect(0, 0, w, hgt);
		ctx.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, -this.x * this.scale * ratio, -this.y * this.scale * ratio);
		this.edges.forEach((e, i) => this.drawEdge(ctx, e, this.layout!.edges[i]));
		const most = this.heats.reduce((m, b) => Math.max(m, b.total || 0), 0);
		this.layout.nodes.forEach(([nx, ny], i) => {
			if (this.inSight(nx - WIDTH / 2, ny - HEIGHT / 2, nx + WIDTH / 2, ny + HEIGHT / 2)) this.drawNode(ctx, i, nx - WIDTH / 2, ny - HEIGHT / 2, most);
		});
	}

	private inSight(x0: number, y0: number, x1: number, y1: number): boolean {
		return x1 >= this.x && y1 >= this.y && x0 <= this.x + this.canvas.clientWidth / this.scale && y0 <= this.y + this.canvas.clientHeight / this.scale;
	}

	private drawEdge(ctx: CanvasRenderingContext2D, e: GraphEdge, points: number[][]): void {
		const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
		if (!this.inSight(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys))) return;
		const style = styles.find((s) => s.match.test(e.edge.kind))!;
		const back = ys[ys.length - 1] < ys[0];
		const lit = e.from === this.selected || e.to === this.selected;
		ctx.strokeStyle = ctx.fillStyle = color(style.color);
		// Far away a line would be thinner than a pixel.
		ctx.lineWidth = Math.max((back ? 2.4 : 1.2) + (lit ? 1.6 : 0), (back ? 1.1 : 0.7) / this.scale);
		ctx.setLineDash(style.dash);
		ctx.beginPath();
		ctx.moveTo(xs[0], ys[0]);
		for (let i = 1; i < points.length - 1; i++) ctx.quadraticCurveTo(xs[i], ys[i], (xs[i] + xs[i + 1]) / 2, (ys[i] + ys[i + 1]) / 2);
		ctx.lineTo(xs[xs.length - 1], ys[ys.length - 1]);
		ctx.stroke();
		ctx.setLineDash([]);
		if (this.scale > 0.25) this.arrow(ctx, points[points.length - 2], points[points.length - 1]);
	}

	private arrow(ctx: CanvasRenderingContext2D, from: number[], to: number[]): void {
		const a = Math.atan2(to[1] - from[1], to[0] - from[0]);
		ctx.beginPath();
		ctx.moveTo(to[0], to[1]);
		for (const side of [-0.45, 0.45]) ctx.lineTo(to[0] - 8 * Math.cos(a + side), to[1] - 8 * Math.sin(a + side));
		ctx.fill();
	}

	private drawNode(ctx: CanvasRenderingContext2D, i: number, x: number, y: number, most: number): void {
		const b = this.code.blocks[i], hot = this.heats[i], refused = this.refused.get(i);
		const known = hot && !Number.isNaN(hot.total);
		const fill = known && hot.total > 0 ? heat(logShare(hot.total, most)) : null;
		ctx.fillStyle = fill ? rgb(fill) : color("panel-2");
		ctx.strokeStyle = i === this.selected ? color("accent") : color("ink-2");
		ctx.lineWidth = i === this.selected ? 3 : 1;
		ctx.setLineDash(refused ? [4, 3] : []);
		ctx.beginPath();
		ctx.roundRect(x, y, WIDTH, HEIGHT, 4);
		ctx.fill();
		ctx.stroke();
		ctx.setLineDash([]);
		if (this.scale < 0.22) return;
		ctx.fillStyle = fill ? ink(fill) : color("ink");
		ctx.textBaseline = "middle";
		ctx.textAlign = "left";
		ctx.font = "600 12px " + color("sans");
		ctx.fillText(i + (this.scale > 0.45 ? "  +0x" + (BigInt(b.addr) - BigInt(this.code.addr)).toString(16) : ""), x + 7, y + 14);
		if (this.scale < 0.45) return;
		ctx.font = "11px " + color("sans");
		const insns = this.sizes[i];
		const text = fill === null && known ? "never passed" : known ? `${si(hot.rate, "/s")} · ${percent(hot.share)}` : refused ? refused.reason : insns + (insns === 1 ? " instruction" : " instructions");
		ctx.fillText(text, x + 7, y + 33, WIDTH - 14);
	}

	close(): void {
		this.abort.abort();
	}
}
