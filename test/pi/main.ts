/**
 * Headless agent steps against real Pi with a scripted model on the loopback: `npm run test:pi`, after `--` also `--json`,
 * `--only WORD`, `--report FILE`, `--cli CLI` (the cli.js of another Pi), `--list` (what is covered where), `--full` (also an install of
 * the packed package, kills, reloads and new sessions at each stage, everything with the oldest Pi, what loading the extension costs, and the
 * soak; `--runs N`, 0 = none, `--seed N`; `--only extensionLoadMs` that figure alone).
 * Ends with `N passed, N failed, N skipped`; where Pi cannot run, everything is skipped, loudly.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CASES } from "./cases/index.ts";
import { installed as packed } from "./cases/installed.ts";
import { installPi } from "./install.ts";
import { extensionLoadMs } from "./load.ts";
import { MockServer } from "./mock-model.ts";
import { coverage } from "./coverage.ts";
import { STAGE_CASES } from "./stages/index.ts";
import { withOldest } from "./oldest.ts";
import { soak, type SoakResult } from "./soak.ts";
import { Stage } from "./stage.ts";

const option = (name: string): string | undefined =>
  process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined;
const json = process.argv.includes("--json");
const only = option("--only");
/** `--report FILE` writes what `--json` prints, for whoever starts this as a part of more. */
const report = option("--report");
const say = (line: string): void => void process[json ? "stderr" : "stdout"].write(`${line}\n`);

// Nothing but the loopback: no catalog, no update check, no telemetry.
process.env["PI_OFFLINE"] = "1";
process.env["PI_TELEMETRY"] = "0";
delete process.env["NODE_EXTRA_CA_CERTS"];

/** The hang limit of one case. */
const LIMIT_MS = 90_000;
/** Cases at a time: most of a case is waiting for Pi to start, or for what was told to end. */
const LANES = 3;

/** Chooses no case. */
const FIGURE = "extensionLoadMs";
/** Runs of the soak. */
const total = Number(option("--runs") ?? 200);
const full = process.argv.includes("--full");
const chosen = [...(full ? [...packed, ...STAGE_CASES] : []), ...CASES].filter(
  ({ name }) => only === undefined || name.includes(only),
);
const failures: { name: string; error: string }[] = [];
let passed = 0;
let skipped = 0;
let kills = 0;
let soaked: SoakResult | undefined;
/** What the extension costs a start of Pi; measured while nothing else runs. */
let loadMs: number | undefined;

if (process.argv.includes("--list")) {
  process.stdout.write(`${coverage().join("\n")}\n`);
  process.exit(0);
}

const installed = installPi(say, "install", option("--cli"));
if (installed.ok) {
  const server = new MockServer();
  await server.start();
  const queue = chosen.map((item, index) => ({ item, index }));
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { index, item } = next;
      const began = performance.now();
      const stage = new Stage(`case${index}`, installed.command, server, item.model);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`did not end within ${LIMIT_MS} ms`)), LIMIT_MS);
      });
      try {
        await Promise.race([item.run(stage), late]);
        const left = stage.alive();
        if (left.length > 0) throw new Error(`processes are left: ${left.join(", ")}`);
        passed += 1;
        if (STAGE_CASES.includes(item)) kills += 1;
        say(`ok    ${item.name} (${Math.round(performance.now() - began)} ms)`);
      } catch (error) {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        failures.push({ name: item.name, error: text });
        say(`FAIL  ${item.name}\n      ${text.replaceAll("\n", "\n      ")}`);
        for (const pid of stage.alive()) process.kill(pid, "SIGKILL");
      } finally {
        clearTimeout(timer);
        stage.close();
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (full && (only === undefined || only === FIGURE)) {
    loadMs = await extensionLoadMs(installed.command, server);
    say(`Pi answers ${loadMs} ms later with the extension`);
  }
  if (full && only === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "holdpoint-pi-"));
    const oldest = await withOldest(say, folder, CASES.length);
    rmSync(folder, { recursive: true });
    passed += oldest.passed;
    skipped += oldest.skipped;
    failures.push(...oldest.failures);
  }
  if (full && total > 0 && only !== FIGURE)
    soaked = await soak(installed.command, server, {
      total,
      seed: Number(option("--seed") ?? 1),
      say,
    });
  for (const violation of soaked?.violations ?? []) say(`VIOLATION ${violation}`);
  await server.stop();
} else {
  say("");
  say(`SKIPPED: all ${chosen.length} tests against real Pi, because it cannot run here.`);
  say(`         ${installed.reason}`);
  skipped = chosen.length;
}

const violations = soaked?.violations ?? [];
const failed = failures.length + (chosen.length === 0 && soaked === undefined && loadMs === undefined ? 1 : 0);
const reason = installed.ok ? undefined : installed.reason;
const result = `${JSON.stringify({ passed, failed, skipped, reason, failures, runs: soaked?.runs ?? 0, kills: kills + (soaked?.kills ?? 0), violations, ...(loadMs === undefined ? {} : { extensionLoadMs: loadMs }) })}\n`;
if (report !== undefined) writeFileSync(report, result);
if (json) process.stdout.write(result);
else {
  if (soaked !== undefined) say(`${soaked.runs} runs, ${soaked.kills} kills, ${violations.length} violations`);
  say(`${passed} passed, ${failed} failed, ${skipped} skipped`);
}
process.exit(failed + violations.length === 0 ? 0 : 1);
