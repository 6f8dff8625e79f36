/** The child programs of the crash tests as one file each: compiled once, and not at each of their many starts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const entries = new Map<string, Promise<string>>();
let folder: string | undefined;

/** The path of a module of test/crash/children in a form that Node runs as it is; it is gone when this process ends. */
export function bundledChild(path: string): Promise<string> {
  const known = entries.get(path) ?? bundle(path);
  entries.set(path, known);
  return known;
}

async function bundle(path: string): Promise<string> {
  folder ??= temporary();
  const file = join(folder, basename(path).replace(/ts$/, "mjs"));
  const bundling = await rolldown({ input: path, platform: "node", plugins: [packagesOutside] });
  await bundling.write({ file, format: "esm" });
  await bundling.close();
  return file;
}

function temporary(): string {
  const made = mkdtempSync(join(tmpdir(), "hp-children-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Packages are named by their path: nothing is found from the temporary folder. */
const packagesOutside = {
  name: "packages-outside",
  resolveId(id: string): { id: string; external: true } | null {
    if (/^(?:[./]|node:)/.test(id)) return null;
    return { id: fileURLToPath(import.meta.resolve(id)), external: true };
  },
};
