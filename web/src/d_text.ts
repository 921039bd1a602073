// SPDX-License-Identifier: GPL-2.0-only
// What a D program prints, and which of its lines are a distribution: "value ---- Distribution ---- count".

export interface Bucket {
	value: string; // as it is printed, with what stands before the bar
	count: number;
}

const head = /^(.*\S) +-+ Distribution -+ +count *$/;
const row = /^(.*?) +\|[@ -]* +(-?\d+) *$/;

/** Is it the line above a distribution's rows? */
export const isHead = (line: string): boolean => head.test(line) && /\bvalue\b/.test(line);

/** A row of a distribution; null: it is none. */
export function bucketOf(line: string): Bucket | null {
	const m = row.exec(line);
	return m && { value: m[1].trim(), count: Number(m[2]) };
}

/** Where a bucket stands among others: "< 0" is below 0, ">= 10" is at 10. */
export function orderOf(value: string): number {
	const n = Number(value.replace(/[^0-9.+-]/g, ""));
	return value.startsWith("<") ? n - 0.5 : n;
}

/** Lines of which the last may have no end yet; not more than so many. */
export class Lines {
	private rest = "";

	/** The lines that are whole now. */
	take(text: string): string[] {
		const lines = (this.rest + text).split("\n");
		this.rest = lines.pop() ?? "";
		return lines;
	}

	/** What has no end, and will have none. */
	end(): string[] {
		const rest = this.rest;
		this.rest = "";
		return rest ? [rest] : [];
	}
}
