// SPDX-License-Identifier: GPL-2.0-only
// Requests to the daemon. The token is in memory, and in this tab's session for a reload.
import type { CurveAnswer, FunctionCode, Info, Inserted, Metric, ModuleList, ProcessInfo, Refusal, Wanted } from "./types";

export class ApiError extends Error {
	constructor(readonly status: number, readonly refusal: Refusal) {
		super(refusal.message || refusal.reason);
	}
}

const storageKey = "kperfmon-token";
let token = "";

/** Takes the token out of the page's address, so that it is in no link that somebody passes on. */
export function takeToken(): void {
	const url = new URL(location.href);
	const given = url.searchParams.get("token");
	token = given ?? sessionStorage.getItem(storageKey) ?? "";
	if (given === null) return;
	sessionStorage.setItem(storageKey, given);
	url.searchParams.delete("token");
	history.replaceState(null, "", url);
}

export function setToken(t: string): void {
	token = t;
	sessionStorage.setItem(storageKey, t);
}

/** Streams cannot send headers: theirs is in the address. */
export function streamUrl(client: string | null): string {
	const q = new URLSearchParams();
	if (token) q.set("token", token);
	if (client) q.set("client", client);
	return "/api/events?" + q.toString();
}

function headers(body: boolean): Record<string, string> {
	const h: Record<string, string> = body ? { "Content-Type": "application/json" } : {};
	if (token) h.Authorization = "Bearer " + token;
	return h;
}

async function failure(r: Response): Promise<ApiError> {
	try {
		const body = (await r.json()) as { error?: Refusal };
		if (body.error) return new ApiError(r.status, body.error);
	} catch {
		// not JSON: said below
	}
	return new ApiError(r.status, { reason: "HTTP_" + r.status, message: r.statusText || "HTTP status " + r.status });
}

async function request(path: string, body?: unknown, keepalive = false): Promise<Response> {
	let r: Response;
	try {
		r = await fetch(path, {
			method: body === undefined ? "GET" : "POST",
			headers: headers(body !== undefined),
			body: body === undefined ? undefined : JSON.stringify(body),
			keepalive,
		});
	} catch {
		throw new ApiError(0, { reason: "UNREACHABLE", message: "the daemon does not answer" });
	}
	if (!r.ok) throw await failure(r);
	return r;
}

const get = async <T>(path: string): Promise<T> => (await request(path)).json() as Promise<T>;
const post = async <T>(path: string, body: unknown): Promise<T> => {
	const text = await (await request(path, body)).text();
	return (text ? JSON.parse(text) : {}) as T;
};

export const api = {
	info: () => get<Info>("/api/info"),
	metrics: () => get<Metric[]>("/api/metrics"),
	/** The kernel's, or a process's. */
	functions: (pid?: number) => get<{ modules: ModuleList[] }>("/api/functions" + (pid ? "?process=" + pid : "")),
	processes: () => get<{ processes: ProcessInfo[] }>("/api/processes"),
	/** With a client it is in that one's recording. */
	code: (name: string, client: string | null) =>
		get<FunctionCode>("/api/function?name=" + encodeURIComponent(name) + (client ? "&client=" + encodeURIComponent(client) : "")),
	inserted: (client: string | null) =>
		get<Inserted>("/api/inserted" + (client ? "?client=" + encodeURIComponent(client) : "")),
	add: (client: string, curves: Wanted[]) => post<{ curves: CurveAnswer[] }>("/api/curves", { client, curves }),
	remove: (client: string, ids: number[]) => post("/api/curves/remove", { client, ids }),
	/** For a page that goes away: the request outlives it. */
	removeLast: (client: string, ids: number[]) => void request("/api/curves/remove", { client, ids }, true).catch(() => {}),
	interval: (client: string, ms: number) => post("/api/interval", { client, ms }),
	runD: (client: string, program: string) => post("/api/d", { client, program }),
	stopD: (client: string) => post("/api/d/stop", { client }),
	clear: (client: string) => post("/api/clear", { client }),
	recording: async (client: string) =>
		(await request("/api/recording?functions=1&client=" + encodeURIComponent(client))).blob(),
};
