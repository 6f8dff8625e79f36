// What people send and what becomes of it: answers, votes, the one resolution of a decision.

import { z } from "zod";

import { sha256Digest, type Sha256Digest } from "../canonical.ts";
import { digestSchema, timeSchema } from "./request.ts";

/** How far an answer can be trusted to come from its person: `remote` over a channel, `local` from this machine's user. */
export const assuranceSchema = z.enum(["remote", "local"]);
export type Assurance = z.infer<typeof assuranceSchema>;

/** Where an answer came from; set by the server, never by the sender. */
export const answerSourceSchema = z.strictObject({
  /** Channel with its profile: `telegram:ops`, `pi`, `terminal`. */
  channel: z.string().min(1),
  /** Stable id of the account on that channel. */
  actorId: z.string().min(1),
  /** Id of the tap, message or command on that channel. */
  eventId: z.string().min(1),
});
export type AnswerSource = z.infer<typeof answerSourceSchema>;

export const ANSWER_SCHEMA = "holdpoint.human-decision-answer-attempt.v1";

/** An answer as submitted. `input` is the text, normalized. */
export const answerSchema = z.strictObject({
  schema: z.literal(ANSWER_SCHEMA),
  decisionId: z.string().min(1),
  requestDigest: digestSchema,
  choice: z.string(),
  input: z.string().optional(),
  source: answerSourceSchema,
  assurance: assuranceSchema,
  idempotencyKey: z.string().min(1).max(256),
  receivedAt: timeSchema,
});
export type DecisionAnswer = z.infer<typeof answerSchema>;

/** A person's present vote on a decision; a later one replaces it until the resolution. */
export const voteSchema = z.strictObject({
  personId: z.string().min(1),
  choice: z.string(),
  input: z.string().optional(),
  votedAt: timeSchema,
});
export type DecisionVote = z.infer<typeof voteSchema>;

/**
 * What a submission came to. `won`: it made the resolution. `adopted`: the same person's same answer again.
 * `already_resolved`: another answer, the timeout or a cancellation was first. `recorded`: a vote that did not yet
 * decide. `rejected`: refused with a reason.
 */
export const submissionOutcomeSchema = z.enum(["won", "adopted", "already_resolved", "recorded", "rejected"]);
export type SubmissionOutcome = z.infer<typeof submissionOutcomeSchema>;

/** Who or what decided. The last two end the decision without a choice. */
export const provenanceSchema = z.enum(["human", "timeout_policy", "explicit_cancel", "expired_no_default"]);
export type Provenance = z.infer<typeof provenanceSchema>;

export const RESOLUTION_SCHEMA = "holdpoint.human-decision-resolution.v1";

/** The one resolution of a decision. `choice` is null exactly for `explicit_cancel` and `expired_no_default`. */
export const resolutionSchema = z
  .strictObject({
    schema: z.literal(RESOLUTION_SCHEMA),
    decisionId: z.string().min(1),
    requestDigest: digestSchema,
    provenance: provenanceSchema,
    choice: z.string().nullable(),
    input: z.string().optional(),
    answerDigest: digestSchema,
    /** Who answered or cancelled; null for the two that nobody made. */
    personId: z.string().nullable(),
    source: answerSourceSchema.nullable(),
    assurance: assuranceSchema.nullable(),
    /** The answer came after a deadline that fell inside an outage of ours. */
    graceAfterOutage: z.boolean(),
    resolvedAt: timeSchema,
  })
  .refine(({ choice, provenance }) => (choice === null) === !CHOOSES.has(provenance), {
    message: "has a choice exactly when it was answered or decided by the timeout policy",
  });
export type DecisionResolution = z.infer<typeof resolutionSchema>;

const CHOOSES: ReadonlySet<Provenance> = new Set(["human", "timeout_policy"]);

/** Digest of what was chosen for which request; safe to show where actor and channel are not. */
export function answerDigestOf(answer: {
  readonly decisionId: string;
  readonly requestDigest: Sha256Digest;
  readonly choice: string | null;
  readonly input?: string | undefined;
}): Sha256Digest {
  const { decisionId, requestDigest, choice, input } = answer;
  const bound = { decisionId, requestDigest, choice };
  return sha256Digest(input === undefined ? bound : { ...bound, input }, { trailingNewline: true });
}

/** What the run and a model may see of a resolution: no person, channel, event or key. */
export const receiptSchema = z.strictObject({
  schema: z.literal("holdpoint.human-decision-receipt.v1"),
  provenance: provenanceSchema,
  decisionId: z.string(),
  requestDigest: digestSchema,
  nodeId: z.string(),
  choice: z.string().nullable(),
  resolvedAt: timeSchema,
  answerDigest: digestSchema,
});
export type DecisionReceipt = z.infer<typeof receiptSchema>;

/** The redacted receipt of a resolution at a node. */
export function receiptOf(resolution: DecisionResolution, nodeId: string): DecisionReceipt {
  const { provenance, decisionId, requestDigest, choice, resolvedAt, answerDigest } = resolution;
  return {
    schema: "holdpoint.human-decision-receipt.v1",
    provenance,
    decisionId,
    requestDigest,
    nodeId,
    choice,
    resolvedAt,
    answerDigest,
  };
}
