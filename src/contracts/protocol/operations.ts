/**
 * The operations of client.v1: name → payload and result. One table for the server's gateway, the client library and the docs.
 */
import { z } from "zod";
import { errorRecordSchema, jsonSchema } from "./shared.ts";

const name = z.string().min(1).max(400);

/** What a list shows of a run. Times are milliseconds since the epoch. */
export const runSummarySchema = z.strictObject({
  runId: z.string(),
  shortId: z.string(),
  workflow: z.string(),
  title: z.string().nullable(),
  /** Display status, derived in one place (CONTRACTS 3.4). */
  status: z.enum([
    "queued",
    "running",
    "waiting",
    "paused",
    "completed",
    "failed",
    "timed_out",
    "cancelled",
    "ambiguous",
  ]),
  /** Why, in words, when it is not obvious: what it waits for, why it is parked, the error. */
  reason: z.string().nullable(),
  revision: z.number().int(),
  currentNode: z.string().nullable(),
  steps: z.number().int(),
  createdAt: z.number().int(),
  updatedAt: z.number().int(),
  finishedAt: z.number().int().nullable(),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

export const decisionSummarySchema = z.strictObject({
  decisionId: z.string(),
  fingerprint: z.string(),
  runId: z.string(),
  runShortId: z.string(),
  workflow: z.string(),
  nodeId: z.string(),
  title: z.string(),
  audience: z.string(),
  choices: z.array(z.strictObject({ id: z.string(), label: z.string(), input: z.boolean() })),
  status: z.enum(["pending", "accepted", "cancelled"]),
  deadlineAt: z.number().int().nullable(),
  defaultChoice: z.string().nullable(),
  createdAt: z.number().int(),
  /** Facts an operator should know before answering: undeliverable, source changed, delivery in doubt. */
  notes: z.array(z.string()),
  destinations: z.array(
    z.strictObject({ destination: z.string(), effectId: z.string(), status: z.string(), shown: z.number().int() }),
  ),
  resolution: z
    .strictObject({
      outcome: z.enum(["accepted", "cancelled"]),
      provenance: z.string(),
      choice: z.string().nullable(),
      label: z.string().nullable(),
      input: z.string().nullable(),
      by: z.string().nullable(),
      channel: z.string().nullable(),
      assurance: z.string().nullable(),
      resolvedAt: z.number().int(),
      graceAfterOutage: z.boolean(),
    })
    .nullable(),
});
export type DecisionSummary = z.infer<typeof decisionSummarySchema>;

export const attemptSummarySchema = z.strictObject({
  attempt: z.number().int(),
  state: z.string(),
  startedAt: z.number().int(),
  finishedAt: z.number().int().nullable(),
  error: errorRecordSchema.nullable(),
});

export const effectSummarySchema = z.strictObject({
  effectId: z.string(),
  shortId: z.string(),
  /** action | delivery | settlement | reply | notification */
  purpose: z.string(),
  type: z.string(),
  status: z.enum(["pending", "applying", "applied", "rejected", "ambiguous", "cancelled"]),
  runId: z.string().nullable(),
  decisionFingerprint: z.string().nullable(),
  destination: z.string().nullable(),
  attempts: z.number().int(),
  nextAttemptAt: z.number().int().nullable(),
  createdAt: z.number().int(),
  settledAt: z.number().int().nullable(),
  error: errorRecordSchema.nullable(),
  /** The command that settles it, when a person is needed. */
  settleWith: z.string().nullable(),
});
export type EffectSummary = z.infer<typeof effectSummarySchema>;

export const effectDetailSchema = effectSummarySchema.extend({
  key: z.string(),
  request: jsonSchema,
  result: jsonSchema.nullable(),
  attemptList: z.array(attemptSummarySchema),
  parts: z.array(
    z.strictObject({
      attempt: z.number().int(),
      part: z.number().int(),
      of: z.number().int(),
      state: z.string(),
      reference: z.string().nullable(),
      at: z.number().int(),
    }),
  ),
});
export type EffectDetail = z.infer<typeof effectDetailSchema>;

/** One line of a run's story, oldest first: an event with its payload. `at` in milliseconds. Worded by `timelineText` in renderers/text/timeline.ts. */
export const timelineItemSchema = z.strictObject({
  at: z.number().int(),
  index: z.number().int(),
  type: z.string(),
  actor: z.string(),
  detail: jsonSchema,
});
export type TimelineItem = z.infer<typeof timelineItemSchema>;

export const runViewSchema = z.strictObject({
  schema: z.literal("holdpoint.run-view.v1"),
  run: runSummarySchema,
  workflowPath: z.string(),
  definitionDigest: z.string().nullable(),
  continuations: z.number().int(),
  input: jsonSchema,
  finalOutput: jsonSchema.nullable(),
  error: errorRecordSchema.nullable(),
  outputs: z.record(z.string(), jsonSchema),
  timeline: z.array(timelineItemSchema),
  /** True when older timeline items were left out of this page. */
  timelineCut: z.boolean(),
  decisions: z.array(decisionSummarySchema),
  effects: z.array(effectSummarySchema),
  /** Server and child processes that worked on it: kind, pid. */
  processes: z.array(
    z.strictObject({
      kind: z.string(),
      pid: z.number().int(),
      startedAt: z.number().int(),
      endedAt: z.number().int().nullable(),
      outcome: z.string().nullable(),
    }),
  ),
  /** The command that lets a stuck run go on, with its named cause; null when it can advance by itself. */
  nextStep: z.string().nullable(),
});
export type RunView = z.infer<typeof runViewSchema>;

export const channelStatusSchema = z.strictObject({
  channel: z.string(),
  state: z.enum(["starting", "ready", "down", "stopped"]),
  pid: z.number().int().nullable(),
  account: z.string().nullable(),
  lastPollAt: z.number().int().nullable(),
  pendingUpdates: z.number().int().nullable(),
  queued: z.number().int(),
  ambiguous: z.number().int(),
  restarts: z.number().int(),
  error: errorRecordSchema.nullable(),
});
export type ChannelStatus = z.infer<typeof channelStatusSchema>;

export const serverStatusSchema = z.strictObject({
  state: z.literal("running"),
  product: z.string(),
  pid: z.number().int(),
  epoch: z.number().int(),
  home: z.string(),
  startedAt: z.number().int(),
  now: z.number().int(),
  runs: z.record(z.string(), z.number().int()),
  pendingDecisions: z.number().int(),
  ambiguousEffects: z.number().int(),
  runners: z.array(
    z.strictObject({ runId: z.string(), pid: z.number().int().nullable(), startedAt: z.number().int() }),
  ),
  channels: z.array(channelStatusSchema),
  clients: z.number().int(),
  capacity: z.number().int(),
  configError: errorRecordSchema.nullable(),
  /** Children that died lately, with their diagnostic. */
  crashes: z.array(
    z.strictObject({ kind: z.string(), at: z.number().int(), outcome: z.string(), diagnostic: z.string() }),
  ),
});
export type ServerStatus = z.infer<typeof serverStatusSchema>;

const operation = <P, R>(change: boolean, payload: z.ZodType<P>, result: z.ZodType<R>) => ({ change, payload, result });
const empty = z.strictObject({});
const runRef = z.strictObject({ run: name });
const runAck = z.strictObject({
  runId: z.string(),
  shortId: z.string(),
  status: z.string(),
  revision: z.number().int(),
});

/** `change: true` operations need an idempotency key and leave a receipt. Record references take short ids and prefixes. */
export const OPERATIONS = {
  "server.status": operation(false, empty, serverStatusSchema),
  "server.stop": operation(false, empty, z.strictObject({ stopping: z.literal(true) })),
  "server.reload": operation(
    false,
    empty,
    z.strictObject({ loaded: z.boolean(), error: errorRecordSchema.nullable() }),
  ),
  "run.start": operation(
    true,
    z.strictObject({ workflow: name, workflowPath: name, projectPath: name, input: jsonSchema }),
    runAck,
  ),
  "run.list": operation(
    false,
    z.strictObject({ limit: z.number().int().min(1).max(256), before: z.number().int().nullable() }),
    z.strictObject({ runs: z.array(runSummarySchema), more: z.boolean() }),
  ),
  "run.get": operation(false, runRef, runViewSchema),
  /** Events `run` with a RunView at each change, at most every 250 ms, until the connection closes; the first comes at once. */
  "run.watch": operation(false, runRef, z.strictObject({ subscriptionId: z.string() })),
  "run.pause": operation(true, runRef, runAck),
  "run.resume": operation(true, runRef, runAck),
  "run.cancel": operation(true, z.strictObject({ run: name, reason: z.string().max(1_000).nullable() }), runAck),
  "decision.list": operation(
    false,
    z.strictObject({ all: z.boolean() }),
    z.strictObject({ decisions: z.array(decisionSummarySchema) }),
  ),
  "effect.list": operation(
    false,
    z.strictObject({ all: z.boolean() }),
    z.strictObject({ effects: z.array(effectSummarySchema) }),
  ),
  "effect.show": operation(false, z.strictObject({ effect: name }), effectDetailSchema),
  "effect.settle": operation(
    true,
    z.strictObject({
      effect: name,
      outcome: z.enum(["applied", "notApplied", "retry"]),
      result: jsonSchema.nullable(),
    }),
    effectSummarySchema,
  ),
  "channel.status": operation(false, empty, z.strictObject({ channels: z.array(channelStatusSchema) })),
  "channel.recover": operation(
    true,
    z.strictObject({
      effect: name,
      action: z.enum(["confirm", "retry"]),
      part: z.number().int().positive().nullable(),
      reference: z.string().max(100).nullable(),
    }),
    effectSummarySchema,
  ),
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type OperationPayload<K extends OperationName> = z.infer<(typeof OPERATIONS)[K]["payload"]>;
export type OperationResult<K extends OperationName> = z.infer<(typeof OPERATIONS)[K]["result"]>;
