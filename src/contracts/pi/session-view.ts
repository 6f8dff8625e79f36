/**
 * `holdpoint.session-view.v1`: what the extension in a Pi session needs to know of the server, whole at each change. It is computed from
 * domain rows; nobody derives a status from it.
 */
import { z } from "zod";
import { cardModelSchema, cardStateSchema } from "../decision/card.ts";
import { followUpSummarySchema, progressViewSchema, runSummarySchema } from "../protocol/operations.ts";
import { stepContractSchema } from "./session-message.ts";

const time = z.number().int();

/** A decision of this session: pending ones first, then those that ended lately. */
export const sessionDecisionSchema = z.strictObject({
  /** Hidden id of its card in this session; null when the session is not among its destinations. */
  messageId: z.string().nullable(),
  decisionId: z.string(),
  fingerprint: z.string(),
  requestDigest: z.string(),
  /** An answer from Pi is accepted by its audience; else `refusedBecause` says why in words for a person. */
  answerable: z.boolean(),
  refusedBecause: z.string().nullable(),
  /** When the card was seen in the session (the server's clock). */
  shownAt: time.nullable(),
  card: cardModelSchema,
  state: cardStateSchema,
});
export type SessionDecision = z.infer<typeof sessionDecisionSchema>;

/** The step that waits for this session's agent. */
export const sessionRequestSchema = z.strictObject({
  requestId: z.string(),
  runId: z.string(),
  nodeId: z.string(),
  contract: stepContractSchema,
  /** Tools that may be called besides `workflow` in turns of this step; null: all. */
  allowedTools: z.array(z.string()).nullable(),
  statusDetail: z.string().nullable(),
  /** `validating`: a result is being judged; nothing else may be submitted until its verdict. */
  status: z.enum(["pending", "validating"]),
  paused: z.boolean(),
  reminders: z.number().int(),
  timeoutMs: z.number().int().nullable(),
  /** Milliseconds of the turns that have ended. */
  activeMs: z.number().int(),
});
export type SessionRequest = z.infer<typeof sessionRequestSchema>;

export const sessionNodeSchema = z.strictObject({
  nodeId: z.string(),
  type: z.string(),
  status: z.enum(["waiting", "running", "done", "failed", "pending"]),
  visits: z.number().int(),
});

export const sessionViewSchema = z.strictObject({
  schema: z.literal("holdpoint.session-view.v1"),
  sessionId: z.string(),
  /** Rises with each view of this connection. */
  number: z.number().int(),
  /** The server's clock when it was made. */
  at: time,
  /** The run of this session: the one that is under way, or the last that ended until it is cleared or 60 s after its message's turn. */
  run: z
    .strictObject({
      summary: runSummarySchema,
      paused: z.boolean(),
      /** It begins when the turn that started it has ended. */
      reserved: z.boolean(),
      progress: z.array(progressViewSchema),
      /** When it next looks at something by itself, from its update `next-check`. */
      nextCheckAt: time.nullable(),
      followUps: z.array(followUpSummarySchema),
      /** Part of its nodes, in the order of the definition, around the current one. */
      nodes: z.array(sessionNodeSchema),
      firstNode: z.number().int(),
      nodesTotal: z.number().int(),
    })
    .nullable(),
  request: sessionRequestSchema.nullable(),
  decisions: z.array(sessionDecisionSchema),
  /** A turn that the server believes to be open: report its end, or that it is lost. */
  openTurn: z
    .strictObject({
      turnId: z.string(),
      messageId: z.string().nullable(),
      startedAt: time,
      /** What it works for is over (out of time, cancelled): it should be stopped. */
      over: z.boolean(),
    })
    .nullable(),
  /** Messages that are stored for this session and not proved to be in it. */
  waiting: z.number().int(),
});
export type SessionView = z.infer<typeof sessionViewSchema>;
