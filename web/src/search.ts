// SPDX-License-Identifier: GPL-2.0-only
// Finding functions by parts of their names, globs, module:name, process/name and addresses.
import type { ModuleList } from "./types";

export interface Fn {
	name: string;
	lower: string;
	module: number; // index in modules
	addr: bigint;
	twin: boolean; // another function of its module has the same name
}

export interface Catalog {
	modules: { name: string; first: number; count: number }[];
	fns: Fn[]; // module by module, by name
}

export function buildCatalog(lists: readonly ModuleList[]): Catalog {
	const modules: Catalog["modules"] = [];
	const fns: Fn[] = [];
	const sorted = [...lists].sort((a, b) => (a.name < b.name ? -1 : 1));
	sorted.forEach((m, module) => {
		const first = fns.length;
		const order = m.names.map((_, i) => i).sort((a, b) => (m.names[a] < m.names[b] ? -1 : m.names[a] > m.names[b] ? 1 : a - b));
		for (const i of order)
			fns.push({ name: m.names[i], lower: m.names[i].toLowerCase(), module, addr: BigInt(m.addr[i] ?? 0), twin: false });
		for (let i = first + 1; i < fns.length; i++)
			if (fns[i].name === fns[i - 1].name) fns[i].twin = fns[i - 1].twin = true;
		modules.push({ name: m.name, first, count: fns.length - first });
	});
	return { modules, fns };
}

/** The function as points name it: [module:]name[@0xaddr]. */
export function pointOf(catalog: Catalog, fn: Fn): string {
	const module = catalog.modules[fn.module].name;
	return (module ? module + ":" : "") + fn.name + (fn.twin ? "@0x" + fn.addr.toString(16) : "");
}

/** The function of a point (blocks and offsets behind it are left away). */
export function functionOf(point: string): string {
	return point.replace(/(:(block|edge|call)\/.*|:(entry|exit|calls|returns|blocks|edges|insns)([:/].*)?|\+(0x)?[0-9a-f]+(:.*)?)$/, "");
}

const globToRegExp = (glob: string): RegExp =>
	new RegExp("^" + glob.replace(/[.+^${}()|\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".") + "$");

/** How well a name matches one word: less is better; -1: not at all. */
function rank(name: string, word: string): number {
	const at = name.indexOf(word);
	if (at < 0) return -1;
	if (at === 0) return name.length === word.length ? 0 : 1;
	return name[at - 1] === "_" || name[at - 1] === "." ? 2 : 3;
}

function byAddress(catalog: Catalog, addr: bigint): number[] {
	let best = -1;
	catalog.fns.forEach((f, i) => {
		if (f.addr <= addr && (best < 0 || f.addr > catalog.fns[best].addr)) best = i;
	});
	return best < 0 ? [] : [best];
}

function matcher(word: string): (name: string) => number {
	if (!/[*?]/.test(word)) return (name) => rank(name, word);
	const re = globToRegExp(word);
	return (name) => (re.test(name) ? 1 : -1);
}

/** Indices of the functions that match all words, the best first, in stable order. */
export function find(catalog: Catalog, query: string): number[] {
	const text = query.trim().toLowerCase();
	if (/^0x[0-9a-f]{4,16}$/.test(text)) return byAddress(catalog, BigInt(text));
	const process = /^([0-9]+\/)([^:]*)$/.exec(text);
	const colon = /^([a-z0-9_./+-]+):(.*)$/.exec(text);
	const module = colon ? (colon[1] === "kernel" ? "" : colon[1]) : null;
	const words = (process ? process[2] : colon ? colon[2] : text).split(/\s+/).filter(Boolean).map(matcher);
	const ranked: number[][] = [[], [], [], []];
	catalog.modules.forEach((m) => {
		if (process && !m.name.startsWith(process[1])) return;
		if (module !== null && m.name.toLowerCase() !== module) return;
		for (let i = m.first; i < m.first + m.count; i++) {
			let worst = 0;
			for (const match of words) {
				const r = match(catalog.fns[i].lower);
				worst = r < 0 ? 4 : Math.max(worst, r);
				if (worst === 4) break;
			}
			if (worst < 4) ranked[worst].push(i);
		}
	});
	for (const r of ranked.slice(1)) r.sort((a, b) => catalog.fns[a].name.length - catalog.fns[b].name.length || a - b);
	return ranked.flat();
}
