// SPDX-License-Identifier: GPL-2.0-only
// Light, dark, or as the system has it; and the colours that canvases need.
import type { Theme } from "./state";

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Theme = "auto";

export function isDark(): boolean {
	return chosen === "dark" || (chosen === "auto" && system.matches);
}

export function setTheme(t: Theme): void {
	chosen = t;
	document.documentElement.dataset.theme = isDark() ? "dark" : "light";
	for (const f of listeners) f();
}

export function onTheme(f: () => void): () => void {
	listeners.add(f);
	return () => listeners.delete(f);
}

system.addEventListener("change", () => setTheme(chosen));

/** A colour of app.css by its name. */
export function color(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
