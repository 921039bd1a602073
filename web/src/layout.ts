// SPDX-License-Identifier: GPL-2.0-only
// What the page and the worker that lays graphs out say to each other.
import type { Edge, FunctionCode } from "./types";

export interface GraphEdge {
	from: number;
	to: number;
	fall: boolean;
	edge: Edge;
}

export interface GraphRequest {
	nodes: number;
	width: number;
	height: number;
	edges: { from: number; to: number; fall: boolean }[];
}

export interface Layout {
	width: number;
	height: number;
	nodes: number[][]; // centres
	edges: number[][][]; // points of each
	ms: number;
}

export function graphEdges(code: FunctionCode): GraphEdge[] {
	return code.blocks.flatMap((b, from) => b.edges.flatMap((edge) =>
		edge.to === null || edge.to >= code.blocks.length ? [] : [{ from, to: edge.to, fall: /fall/.test(edge.kind), edge }]));
}

/** All blocks in one column, in their order: at once there, until the worker has something better. */
export function column(r: GraphRequest): Layout {
	const x = r.width * 1.5, step = r.height + 26;
	const y = (i: number): number => 12 + r.height / 2 + i * step;
	const edge = (from: number, to: number): number[][] => {
		if (to === from + 1) return [[x, y(from) + r.height / 2], [x, y(to) - r.height / 2]];
		const side = to > from ? 1 : -1;
		const out = x + side * (r.width / 2), far = out + side * (14 + 60 * (1 - 1 / (1 + Math.abs(to - from) / 6)));
		return [[out, y(from)], [far, y(from) + (side * step) / 3], [far, y(to) - (side * step) / 3], [out, y(to)]];
	};
	return { width: r.width * 3, height: y(r.nodes) - r.height / 2, nodes: Array.from({ length: r.nodes }, (_, i) => [x, y(i)]), edges: r.edges.map((e) => edge(e.from, e.to)), ms: 0 };
}

/** Lays out in a worker, which ends when the signal says so. */
export function layOut(r: GraphRequest, signal: AbortSignal): Promise<Layout> {
	return new Promise((resolve, reject) => {
		const worker = new Worker("/worker.js");
		const end = (): void => worker.terminate();
		signal.addEventListener("abort", end);
		worker.onmessage = (e: MessageEvent<{ layout?: Layout; error?: string }>) => {
			end();
			if (e.data.layout) resolve(e.data.layout);
			else reject(new Error(e.data.error));
		};
		worker.onerror = (e) => reject(new Error(e.message || "the worker that draws graphs did not start"));
		worker.postMessage(r);
	});
}
