/** The executor against a Pi that misbehaves; what goes well is shown with real Pi in test/pi. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentStep } from "../../../src/contracts/agent-step.ts";
import { startIdentity } from "../../../src/contracts/process-identity.ts";
import { membersOf } from "../../../src/contracts/process-tree.ts";
import { createAgentExecutor } from "../../../src/runner/agent/index.ts";
import type { AgentOutcome, EngineTimers } from "../../../src/workflow/engine/index.ts";
import { HandClock } from "./hand-clock.ts";

/** Processes are told apart by the run in their mark, also from those of another test run on this machine. */
const RUN = `run-${process.pid}`;
const fake = fileURLToPath(new URL("./fake-pi.mjs", import.meta.url));
let folder = "";
let pid = 0;
let identity = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdpoint-agent-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(
  how: string,
  step: Partial<AgentStep> = {},
  registered: () => void = () => {},
  signal: AbortSignal = new AbortController().signal,
  timers?: EngineTimers,
): Promise<AgentOutcome> {
  const executor = createAgentExecutor({
    runId: RUN,
    cwd: folder,
    folder,
    pi: { command: [process.execPath, fake, how] },
    ...(timers === undefined ? {} : { timers }),
    register: (...registration) => {
      [pid, identity] = registration;
      registered();
      return Promise.resolve();
    },
    unregister: () => Promise.resolve(),
  });
  const whole: AgentStep = {
    nodeId: "outer/plan",
    visit: 1,
    attempt: 1,
    prompt: "Do it.",
    contract: { kind: "assistantMessage", maxChars: 1_000 },
    allowedTools: null,
    timeoutMs: 20_000,
    statusDetail: undefined,
    ...step,
  };
  return executor.run(whole, (value) => Promise.resolve({ ok: true, value: value as string }), signal);
}

function expectGone(): void {
  expect(pid).toBeGreaterThan(0);
  expect(startIdentity(pid)).toBeNull();
  expect(membersOf({ pid, startIdentity: identity })).toEqual([]);
}

test("a Pi that ends at once fails the step with what it said", async () => {
  const outcome = await run("dies");
  expect(outcome).toMatchObject({ outcome: "failed", error: { kind: "agentFailed" } });
  expect(outcome.outcome === "failed" && outcome.error.message).toMatch(
    /code 3 .*outer\/plan.*configuration of this Pi is broken/,
  );
  expectGone();
});

test("an agent works in the folder of its step, else in the executor's", async () => {
  const own = mkdtempSync(join(folder, "own-"));
  expect(await run("tells-folder")).toMatchObject({ output: folder });
  expect(await run("tells-folder", { cwd: own })).toMatchObject({ output: own });
});

test("a program that is not there fails the step with its name", async () => {
  const executor = createAgentExecutor({
    runId: RUN,
    cwd: folder,
    folder,
    pi: { command: "/no/such/pi" },
    register: () => Promise.reject(new Error("nothing was started")),
    unregister: () => Promise.resolve(),
  });
  const outcome = await executor.run(
    {
      nodeId: "plan",
      visit: 1,
      attempt: 1,
      prompt: "Do it.",
      contract: { kind: "submit", expectedOutput: "Anything." },
      allowedTools: null,
      timeoutMs: null,
      statusDetail: undefined,
    },
    (value) => Promise.resolve({ ok: true, value: value as string }),
    new AbortController().signal,
  );
  expect(outcome).toMatchObject({ outcome: "failed", error: { kind: "agentFailed", message: /\/no\/such\/pi/ } });
});

test("output that is no record of Pi ends the conversation and is not skipped", async () => {
  const outcome = await run("babbles");
  expect(outcome).toMatchObject({ outcome: "failed", error: { message: /no record of Pi/ } });
  expectGone();
});

test("a frame of the bridge with an unknown action ends the conversation", async () => {
  // Whoever speaks on the pipe is not our bridge: the step goes no further with it.
  const outcome = await run("wrong-frame");
  expect(outcome).toMatchObject({ outcome: "failed", error: { message: /bridge/ } });
  expectGone();
});

test("a dialog is cancelled at once, for nobody is there to be asked", async () => {
  expect(await run("asks")).toEqual({ outcome: "ok", output: "the dialog was cancelled" });
  expectGone();
});

test("a prompt that Pi takes for its own command fails instead of waiting for ever", async () => {
  expect(await run("handles")).toMatchObject({ outcome: "failed", error: { message: /command of its own/ } });
});

test("line and paragraph separators inside a record do not end it", async () => {
  expect(await run("separators")).toEqual({ outcome: "ok", output: "a\u2028b\u2029c" });
});

test("a Pi that ignores abort, end of input and TERM is killed", async () => {
  expect(await run("deaf", { timeoutMs: 2_000 })).toMatchObject({
    outcome: "timed_out",
    error: { kind: "nodeTimedOut" },
  });
  expectGone();
});

test("a run that was stopped before the step began starts no Pi", async () => {
  pid = 0;
  expect(await run("asks", {}, () => {}, AbortSignal.abort())).toMatchObject({ error: { kind: "agentStopped" } });
  expect(pid).toBe(0);
});

test("a run that is stopped while its agent is registered prompts nobody", async () => {
  const stop = new AbortController();
  expect(await run("asks", {}, () => stop.abort(), stop.signal)).toMatchObject({ error: { kind: "agentStopped" } });
  expectGone();
});

test("the time until an agent is prompted does not count against its limit, its turn does", async () => {
  const clock = new HandClock();
  const asked: string[] = [];
  clock.onArmed = () => {
    asked.push("turn");
    // Within the turn.
    setImmediate(() => clock.advance(1_000));
  };
  const registered = (): void => {
    asked.push("registered");
    clock.advance(3_600_000);
  };
  const outcome = await run("says-nothing", { timeoutMs: 1_000 }, registered, undefined, clock);
  expect(outcome).toMatchObject({ outcome: "timed_out", error: { kind: "nodeTimedOut" } });
  expect(asked).toEqual(["registered", "turn"]);
  expectGone();
});

test("an agent that is reminded has the rest of its time, not all of it again", async () => {
  const clock = new HandClock();
  let turns = 0;
  clock.onArmed = () => {
    turns += 1;
    clock.advance(400);
  };
  const outcome = await run("mute", { timeoutMs: 1_000 }, undefined, undefined, clock);
  expect(outcome).toMatchObject({ outcome: "timed_out" });
  expect(turns).toBe(3);
});
