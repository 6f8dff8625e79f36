// Doubles of a checkpoint: an answer before the run waits, two different answers at once, and both again while the next checkpoint is
// open. Each of a hundred is answered once and followed once, whether clients or the command line answer, or the run is cancelled.
import { resolve } from "node:path";
import { writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";

import type { HoldpointClient } from "../../../src/client/index.ts";
import { isHoldpointError } from "../../../src/contracts/errors.ts";
import { client, makeHome, ROOT, runCli, Scope, startServer, type TestHome } from "../../harness/index.ts";
import { linesOf, until } from "../stage.ts";

const CHECKPOINTS = 100;
/** Command lines at a time: each is a process. */
const AT_A_TIME = 10;
const scope = new Scope();
afterAll(() => scope.close());

interface Open {
  readonly run: string;
  readonly title: string;
  readonly request: string;
  readonly revision: number;
}
/** What an answer came to: "counted", or the kind of its refusal. */
type Said = string;
interface Way {
  readonly answer: (service: Service, open: Open) => Promise<Said>;
  /** What the action then notes; null when there is nothing more to do. */
  readonly notes: string | null;
}
interface Service {
  readonly home: TestHome;
  readonly one: HoldpointClient;
  readonly other: HoldpointClient;
}

const said = (work: Promise<unknown>): Promise<Said> =>
  work.then(
    () => "counted",
    (error: unknown) => {
      if (isHoldpointError(error)) return error.kind;
      throw error;
    },
  );
const byClient = (which: "one" | "other", notes: string): Way => ({
  notes,
  answer: (service, { request }) => said(service[which].call("checkpoint.answer", { request, answer: notes })),
});
const WAYS = {
  client: byClient("one", "yes"),
  "another client": byClient("other", "no"),
  "the command line": {
    notes: "typed",
    answer: async ({ home }, { request }) => {
      const { code, stdout } = await runCli(scope, [
        "--home",
        home.dir,
        "answer",
        request,
        "typed",
        "--text",
        "--json",
      ]);
      const { error } = JSON.parse(stdout) as { error?: { kind: string } };
      return code === 0 ? "counted" : (error?.kind ?? `code ${code}`);
    },
  },
  cancellation: {
    notes: null,
    answer: ({ other }, { revision, run }) =>
      said(other.call("run.cancel", { run, reason: null }, { expectedRevision: revision, idempotencyKey: `c-${run}` })),
  },
} as const satisfies Record<string, Way>;

async function openService(): Promise<Service> {
  const home = makeHome(scope);
  await startServer(scope, home);
  return { home, one: await client(scope, home), other: await client(scope, home) };
}

/** Starts the runs, answers them all before they wait, and lets them come to their first checkpoint. */
async function ask({ home, one, other }: Service, batch: number): Promise<Open[]> {
  const workflowPath = resolve(ROOT, "test/fixtures/workflows/checkpoints.workflow.ts");
  const gate = `${home.dir}/gate-${batch}`;
  const started = await Promise.all(
    Array.from({ length: AT_A_TIME }, async (_, index) => {
      const title = `Checkpoint ${batch}-${index}`;
      const input = { title, file: `${home.dir}/lines.txt`, gate };
      const { runId } = await one.call("run.start", {
        workflow: "checkpoints",
        workflowPath,
        projectPath: home.dir,
        input,
      });
      return { run: runId, title };
    }),
  );
  for (const { run } of started)
    for (const early of [one, other])
      expect(await said(early.call("checkpoint.answer", { request: run, answer: "too early" }))).toBe(
        "requestNotFound",
      );
  writeFileSync(gate, "");
  return Promise.all(started.map(async ({ run, title }) => ({ run, title, ...(await pending(one, run, 1)) })));
}

/** The checkpoint that a run waits for, when it is the how-manieth. */
function pending(from: HoldpointClient, run: string, count: number): Promise<{ request: string; revision: number }> {
  return until(async () => {
    const view = await from.call("run.get", { run });
    const last = view.checkpoints.at(-1);
    return view.checkpoints.length === count && last?.status === "pending"
      ? { request: last.requestId, revision: view.run.revision }
      : undefined;
  }, `checkpoint ${count} of ${run}`);
}

test.each([
  ["client", "another client"],
  ["client", "the command line"],
  ["client", "cancellation"],
] as const)("%s and %s: each of a hundred checkpoints is followed exactly once", async (...names) => {
  const service = await openService();
  const pair: readonly [Way, Way] = [WAYS[names[0]], WAYS[names[1]]];
  let followed = 0;
  const winners = new Set<string | null>();
  for (let batch = 0; followed < CHECKPOINTS; batch += 1) {
    const open = await ask(service, batch);
    const results = await answer(service, open, pair);
    const notes = results.map((words) => pair[words.indexOf("counted")]?.notes);
    for (const words of results) expect(words.filter((word) => word === "counted")).toHaveLength(1);
    const going = open.filter((_, index) => notes[index] !== null);
    await Promise.all(going.map(({ run }) => pending(service.one, run, 2)));
    expectFollowed(service, open, notes);
    // The same again by name of the first checkpoint: it is over, and the second one is not touched.
    for (const words of await answer(service, open, pair)) {
      const refused = words.filter((word) => word !== "counted");
      // A cancellation is known by its key.
      expect(refused.length).toBeGreaterThanOrEqual(pair.filter((way) => way.notes !== null).length);
      for (const word of refused) expect(["answerRefused", "revisionConflict"]).toContain(word);
    }
    await Promise.all(going.map(({ run }) => pending(service.one, run, 2)));
    expectFollowed(service, open, notes);
    followed += open.length;
    for (const note of notes) winners.add(note as string | null);
    await Promise.all(going.map(({ run }) => service.one.call("run.cancel", { run, reason: null })));
  }
  expect(followed).toBe(CHECKPOINTS);
  expect(winners).toEqual(new Set(pair.map(({ notes }) => notes)));
});

/** Both answers to each; who begins changes, and in half of them, or where a process is slower than a call, has come to its end first. */
function answer(service: Service, open: readonly Open[], pair: readonly [Way, Way]): Promise<Said[][]> {
  return Promise.all(
    open.map(async (one, index) => {
      const order = index % 2 === 0 ? [0, 1] : [1, 0];
      const words: Promise<Said>[] = [];
      for (const at of order) {
        const slow = pair[at] === WAYS["the command line"];
        words[at] = (pair[at] as Way).answer(service, one);
        if (at === order[0] && (slow || index % 4 < 2)) await words[at];
      }
      return Promise.all(words);
    }),
  );
}

function expectFollowed({ home }: Service, open: readonly Open[], notes: readonly (string | null | undefined)[]): void {
  const lines = linesOf(`${home.dir}/lines.txt`);
  for (const [index, { title }] of open.entries()) {
    const own = lines.filter((line) => line.startsWith(`${title}:`));
    expect(own).toEqual(notes[index] === null ? [] : [`${title}: ${notes[index]}`]);
  }
}
