// A card: what a channel is given to show for a decision, without its subject, and how the decision stands.
// Both travel in channel.v1 frames; words are chosen by the renderer from these values.

import { z } from "zod";

import { languageSchema } from "../language.ts";
import { isTimeZone } from "../time-zone.ts";
import { choiceStyleSchema } from "./choices.ts";
import { escalationCauseSchema } from "./policy.ts";
import { presentationSchema, type Presentation } from "./presentation.ts";
import { digestSchema, fingerprintOf, timeSchema, type DecisionRequest } from "./request.ts";
import { provenanceSchema, assuranceSchema } from "./answer.ts";

/** A zone that Intl knows. */
export const timeZoneSchema = z.string().refine(isTimeZone, { message: "is no time zone that this system knows" });

export const cardChoiceSchema = z.strictObject({
  id: z.string(),
  label: z.string(),
  /** Whether choosing it asks for a text. */
  hasInput: z.boolean(),
  style: choiceStyleSchema.optional(),
});
export type CardChoice = z.infer<typeof cardChoiceSchema>;

export const cardModelSchema = z.strictObject({
  schema: z.literal("holdpoint.decision-card.v1"),
  /** The decision's id; what an answer names together with the digest. */
  requestId: z.string().min(1),
  requestDigest: digestSchema,
  /** First six hex digits of the request digest. */
  fingerprint: z.string().regex(/^[0-9a-f]{6}$/),
  title: z.string(),
  presentation: presentationSchema,
  /** What it says is kept out of chats: the presentation is empty here, and a reader is told where it can be read. */
  withheld: z.literal(true).optional(),
  choices: z.array(cardChoiceSchema).min(1),
  workflowName: z.string(),
  runShortId: z.string(),
  createdAt: timeSchema,
  deadlineAt: timeSchema.optional(),
  /** Label of the choice that the timeout makes; absent = the decision expires. */
  defaultLabel: z.string().optional(),
  /** The configured zone, for times that a client cannot show in the reader's own. */
  timeZone: timeZoneSchema,
  /** Of the reader; left out: English. */
  language: languageSchema.optional(),
  /** Names of those who are asked. */
  audience: z.array(z.string()),
});
export type CardModel = z.infer<typeof cardModelSchema>;

export const cardStatusSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("pending") }),
  z.strictObject({
    kind: z.literal("chosen"),
    provenance: provenanceSchema.extract(["human", "timeout_policy"]),
    label: z.string(),
    /** The text that went with the choice. */
    text: z.string().optional(),
    /** Name of the person; absent for the timeout policy or when no name is known. */
    by: z.string().optional(),
    /** Channel with its profile. */
    channel: z.string().optional(),
    assurance: assuranceSchema.optional(),
    at: timeSchema,
    graceAfterOutage: z.boolean().optional(),
  }),
  z.strictObject({ kind: z.literal("expired"), at: timeSchema }),
  z.strictObject({
    kind: z.literal("cancelled"),
    at: timeSchema,
    by: z.string().optional(),
    /** Channel with its profile; `terminal` for this machine. */
    channel: z.string().optional(),
    reason: z.string().optional(),
  }),
  /** Another version of the question took its place; this one can no longer be answered. */
  z.strictObject({ kind: z.literal("superseded"), at: timeSchema }),
]);
export type CardStatus = z.infer<typeof cardStatusSchema>;

/** Things a reader must know about this copy of the card; once shown they stay. */
export const cardNotesSchema = z.strictObject({
  /** When an earlier copy was sent whose arrival is not known. */
  possibleRepeatOf: timeSchema.optional(),
  /** The service was away; taps from that time may be lost, so the card is offered again. */
  offeredAgain: z.strictObject({ from: timeSchema, to: timeSchema }).optional(),
  /** A newer copy of this card was posted below; both can be answered. */
  shownAgain: timeSchema.optional(),
  /** The workflow's files are not there as they were approved: an answer is kept, but the run waits. */
  sourceChanged: z.boolean().optional(),
  /** The whole text went as a document, and the card holds its beginning: what is known of that document. */
  document: z.enum(["sent", "unconfirmed", "failed"]).optional(),
  /** A second audience is asked too, since `at`. */
  escalated: z
    .strictObject({ audience: z.string(), names: z.array(z.string()), cause: escalationCauseSchema, at: timeSchema })
    .optional(),
});
export type CardNotes = z.infer<typeof cardNotesSchema>;

/** Where several persons must agree: how many, and who chose what so far. */
export const cardVotesSchema = z.strictObject({
  need: z.number().int().min(2),
  /** Labels of choices that one person decides alone. */
  veto: z.array(z.string()),
  /** Choices with votes, in the card's order. */
  cast: z.array(z.strictObject({ label: z.string(), by: z.array(z.string()).min(1) })),
  everybodyVoted: z.boolean().optional(),
});
export type CardVotes = z.infer<typeof cardVotesSchema>;

/** What became of the run after the decision. */
export const cardStorySchema = z.strictObject({
  outcome: z.enum(["completed", "failed", "timed_out", "cancelled", "parked"]),
  at: timeSchema,
  detail: z.string().optional(),
});
export type CardStory = z.infer<typeof cardStorySchema>;

export const cardStateSchema = z.strictObject({
  status: cardStatusSchema,
  notes: cardNotesSchema.optional(),
  votes: cardVotesSchema.optional(),
  story: cardStorySchema.optional(),
});
export type CardState = z.infer<typeof cardStateSchema>;

/**
 * A card and its state as a chat may have them: of a sensitive presentation nothing but the title and the choices, and nothing of a text
 * that answered it or that the run ended with.
 */
export function forChat(card: CardModel, state: CardState): { card: CardModel; state: CardState } {
  if (card.presentation.sensitive !== true) return { card, state };
  const presentation: Presentation = { ...card.presentation, summary: card.title, blocks: [] };
  return {
    card: { ...card, presentation, withheld: true },
    state: {
      ...state,
      status: withoutText(state.status),
      ...(state.story === undefined ? {} : { story: { outcome: state.story.outcome, at: state.story.at } }),
    },
  };
}

/** How a decision ended, without the text that went with it. */
export function withoutText(status: CardStatus): CardStatus {
  if (status.kind !== "chosen") return status;
  const { text: _text, ...rest } = status;
  return rest;
}

/** The card of a request. `timeZone` is the configured zone, `audience` the names of those asked. */
export function cardOf(
  request: DecisionRequest,
  facts: { readonly runShortId: string; readonly timeZone: string; readonly audience: readonly string[] },
): CardModel {
  const { defaultResponse, expiresAt } = request;
  const chosen = request.choices.find(({ id }) => id === defaultResponse?.choice);
  return {
    schema: "holdpoint.decision-card.v1",
    requestId: request.decisionId,
    requestDigest: request.requestDigest,
    fingerprint: fingerprintOf(request.requestDigest),
    title: request.title,
    presentation: request.presentation,
    choices: request.choices.map(({ id, label, input, style }) =>
      style === undefined
        ? { id, label, hasInput: input !== undefined }
        : { id, label, hasInput: input !== undefined, style },
    ),
    workflowName: request.workflowName,
    runShortId: facts.runShortId,
    createdAt: request.createdAt,
    ...(expiresAt === undefined ? {} : { deadlineAt: expiresAt }),
    ...(chosen === undefined ? {} : { defaultLabel: chosen.label }),
    timeZone: facts.timeZone,
    audience: [...facts.audience],
  };
}
