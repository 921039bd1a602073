// SPDX-License-Identifier: GPL-2.0-only
// The page of one function: its graph with heat, its instructions, what is refused in it.
import type { App } from "./app";
import { BlockCounts } from "./counts";
import { csv, download, type Cell } from "./csv";
import { Disasm } from "./disasm";
import { h, notify, once, setText } from "./dom";
import { Graph } from "./graph";
import { functionOf } from "./search";
import type { FunctionCode } from "./types";
import { percent, si } from "./units";

interface Open {
	name: string;
	code: FunctionCode;
	graph: Graph | null;
	disasm: Disasm;
	counts: BlockCounts;
}

export class FunctionPage {
	readonly element = h("section.function", { "aria-label": "Function" });
	private open: Open | null = null;
	private wanted = "";
	private button = h("button.primary", { id: "count-blocks", onclick: () => void this.toggle() });
	private numbers = h("span.fnumbers", { role: "status" });
	private soon = once(() => this.draw());
	private last = 0;

	constructor(private app: App) {
		app.on("state", () => this.follow());
		app.on("metrics", () => this.follow());
		this.empty("Choose a function: Enter in the tree, or its › opens it here.");
	}

	private empty(text: string): void {
		this.element.replaceChildren(h("p.empty", null, text));
	}

	// The page shows what the address says. Who goes to another function, or closes it, takes his
	// counters along; other views do not, so that "Inserted" shows what they cost.
	private follow(): void {
		const { view, fn } = this.app.state;
		const name = functionOf(fn);
		if (name === this.wanted || (name && view !== "function")) return;
		this.wanted = name;
		this.close();
		if (name) void this.load(name);
		else if (!fn) this.empty("Choose a function: Enter in the tree, or its › opens it here.");
	}

	private async load(name: string): Promise<void> {
		this.empty("reading " + name + " …");
		try {
			const code = await this.app.code(name, true);
			if (this.wanted === name) this.show(name, code);
		} catch (e) {
			if (this.wanted === name) this.empty(name + ": " + (e as Error).message);
		}
	}

	private show(name: string, code: FunctionCode): void {
		const counts = new BlockCounts(this.app, code, name, this.soon);
		const disasm = new Disasm(code, (target) => this.app.openFunction(target));
		const graph = code.blocks.length ? new Graph(code) : null;
		this.open = { name, code, graph, disasm, counts };
		disasm.onBlock = (b) => graph?.show(b);
		if (graph) graph.onBlock = (b) => disasm.show(b);
		const refused = [...counts.refused].length;
		this.element.replaceChildren(
			h("header", null,
				h("h2", null, code.name), h("span.dim", null, `${code.module || "kernel"} · ${code.addr} · ${code.size} bytes · ${code.blocks.length} blocks · ${code.insns.length} instructions`),
				h("span.grow"), this.button,
				h("button", { title: "Adds this function to what is selected", onclick: () => this.select(name) }, "Select"),
				h("button", { title: "Reads again what stands in the kernel now", onclick: () => void this.reread() }, "Read again"),
				h("button", { onclick: () => this.saveCsv() }, "CSV"),
				h("button.close", { title: "Takes its counters out of the kernel", onclick: () => this.app.change({ view: "plots", fn: "" }, true) }, "Close")),
			code.refused ? h("p.warn", null, h("b", null, code.refused.reason), " " + code.refused.message) : "",
			h("p.fline", null, this.numbers, refused ? h("span.dim", null, `${refused} of ${code.blocks.length} blocks cannot be counted; each says why`) : ""),
			h("div.fbody", null, graph?.element ?? "", disasm.element));
		this.last = 0;
		graph?.setHeat([], counts.refused);
		disasm.setHeat([], counts.refused);
		this.draw();
		this.askAgain(code);
	}

	// Which registers are free is known a little later than all else.
	private askAgain(code: FunctionCode): void {
		if (code.registers !== "pending" || this.app.info?.replay) return;
		setTimeout(() => this.open?.code === code && void this.reread(), 1500);
	}

	private select(name: string): void {
		if (!this.app.state.points.includes(name)) this.app.toggle("points", name);
		notify(name + " is selected");
	}

	private async toggle(): Promise<void> {
		const o = this.open;
		if (!o) return;
		if (o.counts.state === "on") await o.counts.stop().catch((e) => notify((e as Error).message, "error"));
		else {
			const starting = o.counts.start();
			this.draw();
			await starting;
			if (o.counts.why) notify(o.counts.why, "error");
		}
		if (this.open === o) await this.reread();
	}

	private async reread(): Promise<void> {
		const o = this.open;
		if (!o) return;
		try {
			const code = await this.app.code(o.name, true);
			if (this.open !== o) return;
			o.code = code;
			o.disasm.setCode(code);
			this.askAgain(code);
		} catch (e) {
			notify((e as Error).message, "error");
		}
		this.draw();
	}

	private draw(): void {
		const o = this.open;
		if (!o) return;
		const on = o.counts.state === "on";
		const busy = o.counts.state === "starting";
		setText(this.button, on ? "Stop counting" : busy ? "Inserting …" : "Count blocks");
		this.button.disabled = busy || !o.code.blocks.length || o.counts.state === "ended";
		this.button.title = on ? "Takes the counters out of the kernel" : "Puts a counter into each block that can have one";
		if (performance.now() < this.last + 240) return void setTimeout(this.soon, 250);
		this.last = performance.now();
		const heats = o.counts.heat();
		const calls = heats[0];
		const v = o.counts.vtime;
		const time = v && !Number.isNaN(v.average) ? ` · ${percent(v.average)} of one CPU's time inside (vtime), ${si(v.average / calls?.rate, "s")} a call` : "";
		setText(this.numbers, o.counts.state === "off" && !(calls?.total >= 0) ? "Nothing is inserted. " : o.counts.state === "ended" ? "Ended: " + o.counts.why :
			calls && !Number.isNaN(calls.rate) ? `block 0: ${si(calls.rate, "/s")}${time} ` : "waiting for the first sample ");
		o.graph?.setHeat(heats, o.counts.refused);
		o.disasm.setHeat(heats, o.counts.refused);
	}

	private saveCsv(): void {
		const o = this.open;
		if (!o) return;
		const heats = o.counts.heat();
		const rows: Cell[][] = [["block", "address", "end", "count", "rate (/s)", "share of calls", "share of instructions", "refused"]];
		o.code.blocks.forEach((b, i) => rows.push([i, b.addr, b.end, heats[i].total, heats[i].rate, heats[i].share, heats[i].work, o.counts.refused.get(i)?.reason]));
		download(o.code.name + ".csv", "text/csv;charset=utf-8", csv(rows));
	}

	private close(): void {
		const o = this.open;
		this.open = null;
		o?.graph?.close();
		o?.counts.stop().catch((e) => notify("taking counters out: " + (e as Error).message, "error"));
	}
}

