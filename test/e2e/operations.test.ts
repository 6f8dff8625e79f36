// Every operation on a run, through the client protocol: a receipt per key, expected revisions, and refusals that name their cause.
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { OperationName, OperationPayload } from "../../src/client/index.ts";
import { OPERATIONS } from "../../src/contracts/protocol/operations.ts";
import { isHoldpointError, type ErrorKind } from "../../src/contracts/errors.ts";
import { Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterAll(() => scope.close());

type Payload = Record<string, unknown>;
interface Operation {
  readonly name: OperationName;
  /** Brings a run into the state in which the operation is possible. */
  readonly ready: () => Promise<string>;
  readonly payload: (run: string) => Payload;
  /** What makes it another request. */
  readonly other: Payload;
  /** Brings a run into a state in which it is not, and says how that is refused. */
  readonly refused: readonly [() => Promise<string>, ErrorKind];
  /** A record that is not there. */
  readonly unknown: readonly [Payload, ErrorKind];
}

/** A run that holds at its checkpoint. */
async function holding(): Promise<string> {
  const run = await stage.start("operated");
  await stage.waitForRun(run, ({ checkpoints }) => checkpoints[0]?.status === "pending", "its checkpoint");
  return run;
}
async function after(operation: OperationName, payload: Payload = {}): Promise<string> {
  const run = await holding();
  await call(operation, { run, ...payload });
  return run;
}
const paused = (): Promise<string> => after("run.pause");
const cancelled = (): Promise<string> => after("run.cancel", { reason: null });
const queued = (): Promise<string> => after("followUp.queue", { prompt: "Sum it up." });
const nowhere = { run: "no-such-run" };

const TABLE: readonly Operation[] = [
  {
    name: "run.pause",
    ready: holding,
    payload: (run) => ({ run }),
    other: nowhere,
    refused: [cancelled, "runState"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "run.resume",
    ready: paused,
    payload: (run) => ({ run }),
    other: nowhere,
    refused: [holding, "runState"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "run.cancel",
    ready: holding,
    payload: (run) => ({ run, reason: "not needed" }),
    other: { reason: "another reason" },
    refused: [cancelled, "runState"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "run.restart",
    ready: cancelled,
    payload: (run) => ({ run, reason: "once more" }),
    other: { reason: "another reason" },
    refused: [holding, "restartRefused"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "run.changeSettings",
    ready: holding,
    payload: (run) => ({
      run,
      mount: "",
      patch: [{ op: "replace", path: "/rounds", value: 2 }],
      expectedChangeNumber: 0,
    }),
    other: { patch: [{ op: "replace", path: "/rounds", value: 3 }] },
    refused: [cancelled, "runState"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "followUp.queue",
    ready: holding,
    payload: (run) => ({ run, prompt: "Sum it up." }),
    other: { prompt: "Say something else." },
    refused: [cancelled, "followUpRefused"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "followUp.remove",
    ready: queued,
    payload: (run) => ({ run, followUp: "1" }),
    other: { followUp: "2" },
    refused: [holding, "followUpRefused"],
    unknown: [nowhere, "runNotFound"],
  },
  {
    name: "checkpoint.answer",
    ready: holding,
    payload: (run) => ({ request: run, answer: { looks: "good" } }),
    other: { answer: { looks: "bad" } },
    refused: [cancelled, "requestNotFound"],
    unknown: [{ request: "no-such-request" }, "runNotFound"],
  },
];

function call(
  operation: OperationName,
  payload: Payload,
  options: { idempotencyKey?: string; expectedRevision?: number } = {},
): Promise<unknown> {
  return stage.client.call(operation, payload as OperationPayload<OperationName>, options);
}

/** The refusal of an operation: its kind, with a message that says something and a way out. */
async function refusal(work: Promise<unknown>): Promise<ErrorKind | "none"> {
  try {
    await work;
    return "none";
  } catch (error) {
    if (!isHoldpointError(error)) throw error;
    expect(error.message.length).toBeGreaterThan(10);
    expect(error.remedy.length).toBeGreaterThan(5);
    return error.kind;
  }
}

/** Everything that an operation on a run may change. */
async function stateOf(run: string): Promise<unknown> {
  const { checkpoints, continuations, followUps, lineage, run: summary, timeline } = await stage.view(run);
  const settings = await stage.client.call("run.settings", { run });
  return { checkpoints, continuations, followUps, lineage, summary, events: timeline.length, settings };
}

/** What a run shows when the work that an operation set off has come to rest. */
async function restingState(run: string): Promise<unknown> {
  await stage.waitForRun(
    run,
    ({ run: { finishedAt, status } }) => finishedAt !== null || ["waiting", "paused"].includes(status),
    "a run at rest",
  );
  return stateOf(run);
}

test("the table has every operation on running work", () => {
  const changing = Object.entries(OPERATIONS).flatMap(([name, { change }]) => (change ? [name] : []));
  // To start needs no run; the others are about effects, decisions, alerts and resources, which are not at work.
  const elsewhere = ["run.start", "effect.settle", "channel.recover", "decision.answer"];
  const others = /^(alert|resourceManager)\./;
  expect(TABLE.map(({ name }) => name as string).toSorted()).toEqual(
    changing.filter((name) => !elsewhere.includes(name) && !others.test(name)).toSorted(),
  );
});

describe.each(TABLE)("$name", (operation) => {
  const { name, other, payload, ready, refused, unknown } = operation;

  test("is done once for its key, and adopted by whoever repeats it, whatever has become of the run", async () => {
    const run = await ready();
    const { revision } = (await stage.view(run)).run;
    const options = { idempotencyKey: stage.unique(name), expectedRevision: revision };
    const [first, second] = await Promise.all([call(name, payload(run), options), call(name, payload(run), options)]);
    expect(second).toEqual(first);
    const before = await restingState(run);
    expect(await call(name, payload(run), options)).toEqual(first);
    expect(await refusal(call(name, { ...payload(run), ...other }, options))).toBe("idempotencyConflict");
    expect(await stateOf(run)).toEqual(before);
  });

  test("is refused for another revision than the caller saw, and changes nothing", async () => {
    const run = await ready();
    const before = await stateOf(run);
    const { revision } = (await stage.view(run)).run;
    const idempotencyKey = stage.unique(name);
    for (const expectedRevision of [revision - 1, revision + 1])
      expect(await refusal(call(name, payload(run), { idempotencyKey, expectedRevision }))).toBe("revisionConflict");
    expect(await stateOf(run)).toEqual(before);
    // A refusal leaves no receipt: the same key counts when the revision is right.
    await call(name, payload(run), { idempotencyKey, expectedRevision: revision });
    expect((await stage.view(run)).run.revision).toBeGreaterThan(revision);
  });

  test("is refused where it does not fit, with its cause, and changes nothing", async () => {
    const [unready, kind] = refused;
    const run = await unready();
    const before = await stateOf(run);
    expect(await refusal(call(name, payload(run)))).toBe(kind);
    expect(await stateOf(run)).toEqual(before);
    const [missing, how] = unknown;
    expect(await refusal(call(name, { ...payload(run), ...missing }))).toBe(how);
  });

  test("is done once by clients that ask at the same time with keys of their own and the same revision", async () => {
    const run = await ready();
    const { revision } = (await stage.view(run)).run;
    const done = await Promise.allSettled(
      [1, 2, 3].map(() => call(name, payload(run), { expectedRevision: revision })),
    );
    const won = done.filter(({ status }) => status === "fulfilled");
    // A restart is known by the run and its revision: whoever asks gets the same one.
    expect(won).toHaveLength(name === "run.restart" ? 3 : 1);
    // It may have gone on between two answers: its id is what is the same.
    const ids = won.map((result) => {
      const { value } = result as PromiseFulfilledResult<{ runId?: string }>;
      return value.runId ?? JSON.stringify(value);
    });
    expect(new Set(ids).size).toBe(1);
    for (const result of done)
      // Named by its run, a checkpoint that was answered is looked for before the revision is.
      if (result.status === "rejected")
        expect(["revisionConflict", "requestNotFound"]).toContain((result.reason as { kind: ErrorKind }).kind);
  });
});
