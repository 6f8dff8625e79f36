/**
 * What the server core reaches the outside through: time, randomness, children, sockets. The core takes these as values, so
 * that it can run whole in one process under a simulator. Nothing in src/server reads the wall clock or spawns by itself.
 */
import type { Duplex } from "node:stream";
import type { z } from "zod";
import type { FramePort } from "../contracts/wire/frames.ts";
import type { RandomBytes } from "../contracts/ids.ts";

export interface Timer {
  cancel(): void;
}

/** Timers only wake: whoever is woken reads the due rows again. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once, at or after `at`; real implementations cut long sleeps, so `wake` must look again. */
  timer(at: number, wake: () => void): Timer;
}

/** How a child ended: `signal` or `code`, and the tail of what it wrote to stderr. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly diagnostic: string;
}

export interface Child<In, Out> {
  readonly childId: string;
  readonly pid: number;
  /** Tells this process from a later one with the same pid. */
  readonly startIdentity: string;
  readonly port: FramePort<In, Out>;
  readonly exited: Promise<ChildExit>;
  /** SIGTERM to the group, then SIGKILL after `graceMs` of real time; resolves when the process is gone. */
  stop(graceMs: number): Promise<ChildExit>;
}

export interface ChildSpec<In> {
  readonly kind: "runner" | "adapter" | "resource" | "probes";
  /** Run id, channel id, or manager and key; for logs. */
  readonly name: string;
  /** Frames that the child sends. */
  readonly schema: z.ZodType<In>;
  /** Bound of its heap in MiB; left out: what the runtime takes. */
  readonly heapMb?: number;
}

/** Starts children by path. A child does nothing before its launch frame, so it can be registered durably first. */
export interface Launcher {
  launch<In, Out>(spec: ChildSpec<In>): Promise<Child<In, Out>>;
}

/** A process as it was registered; its pid is that of its group. */
export interface RegisteredProcess {
  readonly pid: number;
  readonly startIdentity: string;
}

/** Processes that the server did not start itself. */
export interface Processes {
  /** Ends these groups, TERM and after a grace KILL, and resolves when they are proved gone. A pid of somebody else is left alone. */
  endGroups(processes: readonly RegisteredProcess[]): Promise<void>;
  /** Ends everything that agents and commands of these runs left, wherever it went, and resolves when it is gone. */
  endAgents(runIds: readonly string[]): Promise<void>;
  /** The runs that live processes name as the one whose agent or command started them; also runs of other homes. */
  agentRuns(): readonly string[];
  /** This group must not outlive the server, however the server ends: a child of its own, or what a runner registered. */
  watch(pid: number, what: "child" | "group"): void;
  /** This group is gone. */
  unwatch(pid: number): void;
  /** The parent of a live process, or null when there is no such process. */
  parentOf(pid: number, startIdentity: string): Promise<number | null>;
}

/** Accepts client connections. */
export interface Listener {
  listen(onConnection: (stream: Duplex) => void): Promise<void>;
  close(): Promise<void>;
}

/** Figures for a program on this machine that collects them. */
export interface MetricsPage {
  /** Serves `text()` from now on at this port; null = nowhere. Never throws: the service goes on without. */
  serve(port: number | null, type: string, text: () => string): Promise<void>;
  close(): Promise<void>;
}

/** A request to a webhook, whole. */
export interface HookRequest {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Null: it was too large. */
  readonly body: Buffer | null;
}

/** Takes webhooks. */
export interface HookPage {
  /** From now on at this address; null = nowhere. Never throws. `take` gives the status of the answer. */
  serve(
    address: { readonly host: string; readonly port: number } | null,
    take: (request: HookRequest) => Promise<number>,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Ports {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly launcher: Launcher;
  readonly processes: Processes;
  readonly listener: Listener;
  /** Left out where nobody collects figures (tests in one process). */
  readonly metrics?: MetricsPage;
  /** Left out where nothing comes in over HTTP (tests in one process). */
  readonly hooks?: HookPage;
  /** The secret of the home, made when it is asked for first. */
  readonly homeKey?: () => Buffer;
  readonly log: Log;
}
