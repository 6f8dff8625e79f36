/**
 * Runs the model-based test on a mutation of the engine: its id is the argument (and how many cases to play), `{caught}` as JSON the last line of the
 * output (null: it was not noticed). The sources stay as they are; they are changed while they are loaded.
 */
import { fileURLToPath } from "node:url";
import { createServer, type Plugin } from "vite";
import type * as Compare from "../engine/compare.ts";
import { MODEL, MUTATIONS, type Mutation } from "../engine/mutations.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

function mutating({ changes }: Mutation): Plugin & { readonly missing: () => string[] } {
  const open = new Set(changes);
  return {
    name: "mutation",
    enforce: "pre",
    transform(code, id) {
      let text = code;
      for (const change of changes.filter(({ file }) => id === root + file)) {
        if (text.split(change.find).length !== 2) throw new Error(`${change.file} does not say once: ${change.find}`);
        text = text.replace(change.find, () => change.replace);
        open.delete(change);
      }
      return text === code ? null : { code: text, map: null };
    },
    missing: () => [...open].map(({ file, find }) => `${file} was not loaded to be changed: ${find}`),
  };
}

const [, , wanted, runs = MODEL.runs] = process.argv;
/** `none` is the engine as it is, for comparison. */
const known = [...MUTATIONS, { id: "none", what: "nothing", changes: [] }];
const mutation = known.find(({ id }) => id === wanted);
if (mutation === undefined) throw new Error(`there is no mutation ${wanted}`);
const plugin = mutating(mutation);
const server = await createServer({
  root,
  configFile: false,
  appType: "custom",
  logLevel: "error",
  plugins: [plugin],
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true, include: [] },
});
const { search } = (await server.ssrLoadModule("/test/property/engine/compare.ts")) as typeof Compare;
const missing = plugin.missing();
if (missing.length > 0) throw new Error(missing.join("\n"));
const caught = await search({ ...MODEL, runs: Number(runs), shrink: false }).then(
  () => null,
  (error: Error) => error.message,
);
process.stdout.write(`${JSON.stringify({ caught })}\n`);
// What a mutant left waiting need not be waited for.
process.exit(0);
