// SPDX-License-Identifier: GPL-2.0-only
// What is inserted in the kernel now, by whom, at what cost; and the button that removes it all.
import { api } from "./api";
import type { App } from "./app";
import { csv, download, type Cell } from "./csv";
import { h, notify, setText } from "./dom";
import { VirtualList } from "./list";
import type { Inserted, InsertedRow, Others } from "./types";
import { bytes, duration, percent, si } from "./units";

const PERIOD_MS = 2000;

interface Column {
	name: string;
	css: string;
	text(r: InsertedRow, mine: boolean): string;
	raw(r: InsertedRow): Cell;
}

const columns: Column[] = [
	{ name: "by", css: "i-by", text: (r, mine) => (mine ? "this page" : r.client), raw: (r) => r.client },
	{ name: "metric", css: "i-metric", text: (r) => r.metric, raw: (r) => r.metric },
	{ name: "where", css: "i-point", text: (r) => r.point + (r.predicate ? " if " + r.predicate : ""), raw: (r) => r.point },
	{ name: "since", css: "i-num", text: (r) => duration(r.since), raw: (r) => r.since },
	{ name: "hits", css: "i-num", text: (r) => si(r.hits), raw: (r) => r.hits },
	{ name: "a hit costs", css: "i-num", text: (r) => (r.cost_instructions === null ? "–" : +r.cost_instructions.toFixed(1) + " instr."), raw: (r) => r.cost_instructions },
	{ name: "of all CPUs", css: "i-num", text: (r) => percent(r.share), raw: (r) => r.share },
];

/** What others have in the kernel, which the button does not remove. */
function othersText(o: Others): string {
	const who = o.processes.map((p) => `${p.comm} (${p.pid})`).join(", ");
	return `Not from here: ${o.sessions} ${o.sessions === 1 ? "session" : "sessions"}${who ? " of " + who : ""}` +
		(o.windows ? `, in ${o.windows} or more places of the text` : "") + ". They end when their owners do.";
}

export class InsertedPage {
	readonly element: HTMLElement;
	private rows: InsertedRow[] = [];
	private mine = new Set<number>();
	private totals = h("p.totals", { role: "status" });
	private others = h("p.warn.others", { role: "status", hidden: true });
	private list: VirtualList;
	private table: HTMLElement;
	private empty = h("p.empty");
	private button = h("button.danger", { id: "remove-all", onclick: () => void this.removeAll() }, "Remove everything");

	constructor(private app: App) {
		this.list = new VirtualList({
			label: "What is inserted", rowHeight: 22, role: "grid",
			draw: (row, i) => row.replaceChildren(...columns.map((c) => h("span." + c.css, { title: c.text(this.rows[i], false) }, c.text(this.rows[i], this.mine.has(i))))),
			click: (i) => app.openFunction(this.rows[i].point),
			key: (key, i) => key === "Enter" && (app.openFunction(this.rows[i].point), true),
		});
		this.element = h("section.inserted", { "aria-label": "What is inserted" },
			h("header", null, h("h2", null, "Inserted in the kernel now"), h("span.grow"), h("button", { onclick: () => this.saveCsv() }, "CSV"), this.button),
			this.totals, this.others, this.empty, this.table = h("div.itable", null, h("div.ihead", null, ...columns.map((c) => h("span." + c.css, null, c.name))), this.list.element));
		app.on("state", () => void this.refresh());
		app.curves.onChange(() => void this.refresh());
		setInterval(() => void this.refresh(), PERIOD_MS);
	}

	private asking = false;

	async refresh(): Promise<void> {
		if (this.app.state.view !== "inserted" || this.asking || document.hidden) return;
		this.asking = true;
		try {
			this.show(await api.inserted(this.app.curves.client));
		} catch (e) {
			setText(this.totals, (e as Error).message);
		} finally {
			this.asking = false;
		}
	}

	private show(i: Inserted): void {
		this.rows = i.rows;
		this.mine = new Set(i.mine ?? i.rows.flatMap((r, n) => (r.client === this.app.curves.client ? [n] : [])));
		const clients = new Set(i.rows.map((r) => r.client)).size;
		const share = i.rows.some((r) => r.share !== null) ? i.rows.reduce((a, r) => a + (r.share ?? 0), 0) : null;
		const curves = `${i.rows.length} curves of ${clients} ${clients === 1 ? "client" : "clients"}`;
		setText(this.totals, this.app.info?.replay ? curves + ": a recording, nothing is in a kernel" : `${curves} · ${i.windows} places in the text · ` +
			`${bytes(i.heap_used)} of ${bytes(i.heap_size)} for code · ${i.sessions} ${i.sessions === 1 ? "session" : "sessions"} of the driver · together ${percent(share)} of all CPUs' time`);
		this.others.hidden = !i.others;
		setText(this.others, i.others ? othersText(i.others) : "");
		setText(this.empty, i.others ? "Of this daemon nothing is inserted." : "Nothing is inserted: the kernel's text is as it was.");
		this.empty.hidden = i.rows.length > 0;
		this.table.hidden = !i.rows.length;
		this.button.disabled = i.rows.length === 0;
		this.list.setCount(this.rows.length);
	}

	private async removeAll(): Promise<void> {
		try {
			await api.clear(this.app.curves.client ?? "");
			this.app.curves.lost("everything was taken out");
			notify("everything is taken out");
		} catch (e) {
			notify((e as Error).message, "error");
		}
		await this.refresh();
	}

	private saveCsv(): void {
		const names = ["client", "metric", "point", "since (s)", "hits", "cost of a hit (instructions)", "share of all CPUs' time", "predicate"];
		download("inserted.csv", "text/csv;charset=utf-8", csv([names, ...this.rows.map((r) => [...columns.map((c) => c.raw(r)), r.predicate])]));
	}
}
