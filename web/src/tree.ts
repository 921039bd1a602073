// SPDX-License-Identifier: GPL-2.0-only
// The resources: kernel, modules, functions, blocks; or what a search finds. Open for 100,000 of them.
import type { App } from "./app";
import { h, notify, setText } from "./dom";
import { VirtualList } from "./list";
import { find, pointOf, type Catalog } from "./search";
import type { FunctionCode } from "./types";

type Item =
	| { kind: "module"; m: number }
	| { kind: "fn"; f: number }
	| { kind: "block"; f: number; b: number }
	| { kind: "note"; text: string };

const ROW = 22;

export class Tree {
	readonly element: HTMLElement;
	private list: VirtualList;
	private items: Item[] = [];
	private openModules = new Set<number>();
	private openFns = new Set<number>();
	private codes = new Map<number, FunctionCode | string>(); // string: why there is none
	private selected = new Set<string>();
	private summary = h("div.dim.small");
	private query = "";
	private listed: Catalog | null = null; // whose numbers these are

	constructor(private app: App) {
		this.list = new VirtualList({
			label: "Functions of the kernel, its modules, processes", rowHeight: ROW, role: "tree",
			draw: (row, i) => this.draw(row, this.items[i]),
			key: (key, i) => this.key(key, i),
			click: (i, e) => this.click(i, e),
		});
		this.element = h("div.tree", null, this.list.element, this.summary);
		app.on("catalog", () => this.renew());
		app.on("state", () => this.stateChanged());
	}

	focus(): void {
		this.list.element.focus();
	}

	private stateChanged(): void {
		this.selected = new Set(this.app.state.points);
		if (this.app.state.query !== this.query) {
			this.list.active = 0;
			this.list.element.scrollTop = 0;
			this.rebuild();
		} else {
			this.list.refresh();
		}
	}

	// Modules have come or gone: numbers are others now, names stay.
	private renew(): void {
		const open = new Set([...this.openModules].map((m) => this.listed!.modules[m].name));
		this.listed = this.app.catalog;
		this.openModules = new Set([...this.listed!.modules.keys()].filter((m) => open.has(this.listed!.modules[m].name)));
		this.openFns.clear();
		this.codes.clear();
		this.rebuild();
	}

	private rebuild(): void {
		const catalog = this.app.catalog;
		this.query = this.app.state.query;
		this.selected = new Set(this.app.state.points);
		if (!catalog) return;
		this.items = [];
		if (this.query.trim()) this.addFound();
		else catalog.modules.forEach((_, m) => this.addModule(m));
		this.list.setCount(this.items.length);
	}

	private addFound(): void {
		const found = find(this.app.catalog!, this.query);
		for (const f of found) this.addFn(f);
		setText(this.summary, found.length + " of " + this.app.catalog!.fns.length + " functions");
		if (!found.length) this.items.push({ kind: "note", text: "nothing is called so" });
	}

	private addModule(m: number): void {
		const catalog = this.app.catalog!;
		const { first, count } = catalog.modules[m];
		this.items.push({ kind: "module", m });
		if (this.openModules.has(m)) for (let f = first; f < first + count; f++) this.addFn(f);
		setText(this.summary, catalog.fns.length + " functions, " + (catalog.modules.length - 1) + " modules");
	}

	private addFn(f: number): void {
		this.items.push({ kind: "fn", f });
		if (!this.openFns.has(f)) return;
		const code = this.codes.get(f);
		if (code === undefined) this.items.push({ kind: "note", text: "reading …" });
		else if (typeof code === "string") this.items.push({ kind: "note", text: code });
		else code.blocks.forEach((_, b) => this.items.push({ kind: "block", f, b }));
	}

	private point(item: Item): string {
		if (item.kind !== "fn" && item.kind !== "block") return "";
		const p = pointOf(this.app.catalog!, this.app.catalog!.fns[item.f]);
		return item.kind === "block" ? p + ":block/" + item.b : p;
	}

	private isOpen(item: Item): boolean {
		if (item.kind === "module") return this.openModules.has(item.m);
		return item.kind === "fn" && this.openFns.has(item.f);
	}

	private setOpen(item: Item, open: boolean): void {
		if (item.kind === "module") this.openModules[open ? "add" : "delete"](item.m);
		if (item.kind === "fn") {
			this.openFns[open ? "add" : "delete"](item.f);
			if (open) void this.load(item.f);
		}
		this.rebuild();
	}

	private async load(f: number): Promise<void> {
		if (typeof this.codes.get(f) === "object") return;
		const { listed } = this;
		try {
			const code = await this.app.code(pointOf(this.app.catalog!, this.app.catalog!.fns[f]));
			if (this.listed !== listed) return;
			this.codes.set(f, code.refused && !code.blocks.length ? code.refused.reason + ": " + code.refused.message : code);
		} catch (e) {
			this.codes.set(f, (e as Error).message);
		}
		this.rebuild();
	}

	private select(item: Item): void {
		if (item.kind === "module")
			notify("A metric is of functions and of points in them, not of a module: open it and choose some.", "error");
		else if (item.kind !== "note") this.app.toggle("points", this.point(item));
	}

	private click(i: number, e: MouseEvent): void {
		const item = this.items[i];
		const part = (e.target as HTMLElement).dataset.part;
		if (part === "page" && item.kind !== "note") this.openPage(item);
		else if (part === "twist" || item.kind === "module") this.setOpen(item, !this.isOpen(item));
		else this.select(item);
	}

	private openPage(item: Item): void {
		if (item.kind === "fn" || item.kind === "block") this.app.openFunction(this.point({ kind: "fn", f: item.f }));
	}

	private key(key: string, i: number): boolean {
		const item = this.items[i];
		const actions: Record<string, () => void> = {
			" ": () => this.select(item),
			Enter: () => (item.kind === "module" ? this.setOpen(item, !this.isOpen(item)) : this.openPage(item)),
			ArrowRight: () => this.setOpen(item, true),
			ArrowLeft: () => (this.isOpen(item) ? this.setOpen(item, false) : this.toParent(i)),
		};
		if (!(key in actions)) return false;
		actions[key]();
		return true;
	}

	private toParent(i: number): void {
		const depth = (x: Item): number => ["module", "fn", "block"].indexOf(x.kind);
		let at = i;
		while (at > 0 && depth(this.items[at]) >= depth(this.items[i])) at--;
		this.list.setActive(at);
	}

	private draw(row: HTMLElement, item: Item): void {
		const point = this.point(item);
		const chosen = point !== "" && this.selected.has(point);
		row.classList.add("t-" + item.kind);
		row.classList.toggle("chosen", chosen);
		row.setAttribute("role", "treeitem");
		row.setAttribute("aria-selected", String(chosen));
		row.setAttribute("aria-level", String(item.kind === "module" ? 1 : item.kind === "fn" ? 2 : 3));
		if (item.kind === "module" || item.kind === "fn") row.setAttribute("aria-expanded", String(this.isOpen(item)));
		else row.removeAttribute("aria-expanded");
		row.title = item.kind === "note" ? item.text : point;
		row.replaceChildren(...this.cells(item, chosen));
	}

	private cells(item: Item, chosen: boolean): Node[] {
		const twist = h("span.twist", null, this.isOpen(item) ? "▾" : "▸");
		twist.dataset.part = "twist";
		const box = h("span.box", { "aria-hidden": "true" }, chosen ? "✓" : "");
		const side = h("span.side", null, this.sideText(item));
		if (item.kind === "note") return [h("span.name", null, item.text)];
		const name = h("span.name", null, this.nameText(item));
		if (item.kind === "module") return [twist, name, side];
		const page = h("span.page", { title: "Open the function's page" }, "›");
		page.dataset.part = "page";
		return item.kind === "fn" ? [twist, box, name, side, page] : [box, name, side];
	}

	private nameText(item: Item): string {
		if (item.kind === "module") return this.app.catalog!.modules[item.m].name || "kernel";
		if (item.kind === "fn") return this.app.catalog!.fns[item.f].name;
		return item.kind === "block" ? "block " + item.b : "";
	}

	private sideText(item: Item): string {
		const catalog = this.app.catalog!;
		if (item.kind === "module") return String(catalog.modules[item.m].count);
		if (item.kind === "fn") return this.query.trim() ? catalog.modules[catalog.fns[item.f].module].name : "";
		if (item.kind !== "block") return "";
		const code = this.codes.get(item.f);
		if (typeof code !== "object") return "";
		const block = code.blocks[item.b];
		return block.window.refused ?? "+0x" + (BigInt(block.addr) - BigInt(code.addr)).toString(16);
	}
}
