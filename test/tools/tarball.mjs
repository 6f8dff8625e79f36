// What a user gets: `npm pack` holds what is needed and nothing else, publint finds nothing, and the tarball, installed into an
// empty project, answers `--version`, type-checks an import, and runs the demo. The SQLite binary that was already built is reused.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const work = mkdtempSync(join(tmpdir(), "holdpoint-tarball-"));
const run = (command, args, cwd, options = {}) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], ...options });

try {
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", work], root));
  const files = packed.files.map(({ path }) => path);
  const allowed =
    /^(dist\/(src|adapters|renderers|chunks)\/.*\.(js|d\.ts|js\.map)|dist\/THIRD-PARTY-NOTICES\.txt|docs\/.*|adapters\/pi\/(prompts|skills)\/.*\.md|package\.json|README\.md|CHANGELOG\.md|config\.example\.json)$/;
  const strangers = files.filter((path) => !allowed.test(path));
  if (strangers.length > 0)
    throw new Error(`The tarball holds files that no user needs: ${strangers.slice(0, 10).join(", ")}`);
  for (const needed of [
    "dist/src/cli/main.js",
    "dist/THIRD-PARTY-NOTICES.txt",
    "dist/src/workflow/index.d.ts",
    "dist/src/builtins/plan-approval@1/plan-approval.workflow.js",
    "dist/adapters/telegram/main.js",
    "dist/adapters/pi/extension/main.js",
    "adapters/pi/prompts/workflow.md",
    "adapters/pi/skills/holdpoint/SKILL.md",
    "dist/adapters/telegram/sim/main.js",
    "docs/examples/deploy.workflow.ts",
    "config.example.json",
  ]) {
    if (!files.includes(needed)) throw new Error(`The tarball lacks ${needed}`);
  }
  console.log(`tarball: ${files.length} files, ${Math.round(packed.size / 1024)} KiB`);
  console.log(run(process.execPath, [join(root, "node_modules/publint/src/cli.js"), root], root).trim());

  const project = join(work, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", join(work, packed.filename)], project);
  const built = join(root, "node_modules/better-sqlite3/build/Release/better_sqlite3.node");
  if (existsSync(built)) {
    const target = join(project, "node_modules/better-sqlite3/build/Release");
    mkdirSync(target, { recursive: true });
    cpSync(built, join(target, "better_sqlite3.node"));
  }
  const bin = join(project, "node_modules/.bin/holdpoint");
  const version = run(bin, ["--version"], project).trim();
  if (version !== packed.version)
    throw new Error(`holdpoint --version says ${version}, the package is ${packed.version}`);
  writeFileSync(
    join(project, "use.mjs"),
    'import { defineWorkflow } from "holdpoint"; import { connect } from "holdpoint/client"; import { planApproval } from "holdpoint/builtins"; if (typeof defineWorkflow !== "function" || typeof connect !== "function" || planApproval.name !== "plan-approval") process.exit(1);',
  );
  run(process.execPath, ["use.mjs"], project);
  const workflows = run(bin, ["workflows"], project);
  if (!/^plan-approval +builtin/m.test(workflows))
    throw new Error(`The installed package lists no built-in workflow:\n${workflows}`);
  const demo = run(bin, ["demo", "--answer", "approve", "--plain"], project, { timeout: 90_000 });
  if (!/completed/i.test(demo)) throw new Error(`The demo of the installed package did not complete:\n${demo}`);
  console.log("tarball: installed, imported, and the demo ran");
} finally {
  rmSync(work, { recursive: true, force: true });
}
