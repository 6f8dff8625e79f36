/**
 * The queue of managed resources against a model: random requests, claims, ends, expiries, crashes of the server, deletions and lost
 * queue rows. What must hold after every step: one row for each resource, at most one live claim, who lost it writes nothing, and nobody
 * who asked is forgotten.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RESOURCE } from "../../src/contracts/limits.ts";
import { openStore, type ClaimedResource, type FinishInput, type Store } from "../../src/state/store.ts";

const KEYS = ["a", "b", "c"] as const;
type Key = (typeof KEYS)[number];
const actor = { type: "human", id: "uid:1" } as const;
const LANE = "test";

type Step =
  | { readonly do: "apply" | "enqueue" | "urgent" | "delete" | "later"; readonly key: Key; readonly n: number }
  | { readonly do: "claim" | "crash" | "rebuild" }
  /** A pass ends; `pass` chooses one that was ever claimed, those whose claim is lost included. */
  | { readonly do: "finish"; readonly pass: number; readonly end: "settled" | "requeue" | "requeueAfter" | "failed" }
  | { readonly do: "renew"; readonly pass: number }
  | { readonly do: "advance"; readonly ms: number };

const key = fc.constantFrom(...KEYS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("apply" as const), key, n: fc.nat(2) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("enqueue" as const, "urgent" as const, "later" as const),
      key,
      n: fc.nat(2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("delete" as const), key, n: fc.nat(2) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("claim" as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("finish" as const),
      pass: fc.nat(20),
      end: fc.constantFrom("settled" as const, "requeue" as const, "requeueAfter" as const, "failed" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("renew" as const), pass: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("crash" as const, "rebuild" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("advance" as const),
      ms: fc.constantFrom(1, 1_300, 61_000, RESOURCE.leaseMs),
    }),
  },
);

/** One resource as the model knows it. */
interface Modelled {
  /** When a pass is due; null = it does not wait for one. */
  due: number | null;
  failures: number;
  generation: number;
  spec: number;
  deleting: boolean;
  /** Asked for again during the present claim. */
  again: boolean;
  /** The claim that stands, and until when nobody else may take it. */
  claim: number | null;
  until: number;
}

interface Pass {
  readonly key: Key;
  readonly claimed: ClaimedResource;
  readonly resource: Modelled;
}

class Model {
  at = Date.UTC(2026, 10, 30);
  epoch = 0;
  readonly live = new Map<Key, Modelled>();
  readonly passes: Pass[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), "holdpoint-queue-"));
  readonly path = join(this.folder, "state.sqlite");
  store: Store = this.#open();

  #open(): Store {
    return openStore({ path: this.path, clock: { now: () => this.at } });
  }

  async begin(): Promise<void> {
    const { epoch } = await this.store.server.claimEpoch({ serverId: "s", pid: 1, startIdentity: "i" });
    this.epoch = epoch;
    await this.store.server.recover({ epoch });
  }

  async crash(): Promise<void> {
    this.store.close();
    this.store = this.#open();
    await this.begin();
    // What was claimed is free at once, and due as before.
    for (const resource of this.live.values()) {
      if (resource.claim === null) continue;
      resource.claim = null;
      resource.due = Math.min(resource.due ?? this.at, this.at);
    }
  }

  close(): void {
    this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  ask(resource: Modelled, at: number, urgent: boolean): void {
    if (resource.due === null) Object.assign(resource, { due: at, failures: 0 });
    else if (urgent || resource.failures === 0) resource.due = Math.min(resource.due, at);
    if (urgent) resource.failures = 0;
    if (resource.claim !== null) resource.again = true;
  }
}

const ref = (name: Key): { projectPath: string; manager: string; key: Key } => ({
  projectPath: "/p",
  manager: "things",
  key: name,
});
const error = { code: "HP458", kind: "reconcileFailed", message: "no", remedy: "" };

async function perform(model: Model, now: Step): Promise<void> {
  switch (now.do) {
    case "advance":
      model.at += now.ms;
      return;
    case "crash":
      return model.crash();
    case "apply":
      return apply(model, now.key, now.n);
    case "enqueue":
    case "urgent":
    case "later":
      return enqueue(model, now.key, now.do);
    case "delete":
      return remove(model, now.key);
    case "claim":
      return claim(model);
    case "finish":
      return finish(model, now.pass, now.end);
    case "renew": {
      const pass = model.passes[now.pass];
      if (pass === undefined) return;
      const stands = standing(model, now.pass);
      expect(await model.store.managed.renew({ claims: [pass.claimed.claim] })).toEqual(
        stands ? [pass.claimed.claim.managedNo] : [],
      );
      if (stands) pass.resource.until = model.at + RESOURCE.leaseMs;
      return;
    }
    case "rebuild": {
      const missing = [...model.live.values()].filter(({ due }) => due === null);
      expect(await model.store.managed.rebuild({ after: null })).toMatchObject({ queued: missing.length });
      for (const resource of missing) Object.assign(resource, { due: model.at, failures: 0 });
    }
  }
}

async function apply(model: Model, name: Key, n: number): Promise<void> {
  const known = model.live.get(name);
  const applied = model.store.managed.apply({
    ...ref(name),
    spec: { n },
    initialStatus: {},
    lane: LANE,
    source: "builtin:things@1",
    sources: [],
    expectedVersion: null,
    receipt: null,
    actor,
  });
  // The same spec again only approves the files of its manager, so that a mended one can clean up.
  if (known?.deleting === true && known.spec !== n)
    return expect(applied).rejects.toMatchObject({ kind: "resourceDeleting" });
  const { generation } = (await applied).result;
  if (known === undefined) {
    const made = {
      due: model.at,
      failures: 0,
      generation: 1,
      spec: n,
      deleting: false,
      again: false,
      claim: null,
      until: 0,
    };
    model.live.set(name, made);
  } else {
    if (known.spec !== n) known.generation += 1;
    known.spec = n;
    model.ask(known, model.at, true);
  }
  expect(generation).toBe(model.live.get(name)?.generation);
}

async function enqueue(model: Model, name: Key, how: "enqueue" | "urgent" | "later"): Promise<void> {
  const known = model.live.get(name);
  const at = how === "later" ? model.at + 30_000 : model.at;
  const asked = model.store.managed.enqueue({ ...ref(name), reason: how, at, urgent: how === "urgent" });
  if (known === undefined) return expect(asked).rejects.toMatchObject({ kind: "resourceNotFound" });
  model.ask(known, at, how === "urgent");
  expect((await asked).availableAt).toBe(known.due);
}

async function remove(model: Model, name: Key): Promise<void> {
  const known = model.live.get(name);
  const asked = model.store.managed.remove({ ...ref(name), receipt: null, actor });
  if (known === undefined) return expect(asked).rejects.toMatchObject({ kind: "resourceNotFound" });
  known.deleting = true;
  const { deleted } = (await asked).result;
  expect(deleted).toBe(known.claim === null);
  if (deleted) model.live.delete(name);
  else model.ask(known, model.at, true);
}

async function claim(model: Model): Promise<void> {
  const number = model.passes.length;
  const free = [...model.live].filter(
    ([, { claim: taken, due, until }]) => due !== null && (taken === null ? due <= model.at : until <= model.at),
  );
  const claimed = await model.store.managed.claim({
    lane: LANE,
    reconcileId: `pass-${number}`,
    serverEpoch: model.epoch,
    held: [],
  });
  if (claimed === null) return expect(free).toEqual([]);
  const name = claimed.resource.metadata.key as Key;
  expect(free.map(([one]) => one)).toContain(name);
  const resource = model.live.get(name) as Modelled;
  expect(claimed.resource.metadata.generation).toBe(resource.generation);
  Object.assign(resource, { claim: number, until: model.at + RESOURCE.leaseMs, again: false });
  model.passes.push({ key: name, claimed, resource });
}

/** Whether the claim of a pass is the present one of a resource that is still there. */
function standing(model: Model, number: number): boolean {
  const { key: name, resource } = model.passes[number] as Pass;
  return resource.claim === number && model.live.get(name) === resource;
}

async function finish(
  model: Model,
  number: number,
  how: "settled" | "requeue" | "requeueAfter" | "failed",
): Promise<void> {
  const pass = model.passes[number];
  if (pass === undefined) return;
  const { claimed, resource } = pass;
  const end: FinishInput["end"] =
    how === "failed"
      ? { outcome: how, error }
      : how === "requeueAfter"
        ? { outcome: how, delayMs: 5_000 }
        : { outcome: how };
  const { claim: proof, resource: seen } = claimed;
  const done = model.store.managed.finish({ claim: proof, generation: seen.metadata.generation, durationMs: 1, end });
  if (!standing(model, number)) return expect(done).rejects.toMatchObject({ kind: "claimLost" });
  const { deleted, failures, nextAt } = await done;
  const { again } = resource;
  Object.assign(resource, { claim: null, again: false });
  expect(deleted).toBe(resource.deleting);
  if (deleted) return void model.live.delete(pass.key);
  resource.failures = how === "failed" ? resource.failures + 1 : 0;
  expect(failures).toBe(resource.failures);
  if (how === "failed") {
    const base = Math.min(RESOURCE.backoffMaxMs, RESOURCE.backoffMinMs * 2 ** (failures - 1));
    expect(Math.abs((nextAt as number) - model.at - base)).toBeLessThanOrEqual(base * RESOURCE.backoffJitter + 1);
  } else if (again || how === "requeue") expect(nextAt).toBe(model.at);
  else expect(nextAt).toBe(how === "settled" ? null : model.at + 5_000);
  resource.due = nextAt;
}

/** What is stored must be what the model knows. */
function compare(model: Model): void {
  const { resources } = model.store.read.managed.list({ projectPath: "/p", manager: null, after: null, limit: 99 });
  const stored = resources.map(({ deletionAt, failures, generation, key: name, nextAt, reconciling }) => [
    name,
    { due: nextAt, failures, generation, deleting: deletionAt !== null, claimed: reconciling },
  ]);
  const known = [...model.live]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { claim: taken, deleting, due, failures, generation }]) => [
      name,
      { due, failures, generation, deleting, claimed: taken !== null },
    ]);
  expect(stored).toEqual(known);
  expect(model.store.read.managed.counts()).toEqual({
    resources: known.length,
    queued: [...model.live.values()].filter(({ due }) => due !== null).length,
  });
}

describe("the queue of managed resources", () => {
  it("does what its model does, whatever comes in which order", async () => {
    let passes = 0;
    let lost = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), async (steps) => {
        const model = new Model();
        try {
          await model.begin();
          for (const now of steps) {
            // oxlint-disable-next-line no-await-in-loop -- one after another
            await perform(model, now);
            compare(model);
          }
          passes += model.passes.length;
          lost += model.passes.filter((pass, number) => pass.resource.claim !== number).length;
          expect((await model.store.verify()).problems).toEqual([]);
        } finally {
          model.close();
        }
      }),
      {
        numRuns: Number(process.env["HOLDPOINT_MODEL_RUNS"] ?? 60),
        interruptAfterTimeLimit: 90_000,
        endOnFailure: true,
      },
    );
    // Histories in which nothing was ever claimed, or nothing ever ended, would prove nothing.
    expect(passes).toBeGreaterThan(150);
    expect(lost).toBeGreaterThan(50);
  });
});
