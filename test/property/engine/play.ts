/**
 * Runs a plan by the real engine: real runner sessions, the real server core over a database file. Faults strike on the way,
 * and an honest operator does what a person has to do. Ends with the story the server tells.
 */
import { ControlledClock } from "../../../src/server/system/controlled-clock.ts";
import type { RunView } from "../../../src/contracts/protocol/operations.ts";
import type { FromRunner } from "../../../src/contracts/protocol/runner.ts";
import { makeWorld, type TestRunner, type World } from "../../server/runs/world.ts";
import { buildWorkflow, type Execution, type Ledger } from "./build.ts";
import { slept } from "./reference.ts";
import { deedOf, routeOf, type Fault, type Plan, type PlanNode, type Story } from "./plan.ts";

export interface Played {
  readonly story: Story;
  readonly ledger: Ledger;
  /** By effect: what the server has recorded of its attempts, oldest first. */
  readonly attempts: ReadonlyMap<string, readonly { readonly attempt: number; readonly state: string }[]>;
  /** Faults that struck. */
  readonly struck: readonly Fault["kind"][];
}

/** Somewhere after the epoch; nothing depends on it. */
const START = Date.UTC(2026, 0, 1);
/** More looks than this mean that the run goes nowhere. */
const LOOKS = 120;
const AUDIENCES = {
  ops: { destinations: ["telegram:main/-1001", "terminal"], policy: { quorum: 1 }, assurance: "any" },
};

export async function play(plan: Plan, faults: readonly Fault[]): Promise<Played> {
  const clock = new ControlledClock(START);
  const world = await makeWorld({ audiences: AUDIENCES } as never, clock);
  const ledger: Ledger = { executions: [] };
  const outside = globalThis as { plannedWorkflow?: unknown };
  try {
    outside.plannedWorkflow = buildWorkflow(plan, ledger);
    const weather = new Weather(world, faults);
    world.put("planned.workflow.ts", "export default (globalThis as any).plannedWorkflow;");
    const run = await world.start("planned", "given");
    const operator = new Operator(world, clock, plan, ledger, run);
    for (let looks = 0; ; looks += 1) {
      if (weather.serverLost) {
        weather.serverLost = false;
        await world.crash();
      }
      await world.when(
        () => weather.serverLost || operator.isNeeded() || undefined,
        () => `nothing comes of ${JSON.stringify(world.store.read.runs.get(run))}`,
      );
      const view = await world.view(run);
      if (view.run.finishedAt !== null && !weather.serverLost)
        return { story: storyOf(world, view), ledger, attempts: await attemptsOf(world, view), struck: weather.struck };
      if (looks > LOOKS) throw new Error(`the run goes nowhere: ${JSON.stringify(view.run)}`);
      if (!weather.serverLost) await operator.act(view);
    }
  } finally {
    delete outside.plannedWorkflow;
    await world.close();
  }
}

/** Lets each fault strike when its frame comes. */
class Weather {
  serverLost = false;
  readonly struck: Fault["kind"][] = [];
  #frames = 0;
  readonly #faults: Fault[];

  constructor(world: World, faults: readonly Fault[]) {
    this.#faults = [...faults];
    world.onRunner = (runner) => {
      runner.filter = (frame) => this.#pass(world, runner, frame);
    };
  }

  #pass(world: World, runner: TestRunner, frame: FromRunner): boolean {
    const number = this.#frames++;
    const index = this.#faults.findIndex(
      ({ frame: at, kind }) => at <= number && (kind !== "refused" || frame.type === "advance"),
    );
    if (index < 0) return true;
    const [fault] = this.#faults.splice(index, 1) as [Fault];
    this.struck.push(fault.kind);
    switch (fault.kind) {
      case "killBefore":
        runner.kill();
        return false;
      case "killAfter":
        queueMicrotask(() => runner.kill());
        return true;
      case "server":
        this.serverLost = true;
        for (const each of world.runners) each.cut();
        // Half of them are lost before the server has the frame.
        return number % 2 === 0;
      case "refused":
        if (frame.type === "advance")
          for (const entry of frame.entries.slice(-1)) (entry as { next: string }).next = "nowhere";
        return true;
    }
  }
}

/** Who answers, settles, and starts again what stands still. Honest: says of an action what its ledger says. */
class Operator {
  readonly #world: World;
  readonly #clock: ControlledClock;
  readonly #plan: Plan;
  readonly #ledger: Ledger;
  readonly #run: string;

  constructor(world: World, clock: ControlledClock, plan: Plan, ledger: Ledger, run: string) {
    this.#world = world;
    this.#clock = clock;
    this.#plan = plan;
    this.#ledger = ledger;
    this.#run = run;
  }

  isNeeded(): boolean {
    const { availableAt, ambiguousEffects, finishedAt, queueStatus } = this.#world.store.read.runs.get(this.#run);
    const stands = queueStatus === "parked" || (queueStatus === "queued" && availableAt > this.#clock.now());
    return finishedAt !== null || ambiguousEffects > 0 || stands;
  }

  async act(view: RunView): Promise<void> {
    const doubt = view.effects.find(({ purpose, status }) => purpose === "action" && status === "ambiguous");
    if (doubt !== undefined) return this.#settle(doubt.effectId);
    const checkpoint = view.checkpoints.find(({ status }) => status === "pending");
    if (checkpoint !== undefined) return this.#answer(checkpoint);
    const decision = view.decisions.find(({ status }) => status === "pending");
    if (decision !== undefined) return this.#decide(view, decision);
    if (view.nextStep !== null) return void (await this.#world.call("run.resume", { run: this.#run }));
    await this.#clock.advance(60_000);
  }

  async #settle(effect: string): Promise<void> {
    const done = this.#ledger.executions.filter(({ effectId }) => effectId === effect);
    const hangs = done.find(({ path }) => deedOf(this.#node(path), this.#visitOf(done)) === "hang");
    const known = done.find(({ acted }) => acted) ?? hangs;
    await this.#world.call("effect.settle", {
      effect,
      outcome: known === undefined ? "notApplied" : "applied",
      result: (known?.result ?? null) as never,
    });
  }

  /** The visit in the invocation, as the action saw it. */
  #visitOf(done: Ledger["executions"]): number {
    const [first] = done as [Execution];
    const { tag } = first.result as { tag: string };
    return Number(/\d+$/.exec(tag)?.[0]);
  }

  async #answer({ nodeId, requestId, visit }: RunView["checkpoints"][number]): Promise<void> {
    const answer = { tag: `${nodeId}${visit}`, r: routeOf(deedOf(this.#node(nodeId), visit)) };
    await this.#world.call("checkpoint.answer", { request: requestId, answer });
  }

  async #decide(view: RunView, { decisionId, nodeId }: RunView["decisions"][number]): Promise<void> {
    const visit = view.decisions.filter((other) => other.nodeId === nodeId).length;
    const { result } = await this.#world.store.decisions.answer({
      decision: decisionId,
      requestDigest: null,
      choice: deedOf(this.#node(nodeId), visit),
      input: null,
      source: {
        type: "control",
        channel: "terminal",
        actorId: "me",
        personId: null,
        eventId: `${nodeId}#${visit}`,
        assurance: "local",
      },
      access: this.#world.core.access(),
      receipt: null,
    });
    if (result.kind !== "accepted") throw new Error(`the decision was answered with ${JSON.stringify(result)}`);
    this.#world.core.scheduler.wake();
  }

  #node(path: string): PlanNode {
    const parts = path.split("/");
    const id = parts.pop() as string;
    let plan = this.#plan;
    for (const mount of parts) plan = plan.mounts[mount]?.flow as Plan;
    return plan.nodes[id] as PlanNode;
  }
}

function storyOf(world: World, view: RunView): Story {
  const { runNo } = world.store.read.runs.get(view.run.runId);
  const attempts = world.store.read.runs.attempts(runNo).filter(({ step }) => step !== null);
  const steps = attempts.map(({ nodeId, status }) => `${nodeId} ${status === "completed" ? "ok" : status}`);
  const effects = view.effects.flatMap(({ effectId, purpose, status }) => {
    if (purpose !== "action") return [];
    const [, , path, visit] = world.store.read.effects.get(effectId).key.split("\0");
    return [`${path}#${visit} ${status}`];
  });
  return {
    status: view.run.status,
    error: view.error?.kind ?? null,
    steps,
    outputs: Object.fromEntries(Object.entries(view.outputs).map(([id, output]) => [id, slept(output)])),
    finalOutput: slept(view.finalOutput),
    effects: effects.sort(),
  };
}

async function attemptsOf(world: World, view: RunView): Promise<Played["attempts"]> {
  const attempts = new Map<string, { attempt: number; state: string }[]>();
  for (const { effectId, purpose } of view.effects)
    if (purpose === "action")
      attempts.set(effectId, (await world.call("effect.show", { effect: effectId })).result.attemptList);
  return attempts;
}
