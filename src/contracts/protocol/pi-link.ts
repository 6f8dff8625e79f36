/**
 * pi-link.v1: what the extension in a Pi session and the Pi adapter child say on `pi.sock` (mode 0600). NDJSON frames, strictly validated
 * on both sides, at most 1 MiB each.
 *
 * hello → welcome | refused → view → branch (stored) → then deliveries, turns, answers, submissions, in any order.
 *
 * - The extension answers nothing and sends nothing of ours before it has got the first `view` and its first `branch` is `stored`.
 * - Every frame of the extension with a `callId` is answered by one `reply` with it. Ids are chosen by the extension and are unique in a connection.
 *   Repeating a submission, an update, an answer or a turn after a reconnect is safe: they are known by session and tool call, turn or entry id.
 * - `deliver` is answered by `delivered`, within `PI_LINK.deliverMs`. Everything between the check and `sendMessage` is synchronous.
 * - One extension instance speaks for a session. A newer one takes over; the older is told `superseded`, and its connection is closed.
 * - A branch is the whole tree of the session: a message of ours on an abandoned branch was delivered too.
 */
import { z } from "zod";
import { digestSchema } from "../decision/request.ts";
import { PI_CAPTURE, PI_LINK, WIRE } from "../limits.ts";
import { agentUpdateSchema } from "../pi/bridge.ts";
import { sessionIdSchema } from "../pi/session-id.ts";
import { sessionRecordSchema } from "../pi/session-record.ts";
import { deliverySchema } from "../pi/session-message.ts";
import { sessionViewSchema } from "../pi/session-view.ts";
import { errorRecordSchema, jsonSchema } from "./shared.ts";

export const PI_LINK_PROTOCOL = 1;

const id = z.string().min(1).max(WIRE.idBytes);
const callId = id;

/** How the session stands now. `idle` means settled: no run of the agent, no retry, no queue. */
const standing = {
  idle: z.boolean(),
  /** The person has sent text that Pi has not taken up yet. */
  pendingInput: z.boolean(),
  /** The session has a file, so that what is on its tree survives Pi. */
  durable: z.boolean(),
} as const;

/** What began a turn: a message of ours (its hidden id), or anything else. */
const causeSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("message"), messageId: id }),
  z.strictObject({ kind: z.literal("user") }),
  z.strictObject({ kind: z.literal("other") }),
]);

/** Frames that the adapter passes on to the server. */
const REPORTS = [
  /**
   * What of ours is on the session's tree: after each connection, after `session_tree`, and when `durable` becomes true. `full`: the list is
   * complete, else it adds to what was reported on this connection. Once more when nothing is kept back any longer.
   */
  z.strictObject({
    type: z.literal("branch"),
    callId,
    full: z.boolean(),
    seen: z.array(z.strictObject({ messageId: id, entryId: id, onBranch: z.boolean() })).max(PI_LINK.seen),
    leaf: id.nullable(),
    /** The turn that is under way, and how long the agent was at work in it so far, by the extension's clock. */
    turn: z.strictObject({ turnId: id, activeMs: z.int().nonnegative() }).nullable(),
    /** How many beginnings and ends of turns have no reply yet. Until there are none, what the server does not know of a turn proves nothing. */
    kept: z.int().nonnegative(),
    ...standing,
  }),
  /** How the session stands, when that changes: `agent_start`, `agent_settled`, text sent by the person. No reply. */
  z.strictObject({ type: z.literal("standing"), ...standing }),
  /** The first `agent_start` after idle. `turnId` is new for each. */
  z.strictObject({ type: z.literal("turn.start"), callId, turnId: id, cause: causeSchema }),
  /** `agent_settled` of it. `text`: the text of the last assistant message, when the step's contract asks for it. */
  z.strictObject({
    type: z.literal("turn.end"),
    callId,
    turnId: id,
    stop: z.enum(["completed", "aborted", "error"]),
    error: z.string().max(2_000).nullable(),
    responseEntryId: id.nullable(),
    /** How long the agent was at work, by the extension's clock, which goes on while the server is away. */
    activeMs: z.int().nonnegative(),
    text: z.string().max(PI_LINK.textChars).nullable(),
  }),
  z.strictObject({ type: z.literal("submit"), callId, toolCallId: id, requestId: id, output: jsonSchema }),
  z.strictObject({ type: z.literal("update"), callId, toolCallId: id, requestId: id, update: agentUpdateSchema }),
  /** The person does not want to see the ended run any longer. */
  z.strictObject({ type: z.literal("clear"), callId }),
  /**
   * What happened in the session during a run, in order. Lost records never delay or fail anything else. A reply that is not `ok` ends the recording of
   * this run.
   */
  z.strictObject({
    type: z.literal("capture"),
    callId,
    runId: id,
    /** As in hello: numbers belong to it. */
    instance: id,
    /** Number of the first record in this instance's capture of the run, from 0. */
    first: z.number().int().nonnegative(),
    records: z.array(sessionRecordSchema).min(1).max(PI_LINK.captureRecords),
    /** With the first: the newest entries that were there when it began, oldest first. */
    before: z.array(id).max(PI_CAPTURE.before).optional(),
    /** How many were dropped before these because the queue was full. */
    dropped: z.number().int().nonnegative(),
  }),
] as const;

export const linkReportSchema = z.discriminatedUnion("type", REPORTS);
export type LinkReport = z.infer<typeof linkReportSchema>;

export const fromExtensionSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("hello"),
    protocol: z.number().int(),
    product: z.string().max(200),
    installPath: z.string().max(4_096),
    piVersion: z.string().max(64),
    sessionId: sessionIdSchema,
    /** New for each generation of the extension (start, reload, new, fork). */
    instance: id,
    pid: z.number().int().positive(),
    cwd: z.string().max(4_096),
    mode: z.enum(["tui", "rpc", "json", "print"]),
  }),
  /**
   * `sent`: it is on the tree now. `present`: it was there. `busy`: not idle, or text of the person waits; it is offered again after the next
   * `standing`. `failed`: Pi refused.
   */
  z.strictObject({
    type: z.literal("delivered"),
    messageId: id,
    result: z.enum(["sent", "present", "busy", "failed"]),
    entryId: id.nullable(),
    durable: z.boolean(),
    error: z.string().max(2_000).nullable(),
  }),
  /**
   * A person's answer. `input` is where Pi says that the text came from (its `input` event), or `dialog`; the adapter refuses what is neither
   * typed nor allowed. `bare`: the command named no decision.
   */
  z.strictObject({
    type: z.literal("answer"),
    callId,
    /** Of the input event or the dialog; makes a repeated answer the same. */
    eventId: id,
    decisionId: id,
    requestDigest: digestSchema,
    choice: id,
    text: z.string().max(PI_LINK.textChars).nullable(),
    input: z.enum(["interactive", "rpc", "extension", "dialog"]),
    bare: z.boolean(),
  }),
  z.strictObject({ type: z.literal("bye"), reason: z.string().max(64) }),
  ...REPORTS,
]);
export type FromExtension = z.infer<typeof fromExtensionSchema>;

export const toExtensionSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("welcome"),
    protocol: z.number().int(),
    product: z.string(),
    installPath: z.string(),
    /** The coordinator epoch of this connection: larger for each that speaks for the session. */
    epoch: z.number().int(),
  }),
  /** Before `welcome`: another protocol, a session id that cannot be used. The connection is closed after it; do not reconnect. */
  z.strictObject({ type: z.literal("refused"), error: errorRecordSchema }),
  /** Another instance speaks for this session now. The connection is closed after it; do not reconnect by yourself. */
  z.strictObject({ type: z.literal("superseded"), byPid: z.number().int() }),
  z.strictObject({ type: z.literal("view"), view: sessionViewSchema }),
  z.strictObject({ type: z.literal("deliver"), delivery: deliverySchema }),
  /**
   * Answer to a `callId`. `text` is for whoever asked (the person, or the model of a tool call). `end`: of `submit`, the turn should end now.
   * `code` of an answer: `won`, `recorded`, `adopted`, `alreadyResolved`, `rejected`.
   */
  z.strictObject({
    type: z.literal("reply"),
    callId,
    ok: z.boolean(),
    text: z.string(),
    code: z.string().nullable(),
    end: z.boolean(),
    error: errorRecordSchema.nullable(),
  }),
]);
export type ToExtension = z.infer<typeof toExtensionSchema>;
