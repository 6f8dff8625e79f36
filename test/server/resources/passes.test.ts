/** Passes of resource managers in a whole server: what a file of a user does to its resource, and what becomes of it when it misbehaves. */
import { mkdirSync, writeFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LANES } from "../../../src/contracts/limits.ts";
import { makeManagedWorld, settled, type ManagedWorld } from "./fixture.ts";

let world: ManagedWorld;
beforeEach(async () => {
  world = await makeManagedWorld();
});
afterEach(() => world.close());

const COUNT = `initialStatus: (spec) => ({ passes: 0, of: spec.name }),
  reconcile: (ctx, { spec, status }) => ctx.settled({
    resourceManagerStatus: { ...status.resourceManagerStatus, passes: status.resourceManagerStatus.passes + 1 },
    conditions: [conditionTrue("Ready", "Counted", "Hello " + spec.name)] })`;

describe("a resource", () => {
  it("gets the status its manager gives it, pass after pass in one warm process, and another pass when asked", async () => {
    world.manager("counter", COUNT);
    await world.apply("counter", "a", { name: "Ann" });
    const first = await world.seen("counter", "a", settled);
    expect(first.resource).toMatchObject({
      metadata: { resourceManager: "counter", key: "a", generation: 1, finalizers: [] },
      spec: { name: "Ann" },
      status: {
        observedGeneration: 1,
        resourceManagerStatus: { passes: 1, of: "Ann" },
        conditions: [{ type: "Ready", status: true, reason: "Counted", message: "Hello Ann", observedGeneration: 1 }],
      },
    });
    expect(first.source).toBe(join(world.folder, ".pi/resource-managers/counter.resource-manager.ts"));
    for (let passes = 2; passes <= 4; passes += 1) {
      await world.reconcile("counter", "a");
      await world.seen("counter", "a", (it) => settled(it) && passesOf(it) === passes);
    }
    const runners = world.resourceRunners.filter(({ sent }) => sent.some(({ type }) => type === "reconcile"));
    expect(runners).toHaveLength(1);
    expect(runners[0]?.sent.filter(({ type }) => type === "reconcile")).toHaveLength(4);
  });

  it("goes on with the code that was approved, until it is applied again", async () => {
    world.manager("counter", COUNT);
    await world.apply("counter", "a", { name: "Ann" });
    await world.seen("counter", "a", settled);
    world.manager("counter", COUNT.replace("+ 1", "+ 100"));
    await world.reconcile("counter", "a");
    await world.seen("counter", "a", (it) => settled(it) && passesOf(it) === 2);
    await world.apply("counter", "a", { name: "Ann" });
    const after = await world.seen("counter", "a", (it) => settled(it) && passesOf(it) === 102);
    expect(after.resource.metadata.generation).toBe(1);
    expect(after.events.map(({ type }) => type)).toContain("resource.sourceApproved");
  });

  it("that settles on nothing but waiting comes again after its time, and at once when its spec changes", async () => {
    world.manager("waiter", `initialStatus: () => ({}), reconcile: (ctx) => ctx.requeueAfter(3_600_000)`);
    await world.apply("waiter", "a", { n: 1 });
    const waiting = await world.seen("waiter", "a", (it) => it.lastPass?.outcome === "requeueAfter");
    expect(waiting.queue?.availableAt).toBeGreaterThan(Date.now() + 3_500_000);
    expect(waiting.resource.status.observedGeneration).toBe(0);
    await world.apply("waiter", "a", { n: 2 });
    await world.seen(
      "waiter",
      "a",
      (it) => (it.lastPass?.at ?? 0) > (waiting.lastPass?.at ?? 0) && it.queue?.reconciling === false,
    );
  });

  it("keeps its place when a pass throws: the words are shown, and the next try comes later", async () => {
    world.manager("broken", `initialStatus: () => ({}), reconcile: () => { throw new Error("the moon is down"); }`);
    await world.apply("broken", "a");
    const failed = await world.seen("broken", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass).toMatchObject({
      outcome: "failed",
      error: { kind: "reconcileFailed", message: "the moon is down" },
    });
    expect(failed.queue?.availableAt).toBeGreaterThan(Date.now());
  });

  it.each([
    ["no result of ctx", `reconcile: () => ({ phase: "done" })`, /reconcile returns what/],
    ["a wrong delay", `reconcile: (ctx) => ctx.requeueAfter(-1)`, /wrong at "delayMs"/],
    [
      "a wrong condition",
      `reconcile: (ctx) => ctx.settled({ conditions: [{ type: "", status: true, reason: "x" }] })`,
      /conditions/,
    ],
    [
      "a status that is no JSON",
      `reconcile: (ctx) => ctx.settled({ resourceManagerStatus: { n: 1n } })`,
      /cannot be stored as JSON/,
    ],
  ])("has a failed pass with its cause for %s", async (_what, body, message) => {
    world.manager("wrong", `initialStatus: () => ({}), ${body}`);
    await world.apply("wrong", "a");
    const failed = await world.seen("wrong", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass?.error).toMatchObject({ kind: "managerInvalid", message: expect.stringMatching(message) });
  });
});

describe("a pass", () => {
  it("is shown in the server's status with its process while it goes on, and its runner when it waits for another", async () => {
    const go = join(world.folder, "go");
    world.manager(
      "slow",
      `initialStatus: () => ({}), async reconcile(ctx) {
        while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setImmediate(resolve));
        return ctx.settled({}); }`,
      `import { existsSync } from "node:fs";`,
    );
    const status = async () => (await world.call("server.status", {})).result.resources;
    expect(await status()).toEqual({ count: 0, queued: 0, passes: [], idleRunners: 0 });
    await world.apply("slow", "a");
    const busy = await world.when(
      async () => {
        const found = await status();
        return found.passes[0]?.pid == null ? undefined : found;
      },
      () => "no pass is shown",
    );
    expect(busy).toMatchObject({ count: 1, queued: 1, passes: [{ manager: "slow", key: "a" }], idleRunners: 0 });
    writeFileSync(go, "");
    await world.seen("slow", "a", settled);
    const idle = { count: 1, queued: 0, passes: [], idleRunners: 1 };
    await world.when(
      async () => ((await status()).passes.length === 0 ? true : undefined),
      () => "the pass is shown for ever",
    );
    expect(await status()).toEqual(idle);
  });

  it("that ignores its signal is ended by the server, and its key gets another one", async () => {
    world.manager("stubborn", `timeoutMs: 20, initialStatus: () => ({}), reconcile: () => new Promise(() => {})`);
    await world.apply("stubborn", "a");
    const failed = await world.seen("stubborn", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass?.error).toMatchObject({ kind: "reconcileTimedOut" });
    const [runner] = world.resourceRunners.filter(({ sent }) => sent.some(({ type }) => type === "abort"));
    expect(runner).toBeDefined();
  });

  it("whose time is over never meets the next one of its key: its process is gone before its end is written", async () => {
    world.manager("stubborn", `timeoutMs: 20, initialStatus: () => ({}), reconcile: () => new Promise(() => {})`);
    let letGo = (): void => undefined;
    let told = false;
    world.onResourceRunner = (runner) => {
      runner.ending = () => {
        // The resolver of `apply` ends as it likes.
        if (!runner.sent.some(({ type }) => type === "reconcile")) return Promise.resolve();
        told = true;
        return new Promise((resolve) => (letGo = resolve));
      };
    };
    await world.apply("stubborn", "a");
    await world.when(
      () => told || undefined,
      () => "nobody ended the process",
    );
    // Wanted again meanwhile, as by an event of a source.
    await world.reconcile("stubborn", "a");
    await world.store.idle();
    expect(await world.detail("stubborn", "a")).toMatchObject({ lastPass: null, queue: { reconciling: true } });
    world.onResourceRunner = () => undefined;
    letGo();
    await world.seen("stubborn", "a", (it) => it.lastPass?.outcome === "failed");
  });

  it("that minds its signal tells by itself that it had no time", async () => {
    world.manager(
      "obedient",
      `timeoutMs: 20, initialStatus: () => ({}), reconcile: (ctx) => new Promise((resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)))`,
    );
    await world.apply("obedient", "a");
    const failed = await world.seen("obedient", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass?.error).toMatchObject({
      kind: "reconcileTimedOut",
      message: "The pass did not return within 20 ms.",
    });
  });

  it("whose process dies is repeated, and an effect in its hands is looked for before it is done again", async () => {
    const file = join(world.folder, "done.txt");
    world.manager(
      "doer",
      `initialStatus: () => ({}), async reconcile(ctx, resource) {
        const effect = await ctx.effects.ensure({ key: "write:1", kind: "file", request: { to: "done.txt" },
          observe: () => ({ applied: existsSync(${JSON.stringify(file)}), externalRef: "seen" }),
          apply: async () => { appendFileSync(${JSON.stringify(file)}, "x"); if (resource.spec.hang) await new Promise(() => {}); return { externalRef: "written" }; } });
        return ctx.settled({ conditions: [conditionTrue("Ready", "Done", effect.externalRef)] }); }`,
      `import { appendFileSync, existsSync } from "node:fs";`,
    );
    await world.apply("doer", "a", { hang: true });
    await world.seen(
      "doer",
      "a",
      (it) => it.effects[0]?.state === "pending" && existsSync(file),
      "the effect under way",
    );
    world.resourceRunners.at(-1)?.kill();
    const failed = await world.seen("doer", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass?.error).toMatchObject({ kind: "resourceRunnerCrashed" });
    await world.reconcile("doer", "a");
    const done = await world.seen("doer", "a", settled);
    expect(done.effects).toMatchObject([{ key: "write:1", state: "applied", externalRef: "seen" }]);
    expect(readFileSync(file, "utf8")).toBe("x");
    expect(
      done.events
        .filter(({ type }) => type === "effect.state")
        .map(({ payload }) => (payload as { state: string }).state),
    ).toEqual(["applied", "indeterminate", "pending"]);
  });

  it("of a server that is lost goes on under the next one", async () => {
    world.manager(
      "slow",
      `initialStatus: () => ({ n: 0 }), async reconcile(ctx, { spec, status }) {
      if (status.resourceManagerStatus.n === 0 && !existsSync("go")) await new Promise(() => {});
      return ctx.settled({ resourceManagerStatus: { n: 1 } }); }`,
      `import { existsSync } from "node:fs";`,
    );
    await world.apply("slow", "a");
    await world.seen("slow", "a", (it) => it.queue?.reconciling === true);
    writeFileSync(join(world.folder, "go"), "");
    await world.crash();
    const done = await world.seen("slow", "a", settled);
    expect(done.resource.status.resourceManagerStatus).toEqual({ n: 1 });
  });
});

describe("an effect", () => {
  it("that the outside refuses is not tried again under its key, and one that cannot be told stays open", async () => {
    world.manager(
      "asker",
      `initialStatus: () => ({ tries: 0 }), async reconcile(ctx, { spec, status }) {
      const tries = status.resourceManagerStatus.tries + 1;
      try {
        await ctx.effects.ensure({ key: "k", kind: "ask", request: 1,
          observe: () => ({ applied: "unknown", reason: "the line is dead" }),
          apply: () => { throw spec.refuse ? effectRejected("409 conflict") : new Error("connection reset"); } });
      } catch (error) {
        if (!isEffectRejected(error)) throw error;
        return ctx.settled({ resourceManagerStatus: { tries }, conditions: [conditionFalse("Ready", "Refused", error.message)] });
      }
      return ctx.settled(); }`,
    );
    await world.apply("asker", "refused", { refuse: true });
    const refused = await world.seen("asker", "refused", settled);
    expect(refused.effects).toMatchObject([{ state: "rejected", error: "409 conflict" }]);
    await world.reconcile("asker", "refused");
    const again = await world.seen(
      "asker",
      "refused",
      (it) => settled(it) && (it.resource.status.resourceManagerStatus as { tries: number }).tries === 2,
    );
    expect(again.resource.status.conditions).toMatchObject([{ message: "409 conflict" }]);

    await world.apply("asker", "open");
    await world.seen("asker", "open", (it) => it.queue?.failures === 1);
    await world.reconcile("asker", "open");
    const open = await world.seen("asker", "open", (it) => it.lastPass?.error?.kind === "effectUnsettled");
    expect(open.lastPass?.error?.message).toContain("the line is dead");
    expect(open.effects).toMatchObject([{ state: "indeterminate" }]);
    await world.call("effect.settle", { effect: open.effects[0]?.effectId ?? "", outcome: "applied", result: null });
    const settledBy = await world.seen("asker", "open", settled);
    expect(settledBy.effects).toMatchObject([{ state: "applied" }]);
  });

  it("never shares its key with another request", async () => {
    world.manager(
      "twice",
      `initialStatus: () => ({}), async reconcile(ctx) {
      for (const request of [1, 2]) await ctx.effects.ensure({ key: "k", kind: "x", request, observe: () => ({ applied: false }), apply: () => {} });
      return ctx.settled(); }`,
    );
    await world.apply("twice", "a");
    const failed = await world.seen("twice", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass?.error).toMatchObject({ kind: "effectConflict" });
  });
});

const CHILD = `import * as h from "holdpoint";
  export default h.defineWorkflow({ name: "repair", startAt: "a", input: (given) => given,
    nodes: { a: h.checkpoint(), b: h.compute({ run: ({ input, outputs }) => ({ repaired: input.n, said: outputs.a }) }) }, edges: [{ from: "a", to: "b" }] });`;
const PARENT = `initialStatus: () => ({}), async reconcile(ctx, { spec }) {
    const run = await ctx.workflows.ensure({ requestKey: "repair:" + spec.key, workflow: "repair", input: { n: spec.n } });
    if (run.state !== "succeeded") return ctx.settled({ resourceManagerStatus: { waits: run.state } });
    return ctx.settled({ resourceManagerStatus: { output: run.output }, conditions: [conditionTrue("Ready", "Repaired")] }); }`;

describe("a child run", () => {
  it("is started once for its key, shown with its resource, and its end gives the resource a pass with its result", async () => {
    world.put(".pi/workflows/repair.workflow.ts", CHILD);
    world.manager("fixer", PARENT);
    await world.apply("fixer", "a", { key: "1", n: 7 });
    const waiting = await world.seen("fixer", "a", (it) => it.children[0]?.state === "waiting" && settled(it));
    await world.reconcile("fixer", "a");
    await world.seen("fixer", "a", (it) => settled(it) && it.lastPass?.at !== waiting.lastPass?.at);
    const { children, resource } = await world.detail("fixer", "a");
    expect(children).toHaveLength(1);
    expect(resource.status.workflowRun).toMatchObject({
      requestId: "repair:1",
      runId: children[0]?.runId,
      state: "waiting",
    });
    await world.call("checkpoint.answer", { request: children[0]?.runId ?? "", answer: "fine" });
    const done = await world.seen("fixer", "a", (it) => settled(it) && it.resource.status.conditions.length === 1);
    expect(done.resource.status).toMatchObject({
      resourceManagerStatus: { output: { repaired: 7, said: "fine" } },
      workflowRun: { state: "succeeded", attempt: 2 },
    });
    expect(done.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["workflow.requested", "workflow.completed"]),
    );
  });

  it("never shares its key with another input", async () => {
    world.put(".pi/workflows/repair.workflow.ts", CHILD);
    world.manager("fixer", PARENT);
    await world.apply("fixer", "a", { key: "1", n: 7 });
    await world.seen("fixer", "a", (it) => it.children[0]?.state === "waiting");
    await world.apply("fixer", "a", { key: "1", n: 8 });
    const failed = await world.seen("fixer", "a", (it) => it.queue?.failures === 1);
    expect(failed.lastPass?.error).toMatchObject({ kind: "idempotencyConflict" });
    expect(failed.children).toHaveLength(1);
  });

  it("takes a change of its settings and a follow-up from its own resource, each once", async () => {
    world.put(
      ".pi/workflows/tuned.workflow.ts",
      `import * as h from "holdpoint";
      export default h.defineWorkflow({ name: "tuned", startAt: "a", nodes: { a: h.checkpoint() },
        settings: h.workflowSettings({ initial: { pace: 1 }, parse: (value) => value, paths: [h.allowSettingsPath("/pace", { read: ["human"], replace: ["controller"] })] }) });`,
    );
    world.manager(
      "tuner",
      `initialStatus: () => ({}), async reconcile(ctx) {
      const run = await ctx.workflows.ensure({ requestKey: "t", workflow: "tuned" });
      if (run.state !== "waiting") return ctx.requeueAfter(60_000);
      const change = { requestKey: "t", changeKey: "faster", patch: [{ op: "replace", path: "/pace", value: 2 }] };
      const first = await ctx.workflows.changeSettings(change);
      const second = await ctx.workflows.changeSettings(change);
      const { followUpId } = await ctx.workflows.queueFollowUp({ requestKey: "t", followUpKey: "f", prompt: "Look again." });
      await ctx.workflows.removeFollowUp({ requestKey: "t", followUpId });
      // As a pass does that died after the removal.
      await ctx.workflows.removeFollowUp({ requestKey: "t", followUpId });
      return ctx.settled({ resourceManagerStatus: { numbers: [first.changeNumber, second.changeNumber] } }); }`,
    );
    await world.apply("tuner", "a");
    await world.seen("tuner", "a", (it) => it.children[0]?.state === "waiting");
    await world.reconcile("tuner", "a");
    const done = await world.seen("tuner", "a", settled);
    expect(done.resource.status.resourceManagerStatus).toEqual({ numbers: [1, 1] });
    const { result } = await world.call("run.settings", { run: done.children[0]?.runId ?? "" });
    expect(result.scopes).toMatchObject([{ value: { pace: 2 }, changeNumber: 1 }]);
  });
});

describe("a child run that nobody wants any more", () => {
  const SUPERSEDING = `initialStatus: () => ({}), async reconcile(ctx, { metadata, spec, status }) {
    const { of, old } = status.resourceManagerStatus;
    if (metadata.deletionTimestamp !== undefined) {
      await ctx.workflows.cancel({ requestKey: of });
      await ctx.finalizers.remove("run");
      return ctx.settled();
    }
    await ctx.finalizers.add("run");
    const requestKey = "fix:" + spec.n;
    const cancelled = of === undefined || of === requestKey ? null
      : await ctx.workflows.cancel({ requestKey: of, reason: "another one is wanted" });
    const never = await ctx.workflows.cancel({ requestKey: "never" });
    await ctx.workflows.ensure({ requestKey, workflow: "repair", input: { n: spec.n } });
    return ctx.settled({ resourceManagerStatus: { of: requestKey, never, old: cancelled === null ? old ?? null : cancelled.state } }); }`;

  it("is cancelled by its manager when another spec supersedes it, and when the resource is deleted", async () => {
    world.put(".pi/workflows/repair.workflow.ts", CHILD);
    world.manager("fixer", SUPERSEDING);
    await world.apply("fixer", "a", { n: 1 });
    await world.seen("fixer", "a", (it) => it.children[0]?.state === "waiting");
    await world.apply("fixer", "a", { n: 2 });
    const changed = await world.seen("fixer", "a", (it) => settled(it) && it.children[1]?.state === "waiting");
    expect(changed.children.map(({ requestKey, state }) => [requestKey, state])).toEqual([
      ["fix:1", "interrupted"],
      ["fix:2", "waiting"],
    ]);
    expect(changed.resource.status.resourceManagerStatus).toEqual({ of: "fix:2", never: null, old: "interrupted" });
    const [first, second] = changed.children.map(({ runId }) => runId);
    const { result: cancelled } = await world.call("run.get", { run: first ?? "" });
    expect(cancelled.run.status).toBe("cancelled");
    expect(cancelled.timeline.filter(({ type }) => type === "run.cancelled")).toMatchObject([
      { actor: expect.stringContaining("controller"), detail: { reason: "another one is wanted" } },
    ]);
    await world.call("resourceManager.delete", { projectPath: world.folder, manager: "fixer", key: "a" });
    const run = await world.when(
      async () => {
        const { result } = await world.call("run.get", { run: second ?? "" });
        return result.run.status === "cancelled" ? result : undefined;
      },
      () => "the run of the deleted resource goes on",
    );
    expect(run.checkpoints).toMatchObject([{ status: "cancelled" }]);
  });

  it("goes on to its end when its manager does not cancel it", async () => {
    world.put(".pi/workflows/repair.workflow.ts", CHILD);
    world.manager("fixer", PARENT);
    await world.apply("fixer", "a", { key: "1", n: 7 });
    const { children } = await world.seen("fixer", "a", (it) => it.children[0]?.state === "waiting");
    await world.call("resourceManager.delete", { projectPath: world.folder, manager: "fixer", key: "a" });
    const run = children[0]?.runId ?? "";
    await world.call("checkpoint.answer", { request: run, answer: "fine" });
    await world.when(
      async () => (await world.call("run.get", { run })).result.run.status === "completed" || undefined,
      () => "the run did not end",
    );
  });
});

describe("deletion", () => {
  it("lets a manager with a finalizer clean up first, and then the resource is gone", async () => {
    world.manager(
      "owner",
      `initialStatus: () => ({}), async reconcile(ctx, { metadata }) {
      if (metadata.deletionTimestamp === undefined) { await ctx.finalizers.add("worktree"); writeFileSync("worktree", ""); return ctx.settled(); }
      rmSync("worktree"); await ctx.finalizers.remove("worktree"); return ctx.settled(); }`,
      `import { rmSync, writeFileSync } from "node:fs";`,
    );
    await world.apply("owner", "a");
    const made = await world.seen("owner", "a", settled);
    expect(made.resource.metadata.finalizers).toEqual(["worktree"]);
    const { result } = await world.call("resourceManager.delete", {
      projectPath: world.folder,
      manager: "owner",
      key: "a",
    });
    expect(result.deleted).toBe(false);
    const gone = (): Promise<true | undefined> =>
      world.detail("owner", "a").then(
        () => undefined,
        () => true as const,
      );
    await world.when(gone, () => "the resource is still there");
    expect(existsSync(join(world.folder, "worktree"))).toBe(false);
  });
});

describe("applying", () => {
  it("refuses with a cause, and stores nothing, when the manager cannot be had or refuses the spec", async () => {
    const refusal = (manager: string): Promise<string> => world.refusal(world.apply(manager, "a"));
    expect(await refusal("nobody")).toBe("managerNotFound");
    world.put(".pi/resource-managers/empty.resource-manager.ts", "export default 1;");
    expect(await refusal("empty")).toBe("managerLoad");
    world.put(
      ".pi/resource-managers/alias.resource-manager.ts",
      `export { default } from "./counter.resource-manager.ts";`,
    );
    world.manager("counter", COUNT);
    expect(await refusal("alias")).toBe("managerLoad");
    world.manager(
      "strict",
      `initialStatus: () => { throw new Error("a url is needed"); }, reconcile: (ctx) => ctx.settled()`,
    );
    await expect(world.apply("strict", "a")).rejects.toMatchObject({
      kind: "resourceInvalid",
      message: expect.stringContaining("a url is needed"),
    });
    expect(world.store.read.managed.counts()).toEqual({ resources: 0, queued: 0 });
  });

  it("loads a manager anew for each of many resources, one after another in the same few processes", async () => {
    world.manager("counter", COUNT);
    const resolvers = (): unknown[] =>
      world.resourceRunners.filter(({ sent }) => sent.some(({ type }) => type === "resolve"));
    await Promise.all(Array.from({ length: 20 }, (_, index) => world.apply("counter", `many-${index}`)));
    expect(world.store.read.managed.counts().resources).toBe(20);
    expect(resolvers()).toHaveLength(LANES.control);
    // The file as it is now, by a process that has loaded it as it was.
    world.manager("counter", `initialStatus: () => ({ edited: true }), reconcile: (ctx) => ctx.settled()`);
    await world.apply("counter", "edited");
    expect(resolvers()).toHaveLength(LANES.control);
    const { resource } = await world.seen("counter", "edited", settled);
    expect(resource.status.resourceManagerStatus).toEqual({ edited: true });
    // Another manager's code gets a process of its own.
    world.manager("other", COUNT);
    await world.apply("other", "a");
    expect(resolvers()).toHaveLength(LANES.control + 1);
  });

  it("believes a resolver only while the file is what was loaded, where the rules look for it", async () => {
    const path = world.manager("counter", COUNT);
    world.onResourceRunner = (runner) => {
      runner.filter = (frame) => {
        // Somebody saves the file between its loading and the answer.
        if (frame.type === "resolved") writeFileSync(path, readFileSync(path, "utf8").replace("Counted", "Other"));
        return true;
      };
    };
    expect(await world.refusal(world.apply("counter", "a", { name: "x" }))).toBe("managerSourceChanged");
    const other = world.put("elsewhere.resource-manager.ts", readFileSync(path, "utf8"));
    world.onResourceRunner = (runner) => {
      runner.filter = (frame) => {
        if (frame.type === "resolved")
          Object.assign(frame, { path: other, sources: [{ ...frame.sources[0], path: other }] });
        return true;
      };
    };
    expect(await world.refusal(world.apply("counter", "a", { name: "x" }))).toBe("managerSourceChanged");
    world.onResourceRunner = () => undefined;
    await world.apply("counter", "a", { name: "x" });
  });

  it("takes a file by its path, and the project's before the user's", async () => {
    world.put(
      "lib.resource-manager.ts",
      `import { defineResourceManager } from "holdpoint/resource-managers";
      import { word } from "./word.ts";
      export default defineResourceManager({ name: "lib", initialStatus: () => ({ word }), reconcile: (ctx) => ctx.settled() });`,
    );
    world.put("word.ts", `export const word = "from another file";`);
    mkdirSync(join(world.folder, "sub"));
    const projectPath = world.folder;
    await world.call("resourceManager.apply", {
      projectPath,
      manager: "lib",
      key: "a",
      spec: {},
      path: "./lib.resource-manager.ts",
      expectedVersion: null,
    });
    const { resource } = await world.seen("lib", "a", settled);
    expect(resource.status.resourceManagerStatus).toEqual({ word: "from another file" });
  });

  it("keeps the names of the product's own managers for them", async () => {
    let woken = 0;
    world.core.resources.register({
      name: "monitor",
      source: "builtin:monitor@1",
      prepare: (spec) => ({ spec: { ...(spec as object), filled: true }, initialStatus: { phase: "new" } }),
      wake: () => (woken += 1),
    });
    await world.apply("monitor", "home", { url: "x" });
    expect(woken).toBeGreaterThan(0);
    expect(await world.detail("monitor", "home")).toMatchObject({
      source: "builtin:monitor@1",
      resource: { spec: { url: "x", filled: true } },
    });
    const projectPath = world.folder;
    const byPath = {
      projectPath,
      manager: "monitor",
      key: "b",
      spec: {},
      path: "./x.resource-manager.ts",
      expectedVersion: null,
    };
    expect(await world.refusal(world.call("resourceManager.apply", byPath))).toBe("managerReserved");
  });
});

function passesOf({ resource }: { resource: { status: { resourceManagerStatus: unknown } } }): number {
  return (resource.status.resourceManagerStatus as { passes: number }).passes;
}
