// Everything the service can tell a person who tapped, replied or typed: a code with values, chosen by the server.
// Words for them are in renderers/text, one file per language.

import { z } from "zod";

import { cardStatusSchema } from "./card.ts";
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
  /** The answer came in; the verdict was not there in time and follows by an edit of the card. */
  z.strictObject({ code: z.literal("received") }),
  z.strictObject({ code: z.literal("chosen"), label, graceAfterOutage: z.boolean().optional() }),
  z.strictObject({ code: z.literal("textAccepted"), label, text: z.string() }),
  /** Votes that agree so far: `have` of `need`. */
  z.strictObject({ code: z.literal("votesRecorded"), label, have: count, need: count }),
  /** A person was first; `byReader`: the one who is told. */
  z.strictObject({ code: z.literal("alreadyDecided"), label, by, byReader: z.boolean().optional(), at }),
  z.strictObject({ code: z.literal("notOnList") }),
  /** The audience takes answers over a channel only. */
  z.strictObject({ code: z.literal("remoteOnly") }),
  /** The audience does not name the server's own terminal. */
  z.strictObject({ code: z.literal("terminalOff") }),
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
  /** Asks for the text of a choice, as a message to reply to. */
  z.strictObject({ code: z.literal("promptText"), label, prompt: z.string(), minLength: count, maxLength: count }),
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
  /** Answer to the operator's `status`: what waits, what is queued, and the messages in doubt with their short ids. */
  z.strictObject({
    code: z.literal("channelStatus"),
    channel: z.string(),
    waiting: count,
    queued: count,
    doubtful: z.array(z.strictObject({ id: z.string(), title: z.string(), at })),
  }),
  /** Answer to the operator's `recover`: the message counts as arrived, or is sent again. */
  z.strictObject({
    code: z.literal("recovered"),
    id: z.string(),
    action: z.enum(["confirm", "retry"]),
    title: z.string(),
  }),
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

/** The acknowledgement of a tap: the same codes, worded as a toast of at most 200 characters. */
export const ackCodeSchema = replyCodeSchema;
export type AckCode = ReplyCode;
