/**
 * The stage of one point, or of a chain of points: a home, a stand-in of its own, and a server that dies at each point and is started again.
 * Whoever waits here keeps the automatic person and the operator going, over the server's death.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { startSim, type Sim, type SimState } from "../../adapters/telegram/sim/index.ts";
import { connect, type HoldpointClient, type OperationPayload, type RunView } from "../../src/client/index.ts";
import { isHoldpointError } from "../../src/contracts/errors.ts";
import type { EffectSummary, OperationName, OperationResult } from "../../src/contracts/protocol/operations.ts";
import {
  HANG_MS,
  makeHome,
  Scope,
  startServer,
  testClock,
  type HomeOptions,
  type ServerProcess,
  type TestClock,
  type TestHome,
} from "../harness/index.ts";
import { Operator } from "./operator.ts";
import { Person } from "./person.ts";
import { envOf, isOfChild, type Point } from "./points.ts";

/** Pause between two looks at the world; nothing depends on it. */
const LOOK_MS = 25;

/** What can be seen from outside at one moment. */
export interface World {
  /** Views of the runs that this stage started, in that order. */
  readonly runs: readonly RunView[];
  /** All effects of these runs and their decisions. */
  readonly effects: readonly EffectSummary[];
  readonly ledger: SimState;
}

export interface StageOptions {
  /** Time stands still until the scenario moves it. */
  readonly clock?: boolean;
  /** Chat in which the card appears, beside or instead of Ann's. */
  readonly group?: boolean;
  readonly destinations?: readonly string[];
  /** The policy of the audience, which then is of Ann and Bea; `on-call` is Bea's own chat. */
  readonly policy?: Readonly<Record<string, unknown>>;
  /** There is a Pi for agent nodes: a program of the tests. */
  readonly pi?: boolean;
}

const PI = fileURLToPath(new URL("../fixtures/pi/pi.sh", import.meta.url));

const GROUP = -1_001_001;

export class Stage {
  readonly point: Point;
  readonly scope: Scope;
  readonly sim: Sim;
  readonly home: TestHome;
  readonly clock: TestClock | null;
  readonly person: Person;
  readonly operator: Operator;
  /** What happened that may never happen, as sentences. */
  readonly problems: string[] = [];
  readonly runIds: string[] = [];
  #client: HoldpointClient | null = null;
  #server: Promise<ServerProcess> = Promise.reject(new Error("no server was started"));
  #stopping = false;
  #calls = 0;
  /** Deaths of this server, and of processes beside it, that a point accounts for. */
  #deaths = 0;
  readonly #told: string;

  private constructor(point: Point, scope: Scope, sim: Sim, options: StageOptions) {
    this.point = point;
    this.scope = scope;
    this.sim = sim;
    this.#server.catch(() => undefined);
    this.home = makeHome(scope, homeOptions(sim, options));
    this.#told = join(this.home.dir, "faults-reached");
    this.clock = options.clock === true ? testClock(this.home) : null;
    this.person = new Person(sim);
    this.operator = new Operator(this);
  }

  static async open(point: Point, cacheDir: string, options: StageOptions): Promise<Stage> {
    const scope = new Scope();
    const sim = await startSim({
      token: tokenOf(),
      users: [
        { id: 1_001, firstName: "Ann" },
        { id: 1_002, firstName: "Bea" },
        { id: 6_666, firstName: "Mallory" },
      ],
      chats: [
        { id: 1_001, type: "private" },
        { id: 1_002, type: "private" },
        { id: GROUP, type: "supergroup", title: "Operators" },
      ],
      // The real rules of polling would only make every restart slow.
      pollRules: { conflictDelayMs: 50, sameOffsetHoldMs: 10, sameOffsetLimitMs: 10 },
    });
    scope.add(() => sim.close());
    const stage = new Stage(point, scope, sim, options);
    // What one point has transpiled, the next need not.
    symlinkSync(cacheDir, join(stage.home.dir, "cache"));
    return stage;
  }

  async close(): Promise<void> {
    this.#stopping = true;
    this.#client?.close();
    await this.scope.close();
  }

  /** A folder of a run's own files. */
  folder(name: string): string {
    const path = join(this.home.dir, "work", name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Faults that were reached, in order. */
  get reached(): readonly string[] {
    return existsSync(this.#told) ? readFileSync(this.#told, "utf8").trim().split("\n") : [];
  }

  /** Whether any fault was reached. */
  get hit(): boolean {
    return this.reached.length > 0;
  }

  /** Faults that were not reached yet. */
  get ahead(): readonly string[] {
    const { reached } = this;
    return this.point.faults.filter((fault) => !reached.includes(fault));
  }

  /** The environment of a process that the faults ahead strike; without them it is struck by none. */
  env({ fault = true } = {}): Readonly<Record<string, string>> {
    return fault ? envOf(this.ahead, this.#told) : {};
  }

  /** Whether a process that was killed died of a fault that has not accounted for a death yet. */
  diedOfFault(): boolean {
    const deaths = this.reached.filter((fault) => !isOfChild(fault)).length;
    if (deaths === this.#deaths) return false;
    this.#deaths = deaths;
    return true;
  }

  /** Starts the server, with the faults ahead unless `fault` is false. */
  async start({ fault = true } = {}): Promise<void> {
    this.#stopping = false;
    this.#server = this.#boot(fault);
    await this.#server;
  }

  /** Kills the server like a crash; the scenario starts it again. */
  async kill(): Promise<void> {
    this.#stopping = true;
    await (await this.#server).kill();
  }

  /** Stops the server in order. When it died of the fault instead, it is up again, and false is the result. */
  async stop(): Promise<boolean> {
    const server = await this.#server;
    this.#stopping = true;
    const exit = await server.stop();
    if (exit.code === 0) return true;
    if (exit.signal !== "SIGKILL" || !this.diedOfFault())
      this.problems.push(`the server ended with ${exit.signal ?? `code ${exit.code}`} when it was told to stop`);
    await this.start();
    return false;
  }

  /** The server that is up, or is coming up. */
  server(): Promise<ServerProcess> {
    return this.#server;
  }

  /** One operation, repeated with the same key over the death of the server, as a client that heard no answer does. */
  async call<K extends OperationName>(operation: K, payload: OperationPayload<K>): Promise<OperationResult<K>> {
    const idempotencyKey = `call-${++this.#calls}`;
    const until = Date.now() + HANG_MS;
    for (;;) {
      await this.#server;
      try {
        this.#client ??= await connect({ home: this.home.dir, clientId: "crash" });
        return await this.#client.call(operation, payload, { idempotencyKey });
      } catch (error) {
        if (!isHoldpointError(error) || error.kind !== "serverUnavailable" || Date.now() > until) throw error;
        await sleep(LOOK_MS);
      }
    }
  }

  /** Starts a run of a workflow file with its title as its folder's name. */
  async run(workflowPath: string, title: string, input: Record<string, unknown> = {}): Promise<string> {
    const folder = this.folder(title);
    const workflow = workflowPath.slice(workflowPath.lastIndexOf("/") + 1).replace(".workflow.ts", "");
    const { runId } = await this.call("run.start", {
      workflow,
      workflowPath,
      projectPath: folder,
      input: { title, folder, ...input },
    });
    this.runIds.push(runId);
    return runId;
  }

  /**
   * Looks at the world until the test gives something, and lets the person and the operator act meanwhile.
   * @throws Error with what was seen last, after the hang limit
   */
  async until<T>(what: string, test: (world: World) => T | undefined | null | false): Promise<T> {
    let deadline = Date.now() + HANG_MS;
    for (let before = this.reached.length; ;) {
      const world = await this.#look();
      // What the person does now is not in this look yet.
      const pressed = this.person.act(world);
      const found = pressed ? undefined : test(world);
      if (found !== undefined && found !== null && found !== false) return found;
      const reached = this.reached.length;
      // Whatever was struck has its own time to come back.
      if (reached > before) deadline = Date.now() + HANG_MS;
      before = reached;
      if (Date.now() > deadline) throw new Error(`stuck: ${what} did not come. ${describe(world)}`);
      const acted = pressed || (await this.operator.act(world));
      if (!acted) await this.#passTime(world);
    }
  }

  /** Waits for something that happens without the server, the person and the operator. */
  async moment(what: string, test: () => boolean): Promise<void> {
    for (const deadline = Date.now() + HANG_MS; !test(); await sleep(LOOK_MS)) {
      if (Date.now() > deadline) throw new Error(`stuck: ${what} did not come`);
    }
  }

  /** Waits until every run has ended, nothing is under way and nothing can be pressed any more. */
  async calm(): Promise<void> {
    await this.until("the end of everything", (world) => isCalm(world));
    for (const deadline = Date.now() + HANG_MS; ; await sleep(LOOK_MS)) {
      const { effects } = await this.call("effect.list", { all: false });
      if (effects.length === 0) return;
      // What a chat shows is stored a moment later.
      if (Date.now() > deadline) throw new Error(`stuck: effects of no run are open: ${JSON.stringify(effects)}`);
    }
  }

  async #look(): Promise<World> {
    const runs: RunView[] = [];
    for (const run of this.runIds) runs.push(await this.call("run.get", { run }));
    return { runs, effects: runs.flatMap(({ effects }) => effects), ledger: this.sim.ledger.state() };
  }

  /** Waits a little; where time stands still, it moves on to the next attempt that waits for it. */
  async #passTime({ effects }: World): Promise<void> {
    await sleep(LOOK_MS);
    if (this.clock === null) return;
    const next = effects.map(({ nextAttemptAt }) => nextAttemptAt ?? 0).filter((at) => at > (this.clock?.now() ?? 0));
    if (next.length > 0) await this.advance(Math.min(...next) - this.clock.now());
  }

  /** Moves the clock on; the server may die of it. */
  async advance(ms: number, how: "advance" | "jump" = "advance"): Promise<void> {
    await this.#server;
    await this.clock?.[how](ms).catch(() => undefined);
  }

  async #boot(fault: boolean): Promise<ServerProcess> {
    for (;;) {
      try {
        const env = { ...this.clock?.env(), ...this.env({ fault }) };
        const server = await startServer(this.scope, this.home, { env });
        void this.#watch(server, fault);
        return server;
      } catch (error) {
        if (!/\(SIGKILL\)/.test(String(error)) || !this.diedOfFault()) throw error;
      }
    }
  }

  /** Starts the next server when this one ends by itself. */
  async #watch(server: ServerProcess, fault: boolean): Promise<void> {
    const { code, signal } = await server.exited;
    if (this.#stopping) return;
    if (signal !== "SIGKILL" || !this.diedOfFault())
      this.problems.push(`the server ended by itself with ${signal ?? `code ${code}`}: ${server.stderr()}`);
    this.#server = this.#boot(fault);
    this.#server.catch((error: unknown) => this.problems.push(`the server did not start again: ${String(error)}`));
  }
}

function isCalm({ effects, ledger, runs }: World): boolean {
  const open = new Set(["pending", "applying", "ambiguous"]);
  return (
    runs.every(({ run }) => run.finishedAt !== null) &&
    effects.every(({ status }) => !open.has(status)) &&
    ledger.pendingUpdates.length === 0
  );
}

function describe({ effects, ledger, runs }: World): string {
  return JSON.stringify({
    runs: runs.map(({ decisions, error, nextStep, run, timeline }) => ({
      status: run.status,
      reason: run.reason,
      node: run.currentNode,
      nextStep,
      error: error?.message,
      decisions: decisions.map(({ status, notes }) => [status, notes]),
      events: timeline.slice(-8).map(({ type }) => type),
    })),
    effects: effects
      .filter(({ settledAt }) => settledAt === null)
      .map(({ purpose, shortId, status }) => [shortId, purpose, status]),
    pendingUpdates: ledger.pendingUpdates.length,
  });
}

function homeOptions(sim: Sim, { destinations, group, pi, policy }: StageOptions): HomeOptions {
  const where = destinations ?? [group === true ? `telegram:default/${GROUP}` : "telegram:default/1001"];
  return {
    profiles: {
      default: {
        url: sim.url,
        token: sim.token,
        allowedUserIds: [1_001, 1_002],
        allowedChatIds: [1_001, 1_002, GROUP],
      },
    },
    audiences:
      policy === undefined
        ? { operators: where }
        : {
            operators: { destinations: where, people: ["ann", "bea"], policy },
            "on-call": { destinations: ["telegram:default/1002"], people: ["bea"] },
          },
    ...(pi === true ? { config: { pi: { command: ["/bin/sh", PI] } } } : {}),
  };
}

/** A token of its own for each stage: two of them are searched for leaks at the same time. */
function tokenOf(): string {
  const letters = Array.from(
    { length: 35 },
    () => "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[Math.floor(Math.random() * 49)],
  );
  return `${100_000_000 + Math.floor(Math.random() * 899_999_999)}:${letters.join("")}`;
}
