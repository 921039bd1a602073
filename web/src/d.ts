// SPDX-License-Identifier: GPL-2.0-only
// D programs: a place to write one, to run it in the kernel, and what it prints while it runs.
import { api, ApiError } from "./api";
import type { App } from "./app";
import { examples } from "./d_examples";
import { DHeat } from "./d_heat";
import { Lines, bucketOf, isHead, type Bucket } from "./d_text";
import { h, setText } from "./dom";
import type { DEvent, DRefusal } from "./types";

const MOST = 2000; // lines that are kept

export class DPage {
	readonly element: HTMLElement;
	private text = h("textarea.dtext", { id: "d-text", spellcheck: false, "aria-label": "D program", value: examples[0].text });
	private run = h("button.primary", { id: "d-run", title: "Ctrl-Enter", onclick: () => void this.begin() }, "Run");
	private stop = h("button", { id: "d-stop", disabled: true, onclick: () => void this.end() }, "Stop");
	private status = h("span.dstatus", { id: "d-status", role: "status" });
	private error = h("div.derror", { id: "d-error", role: "alert", hidden: true });
	private output = h("pre.dout", { id: "d-out", tabIndex: 0, "aria-label": "Output of the program" });
	private lines = new Lines();
	private rows: (Bucket & { bar: HTMLElement })[] = []; // of the distribution that is printed now
	private before = ""; // the line above its head: what it is of
	private key = "";
	private maps = new DHeat();
	private inRows = false;
	private waiting: HTMLElement[] = [];
	private drawn = 0;

	constructor(private app: App) {
		const choice = h("select", { id: "d-example", "aria-label": "Examples", onchange: () => this.choose(Number(choice.value)) },
			...examples.map((e, i) => h("option", { value: String(i) }, e.name)));
		this.text.addEventListener("keydown", (e) => {
			if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
			e.preventDefault();
			void this.begin();
		});
		this.element = h("section.dpage", { "aria-label": "D programs" },
			h("header", null, h("h2", null, "D program"), choice, h("span.grow"), this.status, this.run, this.stop,
				h("button", { id: "d-clear", onclick: () => this.clear() }, "Clear output")),
			this.text, this.error, this.maps.element, this.output);
		app.on("info", () => this.joined());
	}

	private choose(i: number): void {
		this.text.value = examples[i].text;
		this.error.hidden = true;
	}

	private clear(): void {
		this.waiting = [];
		this.rows = [];
		this.maps.clear();
		this.output.replaceChildren();
	}

	private get mayRun(): boolean {
		return !this.run.disabled;
	}

	private setRunning(running: boolean): void {
		this.run.disabled = running;
		this.stop.disabled = !running;
	}

	private async begin(): Promise<void> {
		if (!this.mayRun || !this.app.curves.client) return;
		this.error.hidden = true;
		this.lines = new Lines();
		this.outOfRows("");
		this.maps.clear();
		this.setRunning(true);
		setText(this.status, "compiling …");
		try {
			await api.runD(this.app.curves.client, this.text.value);
		} catch (e) {
			this.setRunning(false);
			setText(this.status, "");
			this.showError(e instanceof ApiError ? (e.refusal as DRefusal) : { reason: "", message: (e as Error).message });
		}
	}

	private async end(): Promise<void> {
		this.stop.disabled = true;
		try {
			await api.stopD(this.app.curves.client ?? "");
		} catch (e) {
			setText(this.status, (e as Error).message);
		}
	}

	/** What is wrong, and with its place: the line, marked in the program. */
	private showError(r: DRefusal): void {
		const line = r.line ? this.text.value.split("\n")[r.line - 1] : undefined;
		this.error.hidden = false;
		this.error.replaceChildren(h("span", null, (r.line ? `line ${r.line}, column ${r.column ?? 1}: ` : "") + r.message), h("span.dim", null, ` [${r.reason}]`),
			...(line === undefined ? [] : [h("pre", null, line + "\n" + line.slice(0, (r.column ?? 1) - 1).replace(/[^\t]/g, " ") + "^")]));
		if (line === undefined) return;
		const at = this.text.value.split("\n").slice(0, r.line! - 1).join("\n").length + (r.line! > 1 ? 1 : 0);
		this.text.focus();
		this.text.setSelectionRange(at, at + line.length);
	}

	/** Another client, or another connection: whatever ran has ended with the old one. */
	private client: string | null = null;
	private joined(): void {
		if (this.client !== this.app.curves.client && this.client !== null) this.lost("the connection was lost for too long: the program has been ended");
		this.client = this.app.curves.client;
	}

	lost(why: string): void {
		if (this.mayRun) return;
		this.setRunning(false);
		setText(this.status, why);
	}

	event(e: DEvent): void {
		if (e.text !== undefined) this.print(this.lines.take(e.text));
		if (e.missing !== undefined) this.note(`… ${e.missing} bytes are missing: the page or the connection was too slow`);
		if (e.warning !== undefined) this.note(e.warning);
		if (e.error) this.showError(e.error);
		if (e.matched !== undefined) setText(this.status, `running: ${e.matched} probe${e.matched === 1 ? "" : "s"}` + (e.left_out ? `, ${e.left_out} of them left out` : ""));
		if (e.ended) this.ended(e.ended);
	}

	private ended({ status, drops }: NonNullable<DEvent["ended"]>): void {
		this.print(this.lines.end());
		this.outOfRows("");
		const lost = Object.entries(drops).filter(([, n]) => n > 0).map(([name, n]) => `${n} ${name} dropped`);
		if (lost.length) this.note(lost.join(", "));
		this.setRunning(false);
		setText(this.status, "ended" + (status ? " with status " + status : ""));
	}

	private note(text: string): void {
		this.add(h("div.warn", null, text));
	}

	private print(lines: string[]): void {
		for (const l of lines) {
			const bucket = this.inRows ? bucketOf(l) : null;
			if (bucket) this.addBucket(l, bucket.value, bucket.count);
			else this.add(h("div", null, l || " "));
			if (!bucket) this.outOfRows(l);
		}
	}

	private outOfRows(line: string): void {
		if (this.rows.length) this.maps.add(this.key, this.rows);
		this.rows = [];
		this.inRows = isHead(line);
		if (this.inRows) this.key = this.before.trim();
		this.before = line;
	}

	/** A row's bar is as long as its share of the distribution's longest. */
	private addBucket(line: string, value: string, count: number): void {
		const bar = h("span.dbar");
		this.add(h("div.drow", { title: line }, h("span.dvalue", null, value), h("span.track", null, bar), h("span.dcount", null, String(count))));
		this.rows.push({ bar, value, count });
		const most = Math.max(...this.rows.map((r) => Math.abs(r.count)), 1);
		for (const r of this.rows) r.bar.style.transform = `scaleX(${Math.abs(r.count) / most})`;
	}

	/** What comes at once is put in at once, and what nobody could see is not made. */
	private add(line: HTMLElement): void {
		this.waiting.push(line);
		if (this.waiting.length > MOST) this.waiting.splice(0, this.waiting.length - MOST);
		if (!this.drawn) this.drawn = window.setTimeout(() => this.draw(), 50);
	}

	private draw(): void {
		const o = this.output, atEnd = o.scrollTop + o.clientHeight >= o.scrollHeight - 4;
		this.drawn = 0;
		o.append(...this.waiting);
		this.waiting = [];
		while (o.childElementCount > MOST) o.firstElementChild?.remove();
		if (atEnd) o.scrollTop = o.scrollHeight;
	}
}
