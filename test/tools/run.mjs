// `npm test`: checks, build, then every part of the tests; the time of each part is printed at the end, and the last line is
// `N passed, N failed, N skipped`. `--only a,b` runs some parts; parts that need dist/ build it first. The end-to-end tests wait for much
// of their time: the parts that use one processor run beside them, and print what they have to say when they are over.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const temp = mkdtempSync(join(tmpdir(), "holdpoint-test-"));
const env = { ...process.env };
// Loading extra certificates costs every Node 20 process 50 ms, and no test talks TLS to the outside.
delete env.NODE_EXTRA_CA_CERTS;

const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1].split(",") : null;
const results = [];
let passed = 0;
let failed = 0;
let skipped = 0;

/** `aside`: its output comes at its end, because another part is printing. */
async function run(name, command, args, { read, aside = false } = {}) {
  if (only && !only.includes(name)) return;
  if (!aside) console.log(`\n== ${name}`);
  const started = Date.now();
  const child = spawn(command, args, { cwd: root, env, stdio: aside ? ["ignore", "pipe", "pipe"] : "inherit" });
  const said = [];
  child.stdout?.on("data", (chunk) => said.push(chunk));
  child.stderr?.on("data", (chunk) => said.push(chunk));
  const status = await new Promise((resolve) => {
    child.once("error", (error) => resolve(String(error)));
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  if (aside) console.log(`\n== ${name} (beside the others)\n${Buffer.concat(said).toString()}`);
  const counts = read?.(status) ?? { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1 };
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  passed += counts.passed;
  failed += counts.failed;
  skipped += counts.skipped ?? 0;
  results.push({ name, seconds: (Date.now() - started) / 1000, ...counts });
}

function vitest(project, { aside = false } = {}) {
  const report = join(temp, `${project}.json`);
  return run(
    project,
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--config",
      "test/vitest.config.ts",
      "--project",
      project,
      "--reporter=default",
      "--silent",
      "--reporter=json",
      `--outputFile.json=${report}`,
    ],
    { aside, read: () => countsOf(report) },
  );
}

/** What a report of vitest counts. */
function countsOf(report) {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numPendingTests, numTotalTests, success } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  // A part that ran nothing has failed.
  return {
    passed: numPassedTests,
    skipped: numPendingTests,
    failed: numTotalTests === 0 ? 1 : success ? numFailedTests : Math.max(1, numFailedTests),
  };
}

/** Every point of the crash matrix is one test, and so is a chain of points in which something is wrong. */
function crash() {
  const report = join(temp, "crash.json");
  const args = ["--import", "jiti/register", join(root, "test/crash/main.ts"), "--short", "--report", report];
  const read = () => {
    if (!existsSync(report)) return { passed: 0, failed: 1 };
    const { points, unhit, violations } = JSON.parse(readFileSync(report, "utf8"));
    const passed = points.filter(({ ok }) => ok).length;
    const bad = Math.max(points.length - passed, violations.length + unhit.length);
    return { passed, failed: points.length === 0 ? 1 : bad };
  };
  return run("crash", process.execPath, args, { read });
}

function pi() {
  const report = join(temp, "pi.json");
  const args = ["--import", "jiti/register", join(root, "test/pi/main.ts"), "--report", report];
  const read = () => (existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : { passed: 0, failed: 1 });
  return run("pi", process.execPath, args, { read, aside: true });
}

const began = Date.now();
await run("build", process.execPath, [join(root, "test/tools/build.mjs")]);
await run("check", process.execPath, [join(root, "test/tools/check.mjs")]);
for (const project of ["shared", "fast", "property"]) await vitest(project);
const besides = async () => {
  await pi();
  await vitest("durability", { aside: true });
  await run("tarball", process.execPath, [join(root, "test/tools/tarball.mjs")], { aside: true });
};
await Promise.all([vitest("e2e"), besides()]);
await crash();

rmSync(temp, { recursive: true, force: true });
console.log("");
for (const { name, seconds, passed: p, failed: f, skipped: s = 0 } of results)
  console.log(
    `${name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s  ${p} passed, ${f} failed${s > 0 ? `, ${s} SKIPPED` : ""}`,
  );
console.log(`${"total".padEnd(12)} ${((Date.now() - began) / 1_000).toFixed(1).padStart(7)} s`);
// Nobody reads the middle of a long output: what could not run is said again at its end.
for (const { name, reason } of results) if (reason) console.log(`SKIPPED ${name}: ${reason}`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);
