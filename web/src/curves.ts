// SPDX-License-Identifier: GPL-2.0-only
// All curves of this tab: what is put into the kernel, for whom, and taken out again.
import { api } from "./api";
import type { CurveAnswer, Refusal, Sample, Wanted } from "./types";

/** Who shows curves: a visualization, a function's page. */
export interface Owner {
	sample(s: Sample): void;
	gone(id: number, refused: Refusal): void;
	/** The daemon has forgotten this client, and taken out all. */
	lost(why: string): void;
}

const KEPT = 100;
const BATCH = 2000;
const PATIENCE_MS = 15000;

export class Curves {
	private owners = new Map<Owner, Set<number>>();
	private asking = 0;
	// What comes between the daemon's having inserted something and its answer.
	private early: Sample[] = [];
	private listeners = new Set<() => void>();
	client: string | null = null;
	/** The stream has ended: nothing can be asked any more. */
	ended = "";
	private waiting: (() => void)[] = [];
	samples = 0;
	missed = 0;

	/** The daemon has said who we are. */
	join(client: string): void {
		this.client = client;
		for (const go of this.waiting.splice(0)) go();
	}

	// A page that has just been opened can be quicker than its stream.
	async connected(): Promise<string> {
		if (!this.client) await Promise.race([new Promise<void>((go) => this.waiting.push(go)), new Promise((go) => setTimeout(go, PATIENCE_MS))]);
		if (!this.client) throw new Error("there is no connection to the daemon");
		return this.client;
	}

	/** Asks for curves; answers in the order asked, but "each" CPU is several. */
	async add(owner: Owner, wanted: Wanted[]): Promise<CurveAnswer[]> {
		if (this.ended) throw new Error(this.ended + ": reload the page to begin again");
		const client = await this.connected();
		const answers: CurveAnswer[] = [];
		const mine = this.owners.get(owner) ?? new Set<number>();
		this.owners.set(owner, mine);
		this.asking++;
		try {
			for (let i = 0; i < wanted.length; i += BATCH)
				answers.push(...(await api.add(client, wanted.slice(i, i + BATCH))).curves);
		} finally {
			this.asking--;
			for (const a of answers) if (a.id !== undefined) mine.add(a.id);
			this.changed();
		}
		// He may have been closed while the answer was under way.
		if (!this.owners.has(owner)) await this.removeIds([...mine]);
		return answers;
	}

	/** What came early for these curves. Call it when the owner is ready for them. */
	catchUp(owner: Owner, ids: ReadonlySet<number>): void {
		for (const s of this.early) {
			const values = Object.fromEntries(Object.entries(s.values).filter(([id]) => ids.has(Number(id))));
			if (Object.keys(values).length) owner.sample({ ...s, values });
		}
		if (!this.asking) this.early = [];
	}

	async remove(owner: Owner, ids: Iterable<number>): Promise<void> {
		const mine = this.owners.get(owner);
		const out = [...ids].filter((id) => mine?.delete(id));
		if (mine && !mine.size) this.owners.delete(owner);
		await this.removeIds(out);
	}

	async close(owner: Owner): Promise<void> {
		const ids = [...(this.owners.get(owner) ?? [])];
		this.owners.delete(owner);
		await this.removeIds(ids);
	}

	// In a recording several owners can have one curve.
	private async removeIds(ids: number[]): Promise<void> {
		this.changed();
		const unused = ids.filter((id) => ![...this.owners.values()].some((s) => s.has(id)));
		if (unused.length && this.client && !this.ended) await api.remove(this.client, unused);
	}

	leavePage(): void {
		const ids = [...new Set([...this.owners.values()].flatMap((s) => [...s]))];
		if (ids.length && this.client && !this.ended) api.removeLast(this.client, ids);
	}

	get count(): number {
		return new Set([...this.owners.values()].flatMap((s) => [...s])).size;
	}

	sample(s: Sample): void {
		this.samples++;
		if (this.asking) {
			this.early.push(s);
			if (this.early.length > KEPT) this.early.shift();
		}
		for (const o of [...this.owners.keys()]) o.sample(s);
	}

	gone(id: number, refused: Refusal): void {
		for (const [owner, ids] of [...this.owners])
			if (ids.delete(id)) {
				if (!ids.size) this.owners.delete(owner);
				owner.gone(id, refused);
			}
		this.changed();
	}

	lost(why: string): void {
		const all = [...this.owners.keys()];
		this.owners.clear();
		for (const o of all) o.lost(why);
		this.changed();
	}

	onChange(f: () => void): void {
		this.listeners.add(f);
	}

	changed(): void {
		for (const f of this.listeners) f();
	}
}
