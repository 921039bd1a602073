// SPDX-License-Identifier: GPL-2.0-only
// Making elements. No HTML from strings, no inline styles: the content-security policy forbids both.

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;
type Tag<S extends string> = S extends `${infer T}.${string}` ? T : S;
type Made<S extends string> = Tag<S> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag<S>] : HTMLElement;

/** h("button.primary", {onclick: f, title: "..."}, "text"). Names with a dash become attributes, on... listeners. */
export function h<S extends string>(spec: S, props?: Props | null, ...children: Child[]): Made<S> {
	const [tag, ...classes] = spec.split(".");
	const e = document.createElement(tag);
	if (classes.length) e.className = classes.join(" ");
	for (const [key, value] of Object.entries(props ?? {})) {
		if (value === undefined || value === null) continue;
		if (key.startsWith("on")) e.addEventListener(key.slice(2), value as EventListener);
		else if (key.includes("-") || key === "role" || key === "for") e.setAttribute(key, String(value));
		else (e as unknown as Props)[key] = value;
	}
	e.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
	return e as Made<S>;
}

export function byId(id: string): HTMLElement {
	const e = document.getElementById(id);
	if (!e) throw new Error("no element " + id);
	return e;
}

/** Sets a text only if it differs: what does not change is not laid out again. */
export function setText(e: Node, text: string): void {
	if (e.textContent !== text) e.textContent = text;
}

export function once<T extends unknown[]>(f: (...args: T) => void): (...args: T) => void {
	let pending = false;
	return (...args) => {
		if (pending) return;
		pending = true;
		requestAnimationFrame(() => {
			pending = false;
			f(...args);
		});
	};
}

/** A short message at the bottom of the page, read out by screen readers. */
export function notify(text: string, kind: "info" | "error" = "info"): void {
	const box = byId("notices");
	const note = h("div.notice." + kind, { role: kind === "error" ? "alert" : "status" }, h("span", null, text),
		h("button.icon", { title: "Close", "aria-label": "Close", onclick: () => note.remove() }, "×"));
	box.append(note);
	while (box.childElementCount > 4) box.firstElementChild?.remove();
	setTimeout(() => note.remove(), kind === "error" ? 20000 : 6000);
}
