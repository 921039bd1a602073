// SPDX-License-Identifier: GPL-2.0-only
// Instructions as they were and as they stand there now, side by side, block by block.
import type { BlockHeat } from "./counts";
import { h } from "./dom";
import { VirtualList } from "./list";
import { heat, logShare, rgb } from "./scale";
import type { FunctionCode, Insn, Refusal } from "./types";
import { percent, si } from "./units";

type Row = { block: number } | { insn: Insn };

export class Disasm {
	readonly element: HTMLElement;
	onBlock: (block: number) => void = () => {};
	private list: VirtualList;
	private rows: Row[] = [];
	private headOf: number[] = [];
	private heats: BlockHeat[] = [];
	private most = 0;
	private refused: ReadonlyMap<number, Refusal> = new Map();

	constructor(private code: FunctionCode, private open: (target: string) => void) {
		this.list = new VirtualList({
			label: "Instructions", rowHeight: 20, role: "grid",
			draw: (row, i) => this.draw(row, this.rows[i]),
			click: (i, e) => this.click(i, e),
			key: (key, i) => key === "Enter" && this.enter(i),
		});
		this.setCode(code);
		this.element = h("div.disasm", null,
			h("div.dhead", { "aria-hidden": "true" }, h("span.d-off", null, "offset"), h("span.d-bytes", null, "original bytes"), h("span.d-text", null, "original"),
				h("span.d-now", null, "now"), h("span.d-free", null, "free before it")),
			this.list.element);
	}

	/** The same function, read again. */
	setCode(code: FunctionCode): void {
		this.code = code;
		this.rows = [];
		let i = 0;
		this.headOf = code.blocks.map((b) => {
			this.rows.push({ block: b.index });
			const head = this.rows.length - 1;
			for (; i < code.insns.length && code.insns[i].block === b.index; i++) this.rows.push({ insn: code.insns[i] });
			return head;
		});
		// What belongs to no block, or is not in order, is shown all the same.
		for (; i < code.insns.length; i++) this.rows.push({ insn: code.insns[i] });
		this.list.setCount(this.rows.length);
	}

	setHeat(heats: BlockHeat[], refused: ReadonlyMap<number, Refusal>): void {
		this.heats = heats;
		this.most = heats.reduce((m, b) => Math.max(m, b.total || 0), 0);
		this.refused = refused;
		this.list.refresh();
	}

	show(block: number): void {
		const head = this.headOf[block];
		if (head === undefined) return;
		this.list.element.scrollTop = head * 20;
		this.list.setActive(head);
	}

	private click(i: number, e: MouseEvent): void {
		const target = (e.target as HTMLElement).dataset.target;
		const row = this.rows[i];
		if (target) this.open(target);
		else this.onBlock("block" in row ? row.block : row.insn.block);
	}

	private enter(i: number): boolean {
		const row = this.rows[i];
		if ("insn" in row && row.insn.target) this.open(row.insn.target);
		else this.onBlock("block" in row ? row.block : row.insn.block);
		return true;
	}

	private offset(addr: string): string {
		return "+0x" + (BigInt(addr) - BigInt(this.code.addr)).toString(16);
	}

	private draw(row: HTMLElement, r: Row): void {
		row.setAttribute("role", "row");
		if ("block" in r) return this.drawBlock(row, r.block);
		const { insn } = r;
		const changed = insn.now !== insn.original;
		row.classList.add("d-insn");
		row.classList.toggle("changed", changed);
		row.title = insn.addr + (changed ? "\nsomething is inserted here" : "");
		row.replaceChildren(h("span.d-off", null, this.offset(insn.addr)), h("span.d-bytes", null, insn.original), this.text(insn, insn.text),
			h("span.d-now", null, changed ? insn.now_text : "·", changed ? h("span.d-bytes", null, " " + insn.now) : ""), this.free(insn));
	}

	private free(insn: Insn): HTMLElement {
		if (insn.free !== undefined) return h("span.d-free", { title: insn.free }, insn.free || "none");
		const why = this.code.registers === "pending" ? "the daemon is analysing the kernel's code to know this" : "not known";
		return h("span.d-free", { title: why }, this.code.registers === "pending" ? "…" : "?");
	}

	private text(insn: Insn, text: string): HTMLElement {
		if (!insn.target) return h("span.d-text", null, text);
		const link = h("a", { title: "Open " + insn.target }, insn.target);
		link.dataset.target = insn.target;
		const at = text.lastIndexOf(insn.target);
		if (at >= 0) return h("span.d-text", null, text.slice(0, at), link, text.slice(at + insn.target.length));
		return h("span.d-text", null, text + " ", link);
	}

	private drawBlock(row: HTMLElement, n: number): void {
		const b = this.code.blocks[n], hot = this.heats[n], refused = this.refused.get(n);
		row.classList.add("d-block");
		row.title = `${b.addr} to ${b.end}`;
		const box = h("i.heatbox");
		const known = hot && !Number.isNaN(hot.total);
		if (known && hot.total > 0) box.style.backgroundColor = rgb(heat(logShare(hot.total, this.most)));
		const numbers = known && !(hot.total > 0) ? "never passed" : known ? `${si(hot.rate, "/s")} · ${percent(hot.share)} of calls · ${percent(hot.work)} of instructions` : "";
		const how = refused ? h("span.warn", { title: refused.message }, refused.reason + (refused.message ? ": " + refused.message : "")) : h("span.dim", null, b.window.kind ?? "");
		row.replaceChildren(box, h("b", null, "block " + n), h("span.dim", null, this.offset(b.addr)), h("span", null, numbers), how);
	}
}
