// SPDX-License-Identifier: GPL-2.0-only
// A module of web/src for a test, as node can import it.
import { build } from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const src = join(dirname(fileURLToPath(import.meta.url)), "../src");

export async function source(name) {
	const out = await build({ entryPoints: [join(src, name + ".ts")], bundle: true, format: "esm", write: false, logLevel: "error" });
	return import("data:text/javascript;base64," + Buffer.from(out.outputFiles[0].contents).toString("base64"));
}
