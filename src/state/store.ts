/**
 * The store: what the server sees of the database. Commands are async methods that go through the write queue, reads are
 * synchronous functions on the read-only connection. This interface, with `storeConformance` as its suite, is the seam
 * behind which another engine can stand.
 */
import { randomBytes } from "node:crypto";
import type { RandomBytes } from "../contracts/ids.ts";
import * as alerts from "./alerts/index.ts";
import * as channels from "./channels/index.ts";
import * as checkpoints from "./checkpoints/index.ts";
import * as children from "./children/index.ts";
import type { CommandTable, Methods } from "./command.ts";
import * as content from "./content/index.ts";
import { openDatabase } from "./database.ts";
import * as decisions from "./decisions/index.ts";
import * as effects from "./effects/index.ts";
import type { FaultSeam } from "./faults.ts";
import * as followUps from "./follow-ups/index.ts";
import * as interactions from "./interactions/index.ts";
import * as managed from "./managed/index.ts";
import type { Schema } from "./migrations/index.ts";
import * as monitors from "./monitors/index.ts";
import * as notifications from "./notifications/index.ts";
import * as processes from "./processes/index.ts";
import { WriteQueue } from "./queue.ts";
import { readDb } from "./reading.ts";
import * as retention from "./retention/index.ts";
import * as runs from "./runs/index.ts";
import * as server from "./server/index.ts";
import * as sessions from "./sessions/index.ts";
import * as settings from "./settings/index.ts";
import { Statements } from "./statements.ts";
import * as sources from "./sources/index.ts";
import * as timers from "./timers/index.ts";
import * as updates from "./updates/index.ts";
import { verifyChains, type VerifyReport } from "./verify.ts";

export type { Receipt } from "./receipts.ts";
export type { EnsureManaged as ManagedRequest } from "./managed/ensure.ts";
export type { Checked } from "./monitors/checked.ts";
export type { Lane, MonitorRow } from "./monitors/rows.ts";
export type { ClaimedResource } from "./managed/claim.ts";
export type { SourceContent } from "./managed/apply.ts";
export type { FinishInput } from "./managed/finish.ts";
export type { ResourceClaim } from "./managed/resource-rows.ts";
export type { ManagedRun } from "./managed/rows.ts";
export type { DecisionListRow } from "./decisions/reads.ts";
export type { Advanced } from "./runs/advance.ts";
export type { ReserveResult } from "./effects/reserve.ts";
export type { HeldStep } from "./runs/held-step.ts";
export type { Launch } from "./runs/claim.ts";
export type { Proposal } from "./settings/reads.ts";
export type { RunnerEnded } from "./runs/runner-ended.ts";
export type { WaitingSources } from "./runs/source-obstacle.ts";
export type { ServiceFacts } from "./channels/service-facts.ts";
export type { Origin } from "./sessions/bindings.ts";
export type { SessionDecisionRow } from "./sessions/reads.ts";
export type { RunListRow } from "./runs/reads.ts";
export { LABELS } from "./command.ts";

export interface StoreOptions {
  /** Path of `state.sqlite`; made when missing. */
  readonly path: string;
  readonly clock: { now(): number };
  readonly random?: RandomBytes | undefined;
  readonly faults?: FaultSeam | undefined;
  /** The file or the connection can no longer be trusted: end the process and recover from disk. */
  readonly onFatal?: ((error: unknown) => void) | undefined;
  /** Monotonic milliseconds, for the work limit of a batch. */
  readonly elapsed?: (() => number) | undefined;
  /** Product version, noted in a fresh file. */
  readonly product?: string | undefined;
  /** Other versions than the product's, for the test of migrations. */
  readonly schema?: Schema | undefined;
}

const COMMANDS = {
  server: server.commands,
  children: children.commands,
  processes: processes.commands,
  runs: runs.commands,
  decisions: decisions.commands,
  effects: effects.commands,
  channels: channels.commands,
  checkpoints: checkpoints.commands,
  content: content.commands,
  followUps: followUps.commands,
  interactions: interactions.commands,
  managed: managed.commands,
  monitors: monitors.commands,
  notifications: notifications.commands,
  sessions: sessions.commands,
  settings: settings.commands,
  sources: sources.commands,
  timers: timers.commands,
  updates: updates.commands,
  retention: retention.commands,
  alerts: alerts.commands,
} as const;

type CommandMethods = { readonly [N in keyof typeof COMMANDS]: Methods<(typeof COMMANDS)[N]> };

export interface StoreReads {
  readonly server: ReturnType<typeof server.reads>;
  readonly children: ReturnType<typeof children.reads>;
  readonly processes: ReturnType<typeof processes.reads>;
  readonly runs: ReturnType<typeof runs.reads>;
  readonly decisions: ReturnType<typeof decisions.reads>;
  readonly effects: ReturnType<typeof effects.reads>;
  readonly channels: ReturnType<typeof channels.reads>;
  readonly checkpoints: ReturnType<typeof checkpoints.reads>;
  readonly content: ReturnType<typeof content.reads>;
  readonly followUps: ReturnType<typeof followUps.reads>;
  readonly managed: ReturnType<typeof managed.reads>;
  readonly monitors: ReturnType<typeof monitors.reads>;
  readonly notifications: ReturnType<typeof notifications.reads>;
  readonly sessions: ReturnType<typeof sessions.reads>;
  readonly sources: ReturnType<typeof sources.reads>;
  readonly settings: ReturnType<typeof settings.reads>;
  readonly timers: ReturnType<typeof timers.reads>;
  readonly updates: ReturnType<typeof updates.reads>;
  readonly alerts: ReturnType<typeof alerts.reads>;
}

export interface Store extends CommandMethods {
  /** Never the basis of a change; not usable inside a command. */
  readonly read: StoreReads;
  /** Backup made by a migration at this opening. */
  readonly backup: string | null;
  /** Recomputes every event chain and blob hash, in pages. */
  verify(): Promise<VerifyReport>;
  /** Resolves when nothing waits and the callers of the last batch have had their turn. */
  idle(): Promise<void>;
  /** Closes the file; waiting commands are rejected. Await `idle()` before for an orderly end. */
  close(): void;
}

/**
 * Opens the store. Throws `notOurDatabase` for a foreign, newer or altered file (which stays untouched) and
 * `storageBroken` when it cannot be trusted.
 */
export function openStore(options: StoreOptions): Store {
  const { clock } = options;
  const opened = openDatabase(options.path, {
    now: clock.now(),
    ...(options.product === undefined ? {} : { product: options.product }),
    ...(options.schema === undefined ? {} : { schema: options.schema }),
  });
  const queue = new WriteQueue({
    db: opened.writer,
    statements: new Statements(opened.writer),
    clock,
    random: options.random ?? randomBytes,
    faults: options.faults,
    onFatal: options.onFatal,
    elapsed: options.elapsed,
  });
  const db = readDb(new Statements(opened.reader), clock, () => queue.assertOutside());
  const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    server: methodsOf(COMMANDS.server, queue),
    children: methodsOf(COMMANDS.children, queue),
    processes: methodsOf(COMMANDS.processes, queue),
    runs: methodsOf(COMMANDS.runs, queue),
    decisions: methodsOf(COMMANDS.decisions, queue),
    effects: methodsOf(COMMANDS.effects, queue),
    channels: methodsOf(COMMANDS.channels, queue),
    checkpoints: methodsOf(COMMANDS.checkpoints, queue),
    content: methodsOf(COMMANDS.content, queue),
    followUps: methodsOf(COMMANDS.followUps, queue),
    interactions: methodsOf(COMMANDS.interactions, queue),
    managed: methodsOf(COMMANDS.managed, queue),
    monitors: methodsOf(COMMANDS.monitors, queue),
    notifications: methodsOf(COMMANDS.notifications, queue),
    sessions: methodsOf(COMMANDS.sessions, queue),
    sources: methodsOf(COMMANDS.sources, queue),
    settings: methodsOf(COMMANDS.settings, queue),
    timers: methodsOf(COMMANDS.timers, queue),
    updates: methodsOf(COMMANDS.updates, queue),
    retention: methodsOf(COMMANDS.retention, queue),
    alerts: methodsOf(COMMANDS.alerts, queue),
    read: {
      server: server.reads(db),
      children: children.reads(db),
      processes: processes.reads(db),
      runs: runs.reads(db),
      decisions: decisions.reads(db),
      effects: effects.reads(db),
      channels: channels.reads(db),
      checkpoints: checkpoints.reads(db),
      content: content.reads(db),
      followUps: followUps.reads(db),
      managed: managed.reads(db),
      monitors: monitors.reads(db),
      notifications: notifications.reads(db),
      sessions: sessions.reads(db),
      sources: sources.reads(db),
      settings: settings.reads(db),
      timers: timers.reads(db),
      updates: updates.reads(db),
      alerts: alerts.reads(db),
    },
    backup: opened.backup,
    verify: () => verifyChains(db, breathe),
    idle: () => queue.idle(),
    close: () => {
      queue.close();
      opened.close();
    },
  };
}

function methodsOf<T extends CommandTable>(table: T, queue: WriteQueue): Methods<T> {
  const entries = Object.entries(table).map(([name, command]) => [
    name,
    (input: unknown) => queue.submit(command, input),
  ]);
  return Object.fromEntries(entries) as Methods<T>;
}
