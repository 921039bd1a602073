// SPDX-License-Identifier: GPL-2.0-only
// Colours that people with any kind of colour vision can tell apart.
import { isDark } from "./theme";

// Okabe and Ito's eight, the black one replaced; the second row is for a dark ground.
const lines = {
	light: ["#0072b2", "#d55e00", "#009e73", "#b8609a", "#8a6d00", "#3a8fc4", "#a33b00", "#5b5b5b"],
	dark: ["#56b4e9", "#f0802b", "#2fc79b", "#e296c4", "#f0e442", "#8fb8ff", "#e6a15c", "#b9b9b9"],
};
// After eight curves the colours come again, with other strokes.
const dashes: number[][] = [[], [8, 4]];

export interface Stroke {
	color: string;
	dash: number[];
}

// Dashes are slow to draw: with more curves than this the page would stutter, and nobody could tell them apart.
const MOST_DASHED = 16;

/** The stroke of curve i of so many. */
export function stroke(i: number, many: number): Stroke {
	const colors = isDark() ? lines.dark : lines.light;
	const dash = many > MOST_DASHED ? [] : dashes[Math.floor(i / colors.length) % dashes.length];
	return { color: colors[i % colors.length], dash };
}

// Cividis, which grows evenly in lightness, at nine places.
const cividis = [
	[0, 34, 78], [26, 56, 111], [64, 77, 108], [92, 99, 110], [122, 121, 119],
	[155, 144, 117], [190, 170, 104], [224, 198, 80], [254, 232, 56],
];

/** 0..1 to a colour of the scale; the least is nearest to the ground in both themes. */
export function heat(x: number): [number, number, number] {
	const at = (isDark() ? x : 1 - x) * (cividis.length - 1);
	const i = Math.max(0, Math.min(cividis.length - 2, Math.floor(at)));
	const part = Math.max(0, Math.min(1, at - i));
	return [0, 1, 2].map((c) => Math.round(cividis[i][c] + (cividis[i + 1][c] - cividis[i][c]) * part)) as [number, number, number];
}

export function rgb([r, g, b]: readonly number[]): string {
	return `rgb(${r},${g},${b})`;
}

/** What is legible on it. */
export function ink([r, g, b]: readonly number[]): string {
	return r * 0.299 + g * 0.587 + b * 0.114 > 140 ? "#101418" : "#ffffff";
}

/** Counts differ by orders of magnitude: the share of the logarithm. 0 for nothing. */
export function logShare(count: number, most: number): number {
	return count > 0 && most > 0 ? Math.log1p(count) / Math.log1p(most) : 0;
}
