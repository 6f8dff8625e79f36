// `npm test`: checks, build, then every part of the tests; the time of each part is printed at the end, and the last line is
// `N passed, N failed, N skipped`. `--only a,b` runs some parts; parts that need dist/ build it first.
import { spawnSync } from "node:child_process";
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

function run(name, command, args, read) {
  if (only && !only.includes(name)) return;
  console.log(`\n== ${name}`);
  const started = Date.now();
  const result = spawnSync(command, args, { cwd: root, env, stdio: "inherit" });
  const counts = read?.(result.status) ?? { passed: result.status === 0 ? 1 : 0, failed: result.status === 0 ? 0 : 1 };
  if (result.status !== 0 && counts.failed === 0) counts.failed = 1;
  passed += counts.passed;
  failed += counts.failed;
  skipped += counts.skipped ?? 0;
  results.push({ name, seconds: (Date.now() - started) / 1000, ...counts });
}

function vitest(project) {
  const report = join(temp, `${project}.json`);
  run(
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
    () => {
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
    },
  );
}

run("build", process.execPath, [join(root, "test/tools/build.mjs")]);
run("check", process.execPath, [join(root, "test/tools/check.mjs")]);
for (const project of ["shared", "fast", "property", "e2e", "durability"]) vitest(project);
if (existsSync(join(root, "test/crash/main.ts"))) {
  const report = join(temp, "crash.json");
  run(
    "crash",
    process.execPath,
    ["--import", "jiti/register", join(root, "test/crash/main.ts"), "--short", "--report", report],
    () => {
      if (!existsSync(report)) return { passed: 0, failed: 1 };
      const { total, violations, unhit } = JSON.parse(readFileSync(report, "utf8"));
      const bad = violations.length + unhit.length;
      return { passed: total - bad, failed: total === 0 ? 1 : bad };
    },
  );
}
const piReport = join(temp, "pi.json");
run("pi", process.execPath, ["--import", "jiti/register", join(root, "test/pi/main.ts"), "--report", piReport], () =>
  existsSync(piReport) ? JSON.parse(readFileSync(piReport, "utf8")) : { passed: 0, failed: 1 },
);
if (existsSync(join(root, "test/tools/tarball.mjs")))
  run("tarball", process.execPath, [join(root, "test/tools/tarball.mjs")]);

rmSync(temp, { recursive: true, force: true });
console.log("");
for (const { name, seconds, passed: p, failed: f, skipped: s = 0 } of results)
  console.log(
    `${name.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s  ${p} passed, ${f} failed${s > 0 ? `, ${s} SKIPPED` : ""}`,
  );
console.log(
  `${"total".padEnd(12)} ${results
    .reduce((sum, { seconds }) => sum + seconds, 0)
    .toFixed(1)
    .padStart(7)} s`,
);
// Nobody reads the middle of a long output: what could not run is said again at its end.
for (const { name, reason } of results) if (reason) console.log(`SKIPPED ${name}: ${reason}`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 ? 0 : 1);
