// SPDX-License-Identifier: GPL-2.0-only
// What the page shows, as the URL's fragment says it.
import type { Cpu, Wanted } from "./types";

export const views = ["choose", "plots", "function", "inserted", "d"] as const;
export type View = (typeof views)[number];
export const kinds = ["time", "bars", "table", "heat"] as const;
export type Kind = (typeof kinds)[number];
export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export interface VisiState {
	kind: Kind;
	curves: Wanted[];
	zoom: [number, number] | null; // seconds
}

export interface State {
	view: View;
	query: string;
	pids: number[]; // processes whose functions are shown
	points: string[];
	metrics: string[];
	predicate: string;
	cpus: Cpu[]; // ["all"], ["each"] or numbers
	visis: VisiState[];
	fn: string;
	theme: Theme;
}

export const emptyState = (): State => ({
	view: "choose", query: "", pids: [], points: [], metrics: [], predicate: "", cpus: ["all"], visis: [], fn: "", theme: "auto",
});

// A colon and a slash are plain in fragments, and frequent in points and metrics.
const encode = (s: string): string => encodeURIComponent(s).replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%40", "@");

function decode(s: string): string {
	try {
		return decodeURIComponent(s);
	} catch {
		return "";
	}
}

const list = (items: readonly (string | number)[]): string => items.map((i) => encode(String(i))).join(",");
const unlist = (s: string): string[] => s.split(",").map(decode).filter(Boolean);

function parseCpu(s: string): Cpu | null {
	if (s === "all" || s === "each") return s;
	return /^[0-9]{1,5}$/.test(s) ? Number(s) : null;
}

function encodeVisi(v: VisiState): string {
	const head = v.kind + (v.zoom ? "," + v.zoom.map((z) => +z.toFixed(3)).join(",") : "");
	return [head, ...v.curves.map((c) => list([c.metric, c.point, c.cpu, c.predicate ?? ""]))].join(";");
}

function decodeVisi(s: string): VisiState | null {
	const [head, ...rest] = s.split(";");
	const [kind, ...range] = head.split(",");
	if (!kinds.includes(kind as Kind)) return null;
	const curves: Wanted[] = [];
	for (const r of rest) {
		const [metric, point, cpu, predicate] = r.split(",").map(decode);
		const c = parseCpu(cpu ?? "all");
		if (metric && point && c !== null) curves.push(predicate ? { metric, point, cpu: c, predicate } : { metric, point, cpu: c });
	}
	const zoom = range.map(Number);
	const zoomed = zoom.length === 2 && zoom.every(Number.isFinite) && zoom[0] < zoom[1];
	return { kind: kind as Kind, curves, zoom: zoomed ? [zoom[0], zoom[1]] : null };
}

/** The fragment without '#'. What is as it is in an empty state is left out. */
export function encodeState(s: State): string {
	const parts: string[] = ["view=" + s.view];
	const add = (key: string, value: string): unknown => value && parts.push(key + "=" + value);
	add("q", encode(s.query));
	add("fn", encode(s.fn));
	add("pid", list(s.pids));
	add("points", list(s.points));
	add("metrics", list(s.metrics));
	add("if", encode(s.predicate));
	if (s.cpus.join() !== "all") add("cpu", list(s.cpus));
	if (s.theme !== "auto") add("theme", s.theme);
	for (const v of s.visis) add("visi", encodeVisi(v));
	return parts.join("&");
}

const one = <T extends string>(of: readonly T[], value: string, otherwise: T): T => (of.includes(value as T) ? (value as T) : otherwise);

const readers: Record<string, (s: State, value: string) => void> = {
	view: (s, v) => (s.view = one(views, v, "choose")),
	q: (s, v) => (s.query = decode(v)),
	fn: (s, v) => (s.fn = decode(v)),
	pid: (s, v) => (s.pids = [...new Set(unlist(v).map(Number).filter((n) => Number.isInteger(n) && n > 0))]),
	points: (s, v) => (s.points = [...new Set(unlist(v))]),
	metrics: (s, v) => (s.metrics = [...new Set(unlist(v))]),
	if: (s, v) => (s.predicate = decode(v)),
	theme: (s, v) => (s.theme = one(themes, v, "auto")),
	cpu: (s, v) => {
		const cpus = unlist(v).map(parseCpu).filter((c) => c !== null);
		if (cpus.length) s.cpus = cpus;
	},
	visi: (s, v) => {
		const visi = decodeVisi(v);
		if (visi) s.visis.push(visi);
	},
};

/** Whatever cannot be understood is left out. */
export function decodeState(fragment: string): State {
	const s = emptyState();
	for (const part of fragment.replace(/^#/, "").split("&")) {
		const at = part.indexOf("=");
		if (at > 0 && Object.hasOwn(readers, part.slice(0, at))) readers[part.slice(0, at)](s, part.slice(at + 1));
	}
	return s;
}
