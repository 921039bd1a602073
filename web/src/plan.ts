// SPDX-License-Identifier: GPL-2.0-only
// From what is selected to the curves that are wanted: metrics x points x CPUs, under a predicate.
import { functionOf } from "./search";
import type { Kind } from "./state";
import type { Cpu, Metric, Refusal, Wanted } from "./types";

export interface Refused {
	metric: string;
	point: string;
	refused: Refusal;
}

export interface Plan {
	wanted: Wanted[];
	refused: Refused[];
}

export interface Selection {
	points: readonly string[];
	metrics: readonly string[];
	cpus: readonly Cpu[];
	predicate: string;
}

/** A list of process ids is short for a predicate. */
export function predicateOf(text: string): string {
	const t = text.trim();
	if (!/^[0-9]+([\s,]+[0-9]+)*$/.test(t)) return t;
	return t.split(/[\s,]+/).map((pid) => "pid == " + pid).join(" || ");
}

const isHistogram = (kind: Kind): boolean => kind === "heat";

/** Why a metric cannot be of a point, or be shown so, as far as the page knows. The daemon knows more. */
export function refusal(metric: Metric | undefined, name: string, point: string, kind: Kind | null): Refusal | null {
	if (!metric) return { reason: "NO_METRIC", message: "there is no metric " + name };
	if (metric.unsupported) return { reason: "UNSUPPORTED", message: metric.unsupported };
	if (metric.functions_only && functionOf(point) !== point)
		return { reason: "FUNCTIONS_ONLY", message: name + " is of whole functions, not of points in them" };
	if (kind && isHistogram(kind) !== (metric.form === "histogram"))
		return metric.form === "histogram"
			? { reason: "HISTOGRAM", message: name + " is a histogram: start it as a heat map" }
			: { reason: "NOT_HISTOGRAM", message: name + " is one number: a heat map shows histograms (latency, vlatency)" };
	return null;
}

export function makePlan(s: Selection, metrics: ReadonlyMap<string, Metric>, kind: Kind | null): Plan {
	const plan: Plan = { wanted: [], refused: [] };
	const predicate = predicateOf(s.predicate);
	for (const metric of s.metrics)
		for (const point of s.points) {
			const refused = refusal(metrics.get(metric), metric, point, kind);
			if (refused) plan.refused.push({ metric, point, refused });
			else for (const cpu of s.cpus) plan.wanted.push(predicate ? { metric, point, cpu, predicate } : { metric, point, cpu });
		}
	return plan;
}
