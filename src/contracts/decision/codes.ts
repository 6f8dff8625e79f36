// Everything the service can tell a person who tapped, replied or typed: a code with values, chosen by the server.
// Words for them are in renderers/text, one file per language.

import { z } from "zod";

import { ALERT_REPLIES } from "./alert-codes.ts";
import { cardStatusSchema } from "./card.ts";
import { OPERATOR_REPLIES } from "./operator-codes.ts";
import { escalationCauseSchema } from "./policy.ts";
import { timeSchema } from "./request.ts";

const label = z.string();
const by = z.string().optional();
const at = timeSchema;
const count = z.number().int().nonnegative();

/**
 * Why a channel is deaf: another program takes its updates, the service cannot be reached or does not answer properly, it does not
 * accept the token, the adapter keeps ending.
 */
export const deafCauseSchema = z.enum(["conflict", "unreachable", "token", "adapter"]);
export type DeafCause = z.infer<typeof deafCauseSchema>;

export const replyCodeSchema = z.discriminatedUnion("code", [
  ...OPERATOR_REPLIES,
  ...ALERT_REPLIES,
  /** The answer came in; the verdict was not there in time and follows as a message. */
  z.strictObject({ code: z.literal("received") }),
  z.strictObject({ code: z.literal("chosen"), label, graceAfterOutage: z.boolean().optional() }),
  z.strictObject({ code: z.literal("textAccepted"), label, text: z.string() }),
  /** Votes that agree so far: `have` of `need`. */
  z.strictObject({
    code: z.literal("votesRecorded"),
    label,
    have: count,
    need: count,
    /** Nobody is left who could vote, and no choice has enough. */
    everybodyVoted: z.boolean().optional(),
  }),
  /** A person was first; `byReader`: the one who is told. */
  z.strictObject({ code: z.literal("alreadyDecided"), label, by, byReader: z.boolean().optional(), at }),
  z.strictObject({ code: z.literal("notOnList") }),
  /** The audience takes answers over a channel only. */
  z.strictObject({ code: z.literal("remoteOnly") }),
  /** The policy takes answers over these channels only. */
  z.strictObject({ code: z.literal("wrongChannel"), channels: z.array(z.string()) }),
  /** The audience does not name the server's own terminal. */
  z.strictObject({ code: z.literal("terminalOff") }),
  /** The audience does not name Pi. */
  z.strictObject({ code: z.literal("piOff") }),
  /** `/workflow answer` named no decision, and which one is meant is not certain enough. */
  z.strictObject({ code: z.literal("nameDecision"), fingerprint: z.string() }),
  /** The decision needs several persons, and this account belongs to no configured one. */
  z.strictObject({ code: z.literal("accountUnmapped") }),
  /** `newCard`: the present version was shown below. */
  z.strictObject({ code: z.literal("stale"), newCard: z.boolean() }),
  /** The deadline passed; `label` is the default that was used, if one was. */
  z.strictObject({ code: z.literal("expired"), at, label: label.optional() }),
  /** A button that is not ours, or of a card that is gone. */
  z.strictObject({ code: z.literal("unknownButton") }),
  z.strictObject({ code: z.literal("unknownDecision"), given: z.string() }),
  z.strictObject({ code: z.literal("unknownChoice"), given: z.string(), labels: z.array(label) }),
  /** Asks for the text of a choice, as a message to reply to; `again` when a reply could not be matched to its question. */
  z.strictObject({
    code: z.literal("promptText"),
    label,
    prompt: z.string(),
    minLength: count,
    maxLength: count,
    again: z.literal(true).optional(),
  }),
  /** The toast beside that message. */
  z.strictObject({ code: z.literal("promptSent"), label }),
  z.strictObject({ code: z.literal("textRequired"), label }),
  z.strictObject({ code: z.literal("textNotExpected"), label }),
  z.strictObject({ code: z.literal("textTooShort"), limit: count, seen: count }),
  z.strictObject({ code: z.literal("textTooLong"), limit: count, seen: count }),
  z.strictObject({ code: z.literal("textInvalid") }),
  /** Something that is no text (a photo, a sticker) came as a reply to a prompt. */
  z.strictObject({ code: z.literal("textOnly") }),
  /** A reply was edited after it had been taken. */
  z.strictObject({ code: z.literal("editIgnored") }),
  z.strictObject({ code: z.literal("anonymousReply") }),
  /** A message that answers nothing; `waiting` decisions are open for this person. */
  z.strictObject({ code: z.literal("help"), waiting: count }),
  z.strictObject({ code: z.literal("unknownCommand"), given: z.string(), nearest: z.string().optional() }),
  z.strictObject({ code: z.literal("cancelled"), by, at, reason: z.string().optional() }),
  z.strictObject({ code: z.literal("offline"), from: at, to: at }),
  /** An answer was kept, but the run waits because the workflow's files changed. */
  z.strictObject({ code: z.literal("sourceChanged"), run: z.string() }),
  /** How a decision ended, as a message of its own: its card is gone or can no longer be changed. */
  z.strictObject({ code: z.literal("outcome"), title: z.string(), fingerprint: z.string(), status: cardStatusSchema }),
  /** A decision still waits; `number` counts from 1, so that no two reminders of it read the same. */
  z.strictObject({
    code: z.literal("reminder"),
    title: z.string(),
    number: count,
    /** No further one follows. */
    last: z.boolean(),
    askedAt: at,
    deadlineAt: at.optional(),
    defaultLabel: label.optional(),
    /** Names of those who have not voted, where several must. */
    missing: z.array(z.string()),
    everybodyVoted: z.boolean().optional(),
  }),
  /** The first audience is told that a second one is asked too. */
  z.strictObject({
    code: z.literal("escalated"),
    audience: z.string(),
    names: z.array(z.string()),
    cause: escalationCauseSchema,
    askedAt: at,
    at,
  }),
  /** Answer to the operator's `status`: what waits, what is queued, and the messages in doubt with their short ids. */
  z.strictObject({
    code: z.literal("channelStatus"),
    channel: z.string(),
    waiting: count,
    queued: count,
    doubtful: z.array(z.strictObject({ id: z.string(), title: z.string(), at })),
  }),
  /** Answer to the operator's `recover`: the message counts as arrived, is sent again, or is given up. */
  z.strictObject({
    code: z.literal("recovered"),
    id: z.string(),
    action: z.enum(["confirm", "retry", "drop"]),
    title: z.string(),
  }),
  /** Asks in another chat whether a card or an alert arrived whose sending was not confirmed; with buttons. `person`: whose chat it is. */
  z.strictObject({
    code: z.literal("didArrive"),
    title: z.string(),
    what: z.enum(["alert", "alertList"]).optional(),
    person: z.string().optional(),
    chat: z.string(),
    at,
  }),
  /** What that question shows when it is over: what was said, or that it showed by itself. */
  z.strictObject({
    code: z.literal("arrivalSettled"),
    title: z.string(),
    what: z.enum(["alert", "alertList"]).optional(),
    how: z.enum(["arrived", "resent", "dropped", "over"]),
    by,
  }),
  /** The service did not hear its channel: everything that waits here, with a button for each card to be shown again. */
  z.strictObject({
    code: z.literal("offlineDigest"),
    from: at,
    to: at,
    cards: z.array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        fingerprint: z.string(),
        /** It does not wait any more; it has no button then. */
        over: z.literal(true).optional(),
      }),
    ),
    /** Cards beyond those listed. */
    more: count,
  }),
  /** The card that was asked for is sent again. */
  z.strictObject({ code: z.literal("shownAgain"), title: z.string() }),
  /** A channel of the audience hears nothing any more; told on another one. */
  z.strictObject({ code: z.literal("channelDeaf"), channel: z.string(), since: at, cause: deafCauseSchema }),
  /** It hears again; `since` to `until` it did not. */
  z.strictObject({
    code: z.literal("channelHears"),
    channel: z.string(),
    since: at,
    until: at,
    cause: deafCauseSchema,
  }),
  /** The set-up's test message: this chat is connected, and cards for this audience will appear in it. */
  z.strictObject({ code: z.literal("connected"), audience: z.string() }),
  /** `decided`: nothing is sent again for a decision that is over. */
  z.strictObject({
    code: z.literal("recoverRefused"),
    given: z.string(),
    reason: z.enum(["unknown", "severalFit", "notInDoubt", "decided", "usage"]),
  }),
]);
export type ReplyCode = z.infer<typeof replyCodeSchema>;

/** The buttons under a message that says this: their ids, in order. None for most. */
export function buttonIdsOf(code: ReplyCode): readonly string[] {
  switch (code.code) {
    case "didArrive":
      return ["yes", "resend", "drop"];
    case "offlineDigest":
      return code.cards.filter(({ over }) => over !== true).map(({ id }) => id);
    default:
      return [];
  }
}

/** The acknowledgement of a tap: the same codes, worded as a toast of at most 200 characters. */
export const ackCodeSchema = replyCodeSchema;
export type AckCode = ReplyCode;
