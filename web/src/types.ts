// SPDX-License-Identifier: GPL-2.0-only
// What the daemon and the page say to each other (doc/kperfmon.md).

export type Form = "total" | "mean" | "histogram";
export type Cpu = number | "all" | "each";

export interface Refusal {
	reason: string;
	message: string;
}

export interface Info {
	version: string;
	kernel: string;
	cpus: number[];
	driver: string;
	interval_ms: number;
	pid: number;
	read_only: boolean;
	replay: string | boolean | null;
}

export interface Metric {
	name: string;
	unit: string;
	form: Form;
	text: string;
	code: string;
	functions_only: boolean;
	unsupported?: string;
}

export interface ModuleList {
	name: string; // "": the kernel itself; of a process "1234/libc.so.6"
	names: string[];
	addr: string[];
}

export interface ProcessInfo {
	pid: number;
	comm: string;
	args: string;
}

export interface Edge {
	to: number | null;
	target?: string;
	kind: string;
	index: number;
}

export interface Block {
	index: number;
	addr: string;
	end: string;
	edges: Edge[];
	window: { kind?: string; refused?: string; message?: string };
}

export interface Insn {
	addr: string;
	block: number;
	original: string;
	now: string;
	text: string;
	now_text: string;
	target?: string;
	free?: string; // not there: not known
}

export interface FunctionCode {
	name: string;
	module: string;
	addr: string;
	size: number;
	refused?: Refusal;
	registers?: "known" | "pending" | "unknown"; // which are free; pending: ask again
	blocks: Block[];
	insns: Insn[];
}

// A curve that is wanted: what is said to the daemon.
export interface Wanted {
	metric: string;
	point: string;
	predicate?: string;
	cpu: Cpu;
}

// What the daemon answers for one: it runs, or it is refused.
export interface CurveAnswer {
	id?: number;
	metric: string;
	point: string;
	function?: string;
	unit?: string;
	form?: Form;
	cpu?: number | "all";
	predicate?: string;
	refused?: Refusal;
}

export type Value = number | null | number[];

export interface Sample {
	from: number; // seconds since the client began
	to: number;
	values: Record<string, Value>;
}

/** Why a program is not run: with its place, if it has one. */
export interface DRefusal extends Refusal {
	line?: number; // from 1
	column?: number;
}

/** What becomes of a D program: each has one of these. */
export interface DEvent {
	text?: string;
	missing?: number; // bytes of text
	warning?: string;
	error?: DRefusal;
	matched?: number;
	left_out?: number; // of those that have matched
	ended?: { status: number; drops: Record<string, number> };
}

export interface InsertedRow {
	client: string;
	since: number;
	metric: string;
	point: string;
	predicate: string;
	hits: number | null;
	cost_instructions: number | null;
	share: number | null;
}

/** Sessions of the driver that are not the daemon's. */
export interface Others {
	sessions: number;
	windows: number; // at least
	processes: { pid: number; comm: string; sessions: number }[];
}

export interface Inserted {
	rows: InsertedRow[];
	windows: number;
	heap_used: number;
	heap_size: number;
	sessions: number;
	others?: Others;
	mine?: number[];
}
