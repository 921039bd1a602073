// SPDX-License-Identifier: GPL-2.0-only
// The stream of events of this tab. It comes back by itself, under the same name if the daemon still knows it.
import { streamUrl } from "./api";
import type { CurveAnswer, DEvent, Info, Refusal, Sample } from "./types";

export type Link = "connecting" | "open" | "lost" | "ended";

export interface Listener {
	hello(client: string, info: Info, isNew: boolean): void;
	sample(s: Sample): void;
	gap(samples: number): void;
	curve(id: number, refused: Refusal): void;
	recorded(curves: CurveAnswer[]): void;
	modules(came: string[], gone: string[]): void;
	process(pid: number, ended: boolean): void;
	d(e: DEvent): void;
	link(state: Link, why?: string): void;
}

const RETRY_MS = 1000;

export class Stream {
	client: string | null = null;
	private source: EventSource | null = null;
	private ended = false;

	constructor(private listener: Listener) {}

	open(): void {
		if (this.ended) return;
		this.listener.link("connecting");
		const source = (this.source = new EventSource(streamUrl(this.client)));
		const on = <T>(name: string, f: (data: T) => void): void =>
			source.addEventListener(name, (e) => f(JSON.parse((e as MessageEvent<string>).data) as T));
		on<{ client: string; info: Info }>("hello", (d) => this.hello(d.client, d.info));
		on<Sample>("sample", (s) => this.listener.sample(s));
		on<{ samples: number }>("gap", (d) => this.listener.gap(d.samples));
		on<{ id: number; refused: Refusal }>("curve", (d) => this.listener.curve(d.id, d.refused));
		on<{ curves: CurveAnswer[] }>("curves", (d) => this.listener.recorded(d.curves));
		on<{ came: string[]; gone: string[] }>("modules", (d) => this.listener.modules(d.came, d.gone));
		on<{ pid: number; ended: boolean }>("process", (d) => this.listener.process(d.pid, d.ended));
		on<DEvent>("d", (d) => this.listener.d(d));
		on<{ why: string }>("bye", (d) => this.bye(d.why));
		source.onerror = () => this.lost();
	}

	private hello(client: string, info: Info): void {
		const isNew = client !== this.client;
		this.client = client;
		this.listener.link("open");
		this.listener.hello(client, info, isNew);
	}

	private bye(why: string): void {
		this.ended = true;
		this.source?.close();
		this.listener.link("ended", why);
	}

	// EventSource would come back to the same address, which does not say who we are.
	private lost(): void {
		this.source?.close();
		this.source = null;
		this.listener.link("lost");
		setTimeout(() => this.open(), RETRY_MS);
	}
}
