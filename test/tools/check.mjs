// `npm run check`: format, lint with import borders, types (product and tests), dead code, docs links. Prints one line per check.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const bin = (name) => join(root, "node_modules", ".bin", name);
const CHECKS = [
  ["format", bin("oxfmt"), ["--check"]],
  ["lint", bin("oxlint"), ["--type-aware", "--deny-warnings"]],
  ["borders", process.execPath, [join(root, "test/tools/borders.mjs")]],
  ["types", bin("tsc"), ["--noEmit", "-p", "tsconfig.json"]],
  ["test types", bin("tsc"), ["--noEmit", "-p", "test/tsconfig.json"]],
  ["dead code", bin("knip"), ["--no-progress"]],
  ["reference", process.execPath, [join(root, "test/tools/reference.mjs"), "--check"]],
  ["conformance", process.execPath, [join(root, "test/tools/conformance.mjs")]],
  ["docs links", process.execPath, [join(root, "test/tools/docs-links.mjs")]],
];

let failed = 0;
for (const [name, command, args] of CHECKS) {
  const started = Date.now();
  const result = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  const ok = result.status === 0;
  console.log(`${ok ? "ok  " : "FAIL"} ${name} (${Date.now() - started} ms)`);
  if (!ok) {
    failed += 1;
    console.log(`${result.stdout ?? ""}${result.stderr ?? ""}`.trimEnd());
  }
}
if (failed > 0) {
  console.log(`${failed} of ${CHECKS.length} checks failed`);
  process.exit(1);
}
