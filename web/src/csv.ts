// SPDX-License-Identifier: GPL-2.0-only
// Comma-separated values as in RFC 4180, and their download.

export type Cell = string | number | null | undefined;

function cell(c: Cell): string {
	if (c === null || c === undefined || (typeof c === "number" && Number.isNaN(c))) return "";
	const s = String(c);
	return /[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
}

export function csv(rows: readonly (readonly Cell[])[]): string {
	return rows.map((r) => r.map(cell).join(",") + "\r\n").join("");
}

export function download(name: string, type: string, content: string | Blob): void {
	const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
	const a = document.createElement("a");
	a.href = url;
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}
