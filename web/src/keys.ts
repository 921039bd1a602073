// SPDX-License-Identifier: GPL-2.0-only
// Keys of the whole page: one table, which the help shows too.
import { byId, h } from "./dom";

export interface Key {
	key: string;
	text: string;
	run: () => void;
}

// Shown in the help; the lists themselves handle them.
const inLists: [string, string][] = [
	["↑ ↓ Home End PgUp PgDn", "go through a list"],
	["→ ←", "open and close a module or function"],
	["Space", "select, or no longer"],
	["Enter", "open the function's page"],
	["Esc", "close, clear the search"],
];

function isTyping(e: Event): boolean {
	const t = e.target as HTMLElement | null;
	return !!t && (/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) || t.isContentEditable);
}

function showHelp(keys: Key[]): void {
	const dialog = byId("help") as HTMLDialogElement;
	const rows = [...keys.map((k) => [k.key, k.text]), ...inLists];
	dialog.replaceChildren(
		h("h2", null, "Keys"),
		h("dl.keys", null, ...rows.flatMap(([k, t]) => [h("dt", null, h("kbd", null, k)), h("dd", null, t)])),
		h("button", { onclick: () => dialog.close() }, "Close"),
	);
	dialog.showModal();
}

export function installKeys(keys: Key[]): () => void {
	const all = [...keys];
	const help = (): void => showHelp(all);
	all.push({ key: "?", text: "this help", run: help });
	document.addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || isTyping(e) || document.querySelector("dialog[open]")) return;
		const k = all.find((x) => x.key === e.key);
		if (!k) return;
		e.preventDefault();
		k.run();
	});
	return help;
}
