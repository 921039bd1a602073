// SPDX-License-Identifier: GPL-2.0-only
// What the parts of the page share: the state, what the daemon has told, the curves.
import { api } from "./api";
import { Curves } from "./curves";
import { notify } from "./dom";
import { buildCatalog, type Catalog } from "./search";
import { decodeState, encodeState, type State } from "./state";
import type { FunctionCode, Info, Metric, ModuleList } from "./types";

type Part = "state" | "info" | "catalog" | "metrics";

export class App {
	state: State;
	info: Info | null = null;
	catalog: Catalog | null = null;
	metrics: Metric[] = [];
	metricsByName = new Map<string, Metric>();
	readonly curves = new Curves();
	private kernel: ModuleList[] = [];
	private processes = new Map<number, ModuleList[]>();
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

	setFunctions(kernel: ModuleList[]): void {
		this.kernel = kernel;
		this.setCatalog();
	}

	private setCatalog(): void {
		this.catalog = buildCatalog([...this.kernel, ...[...this.processes.values()].flat()]);
		this.codes.clear();
		this.tell("catalog");
	}

	/** Its functions are in the tree as they are now. False: they cannot be had, and why has been said. */
	async openProcess(pid: number): Promise<boolean> {
		try {
			this.processes.set(pid, (await api.functions(pid)).modules);
		} catch (e) {
			notify((e as Error).message, "error");
			this.closeProcess(pid);
			return false;
		}
		if (!this.state.pids.includes(pid)) this.change({ pids: [...this.state.pids, pid] });
		this.setCatalog();
		return true;
	}

	/** Its functions are shown, and chosen, no more; what is measured in it stays. */
	closeProcess(pid: number): void {
		this.change({ pids: this.state.pids.filter((p) => p !== pid), points: this.state.points.filter((p) => !p.startsWith(pid + "/")) });
		if (this.processes.delete(pid)) this.setCatalog();
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
