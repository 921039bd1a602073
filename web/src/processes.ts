// SPDX-License-Identifier: GPL-2.0-only
// Processes whose functions are in the tree beside the kernel's: choosing one, and letting it go.
import { api } from "./api";
import type { App } from "./app";
import { h, notify } from "./dom";

export class ProcessPicker {
	readonly element: HTMLElement;
	private input: HTMLInputElement;
	private known = h("datalist", { id: "process-list" });
	private chips = h("div.chips", { id: "processes" });

	constructor(private app: App) {
		this.input = h("input", {
			id: "process", type: "text", inputMode: "numeric", placeholder: "and of a process: its number", autocomplete: "off",
			"aria-label": "Process", onfocus: () => void this.list(),
			onkeydown: (e: KeyboardEvent) => e.key === "Enter" && void this.open(),
		});
		this.input.setAttribute("list", "process-list");
		const add = h("button", { id: "process-add", onclick: () => void this.open(), title: "Shows the process's functions in the tree" }, "Add");
		this.element = h("div.processes", null, h("div.row", null, this.input, this.known, add), this.chips);
		app.on("state", () => this.update());
		app.on("info", () => this.update());
	}

	// What runs now; who knows the number needs no list.
	private async list(): Promise<void> {
		const { processes } = await api.processes().catch(() => ({ processes: [] }));
		this.known.replaceChildren(...processes.map((p) => h("option", { value: String(p.pid) }, p.comm + ": " + p.args)));
	}

	private async open(): Promise<void> {
		const text = this.input.value.trim();
		if (!/^[1-9][0-9]{0,9}$/.test(text)) return notify("a process is a number, as ps shows it", "error");
		if (await this.app.openProcess(Number(text))) this.input.value = "";
	}

	private update(): void {
		this.element.hidden = !!this.app.info?.replay;
		this.chips.replaceChildren(...this.app.state.pids.map((pid) =>
			h("button.chip", { title: "Takes the functions of " + pid + " out of the tree", onclick: () => this.app.closeProcess(pid) },
				"process " + pid, h("span.x", { "aria-hidden": "true" }, "×"))));
	}
}
