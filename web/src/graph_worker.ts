// SPDX-License-Identifier: GPL-2.0-only
// Lays a control-flow graph out, away from the page's thread.
import dagre from "@dagrejs/dagre";
import type { GraphRequest, Layout } from "./layout";

// The simplex takes minutes for a thousand blocks; ranks by the longest path make so long edges that all else does.
const LARGE = 100;

function layout(r: GraphRequest): Layout {
	const begin = performance.now();
	const g = new dagre.graphlib.Graph({ multigraph: true });
	g.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 34, edgesep: 8, marginx: 12, marginy: 12, ranker: r.nodes > LARGE ? "tight-tree" : "network-simplex" });
	g.setDefaultEdgeLabel(() => ({}));
	for (let i = 0; i < r.nodes; i++) g.setNode(String(i), { width: r.width, height: r.height });
	r.edges.forEach((e, i) => g.setEdge(String(e.from), String(e.to), { weight: e.fall ? 4 : 1 }, String(i)));
	dagre.layout(g);
	const size = g.graph() as { width?: number; height?: number };
	return {
		width: size.width ?? 0, height: size.height ?? 0,
		nodes: Array.from({ length: r.nodes }, (_, i) => {
			const n = g.node(String(i)) as { x: number; y: number };
			return [n.x, n.y];
		}),
		edges: r.edges.map((e, i) => {
			const label = g.edge({ v: String(e.from), w: String(e.to), name: String(i) }) as { points: { x: number; y: number }[] };
			return label.points.map((p) => [p.x, p.y]);
		}),
		ms: performance.now() - begin,
	};
}

self.onmessage = (e: MessageEvent<GraphRequest>) => {
	try {
		self.postMessage({ layout: layout(e.data) });
	} catch (error) {
		self.postMessage({ error: String(error) });
	}
};
