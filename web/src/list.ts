// SPDX-License-Identifier: GPL-2.0-only
// A list of any length of which only the rows in sight are elements.
import { h, once } from "./dom";

export interface ListOptions {
	label: string;
	rowHeight: number;
	role?: "listbox" | "tree" | "grid";
	/** Fills a row's element, which is used again for other rows. */
	draw(row: HTMLElement, index: number): void;
	/** A key on the active row; true: handled. */
	key?(key: string, index: number): boolean;
	click?(index: number, e: MouseEvent): void;
}

const OVERSCAN = 6;
let serial = 0;

export class VirtualList {
	readonly element: HTMLElement;
	private body: HTMLElement;
	private rows = new Map<number, HTMLElement>();
	private spare: HTMLElement[] = [];
	private count = 0;
	private id = "list" + ++serial;
	active = 0;
	private soon = once(() => this.draw(false));

	constructor(private o: ListOptions) {
		this.body = h("div.vbody", { role: "presentation" });
		this.element = h("div.vlist", { tabIndex: 0, role: o.role ?? "listbox", "aria-label": o.label }, this.body);
		this.element.addEventListener("scroll", this.soon, { passive: true });
		this.element.addEventListener("keydown", (e) => this.onKey(e));
		this.element.addEventListener("click", (e) => this.onClick(e));
		new ResizeObserver(this.soon).observe(this.element);
	}

	setCount(n: number): void {
		this.count = n;
		this.body.style.height = n * this.o.rowHeight + "px";
		if (this.active >= n) this.active = Math.max(0, n - 1);
		this.draw(true);
	}

	/** Draws the rows in sight anew. */
	refresh(): void {
		this.draw(true);
	}

	scrollTo(index: number): void {
		const top = index * this.o.rowHeight;
		const height = this.element.clientHeight;
		if (top < this.element.scrollTop) this.element.scrollTop = top;
		else if (top + this.o.rowHeight > this.element.scrollTop + height)
			this.element.scrollTop = top + this.o.rowHeight - height;
	}

	setActive(index: number): void {
		this.active = Math.max(0, Math.min(this.count - 1, index));
		this.scrollTo(this.active);
		this.draw(true);
	}

	private draw(all: boolean): void {
		const first = Math.max(0, Math.floor(this.element.scrollTop / this.o.rowHeight) - OVERSCAN);
		const last = Math.min(this.count, Math.ceil((this.element.scrollTop + this.element.clientHeight) / this.o.rowHeight) + OVERSCAN);
		for (const [i, row] of this.rows)
			if (i < first || i >= last) {
				row.remove();
				this.rows.delete(i);
				this.spare.push(row);
			}
		for (let i = first; i < last; i++) {
			const old = this.rows.get(i);
			if (!old || all) this.drawRow(i, old);
		}
		this.element.setAttribute("aria-activedescendant", this.rows.has(this.active) ? this.id + "-" + this.active : "");
	}

	private drawRow(i: number, old: HTMLElement | undefined): void {
		const row = old ?? this.spare.pop() ?? h("div.vrow");
		row.className = "vrow" + (i === this.active ? " active" : "");
		row.style.transform = `translateY(${i * this.o.rowHeight}px)`;
		row.style.height = this.o.rowHeight + "px";
		row.dataset.index = String(i);
		row.id = this.id + "-" + i;
		this.o.draw(row, i);
		if (!old) {
			this.rows.set(i, row);
			this.body.append(row);
		}
	}

	private onClick(e: MouseEvent): void {
		const row = (e.target as HTMLElement).closest<HTMLElement>(".vrow");
		if (!row) return;
		this.active = Number(row.dataset.index);
		this.o.click?.(this.active, e);
		this.draw(true);
	}

	private onKey(e: KeyboardEvent): void {
		if (e.target !== this.element || e.ctrlKey || e.metaKey || e.altKey) return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.o.rowHeight) - 1);
		const moves: Record<string, number> = {
			ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page,
			PageUp: this.active - page, Home: 0, End: this.count - 1,
		};
		if (e.key in moves) this.setActive(moves[e.key]);
		else if (!this.count || !this.o.key?.(e.key, this.active)) return;
		e.preventDefault();
		e.stopPropagation();
	}
}
