// SPDX-License-Identifier: GPL-2.0-only
// Time axes of a fixed number of buckets. When they are full, pairs fold and the width doubles.
//
// A bucket holds the integral of a rate (or of a mean) over the time of which it is known, and that
// time. So a sample that covers a part of a bucket is right from the first moment, folding is adding,
// and what nobody measured is no number.

export const BUCKETS = 1000;
export const BASE_WIDTH = 0.2;

export interface Foldable {
	fold(): void;
}

/** The axis that all curves of a visualization share: they fold together. */
export class Axis {
	width = BASE_WIDTH;
	/** Seconds of the client's clock; NaN before the first sample. */
	start = NaN;
	/** Up to where something is known. */
	end = NaN;
	folds = 0;
	private members = new Set<Foldable>();

	join(m: Foldable): void {
		this.members.add(m);
	}

	leave(m: Foldable): void {
		this.members.delete(m);
	}

	/** Makes room for a time. The first one says where the axis begins. */
	reach(from: number, to: number): void {
		if (Number.isNaN(this.start)) this.start = from;
		while (to > this.start + this.width * BUCKETS) {
			for (const m of this.members) m.fold();
			this.width *= 2;
			this.folds++;
		}
		if (!(to <= this.end)) this.end = to;
	}

	/** How many buckets have begun. */
	get count(): number {
		if (Number.isNaN(this.end)) return 0;
		return Math.min(BUCKETS, Math.max(1, Math.ceil((this.end - this.start) / this.width - 1e-9)));
	}

	time(bucket: number): number {
		return this.start + bucket * this.width;
	}

	/** Calls for each bucket that [from, to) overlaps, with the seconds of overlap. */
	overlaps(from: number, to: number, each: (bucket: number, seconds: number) => void): void {
		const first = Math.max(0, Math.floor((from - this.start) / this.width));
		for (let b = first; b < BUCKETS && this.time(b) < to; b++) {
			const part = Math.min(to, this.time(b + 1)) - Math.max(from, this.time(b));
			if (part > 0) each(b, part);
		}
	}
}

function addPairs(a: Float64Array, stride: number): void {
	const half = BUCKETS / 2;
	for (let b = 0; b < half; b++)
		for (let i = 0; i < stride; i++)
			a[b * stride + i] = a[2 * b * stride + i] + a[(2 * b + 1) * stride + i];
	a.fill(0, half * stride);
}

/** One curve: a rate (of a total) or a mean. */
export class Series implements Foldable {
	private integral = new Float64Array(BUCKETS);
	private known = new Float64Array(BUCKETS);
	/** The first bucket that has changed since somebody set this to BUCKETS. */
	dirty = 0;

	constructor(private axis: Axis) {
		axis.join(this);
	}

	/** rate: an amount by second, or a mean, between the two times. The axis must reach there. */
	add(from: number, to: number, rate: number): void {
		this.axis.overlaps(from, to, (b, seconds) => {
			this.integral[b] += rate * seconds;
			this.known[b] += seconds;
			if (b < this.dirty) this.dirty = b;
		});
	}

	/** Not a number: unknown. */
	at(bucket: number): number {
		return this.known[bucket] > 0 ? this.integral[bucket] / this.known[bucket] : NaN;
	}

	fold(): void {
		addPairs(this.integral, 1);
		addPairs(this.known, 1);
		this.dirty = 0;
	}

	leave(): void {
		this.axis.leave(this);
	}
}

/** A histogram over time: counts by bucket of time and bucket of value. */
export class Heat implements Foldable {
	static readonly ROWS = 64;
	private counts = new Float64Array(BUCKETS * Heat.ROWS);
	private known = new Float64Array(BUCKETS);

	constructor(private axis: Axis) {
		axis.join(this);
	}

	add(from: number, to: number, counts: readonly number[]): void {
		const length = to - from;
		if (!(length > 0)) return;
		this.axis.overlaps(from, to, (b, seconds) => {
			this.known[b] += seconds;
			for (let r = 0; r < Heat.ROWS && r < counts.length; r++)
				this.counts[b * Heat.ROWS + r] += (counts[r] * seconds) / length;
		});
	}

	/** Counts of a cell; not a number: unknown. */
	at(bucket: number, row: number): number {
		return this.known[bucket] > 0 ? this.counts[bucket * Heat.ROWS + row] : NaN;
	}

	fold(): void {
		addPairs(this.counts, Heat.ROWS);
		addPairs(this.known, 1);
	}

	leave(): void {
		this.axis.leave(this);
	}
}

/** Current, mean and sum of a curve since it began: what bars and tables show. */
export class Summary {
	current = NaN;
	min = NaN;
	max = NaN;
	private integral = 0;
	private known = 0;

	add(from: number, to: number, rate: number): void {
		this.current = rate;
		if (!(this.min <= rate)) this.min = rate;
		if (!(this.max >= rate)) this.max = rate;
		this.integral += rate * (to - from);
		this.known += to - from;
	}

	unknown(): void {
		this.current = NaN;
	}

	get average(): number {
		return this.known > 0 ? this.integral / this.known : NaN;
	}

	/** Of a total: the sum of what came. */
	get total(): number {
		return this.known > 0 ? this.integral : NaN;
	}

	/** Seconds of which something is known. */
	get seconds(): number {
		return this.known;
	}
}
