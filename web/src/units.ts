// SPDX-License-Identifier: GPL-2.0-only
// Numbers with SI prefixes, and what unit a curve's values have.
import type { Form } from "./types";

const prefixes: [number, string][] = [
	[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""],
	[1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"],
];

/** Three significant digits and a prefix: 12.3 k, 870 µs. Not a number: a dash. */
export function si(value: number | null | undefined, unit = ""): string {
	if (value === null || value === undefined || Number.isNaN(value)) return "–";
	if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
	if (value === 0) return unit ? "0 " + unit : "0";
	const size = Math.abs(value);
	if (size < 1000 && Number.isInteger(value)) return unit ? value + " " + unit : String(value);
	let [factor, prefix] = prefixes.find(([f]) => size >= f * 0.9995) ?? prefixes[prefixes.length - 1];
	// Counts are not parts of a thousandth.
	if (size < 1 && !/^(s|B|s\/s)$/.test(unit)) {
		factor = 1;
		prefix = "";
	}
	const scaled = value / factor;
	const digits = Math.abs(scaled) >= 99.95 ? 0 : Math.abs(scaled) >= 9.995 ? 1 : 2;
	const text = size < 0.9995 && prefix === "" ? String(+value.toPrecision(3)) : scaled.toFixed(digits);
	return prefix + unit === "" ? text : text + " " + prefix + unit;
}

export function percent(share: number | null | undefined): string {
	if (share === null || share === undefined || Number.isNaN(share)) return "–";
	const p = share * 100;
	return (p >= 99.95 || p === 0 ? p.toFixed(0) : p >= 10 ? p.toFixed(1) : p >= 0.1 ? p.toFixed(2) : "<0.1") + " %";
}

export function bytes(n: number | null | undefined): string {
	if (n === null || n === undefined) return "–";
	if (n < 1024) return n + " B";
	const i = Math.min(4, Math.floor(Math.log2(n) / 10));
	return (n / 1024 ** i).toFixed(n / 1024 ** i < 10 ? 1 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][i];
}

export function duration(seconds: number): string {
	if (!(seconds >= 60)) return si(seconds, "s");
	const m = Math.floor(seconds / 60);
	if (m < 60) return m + " min " + Math.floor(seconds % 60) + " s";
	return Math.floor(m / 60) + " h " + (m % 60) + " min";
}

/** The unit of a time histogram's values: totals become rates, means are what they are. */
export function rateUnit(metric: string, unit: string, form: Form): string {
	if (form !== "total") return unit;
	if (unit !== "s") return (unit || "") + "/s";
	if (/^(vtime|task-clock)/.test(metric)) return "CPUs";
	return /^walltime/.test(metric) ? "threads" : "s/s";
}

/** The unit of the sum of a total. */
export function totalUnit(unit: string, form: Form): string {
	return form === "total" ? unit : "";
}

/** The lower bound of a histogram's bucket; bucket 0 is of nothing at all. */
export function bucketFloor(bucket: number): number {
	return bucket === 0 ? 0 : 2 ** (bucket - 1);
}

export function bucketText(bucket: number, unit: string): string {
	const low = bucketFloor(bucket);
	return unit === "s" ? si(low * 1e-9, "s") : si(low, unit);
}
