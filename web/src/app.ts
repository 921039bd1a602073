// SPDX-License-Identifier: GPL-2.0-only
// What the parts of the page share: the state, what the daemon has told, the curves.
import { api } from "./api";
import { Curves } from "./curves";
import type { Catalog } from "./search";
import { decodeState, encodeState, type State } from "./state";
import type { FunctionCode, Info, Metric } from "./types";

type Part = "state" | "info" | "catalog" | "metrics";

export class App {
	state: State;
	info: Info | null = null;
	catalog: Catalog | null = null;
	metrics: Metric[] = [];
	metricsByName = new Map<string, Metric>();
	readonly curves = new Curves();
	private codes = new Map<string, Promise<FunctionCode>>();
	private listeners = new Map<Part, Set<() => void>>();
	private timer = 0;

	constructor() {
		this.state = decodeState(location.hash);
	}

	on(part: Part, f: () => void): void {
		const set = this.listeners.get(part) ?? new Set();
		this.listeners.set(part, set);
		set.add(f);
	}

	tell(part: Part): void {
		for (const f of this.listeners.get(part) ?? []) f();
	}

	/** Changes the state, tells everybody, and soon the address. step: the back button comes here. */
	change(part: Partial<State>, step = false): void {
		Object.assign(this.state, part);
		this.tell("state");
		clearTimeout(this.timer);
		if (step) this.write(true);
		else this.timer = window.setTimeout(() => this.write(false), 150);
	}

	private write(step: boolean): void {
		const hash = "#" + encodeState(this.state);
		if (hash === location.hash) return;
		if (step) history.pushState(null, "", hash);
		else history.replaceState(null, "", hash);
	}

	setCatalog(catalog: Catalog): void {
		this.catalog = catalog;
		this.codes.clear();
		this.tell("catalog");
	}

	setMetrics(list: Metric[]): void {
		this.metrics = list;
		this.metricsByName = new Map(list.map((m) => [m.name, m]));
		this.tell("metrics");
	}

	toggle(list: "points" | "metrics", item: string): void {
		const old = this.state[list];
		this.change({ [list]: old.includes(item) ? old.filter((x) => x !== item) : [...old, item] });
	}

	/** A function's code, asked once; fresh: what stands in the kernel now. */
	code(name: string, fresh = false): Promise<FunctionCode> {
		let p = fresh ? undefined : this.codes.get(name);
		if (!p) {
			p = api.code(name, this.curves.client);
			this.codes.set(name, p);
			p.catch(() => this.codes.delete(name));
		}
		return p;
	}

	openFunction(point: string): void {
		this.change({ view: "function", fn: point }, true);
	}
}
