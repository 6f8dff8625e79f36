/** Steps that bring what is said of an effect, while the disk is full: what was done outside is told until it is stored. */
import { describe, expect, it } from "vitest";
import { HoldpointError } from "../../../src/contracts/errors.ts";
import type { FromRunner, ToRunner } from "../../../src/contracts/protocol/runner.ts";
import { RunSession, type RunSessionDeps } from "../../../src/server/runs/run-session.ts";
import type { Launch } from "../../../src/state/store.ts";

type Steps = Extract<FromRunner, { type: "advance" }>;

/** A session over a store that cannot write the first `failures` times. */
function session(failures: number): {
  readonly hear: (frame: FromRunner) => void;
  readonly said: ToRunner[];
  readonly stored: Steps["first"][];
} {
  let now = 0;
  let tries = 0;
  const said: ToRunner[] = [];
  const stored: number[] = [];
  const silent = (): void => undefined;
  const advance = ({ entries, first }: Steps): Promise<{ through: number }> => {
    tries += 1;
    if (tries <= failures) return Promise.reject(new HoldpointError("diskFull", "full"));
    stored.push(first);
    return Promise.resolve({ through: first + entries.length - 1 });
  };
  const position = { nodeId: "next", step: 1, visit: 1, interrupted: false };
  const deps = {
    store: { runs: { advance }, read: { runs: { position: () => ({ from: stored.length, position, visits: {} }) } } },
    clock: {
      now: () => now,
      timer: (at: number, run: () => void) => {
        now = Math.max(now, at);
        setImmediate(run);
        return { cancel: silent };
      },
    },
    log: { error: silent, warn: silent, debug: silent, info: silent },
    wake: { views: silent },
    agents: { launch: {} },
    cacheDir: "",
    sourcesDir: "",
  } as unknown as RunSessionDeps;
  let hear: (frame: FromRunner) => void = silent;
  const port = {
    onFrame: (listener: typeof hear) => (hear = listener),
    onClose: silent,
    send: (...frames: ToRunner[]) => said.push(...frames.filter(({ type }) => type !== "launch")),
  };
  const launch = { claim: { runId: "run-1", runNo: 1 }, sources: null, definitionDigest: null } as unknown as Launch;
  new RunSession(deps, launch, { port, pid: 1, childId: "c" } as never).start();
  return { hear: (frame) => hear(frame), said, stored };
}

const steps = (first: number, settle?: Steps["settle"]): Steps => ({
  type: "advance",
  first,
  entries: [{ step: first, nodeId: "a", outcome: "ok", output: 1, durationMs: 1, next: "next" }],
  ...(settle === undefined ? {} : { settle }),
});

async function until(given: () => boolean): Promise<void> {
  while (!given()) await new Promise((resolve) => setImmediate(resolve));
}

describe("while nothing can be written", () => {
  it("the step of an action is repeated, and acknowledged once it is stored", async () => {
    const { hear, said, stored } = session(3);
    hear(steps(0, { effectId: "effect-1", attempt: 1, outcome: "applied" }));
    await until(() => said.length > 0);
    expect(said).toEqual([{ type: "ack", through: 0 }]);
    expect(stored).toEqual([0]);
  });

  it("steps behind it are taken back, but only after it is stored", async () => {
    const { hear, said, stored } = session(2);
    hear(steps(0, { effectId: "effect-1", attempt: 1, outcome: "applied" }));
    hear(steps(1));
    await until(() => said.length > 1);
    expect(said).toMatchObject([
      { type: "ack", through: 0 },
      { type: "rewind", from: 1, reason: "notWritten" },
    ]);
    expect(stored).toEqual([0]);
  });

  it("pure steps are taken back", async () => {
    const { hear, said } = session(1);
    hear(steps(0));
    await until(() => said.length > 0);
    expect(said).toMatchObject([{ type: "rewind", from: 0, reason: "notWritten" }]);
  });
});
