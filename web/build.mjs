// SPDX-License-Identifier: GPL-2.0-only
// Builds the page: web/src to web/dist. --check: says whether web/dist is what comes out, byte by byte.
import { build } from "esbuild";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = dirname(fileURLToPath(import.meta.url));
const spdx = "SPDX-License-Identifier: GPL-2.0-only";

async function bundle(out) {
	const common = {
		absWorkingDir: web, bundle: true, minify: true, charset: "utf8", target: "es2022", format: "iife",
		legalComments: "none", banner: { js: `// ${spdx} AND MIT (see LICENSES)`, css: `/* ${spdx} AND MIT (see LICENSES) */` }, logLevel: "warning",
	};
	// What the script imports as style goes into the style sheet, before our own.
	const script = await build({ ...common, entryPoints: ["src/main.ts"], outdir: out, entryNames: "app", write: false });
	const text = (end) => script.outputFiles.find((f) => f.path.endsWith(end)).text;
	const own = await build({ ...common, banner: {}, entryPoints: ["src/app.css"], write: false });
	await writeFile(join(out, "app.js"), text("app.js"));
	await writeFile(join(out, "app.css"), text("app.css") + own.outputFiles[0].text);
	await build({ ...common, entryPoints: ["src/graph_worker.ts"], outfile: join(out, "worker.js") });
	for (const f of ["index.html", "favicon.svg"]) await writeFile(join(out, f), await readFile(join(web, "src", f)));
	await writeFile(join(out, "LICENSES"), await licenses());
}

async function licenses() {
	const parts = [`${spdx} AND MIT\n\nkperfmon's page is under the GNU General Public License, version 2. In it are:\n`];
	for (const name of ["uplot", "@dagrejs/dagre", "@dagrejs/graphlib"]) {
		const dir = join(web, "node_modules", name);
		const { version } = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
		parts.push(`\n${name} ${version}\n\n${(await readFile(join(dir, "LICENSE"), "utf8")).trim().replace(/\r/g, "")}\n`);
	}
	return parts.join("");
}

async function check() {
	const dir = await mkdtemp(join(tmpdir(), "kperfmon-"));
	try {
		await bundle(dir);
		const names = (await readdir(dir)).sort(), kept = (await readdir(join(web, "dist"))).sort();
		const differ = names.join() !== kept.join() ? [`files: ${kept} instead of ${names}`] : [];
		for (const n of names.filter((x) => kept.includes(x)))
			if (!(await readFile(join(dir, n))).equals(await readFile(join(web, "dist", n)))) differ.push(n);
		return differ;
	} finally {
		await rm(dir, { recursive: true });
	}
}

if (process.argv[2] === "--check") {
	const differ = await check();
	if (differ.length) console.error("web/dist differs from what web/src gives: " + differ.join("; ") + "; run: node web/build.mjs");
	process.exit(differ.length ? 1 : 0);
}
await mkdir(join(web, "dist"), { recursive: true });
await bundle(join(web, "dist"));
