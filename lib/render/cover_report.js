// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Tables that can be sorted and filtered, and the search. Without it the pages say the same.
"use strict";

function cellValue(row, column) {
	const cell = row.cells[column];
	const text = cell.dataset.v ?? cell.textContent.trim();
	const number = Number(text.replaceAll(",", ""));
	return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
	if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
	return typeof a === "number" ? 1 : -1;
}

function sortBy(table, th, column) {
	// names rise first, numbers fall first; then the other way
	const rows = [...table.tBodies[0].rows];
	const numbers = rows.length > 0 && typeof cellValue(rows[0], column) === "number";
	const old = th.getAttribute("aria-sort");
	const up = old ? old === "descending" : !numbers;
	const keyed = rows.map((row) => [cellValue(row, column), row]);
	keyed.sort((a, b) => (up ? compare(a[0], b[0]) : compare(b[0], a[0])));
	table.tBodies[0].append(...keyed.map((k) => k[1]));
	for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
	th.setAttribute("aria-sort", up ? "ascending" : "descending");
}

for (const table of document.querySelectorAll("table.sort")) {
	[...table.tHead.rows[0].cells].forEach((th, column) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = th.textContent;
		button.addEventListener("click", () => sortBy(table, th, column));
		th.replaceChildren(button);
	});
}

for (const input of document.querySelectorAll("input[data-filter]")) {
	input.hidden = false;
	input.addEventListener("input", () => {
		const wanted = input.value.toLowerCase();
		for (const row of document.getElementById(input.dataset.filter).tBodies[0].rows)
			row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
	});
}

// A graph that is wider than the page begins at its first block; a button shows all of it.
function showEntry(graph) {
	const view = graph.getBoundingClientRect();
	const entry = graph.querySelector("a.b").getBoundingClientRect();
	graph.scrollLeft += entry.left + entry.width / 2 - view.left - view.width / 2;
}

for (const graph of document.querySelectorAll(".graph")) {
	if (!graph.querySelector("a.b") || graph.scrollWidth <= graph.clientWidth + 1) continue;
	const button = document.createElement("button");
	button.type = "button";
	button.className = "tool";
	button.textContent = "Show all of it";
	button.addEventListener("click", () => {
		button.textContent = graph.classList.toggle("fit") ? "In full size" : "Show all of it";
		showEntry(graph);
	});
	graph.before(button);
	showEntry(graph);
}

// names.js calls this: name, group, number of its page or -1, ...
let names = null;
function kerninstNames(list) {
	names = list;
	document.querySelector(".search input").dispatchEvent(new Event("input"));
}

function found(name, group, page, up) {
	const item = document.createElement("li");
	const link = document.createElement("a");
	link.href = page < 0 ? `${up}g/${group}.html` : `${up}f/${page}.html`;
	link.textContent = name + (page < 0 ? " (not hit)" : "");
	item.append(link);
	return item;
}

function search(box, list, up) {
	const wanted = box.value.trim().toLowerCase();
	list.replaceChildren();
	if (!names || wanted.length < 2) return;
	const hits = [];
	for (let i = 0; i < names.length; i += 3) {
		const at = names[i].toLowerCase().indexOf(wanted);
		if (at >= 0) hits.push([names[i + 2] < 0, at, names[i].length, i]);
	}
	hits.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]);
	for (const [, , , i] of hits.slice(0, 50)) list.append(found(names[i], names[i + 1], names[i + 2], up));
	if (!hits.length) list.append(Object.assign(document.createElement("li"), { textContent: "none of that name" }));
}

const box = document.querySelector(".search input");
if (box) {
	const list = document.querySelector(".search ol");
	const up = box.dataset.up;
	box.hidden = false;
	box.addEventListener("focus", () => {
		if (document.getElementById("names")) return;
		const script = document.createElement("script");
		script.id = "names";
		script.src = `${up}names.js`;
		document.head.append(script);
	});
	box.addEventListener("input", () => search(box, list, up));
	box.addEventListener("keydown", (event) => {
		const first = list.querySelector("a");
		if (event.key === "Escape") list.replaceChildren();
		if (event.key === "Enter" && first) first.click();
		if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
	});
	list.addEventListener("keydown", (event) => {
		const item = document.activeElement.closest("li");
		const next = event.key === "ArrowDown" ? item.nextElementSibling : event.key === "ArrowUp" ? item.previousElementSibling : null;
		if (event.key === "ArrowUp" && !next) box.focus();
		if (event.key.startsWith("Arrow")) event.preventDefault();
		next?.querySelector("a")?.focus();
	});
	document.addEventListener("click", (event) => { if (!event.target.closest(".search")) list.replaceChildren(); });
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && document.activeElement.tagName !== "INPUT") { event.preventDefault(); box.focus(); }
	});
}
