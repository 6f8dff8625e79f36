/**
 * runner.v1: what a workflow runner and the server say on their private pipe.
 * The runner executes nodes in order and proposes; the server decides, stores and acknowledges.
 *
 * Conversation: launch → ready | loadFailed | park → state… → go → (advance | effect.* | decision | checkpoint | sleep | interaction… | notify |
 * update | settings | enter | content.* | finish)… → stop.
 * After `released` another launch may follow; each has its own runner epoch.
 * Or, in a process of its own: judge → judged, and the process ends.
 * Steps are numbered through the whole run; entry n is accepted only after n-1 of the same run and epoch.
 * A value that does not fit its frame is sent before it in `content.put` parts and named by its digest in the field
 * `…Ref` instead of `…`; what the server hands over that way is fetched with `content.read`.
 */
import { z } from "zod";
import { severitySchema } from "../alert.ts";
import { definitionSnapshotSchema, effectRecoverySchema, sourceFileSchema } from "../definition.ts";
import { includeTransitionSchema, mountStateSchema } from "../include.ts";
import { ADVANCE, CONTENT, NOTIFY } from "../limits.ts";
import { notificationFormatSchema } from "../notification.ts";
import { proposedSettingsSchema, settingsVersionSchema } from "../settings.ts";
import { sleepWakeSchema } from "../sleep.ts";
import { updateEnvelopeSchema } from "../update.ts";
import { contentRefSchema, errorRecordSchema, jsonSchema } from "./shared.ts";

export const nodeOutcomeSchema = z.enum(["ok", "failed", "timed_out", "cancelled"]);
export type NodeOutcome = z.infer<typeof nodeOutcomeSchema>;

/** One executed node: node `nodeId` finished as step `step`, and `next` is what starts now (null: the run ends with it). */
export const stepEntrySchema = z.strictObject({
  step: z.number().int().nonnegative(),
  nodeId: z.string(),
  outcome: nodeOutcomeSchema,
  output: jsonSchema.optional(),
  outputRef: contentRefSchema.optional(),
  error: errorRecordSchema.optional(),
  durationMs: z.number().nonnegative(),
  next: z.string().nullable(),
  /** Mounts left and entered between this step and `next`, in order. They are events, not steps. */
  transitions: z.array(includeTransitionSchema).optional(),
  /** The settings this step was made with. A `settingsRoute` counts only while they are the present ones. */
  settings: z.strictObject({ scopeId: z.string(), changeNumber: z.number().int().nonnegative() }).optional(),
});
export type StepEntry = z.infer<typeof stepEntrySchema>;

/** The latest result of a node, as `ctx.results` shows it. */
export const nodeResultSchema = z.strictObject({
  nodeId: z.string(),
  outcome: nodeOutcomeSchema,
  output: jsonSchema.optional(),
  outputRef: contentRefSchema.optional(),
  error: errorRecordSchema.optional(),
});
export type NodeResult = z.infer<typeof nodeResultSchema>;

/** Where execution goes on. */
export const positionSchema = z.strictObject({
  nodeId: z.string(),
  /** Number of the step that executing this node will produce. */
  step: z.number().int().nonnegative(),
  /** Which visit of this node in the run this is, from 1; part of effect keys. */
  visit: z.number().int().positive(),
  /** True when an earlier attempt of this visit was interrupted: effects must be looked up, not assumed fresh. */
  interrupted: z.boolean(),
  /** Number of the attempt in this visit, from 1; left out: 1, or 2 when interrupted. */
  attempt: z.number().int().positive().optional(),
});
export type Position = z.infer<typeof positionSchema>;

export const runnerLaunchSchema = z.strictObject({
  type: z.literal("launch"),
  schema: z.literal("holdpoint.runner-launch.v1"),
  protocol: z.literal(1),
  runId: z.string(),
  generation: z.number().int().positive(),
  runnerEpoch: z.string(),
  command: z.enum(["start", "continue", "resume"]),
  projectPath: z.string(),
  /** Absolute path of the workflow file. */
  workflowPath: z.string(),
  /** Files that were approved at start; null at the first start. Verified before anything is imported. */
  sources: z.array(sourceFileSchema).nullable(),
  definitionDigest: z.string().nullable(),
  input: jsonSchema,
  /** True when `input` is what the workflow's input parser made (see `ready`), so that it must not run again. */
  inputParsed: z.boolean().optional(),
  /** Folder for the loader's cache, or null. */
  cacheDir: z.string().nullable(),
  /** Folder in which the contents of `sources` lie under their SHA-256. */
  sourcesDir: z.string().nullable().optional(),
  /** The Pi for agent nodes; left out or null: this runner executes none. */
  pi: z
    .strictObject({
      command: z.union([z.string(), z.array(z.string())]),
      /** Pi's own folder; null: Pi's default. */
      agentDir: z.string().nullable(),
    })
    .nullable()
    .optional(),
  /** Folder in which the agents of this run keep their sessions. */
  agentsDir: z.string().nullable().optional(),
  /** Agent steps are done by the agent of the Pi session that the run belongs to. */
  interactive: z.literal(true).optional(),
  /**
   * No node starts before every earlier step is durable: the last runner of this run stopped giving way, and the server
   * must know at which node.
   */
  stepwise: z.literal(true).optional(),
});
export type RunnerLaunch = z.infer<typeof runnerLaunchSchema>;

/**
 * A change of settings for the workflow's own functions, or (`change` null) only whether the approved files can be loaded here. Nothing
 * of the run is executed. Fields as in a launch.
 */
export const judgeSchema = runnerLaunchSchema
  .pick({
    protocol: true,
    runId: true,
    projectPath: true,
    workflowPath: true,
    definitionDigest: true,
    cacheDir: true,
    sourcesDir: true,
  })
  .extend({
    type: z.literal("judge"),
    schema: z.literal("holdpoint.runner-judge.v1"),
    sources: z.array(sourceFileSchema),
    change: proposedSettingsSchema.nullable(),
  });
export type Judge = z.infer<typeof judgeSchema>;

/** An agent step as its node describes it; see contracts/agent-step.ts. */
const sessionStepSchema = z.strictObject({
  prompt: z.string(),
  contract: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("submit"), expectedOutput: z.string() }),
    z.strictObject({ kind: z.literal("assistantMessage"), maxChars: z.number() }),
  ]),
  allowedTools: z.array(z.string()).nullable(),
  timeoutMs: z.number().nullable(),
  statusDetail: z.string().nullable(),
});

export const effectStateSchema = z.enum(["fresh", "repeat", "observe", "applied", "rejected", "ambiguous"]);

export const toRunnerSchema = z.discriminatedUnion("type", [
  runnerLaunchSchema,
  judgeSchema,
  /** Resume state in pieces that fit a frame: results in any order, steps in order; then `go`. */
  z.strictObject({ type: z.literal("state.results"), items: z.array(nodeResultSchema) }),
  z.strictObject({
    type: z.literal("state.steps"),
    first: z.number().int().nonnegative(),
    steps: z.array(z.tuple([z.string(), nodeOutcomeSchema])),
  }),
  z.strictObject({ type: z.literal("state.mounts"), items: z.array(mountStateSchema) }),
  z.strictObject({ type: z.literal("go"), position: positionSchema, visits: z.record(z.string(), z.number().int()) }),
  /** Every step up to and including `through` is on disk. */
  z.strictObject({ type: z.literal("ack"), through: z.number().int() }),
  /** Steps from `from` on were refused: drop them and continue at `position`. */
  z.strictObject({
    type: z.literal("rewind"),
    from: z.number().int(),
    reason: z.string(),
    position: positionSchema,
    visits: z.record(z.string(), z.number().int()),
  }),
  z.strictObject({
    type: z.literal("effect.reserved"),
    messageId: z.number().int(),
    /** As an `ack`, where the reservation came with steps. */
    through: z.number().int().optional(),
    effectId: z.string(),
    key: z.string(),
    attempt: z.number().int(),
    state: effectStateSchema,
    result: jsonSchema.optional(),
    resultRef: contentRefSchema.optional(),
    error: errorRecordSchema.optional(),
  }),
  /** Answer to content.read: bytes of the content from `offset` on, in base64. */
  z.strictObject({
    type: z.literal("content.part"),
    messageId: z.number().int(),
    offset: z.number().int().nonnegative(),
    data: z.base64(),
  }),
  /** Answer to every other message with a `messageId`: `ok` false carries the error. */
  z.strictObject({
    type: z.literal("reply"),
    messageId: z.number().int(),
    ok: z.boolean(),
    result: jsonSchema.optional(),
    error: errorRecordSchema.optional(),
  }),
  /** A scope of settings has another version; attempts that begin from now on see it. */
  z.strictObject({ type: z.literal("settings.changed"), version: settingsVersionSchema }),
  /** Asks for `alive`, which only an event loop that goes round can send. */
  z.strictObject({ type: z.literal("ping") }),
  z.strictObject({ type: z.literal("claimLost") }),
  /** End now: the run was paused, cancelled, or the server stops. */
  z.strictObject({ type: z.literal("stop"), reason: z.string() }),
]);
export type ToRunner = z.infer<typeof toRunnerSchema>;

/** The effect that an action reserves. */
const effectAsked = {
  nodeId: z.string(),
  effectType: z.string().min(1).max(200),
  recovery: effectRecoverySchema,
  /** What the effect will do; the same key with another request is a conflict. */
  request: jsonSchema,
};

export const fromRunnerSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("ready"),
    /** Left out when its digest is that of the launch. */
    definition: definitionSnapshotSchema.optional(),
    definitionDigest: z.string(),
    /**
     * Every own file of the workflow that the load touched. At the first start the server reads and hashes them again, and
     * stores them. Left out when they are exactly those of the launch.
     */
    sources: z.array(sourceFileSchema).min(1).optional(),
    title: z.string().nullable(),
    /** What the input parser made of the launch's input; absent when it did not run. Stored, it is the run's input from now on. */
    input: jsonSchema.optional(),
  }),
  z.strictObject({ type: z.literal("loadFailed"), error: errorRecordSchema }),
  /** Answer to `judge`: null when the change may be stored, or the files can be loaded. */
  z.strictObject({ type: z.literal("judged"), error: errorRecordSchema.nullable() }),
  /** Nothing of the changed source was executed. */
  z.strictObject({ type: z.literal("park"), reason: z.enum(["workflowSourceChanged"]), error: errorRecordSchema }),
  z.strictObject({
    type: z.literal("advance"),
    first: z.number().int().nonnegative(),
    entries: z.array(stepEntrySchema).min(1).max(ADVANCE.entriesPerFrame),
    /** The first step was an action, and this is what is said of its effect: its result or error is that of the step. */
    settle: z
      .strictObject({ effectId: z.string(), attempt: z.number().int(), outcome: z.enum(["applied", "rejected"]) })
      .optional(),
    /** The node after the last step is an action: `effect.reserved` is the answer, unless the steps are taken back. */
    reserve: z.strictObject({ messageId: z.number().int(), ...effectAsked }).optional(),
  }),
  z.strictObject({
    type: z.literal("effect.reserve"),
    messageId: z.number().int(),
    step: z.number().int(),
    ...effectAsked,
  }),
  /** `notApplied`: looked, and it did not happen; a new attempt follows in the same reservation. */
  z.strictObject({
    type: z.literal("effect.settle"),
    messageId: z.number().int(),
    effectId: z.string(),
    attempt: z.number().int(),
    outcome: z.enum(["applied", "rejected", "notApplied", "ambiguous"]),
    result: jsonSchema.optional(),
    resultRef: contentRefSchema.optional(),
    error: errorRecordSchema.optional(),
  }),
  /** The authored request, as evaluated; the server normalizes and digests it again. Parks the run when accepted. */
  z.strictObject({
    type: z.literal("decision"),
    messageId: z.number().int(),
    step: z.number().int(),
    nodeId: z.string(),
    request: jsonSchema,
  }),
  /**
   * A process group that was started for the node, by its leader, which still waits for the go byte. Result: `{processId}`;
   * nothing runs before it has come.
   */
  z.strictObject({
    type: z.literal("process.register"),
    messageId: z.number().int(),
    kind: z.enum(["shell", "agent"]),
    step: z.number().int(),
    nodeId: z.string(),
    pid: z.number().int().positive(),
    startIdentity: z.string().min(1).max(200),
  }),
  /** Nothing of the group is left. */
  z.strictObject({
    type: z.literal("process.unregister"),
    messageId: z.number().int(),
    processId: z.string(),
    outcome: z.string().min(1).max(200),
  }),
  /** A checkpoint that waits for an answer. Parks the run when accepted. */
  z.strictObject({
    type: z.literal("checkpoint"),
    messageId: z.number().int(),
    step: z.number().int(),
    nodeId: z.string(),
    content: jsonSchema.optional(),
    contentRef: contentRefSchema.optional(),
    summary: z.string().nullable(),
  }),
  /**
   * An agent step for the session of the run. Result: `{state: "parked"}`, and the run waits; `candidate` with a result to judge; `done` with one
   * that was accepted before; `failed` or `timedOut` with the error.
   */
  z.strictObject({
    type: z.literal("interaction"),
    messageId: z.number().int(),
    step: z.number().int(),
    nodeId: z.string(),
    asked: sessionStepSchema,
  }),
  /** What the workflow makes of a candidate. After a refusal the run waits: result `{parked: true}`. */
  z.strictObject({
    type: z.literal("interaction.judged"),
    messageId: z.number().int(),
    step: z.number().int(),
    requestId: z.string(),
    key: z.string(),
    ok: z.boolean(),
    output: jsonSchema.optional(),
    outputRef: contentRefSchema.optional(),
    /** Of a refusal, for the agent. */
    message: z.string().max(8_192).optional(),
  }),
  /** A time to wait for. Parks the run when accepted. Result: `{wakeAt}`. */
  z.strictObject({
    type: z.literal("sleep"),
    messageId: z.number().int(),
    step: z.number().int(),
    nodeId: z.string(),
    wake: sleepWakeSchema,
    reason: z.string().nullable(),
  }),
  /** A passive message, stored once for each node and visit. Result: `{index}`. */
  z.strictObject({
    type: z.literal("notify"),
    messageId: z.number().int(),
    step: z.number().int(),
    nodeId: z.string(),
    kind: z.enum(["progress", "final"]),
    message: z.string().max(NOTIFY.messageChars),
    format: notificationFormatSchema.optional(),
    audience: z.string().nullable(),
    severity: severitySchema,
    groupKey: z.string().nullable(),
    silent: z.boolean(),
    /** An audience that is not configured is none. */
    ifConfigured: z.boolean(),
  }),
  /** Result: the receipt of the update. */
  z.strictObject({
    type: z.literal("update"),
    messageId: z.number().int(),
    step: z.number().int(),
    nodeId: z.string(),
    visit: z.number().int(),
    envelope: updateEnvelopeSchema,
    /** Makes a repeated one the same, such as the id of a tool call. */
    sourceId: z.string().min(1).max(200).optional(),
  }),
  /** The present version of a scope of settings, made with `initial` when it is new. Result: the version. */
  z.strictObject({
    type: z.literal("settings"),
    messageId: z.number().int(),
    mount: z.string(),
    invocation: z.number().int().positive(),
    initial: jsonSchema,
  }),
  /** The mounts in which the run begins, with their inputs. */
  z.strictObject({
    type: z.literal("enter"),
    messageId: z.number().int(),
    transitions: z.array(includeTransitionSchema),
  }),
  /** One part of a value that a later frame names. Parts come in order, one value after the other; there is no answer. */
  z.strictObject({
    type: z.literal("content.put"),
    sha256: contentRefSchema.shape.sha256,
    bytes: z.number().int().min(1).max(CONTENT.valueBytes),
    offset: z.number().int().nonnegative(),
    data: z.base64(),
  }),
  /** Bytes of a content that the server named in this conversation. */
  z.strictObject({
    type: z.literal("content.read"),
    messageId: z.number().int(),
    sha256: contentRefSchema.shape.sha256,
    offset: z.number().int().nonnegative(),
  }),
  /** The last step; ends the run. Sent only when every earlier step is durable. */
  z.strictObject({ type: z.literal("finish"), messageId: z.number().int(), entry: stepEntrySchema }),
  z.strictObject({ type: z.literal("alive") }),
  z.strictObject({ type: z.literal("exiting"), reason: z.string() }),
  /** Instead of `exiting`: the process is as it was before the launch and may take the next one of the same sources. */
  z.strictObject({ type: z.literal("released") }),
]);
export type FromRunner = z.infer<typeof fromRunnerSchema>;
