/**
 * A whole server in this process: the real core over a real store, with runners that are the real runner sessions on ports in
 * memory. Tests start workflow files, call the operations of client.v1, and end runners as crashes do.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { z } from "zod";
import { configSchema, type Config } from "../../../src/contracts/config.ts";
import { HoldpointError, type ErrorKind } from "../../../src/contracts/errors.ts";
import {
  OPERATIONS,
  type OperationName,
  type OperationPayload,
  type OperationResult,
  type RunView,
} from "../../../src/contracts/protocol/operations.ts";
import {
  fromRunnerSchema,
  toRunnerSchema,
  type FromRunner,
  type ToRunner,
} from "../../../src/contracts/protocol/runner.ts";
import {
  fromResourceRunnerSchema,
  toResourceRunnerSchema,
  type FromResourceRunner,
  type ToResourceRunner,
} from "../../../src/contracts/protocol/resource-runner.ts";
import { encodeFrame, type FramePort } from "../../../src/contracts/wire/frames.ts";
import { resourceSession } from "../../../src/runner/resources/session.ts";
import { runSession } from "../../../src/runner/session.ts";
import { ServerCore } from "../../../src/server/core.ts";
import { makeHandlers } from "../../../src/server/gateway/handlers.ts";
import type { Caller, HandlerResult } from "../../../src/server/gateway/connection.ts";
import type { Child, ChildExit, ChildSpec, Clock, Log } from "../../../src/server/ports.ts";
import type { FromAdapter, ToAdapter } from "../../../src/contracts/protocol/channel.ts";
import { piAdapter, type PiAdapter } from "../pi/adapter.ts";
import { openStore, type Store } from "../../../src/state/store.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A runner that the test can watch and end. */
export interface TestRunner<In = FromRunner, Out = ToRunner> {
  /** Frames in both directions, oldest first. */
  readonly sent: Out[];
  readonly received: In[];
  /** As SIGKILL: nothing more comes from it; `pipe` is what a write to it then meets. */
  kill(pipe?: Error): void;
  /** Ends by itself with code 1. */
  leave(): void;
  /** Puts a frame on the pipe as the runner would. */
  inject(frame: unknown): void;
  /** Nothing passes in either direction any more, and nobody is told: what a server that died sees of its runners. */
  cut(): void;
  /** Resolves when the process may end that the server tells to end; at once, if the test says nothing. */
  ending: () => Promise<void>;
  /** Called before a frame of the runner reaches the server; returning false drops it. */
  filter: (frame: In) => boolean;
}

export interface World {
  readonly folder: string;
  readonly store: Store;
  core: ServerCore;
  readonly runners: TestRunner[];
  /** Adapters of Pi that were started, over real sockets. */
  readonly adapters: PiAdapter[];
  /** Called with each new runner before it gets its launch. */
  onRunner: (runner: TestRunner) => void;
  /** The same for the runners of resource managers, resolvers included. */
  readonly resourceRunners: TestRunner<FromResourceRunner, ToResourceRunner>[];
  onResourceRunner: (runner: TestRunner<FromResourceRunner, ToResourceRunner>) => void;
  put(name: string, text: string): string;
  start(name: string, input?: unknown): Promise<string>;
  call<K extends OperationName>(
    operation: K,
    payload: OperationPayload<K>,
    options?: { key?: string; clientId?: string; expectedRevision?: number },
  ): Promise<HandlerResult & { result: OperationResult<K> }>;
  view(run: string): Promise<RunView>;
  /** The first view that satisfies the predicate; looked at after every frame of a runner and every change. */
  until(run: string, predicate: (view: RunView) => boolean, what?: string): Promise<RunView>;
  /** The first value that is not undefined, looked for as often; for what is cheaper to look at than a view. */
  when<T>(look: () => T | undefined | Promise<T | undefined>, what: () => string): Promise<T>;
  refusal(work: Promise<unknown>): Promise<ErrorKind | "none">;
  /** Stops the core and starts another one on the same store, as after a restart; from now on of that product version. */
  restart(product?: string): Promise<void>;
  /**
   * The server is lost in the middle of everything: its runners hear nothing more, the file is opened anew and another
   * server takes it over. What the lost one still had in hand is fenced.
   */
  crash(): Promise<void>;
  close(): Promise<void>;
}

/** How long a test waits before it says that something hangs. */
const HANG_MS = 20_000;

/** `clock`: the server's sense of time, if not the real one. */
export async function makeWorld(config: Partial<Config> = {}, clock: Clock = realClock): Promise<World> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-world-")));
  const back = process.cwd();
  const open = (): Store => openStore({ path: join(folder, "state.sqlite"), clock });
  let store = open();
  const moved = new EventEmitter();
  moved.setMaxListeners(0);
  const runners: TestRunner[] = [];
  const resourceRunners: TestRunner<FromResourceRunner, ToResourceRunner>[] = [];
  const launchChild = (spec: ChildSpec<unknown>): Child<unknown, unknown> => {
    const onMove = (): void => void moved.emit("moved");
    if (spec.kind === "resource") {
      const { child, runner } = inProcess(spec, RESOURCE_RUNNER, onMove);
      resourceRunners.push(runner);
      world.onResourceRunner(runner);
      return child;
    }
    const { child, runner } = inProcess(spec, RUNNER, onMove);
    runners.push(runner);
    world.onRunner(runner);
    return child;
  };
  const launchPi = async (spec: ChildSpec<FromAdapter>): Promise<Child<FromAdapter, ToAdapter>> => {
    const adapter = await piAdapter(spec, () => moved.emit("moved"));
    world.adapters.push(adapter);
    return adapter.child;
  };
  let version = "0.0.0";
  const startCore = (): Promise<ServerCore> =>
    ServerCore.start({
      store,
      ports: {
        clock,
        random: randomBytes,
        launcher: {
          launch: async (spec) =>
            (spec.kind === "adapter" ? await launchPi(spec as never) : launchChild(spec)) as never,
        },
        processes: {
          endGroups: () => Promise.resolve(),
          endAgents: () => Promise.resolve(),
          agentRuns: () => [],
          watch: () => undefined,
          unwatch: () => undefined,
          parentOf: () => Promise.resolve(null),
        },
        listener: { listen: () => Promise.resolve(), close: () => Promise.resolve() },
        log: silent,
      },
      home: folder,
      cacheDir: join(folder, "cache"),
      sourcesDir: join(folder, "sources"),
      product: version,
      installPath: folder,
      loadConfig: () => parsed,
      config: parsed,
      serverId: randomUUID(),
      pid: process.pid,
      startIdentity: "test",
      onStopRequest: () => undefined,
    });
  const parsed = configSchema.parse({ schema: "holdpoint.config.v1", ...config });
  for (const name of ["cache", "sources"]) mkdirSync(join(folder, name));
  const world: World = {
    folder,
    get store() {
      return store;
    },
    core: undefined as unknown as ServerCore,
    runners,
    adapters: [],
    onRunner: () => undefined,
    resourceRunners,
    onResourceRunner: () => undefined,
    put(name, text) {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    },
    async start(name, input = {}) {
      const payload = { workflow: name, workflowPath: join(folder, `${name}.workflow.ts`), projectPath: folder, input };
      return (await world.call("run.start", payload as OperationPayload<"run.start">)).result.runId;
    },
    async call(operation, payload, options = {}) {
      const caller: Caller = {
        clientId: options.clientId ?? "client",
        idempotencyKey: OPERATIONS[operation].change ? (options.key ?? randomUUID()) : null,
        expectedRevision: options.expectedRevision ?? null,
        subscribe: () => "none",
      };
      const handlers = makeHandlers(world.core);
      const done = await (handlers[operation] as (payload: unknown, caller: Caller) => Promise<HandlerResult>)(
        OPERATIONS[operation].payload.parse(payload),
        caller,
      );
      moved.emit("moved");
      // What the server answers must be what its protocol says, and fit a frame.
      encodeFrame({ result: done.result });
      return { ...done, result: OPERATIONS[operation].result.parse(done.result) } as never;
    },
    view: async (run) => (await world.call("run.get", { run })).result,
    async until(run, predicate, what = "the expected state") {
      let view: RunView | undefined;
      const look = async (): Promise<RunView | undefined> => {
        view = (await world.call("run.get", { run })).result;
        return predicate(view) ? view : undefined;
      };
      const events = (): unknown => view?.timeline.slice(-8).map(({ type, detail }) => [type, detail]);
      return world.when(look, () => `${what} did not come: ${JSON.stringify([view?.run, events()])}`);
    },
    async when(look, what) {
      const since = Date.now();
      for (;;) {
        await store.idle();
        const found = await look();
        if (found !== undefined) return found;
        if (Date.now() - since > HANG_MS) throw new Error(what());
        await new Promise<void>((resolve) => {
          const go = (): void => {
            clearTimeout(timer);
            moved.off("moved", go);
            resolve();
          };
          // Changes that no frame announces (a process that ended) are looked at again after a moment.
          const timer = setTimeout(go, 20);
          moved.once("moved", go);
        });
      }
    },
    refusal: (work) =>
      work.then(
        () => "none" as const,
        (error: { kind?: ErrorKind }) => error.kind ?? "internal",
      ),
    async restart(product = version) {
      version = product;
      await stopKeepingStore(world.core, store);
      world.core = await startCore();
    },
    async crash() {
      const [core, lost] = [world.core, store];
      for (const runner of [...runners, ...resourceRunners]) runner.cut();
      // They end with the pipe, before another server starts one.
      for (const adapter of world.adapters) adapter.kill();
      store = open();
      world.core = await startCore();
      await core.stop().catch((error: { kind?: string }) => {
        if (error.kind !== "claimLost") throw error;
      });
      lost.close();
    },
    async close() {
      // A test may have given the database to another server.
      await world.core.stop().catch((error: { kind?: string }) => {
        if (error.kind !== "claimLost") throw error;
        store.close();
      });
      process.chdir(back);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  world.core = await startCore();
  return world;
}

/** The core closes its store when it stops; the next one of the test needs it. */
async function stopKeepingStore(core: ServerCore, store: Store): Promise<void> {
  const close = store.close;
  (store as { close: () => void }).close = () => undefined;
  await core.stop();
  (store as { close: () => void }).close = close;
}

const realClock: Clock = {
  now: () => Date.now(),
  timer(at, wake) {
    const timer = setTimeout(wake, Math.min(60_000, Math.max(0, at - Date.now())));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

let children = 0;

/** What a child of a kind reads, writes and does. */
interface Served<In, Out> {
  readonly from: z.ZodType<In>;
  readonly to: z.ZodType<Out>;
  /** Resolves with an error when it is nobody's doing but the child's. */
  readonly serve: (port: FramePort<Out, In>) => Promise<unknown>;
}

const RUNNER: Served<FromRunner, ToRunner> = {
  from: fromRunnerSchema,
  to: toRunnerSchema,
  serve: async (port) => {
    const ended = await runSession(port);
    return ended.kind === "broken" ? ended.error : undefined;
  },
};

/** Takes pass after pass, without the question whether this process is as it was before. */
const RESOURCE_RUNNER: Served<FromResourceRunner, ToResourceRunner> = {
  from: fromResourceRunnerSchema,
  to: toResourceRunnerSchema,
  serve: async (port) => {
    for (let next = resourceSession(port); ;) {
      const ended = await next;
      if (ended.kind === "broken") return ended.error;
      if (ended.cwd === undefined) return undefined;
      next = resourceSession(port);
      port.send({ type: "released" });
    }
  },
};

function inProcess<In, Out>(
  spec: ChildSpec<unknown>,
  { from, serve, to }: Served<In, Out>,
  onMove: () => void,
): { child: Child<In, Out>; runner: TestRunner<In, Out> } {
  let toServer: ((frame: In) => void) | undefined;
  let toRunner: ((frame: Out) => void) | undefined;
  const early: In[] = [];
  const closers: ((error?: Error) => void)[] = [];
  let dead = false;
  let silent = false;
  let leave: (exit: ChildExit) => void = () => undefined;
  const exited = new Promise<ChildExit>((resolve) => (leave = resolve));
  const end = (exit: Partial<ChildExit>, error?: Error): void => {
    if (dead) return;
    dead = true;
    for (const closer of closers.splice(0)) closer(error);
    leave({ code: null, signal: null, diagnostic: "", ...exit });
    onMove();
  };
  const deliver = (given: unknown): void => {
    if (dead || silent) return;
    const parsed = spec.schema.safeParse(given);
    if (!parsed.success)
      return end({ code: 1 }, new HoldpointError("frameInvalid", `Frame is invalid: ${parsed.error.message}`));
    const frame = parsed.data as In;
    runner.received.push(frame);
    if (!runner.filter(frame)) return;
    if (toServer) toServer(frame);
    else early.push(frame);
    onMove();
  };
  const runner: TestRunner<In, Out> = {
    sent: [],
    received: [],
    kill: (pipe) => end({ signal: "SIGKILL" }, pipe),
    leave: () => end({ code: 1 }),
    cut: () => void (silent = true),
    inject: deliver,
    ending: () => Promise.resolve(),
    filter: () => true,
  };
  const serverPort: FramePort<In, Out> = {
    send(...frames) {
      for (const frame of frames) {
        const text = encodeFrame(frame);
        if (dead || silent) return;
        runner.sent.push(frame);
        setImmediate(() => {
          if (!dead && !silent) toRunner?.(to.parse(JSON.parse(text)));
        });
      }
    },
    close: () => end({ code: 0 }),
    onFrame(next) {
      toServer = next;
      for (const frame of early.splice(0)) next(frame);
    },
    onClose: (closer) => void closers.push(closer),
    get closed() {
      return dead;
    },
    backlog: 0,
  };
  const runnerPort: FramePort<Out, In> = {
    send(...frames) {
      for (const frame of frames) {
        const text = encodeFrame(frame);
        setImmediate(() => deliver(from.parse(JSON.parse(text))));
      }
    },
    close: () => undefined,
    onFrame: (next) => void (toRunner = next),
    onClose: () => undefined,
    closed: false,
    backlog: 0,
  };
  void serve(runnerPort).then((broken) =>
    setImmediate(() =>
      setImmediate(() =>
        end({ code: broken === undefined ? 0 : 1, diagnostic: broken === undefined ? "" : String(broken) }),
      ),
    ),
  );
  children += 1;
  const child: Child<In, Out> = {
    childId: `child-${process.pid}-${children}`,
    pid: 100_000 + children,
    startIdentity: `test-${children}`,
    port: serverPort,
    exited,
    stop: () => {
      void runner.ending().then(() => end({ signal: "SIGTERM" }));
      return exited;
    },
  };
  return { child, runner };
}
