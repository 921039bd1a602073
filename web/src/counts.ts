// SPDX-License-Identifier: GPL-2.0-only
// How often the blocks of one function run, while somebody looks at them.
import type { App } from "./app";
import type { Owner } from "./curves";
import { Summary } from "./fold";
import type { FunctionCode, Refusal, Sample, Wanted } from "./types";

export interface BlockHeat {
	rate: number; // a second, since the counting began; not a number: unknown
	total: number;
	share: number; // of the function's calls: passes of its first block
	work: number; // of the instructions that the function executes
}

export class BlockCounts implements Owner {
	state: "off" | "starting" | "on" | "ended" = "off";
	why = "";
	refused = new Map<number, Refusal>();
	vtime: Summary | null = null;
	private ids = new Map<number, number>(); // curve: block
	private vtimeId = -1;
	private counts: Summary[];
	private sizes: number[];

	constructor(private app: App, private code: FunctionCode, private point: string, private changed: () => void) {
		this.counts = code.blocks.map(() => new Summary());
		this.sizes = code.blocks.map(() => 0);
		for (const i of code.insns) if (i.block < this.sizes.length) this.sizes[i.block]++;
		for (const b of code.blocks) if (b.window.refused) this.refused.set(b.index, { reason: b.window.refused, message: b.window.message ?? "" });
	}

	async start(): Promise<void> {
		this.state = "starting";
		const blocks = this.code.blocks.filter((b) => !b.window.refused);
		const wanted: Wanted[] = blocks.map((b) => ({ metric: "count", point: this.point + ":block/" + b.index, cpu: "all" }));
		try {
			// The metrics are known before the stream is open.
			await this.app.curves.connected();
			const vtime = this.app.metricsByName.get("vtime");
			if (vtime && !vtime.unsupported) wanted.push({ metric: "vtime", point: this.point, cpu: "all" });
			const answers = await this.app.curves.add(this, wanted);
			answers.forEach((a, i) => {
				if (i >= blocks.length) this.vtimeId = a.id ?? -1;
				else if (a.id !== undefined) this.ids.set(a.id, blocks[i].index);
				else if (a.refused) this.refused.set(blocks[i].index, a.refused);
			});
			this.state = "on";
			if (this.vtimeId >= 0) this.vtime = new Summary();
			this.app.curves.catchUp(this, new Set([...this.ids.keys(), this.vtimeId]));
		} catch (e) {
			this.state = "off";
			this.why = (e as Error).message;
		}
		this.changed();
	}

	sample(s: Sample): void {
		let any = false;
		for (const [id, block] of this.ids) {
			const v = s.values[id];
			if (typeof v !== "number" || !(s.to > s.from)) continue;
			any = true;
			this.counts[block].add(s.from, s.to, v / (s.to - s.from));
		}
		const v = s.values[this.vtimeId];
		if (typeof v === "number" && s.to > s.from) this.vtime?.add(s.from, s.to, v / (s.to - s.from));
		if (any) this.changed();
	}

	gone(id: number, refused: Refusal): void {
		const block = this.ids.get(id);
		if (block !== undefined) this.refused.set(block, refused);
		this.ids.delete(id);
		if (!this.ids.size) this.lost(refused.message);
		this.changed();
	}

	lost(why: string): void {
		this.state = "ended";
		this.why = why;
		this.changed();
	}

	/** All blocks at once, as shares are of sums. */
	heat(): BlockHeat[] {
		const calls = this.counts[0]?.total ?? NaN;
		const instructions = this.counts.map((c, b) => c.total * this.sizes[b]);
		const all = instructions.reduce((a, x) => a + (x || 0), 0);
		return this.counts.map((c, b) => ({ rate: c.average, total: c.total, share: calls > 0 ? c.total / calls : NaN, work: all > 0 ? instructions[b] / all : NaN }));
	}

	async stop(): Promise<void> {
		if (this.state === "on") this.state = "off";
		this.ids.clear();
		await this.app.curves.close(this);
		this.changed();
	}
}
