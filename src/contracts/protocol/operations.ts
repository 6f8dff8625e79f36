/**
 * The operations of client.v1: name → payload and result. One table for the server's gateway, the client library and the docs.
 */
import { z } from "zod";
import { cardModelSchema, cardStateSchema } from "../decision/card.ts";
import { replyCodeSchema } from "../decision/codes.ts";
import { escalationCauseSchema } from "../decision/policy.ts";
import { DECISION, INCLUDE, PI_CAPTURE } from "../limits.ts";
import { progressStatusSchema } from "../progress.ts";
import { runStatusSchema } from "../run-status.ts";
import { sessionIdSchema } from "../pi/session-id.ts";
import { sessionCaptureSchema, storedRecordSchema } from "../pi/session-record.ts";
import { MONITOR_OPERATIONS } from "./monitor-operations.ts";
import { RESOURCE_OPERATIONS } from "./resource-operations.ts";
import { ALERT_OPERATIONS } from "./alert-operations.ts";
import { errorRecordSchema, jsonSchema, operation } from "./shared.ts";

const name = z.string().min(1).max(400);

/** What a list shows of a run. Times are milliseconds since the epoch. */
export const runSummarySchema = z.strictObject({
  runId: z.string(),
  shortId: z.string(),
  workflow: z.string(),
  title: z.string().nullable(),
  /**
   * Display status, derived in one place. `queued` goes on by itself; `parked` does not, for the cause in `reason`, before the
   * command in a view's `nextStep`.
   */
  status: runStatusSchema,
  /** Why, in words, when it is not obvious: what it waits for, why it is parked, the error. */
  reason: z.string().nullable(),
  revision: z.number().int(),
  currentNode: z.string().nullable(),
  steps: z.number().int(),
  createdAt: z.number().int(),
  updatedAt: z.number().int(),
  finishedAt: z.number().int().nullable(),
  /** When a run that sleeps goes on by itself. */
  wakeAt: z.number().int().nullable(),
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
  /** How it is decided: see docs/audiences.md. */
  policy: z.strictObject({
    /** Persons who must choose the same. */
    quorum: z.number().int(),
    /** Labels of choices that one person decides alone. */
    veto: z.array(z.string()),
    /** Where several must agree: the choices with votes, and who gave them. */
    votes: z.array(z.strictObject({ label: z.string(), by: z.array(z.string()) })),
    /** Nobody is left who could vote, and no choice has enough. */
    everybodyVoted: z.boolean(),
    /** Only answers over these channels count; empty = all. */
    channels: z.array(z.string()),
    assurance: z.enum(["remote"]).nullable(),
    reminders: z
      .strictObject({ sent: z.number().int(), atMost: z.number().int(), nextAt: z.number().int().nullable() })
      .nullable(),
    /** The second audience: asked since `at`, or to be asked at `dueAt`, or neither when it could not be. */
    escalation: z
      .strictObject({
        to: z.string(),
        names: z.array(z.string()),
        dueAt: z.number().int().nullable(),
        at: z.number().int().nullable(),
        cause: escalationCauseSchema.nullable(),
      })
      .nullable(),
  }),
  /** Facts an operator should know before answering: undeliverable, source changed, delivery in doubt. */
  notes: z.array(z.string()),
  destinations: z.array(
    z.strictObject({ destination: z.string(), effectId: z.string(), status: z.string(), shown: z.number().int() }),
  ),
  /** The command that decides at the server's own terminal; null when it is over, or when no audience asked takes answers there. */
  decideWith: z.string().nullable(),
  resolution: z
    .strictObject({
      /** A time that ran out is neither an answer nor a cancellation, with a default or without. */
      outcome: z.enum(["accepted", "cancelled", "timedOut"]),
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

/** A checkpoint of a run. Large contents and answers are named with their size. */
export const checkpointSummarySchema = z.strictObject({
  requestId: z.string(),
  shortId: z.string(),
  nodeId: z.string(),
  visit: z.number().int(),
  summary: z.string().nullable(),
  content: jsonSchema,
  status: z.enum(["pending", "settled", "cancelled"]),
  answer: jsonSchema.nullable(),
  settledBy: z.string().nullable(),
  createdAt: z.number().int(),
  settledAt: z.number().int().nullable(),
});
export type CheckpointSummary = z.infer<typeof checkpointSummarySchema>;

/** When something may be done, in milliseconds from now, or why nothing can be said. */
export const estimateSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("estimate"),
    /** `source`: stated by whoever reports; `measured`: from the rate of the last intervals. */
    by: z.enum(["source", "measured"]),
    remainingMs: z.strictObject({ low: z.number(), median: z.number(), high: z.number() }),
    confidence: z.enum(["low", "medium", "high"]).nullable(),
  }),
  z.strictObject({ kind: z.literal("unavailable"), reason: z.string() }),
]);

/** What a run says of its progress, by key, with the estimate as the server sees it now. */
export const progressViewSchema = z.strictObject({
  key: z.string(),
  label: z.string(),
  status: progressStatusSchema,
  phase: z.string().nullable(),
  completed: z.number().nullable(),
  total: z.number().nullable(),
  unit: z.string().nullable(),
  at: z.number().int(),
  estimate: estimateSchema,
});
export type ProgressView = z.infer<typeof progressViewSchema>;

/** A prompt that goes out after the run succeeded; its text is cut. */
export const followUpSummarySchema = z.strictObject({
  followUpId: z.string(),
  orderNumber: z.number().int(),
  status: z.enum(["queued", "sent", "settled", "removed", "cancelled"]),
  source: z.string(),
  prompt: z.string(),
  reason: z.string().nullable(),
  createdAt: z.number().int(),
});
export type FollowUpSummary = z.infer<typeof followUpSummarySchema>;

/** The newest update of one type and key. */
export const updateViewSchema = z.strictObject({
  seq: z.number().int(),
  updateId: z.string(),
  type: z.string(),
  key: z.string(),
  nodeId: z.string(),
  data: jsonSchema,
  at: z.number().int(),
});
export type UpdateView = z.infer<typeof updateViewSchema>;

/** A scope of settings as the caller may see it. */
export const settingsScopeSchema = z.strictObject({
  scopeId: z.string(),
  mount: z.string(),
  invocation: z.number().int(),
  changeNumber: z.number().int(),
  hash: z.string(),
  description: z.string().nullable(),
  /** Null when nothing of it may be read. */
  value: jsonSchema.nullable(),
  changeable: z.array(z.string()),
});
export type SettingsScope = z.infer<typeof settingsScopeSchema>;

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
  checkpoints: z.array(checkpointSummarySchema),
  progress: z.array(progressViewSchema),
  /** Updates that the run published, and how many of them are the newest of their type and key. */
  updates: z.strictObject({ published: z.number().int(), current: z.number().int() }),
  followUps: z.array(followUpSummarySchema),
  /** The run that this one repeats, and the one that repeats it. */
  lineage: z.strictObject({
    restartOf: z.string().nullable(),
    restartNumber: z.number().int(),
    restartedAs: z.string().nullable(),
  }),
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
  /** How long nobody knew whether messages arrived: the oldest open doubt, and those that ended within 30 days. */
  doubts: z.strictObject({
    oldestAt: z.number().int().nullable(),
    ended: z.number().int(),
    medianMs: z.number().int().nullable(),
    longestMs: z.number().int().nullable(),
  }),
  /** Chats that cannot be reached (since when and why), or that have another id than the configuration says. */
  places: z.array(
    z.strictObject({
      place: z.string(),
      deadAt: z.number().int().nullable(),
      error: z.string().nullable(),
      movedTo: z.string().nullable(),
    }),
  ),
  /** It hears nothing since; null = it hears. */
  deafSince: z.number().int().nullable(),
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
  /** Number of runs by their state; those that are parked with a cause count as `parked` only. */
  runs: z.record(z.string(), z.number().int()),
  pendingDecisions: z.number().int(),
  ambiguousEffects: z.number().int(),
  runners: z.array(
    z.strictObject({ runId: z.string(), pid: z.number().int().nullable(), startedAt: z.number().int() }),
  ),
  /** Managed resources, how many of them wait for a pass or are in one, and the runners of users' managers. */
  resources: z.strictObject({
    count: z.number().int(),
    queued: z.number().int(),
    passes: z.array(
      z.strictObject({
        manager: z.string(),
        key: z.string(),
        pid: z.number().int().nullable(),
        startedAt: z.number().int(),
      }),
    ),
    idleRunners: z.number().int(),
  }),
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

const empty = z.strictObject({});
const runRef = z.strictObject({ run: name });
const runAck = z.strictObject({
  runId: z.string(),
  shortId: z.string(),
  status: z.string(),
  revision: z.number().int(),
});

const runOriginSchema = z.strictObject({
  session: sessionIdSchema,
  turn: name.nullable(),
  /** `headless`: its agent steps are done by agents of their own. */
  mode: z.enum(["interactive", "headless"]).default("interactive"),
});

const followUpAck = z.strictObject({
  runId: z.string(),
  followUpId: z.string(),
  orderNumber: z.number().int(),
  status: z.string(),
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
    z.strictObject({
      workflow: name,
      workflowPath: name,
      projectPath: name,
      input: jsonSchema,
      /** The Pi session that it is started from, and the turn of its agent that starts it: the run begins when that has ended. */
      origin: runOriginSchema.optional(),
    }),
    runAck,
  ),
  /** Where the extension of a Pi session connects; the adapter is started when it is not there. */
  "pi.open": operation(false, empty, z.strictObject({ socket: z.string() })),
  "run.list": operation(
    false,
    z.strictObject({ limit: z.number().int().min(1).max(256), before: z.number().int().nullable() }),
    z.strictObject({ runs: z.array(runSummarySchema), more: z.boolean() }),
  ),
  "run.get": operation(false, runRef, runViewSchema),
  /** Events `run` with a RunView at each change, at most every 250 ms, until the connection closes; the first comes at once. */
  "run.watch": operation(false, runRef, z.strictObject({ subscriptionId: z.string() })),
  /** What was recorded of the run's Pi session, a page at a time; `after`: the last `no` that is known, first 0. */
  "run.session": operation(
    false,
    z.strictObject({
      run: name,
      after: z.number().int().nonnegative(),
      limit: z.number().int().min(1).max(PI_CAPTURE.pageRecords),
    }),
    z.strictObject({
      runId: z.string(),
      shortId: z.string(),
      captures: z.array(sessionCaptureSchema),
      records: z.array(storedRecordSchema),
      more: z.boolean(),
    }),
  ),
  "run.pause": operation(true, runRef, runAck),
  "run.resume": operation(true, runRef, runAck),
  "run.cancel": operation(true, z.strictObject({ run: name, reason: z.string().max(1_000).nullable() }), runAck),
  /** A new run of the same workflow and input. Repeated for the same revision it gives the same run. */
  "run.restart": operation(
    true,
    z.strictObject({
      run: name,
      reason: z.string().max(1_000).nullable(),
      /** The turn of a session's agent that restarts a run of its session: the new one begins when that has ended. */
      within: z.strictObject({ session: sessionIdSchema, turn: z.string().min(1).max(256) }).optional(),
    }),
    runAck,
  ),
  /** The answer becomes the output of the checkpoint's node. `request` may be the run when it waits for one. */
  "checkpoint.answer": operation(true, z.strictObject({ request: name, answer: jsonSchema }), runAck),
  "run.settings": operation(
    false,
    runRef,
    z.strictObject({ runId: z.string(), revision: z.number().int(), scopes: z.array(settingsScopeSchema) }),
  ),
  /** JSON Patch (RFC 6902) on the latest invocation of a mount; the empty mount is the run itself. */
  "run.changeSettings": operation(
    true,
    z.strictObject({
      run: name,
      mount: z.string().max(INCLUDE.pathChars),
      patch: jsonSchema,
      expectedChangeNumber: z.number().int().nonnegative().nullable(),
    }),
    z.strictObject({ runId: z.string(), scopeId: z.string(), changeNumber: z.number().int(), hash: z.string() }),
  ),
  "followUp.queue": operation(true, z.strictObject({ run: name, prompt: z.string() }), followUpAck),
  "followUp.remove": operation(true, z.strictObject({ run: name, followUp: name }), followUpAck),
  /** The newest update of each type and key, a page at a time: `after` is the number of the last one seen, -1 at first. */
  "run.updates": operation(
    false,
    z.strictObject({ run: name, after: z.number().int().min(-1), limit: z.number().int().min(1).max(256) }),
    z.strictObject({
      runId: z.string(),
      updates: z.array(updateViewSchema),
      progress: z.array(progressViewSchema),
      published: z.number().int(),
      more: z.boolean(),
    }),
  ),
  /** A part of the JSON of a node's output, or without a node of the run's result; for values too large for a view. */
  "run.output": operation(
    false,
    z.strictObject({
      run: name,
      node: z.string().max(INCLUDE.pathChars).nullable(),
      offset: z.number().int().nonnegative(),
    }),
    z.strictObject({ sha256: z.string(), bytes: z.number().int(), offset: z.number().int(), data: z.string() }),
  ),
  "decision.list": operation(
    false,
    z.strictObject({ all: z.boolean() }),
    z.strictObject({ decisions: z.array(decisionSummarySchema) }),
  ),
  /** The whole card, for a person at the server's own terminal. `terminal`: its audience takes answers there. */
  "decision.show": operation(
    false,
    z.strictObject({ decision: name }),
    z.strictObject({
      decisionId: z.string(),
      fingerprint: z.string(),
      requestDigest: z.string(),
      audience: z.string(),
      terminal: z.boolean(),
      card: cardModelSchema,
      state: cardStateSchema,
    }),
  ),
  /** An answer at the terminal, through the one door. `kind` is the verdict; a refusal is a verdict too. */
  "decision.answer": operation(
    true,
    z.strictObject({
      decision: name,
      requestDigest: z.string(),
      choice: name,
      input: z.string().max(DECISION.presentationUnits).nullable(),
      /** The person saw the whole card and typed its fingerprint; without it nothing is decided. */
      confirmed: z.boolean(),
    }),
    z.strictObject({
      decisionId: z.string(),
      fingerprint: z.string(),
      kind: z.string(),
      reply: replyCodeSchema,
      status: z.enum(["pending", "accepted", "cancelled"]),
    }),
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
  ...RESOURCE_OPERATIONS,
  ...MONITOR_OPERATIONS,
  ...ALERT_OPERATIONS,
} as const;

export type OperationName = keyof typeof OPERATIONS;
export type OperationPayload<K extends OperationName> = z.infer<(typeof OPERATIONS)[K]["payload"]>;
export type OperationResult<K extends OperationName> = z.infer<(typeof OPERATIONS)[K]["result"]>;
