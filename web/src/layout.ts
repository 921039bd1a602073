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
