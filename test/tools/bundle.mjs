// Joins the modules of dist/ into few files, because a process of ours lives short and Node reads each module by itself: entries keep their
// paths, what they share stands in dist/chunks, and there is one instance of each module for all of them. What comes from other packages
// stays outside, except zod, of which only the used part is taken in; workflows that ask for zod get the package itself.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const dist = join(root, "dist");

/** Started by path or named in package.json, without extension. Built-in workflows stay as they are: they are loaded like people's own files. */
const ENTRIES = [
  ...["workflow", "resource", "client", "testing"].map((name) => `src/${name}/index`),
  ...["server/main", "server/maintenance", "server/database-check", "cli/main", "runner/main"].map(
    (name) => `src/${name}`,
  ),
  ...["runner/resources/main", "runner/resources/resolve", "runner/agent/index", "runner/monitors/main"].map(
    (name) => `src/${name}`,
  ),
  ...["main", "setup/main", "doctor/main", "sim/main", "sim/control", "sim/index"].map(
    (name) => `adapters/telegram/${name}`,
  ),
  ...["main", "extension/main", "extension/wiring"].map((name) => `adapters/pi/${name}`),
];
/** Pi compiles this one file by file: it shares nothing. */
const ALONE = "adapters/pi/bridge/main";
const KEPT = /^src\/builtins\//;

/** A module knows its place in dist/ by `import.meta.url`, and keeps it wherever it is joined to. */
const places = {
  name: "places",
  transform(code, id) {
    if (!code.includes("import.meta.url") || !id.startsWith(root) || id.includes("node_modules")) return null;
    const place = relative(root, id).replaceAll(sep, "/").replace(/\.ts$/, ".js");
    return {
      code: code.replaceAll("import.meta.url", `new URL("__DIST__/${place}", import.meta.url).href`),
      map: null,
    };
  },
  renderChunk(code, { fileName }) {
    if (!code.includes("__DIST__")) return null;
    return { code: code.replaceAll("__DIST__", relative(dirname(fileName), ".") || "."), map: null };
  },
};

const external = (id) => !/^(?:[./]|zod(?:\/|$))/.test(id);

async function write(entries) {
  const input = Object.fromEntries(entries.map((entry) => [entry, join(root, `${entry}.ts`)]));
  const bundle = await rolldown({ input, platform: "node", external, plugins: [places], cwd: root });
  await bundle.write({
    dir: dist,
    format: "esm",
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  await bundle.close();
}

/** Replaces what tsc wrote to dist/; declarations stay. */
export async function bundle() {
  for (const file of readdirSync(dist, { recursive: true })) {
    if (/\.js(?:\.map)?$/.test(file) && !KEPT.test(file.replaceAll(sep, "/"))) rmSync(join(dist, file));
  }
  await write(ENTRIES);
  await write([ALONE]);
  const notice = readFileSync(join(root, "node_modules/zod/LICENSE"), "utf8");
  writeFileSync(join(dist, "THIRD-PARTY-NOTICES.txt"), `dist/chunks holds parts of zod:\n\n${notice}`);
}
