// `npm start`: the whole service over real processes, with the stand-in instead of Telegram. The answer is a tap or a
// reply made there, and arrives through getUpdates.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { spawn } from "node:child_process";
import { afterEach, describe, expect, test, vi } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { HANG_MS, Scope, builtEntry, runCli, type CliResult } from "../harness/index.ts";
import { childEnv } from "../harness/paths.ts";

const scope = new Scope();
afterEach(() => scope.close());

interface DemoResult {
  status: string;
  home: string;
  output: unknown;
  processes: { kind: string; pid: number }[];
  updateIds: number[];
  decisions: {
    fingerprint: string;
    resolution: { choice: string; input: string | null; by: string; provenance: string };
  }[];
  timeline: { side: string; text: string }[];
  elapsedMs: number;
}

/** Processes whose environment holds the mark. */
function marked(mark: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`).includes(mark);
    } catch {
      return false;
    }
  });
}

/** A runner that was just starting ends when it notices that its pipe is closed, which may be after the demo's end. */
function nothingLeft(mark: string): Promise<void> {
  return vi.waitFor(() => expect(marked(mark)).toEqual([]), { timeout: HANG_MS, interval: 20 });
}

function demo(
  args: readonly string[],
  mark = randomUUID(),
  onOutput?: Parameters<typeof runCli>[2],
): Promise<CliResult> {
  return runCli(scope, ["demo", ...args], { ...onOutput, env: { DEMO_TEST_MARK: mark } });
}

function resultOf({ stdout }: CliResult): DemoResult {
  return (JSON.parse(stdout) as { result: DemoResult }).result;
}

describe("without a terminal", () => {
  test("it approves by itself, shows at least four processes and the update that carried the answer, and leaves nothing", async () => {
    const mark = randomUUID();
    const ran = await demo(["--answer", "approve", "--json"], mark);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    const result = resultOf(ran);
    expect(result.status).toBe("completed");
    const kinds = result.processes.map(({ kind }) => kind.split(" ")[0]);
    for (const kind of ["server", "stand-in", "adapter", "runner"]) expect(kinds).toContain(kind);
    expect(new Set(result.processes.map(({ pid }) => pid)).size).toBeGreaterThanOrEqual(5);
    expect(result.updateIds.length).toBeGreaterThanOrEqual(1);
    const answered = result.timeline.filter(({ side, text }) => side === "server" && text.includes("Ann"));
    expect(answered.some(({ text }) => text.includes(String(result.updateIds[0])))).toBe(true);
    expect(result.decisions).toHaveLength(1);
    expect(result.decisions[0]?.resolution).toMatchObject({ choice: "approve", by: "Ann", provenance: "human" });
    expect(existsSync(result.home)).toBe(false);
    await nothingLeft(mark);
  });

  test("people read the phone, the timeline, the processes, and how to go on", async () => {
    const ran = await demo([]);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stdout).toContain("answers by itself");
    expect(ran.stdout).toMatch(/\[1\] Approve/);
    expect(ran.stdout).toMatch(/edited ─[^]*✅/);
    expect(ran.stdout).toMatch(/getUpdates handed out update \d+/);
    expect(ran.stdout).toMatch(/pid \d+ +runner/);
    expect(ran.stdout).toContain("Now with a real bot");
    expect(ran.stdout).not.toContain("\u001b");
  });

  test("a replan is asked for by reply, and the second card is approved by itself", async () => {
    const ran = await demo(["--answer", "replan=use the blue pool", "--json"]);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    const { decisions, updateIds } = resultOf(ran);
    expect(decisions.map(({ resolution }) => resolution.choice).toSorted()).toEqual(["approve", "replan"]);
    expect(decisions.find(({ resolution }) => resolution.choice === "replan")?.resolution.input).toBe(
      "use the blue pool",
    );
    expect(updateIds.length).toBeGreaterThanOrEqual(3);
  });

  test("an unknown answer is told the nearest one, and nothing is left behind", async () => {
    const mark = randomUUID();
    const ran = await demo(["--answer", "aprove"], mark);
    expect(ran.code).toBe(EXIT.usage.code);
    expect(ran.stderr).toContain("Did you mean approve?");
    await nothingLeft(mark);
  });
});

describe("stopped", () => {
  test.each([
    ["SIGINT", "Starting the server", EXIT.interrupted.code],
    ["SIGTERM", "Run ", EXIT.terminated.code],
    ["SIGINT", "answering", EXIT.interrupted.code],
  ] as const)("by %s at %j its children end and its home is removed", async (signal, moment, code) => {
    const mark = randomUUID();
    let home: string | undefined;
    let sent = false;
    const onOutput = (stdout: string, kill: (signal: NodeJS.Signals) => void): void => {
      if (sent || !stdout.includes(moment)) return;
      sent = true;
      home = marked(mark)
        .map(homeOf)
        .find((found) => found !== undefined);
      kill(signal);
    };
    const ran = await demo([], mark, { onOutput });
    expect(sent).toBe(true);
    expect(ran.code, ran.stdout + ran.stderr).toBe(code);
    expect(home).toMatch(/holdpoint-demo-/);
    expect(existsSync(home as string)).toBe(false);
    await nothingLeft(mark);
  });
});

function homeOf(pid: number): string | undefined {
  try {
    return /HOLDPOINT_HOME=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

test("at a terminal a person presses buttons by number and replies with text", async () => {
  const command = `${process.execPath} ${builtEntry("src/cli/main.js")} demo`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env: childEnv({ TERM: "xterm", NO_COLOR: "1" }) });
  scope.add(() => child.kill("SIGTERM"));
  const script = [
    ["Press a button", "2"],
    ["Your reply", "use the blue pool"],
    ["Press a button", "1"],
  ] as const;
  let said = "";
  let seen = 0;
  let step = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const next = script[step];
    const at = next === undefined ? -1 : said.indexOf(next[0], seen);
    if (next === undefined || at < 0) return;
    seen = at + next[0].length;
    step += 1;
    child.stdin.write(`${next[1]}\r`);
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  expect(code, said).toBe(0);
  expect(step).toBe(script.length);
  expect(said).toContain("use the blue pool");
  expect(said).toContain("Now with a real bot");
});
