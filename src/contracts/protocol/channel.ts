/**
 * channel.v1: what a channel adapter child and the server say on their private pipe. The child is transport only:
 * it performs exactly the attempt it was told to, reports what it knows about it, and hands over what people send.
 *
 * An attempt: perform → dispatching(part) → permit → [call] → part(reference) → partStored → … → outcome → outcomeStored.
 * An edit or deletion has one `dispatching` mark (its part, or 1) and no `part`: the reference is known already.
 * Inbound: one update at a time; the next is handed over only after `verdict` of the one before.
 * `health` may come before `ready`, while the child cannot connect; `ready` comes once per child.
 */
import { z } from "zod";
import { alertModelSchema } from "../alert.ts";
import { cardModelSchema, cardStateSchema } from "../decision/card.ts";
import { ackCodeSchema, replyCodeSchema } from "../decision/codes.ts";
import { OPERATOR_COMMANDS, operatorButtonSchema, operatorUseSchema } from "../decision/operator-codes.ts";
import { WIRE } from "../limits.ts";
import { languageSchema } from "../language.ts";
import { notificationModelSchema } from "../notification.ts";
import { sessionMessageSchema } from "../pi/session-message.ts";
import { linkToAdapter, linkFromAdapter } from "./channel-link.ts";
import { errorRecordSchema } from "./shared.ts";

/** `<channel>/<place>[/<topic>]`, for example `telegram:default/-1001234/17`. */
export const destinationSchema = z.string().regex(/^[a-z]+(:[A-Za-z0-9][A-Za-z0-9._-]{0,199})?(\/[^/\s]{1,64}){0,2}$/);

/** A message as the server names it: `<place>:<message>`, for example `-1001234:815`. Opaque but for equality. */
export const referenceSchema = z
  .string()
  .min(3)
  .max(200)
  .regex(/^[^\s:]+:[^\s:]+$/);

export const channelLaunchSchema = z.strictObject({
  type: z.literal("launch"),
  schema: z.literal("holdpoint.channel-launch.v1"),
  protocol: z.literal(1),
  /** `telegram:<profile>` */
  channel: z.string(),
  adapterEpoch: z.string(),
  /** Transport settings of this kind of channel; the adapter validates them itself. */
  settings: z.record(z.string(), z.unknown()),
  /** Opened by the child itself (O_NOFOLLOW, owner, mode 0600); null for channels without a secret. */
  tokenFile: z.string().nullable(),
  /** Last update id handled in this channel epoch, or null to begin without offset. */
  cursor: z.number().int().nullable(),
  channelEpoch: z.number().int().positive(),
  /** Operator commands to register with the service; the child has the words for them. */
  commands: z.array(z.enum(OPERATOR_COMMANDS)),
  /** Places (chats) that may see those commands. */
  places: z.array(z.string()),
  /** Language of a place, where it has another than English. */
  languages: z.record(z.string(), languageSchema).optional(),
});
export type ChannelLaunch = z.infer<typeof channelLaunchSchema>;

/** What a message shows. The child renders it; words are in renderers/text. */
export const messageContentSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("card"),
    card: cardModelSchema,
    state: cardStateSchema,
    /** Choice id → unguessable token for its button; absent when the card is closed. */
    tokens: z.record(z.string(), z.string()).optional(),
  }),
  /** What a run tells, without a question. */
  z.strictObject({
    kind: z.literal("notification"),
    notification: notificationModelSchema,
    /** For times that a client cannot show in the reader's own zone. */
    timeZone: z.string(),
    /** Of the reader; left out: English. */
    language: languageSchema.optional(),
  }),
  /** What is wrong outside; see contracts/alert.ts. */
  z.strictObject({
    kind: z.literal("alert"),
    alert: alertModelSchema,
    /** For times that a client cannot show in the reader's own zone. */
    timeZone: z.string(),
    /** Of the reader; left out: English. */
    language: languageSchema.optional(),
    /** Button (`alertButtons`) → unguessable token; absent when there is none. */
    tokens: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({
    kind: z.literal("reply"),
    reply: replyCodeSchema,
    /** For times that a client cannot show in the reader's own zone. */
    timeZone: z.string(),
    /** Of the reader; left out: English. */
    language: languageSchema.optional(),
    /** Button id (`buttonIdsOf`, `buttonKey`) → unguessable token; absent when the message has no live buttons. */
    tokens: z.record(z.string(), z.string()).optional(),
    /** Set when this message asks for text: the service should open a reply to it. */
    prompt: z.strictObject({ placeholder: z.string().max(64) }).nullable(),
    /** Rows of buttons under an answer to an operator. */
    buttons: z.array(z.array(operatorButtonSchema)).optional(),
    /** What people did with its buttons. */
    used: z.array(operatorUseSchema).optional(),
  }),
  /** A message of a run for the session that it belongs to. */
  z.strictObject({ kind: z.literal("session"), message: sessionMessageSchema }),
]);
export type MessageContent = z.infer<typeof messageContentSchema>;

/**
 * - `post`: send the parts from `fromPart` (1-based) on, each as a new message.
 * - `edit`: bring the message `reference`, which shows part `part`, to this content.
 * - `delete`: remove the message `reference`.
 * - `document`: send the whole text of a card as a file, one new message.
 */
export const performSchema = z.strictObject({
  type: z.literal("perform"),
  effectId: z.string(),
  attempt: z.number().int().positive(),
  op: z.enum(["post", "edit", "delete", "document"]),
  destination: destinationSchema,
  content: messageContentSchema.nullable(),
  fromPart: z.number().int().positive(),
  part: z.number().int().positive().nullable(),
  reference: referenceSchema.nullable(),
  /** Post as a reply to this message, when it still exists. */
  replyTo: referenceSchema.nullable(),
  /** Readers should not be able to forward or save it, where the service knows such a thing. */
  protect: z.boolean().optional(),
  /** Without a sound. */
  silent: z.literal(true).optional(),
  /** Without marks on the text: the service refused them before. */
  plain: z.literal(true).optional(),
});
export type Perform = z.infer<typeof performSchema>;

const attemptFields = { effectId: z.string(), attempt: z.number().int().positive() } as const;

export const toAdapterSchema = z.discriminatedUnion("type", [
  channelLaunchSchema,
  performSchema,
  /** `dispatching` is on disk: the first byte may be sent. `go` false: do not send (cancelled meanwhile). */
  z.strictObject({ type: z.literal("permit"), ...attemptFields, part: z.number().int(), go: z.boolean() }),
  z.strictObject({ type: z.literal("partStored"), ...attemptFields, part: z.number().int() }),
  z.strictObject({ type: z.literal("outcomeStored"), ...attemptFields }),
  /** The verdict of an update is on disk and the cursor stands on it. `ack` is worded by the adapter for the tap. */
  z.strictObject({
    type: z.literal("verdict"),
    updateId: z.number().int(),
    verdict: z.string(),
    ack: ackCodeSchema.nullable(),
    /** Of the person who tapped. */
    timeZone: z.string(),
    language: languageSchema.optional(),
  }),
  /** Asks for a sign of life. */
  z.strictObject({ type: z.literal("ping") }),
  z.strictObject({ type: z.literal("stop") }),
  ...linkToAdapter,
]);
export type ToAdapter = z.infer<typeof toAdapterSchema>;

export const attemptOutcomeSchema = z.enum(["accepted", "rejected", "notSent", "ambiguous"]);
export type AttemptOutcome = z.infer<typeof attemptOutcomeSchema>;

/** Who did something on the channel; ids are strings of the service, never display names. */
const senderSchema = z.strictObject({ id: z.string(), name: z.string().max(200).nullable() });

/** Properties that make a message unfit as an answer. */
export const traitSchema = z.enum([
  "edited",
  "forwarded",
  "anonymous",
  "channelPost",
  "business",
  "guest",
  "bot",
  "inline",
  "inaccessible",
  /** A photo, sticker or the like, in reply to one of our messages; `text` is empty. */
  "noText",
]);
export type Trait = z.infer<typeof traitSchema>;

const inboundFields = {
  type: z.literal("inbound"),
  updateId: z.number().int().nonnegative(),
  /** SHA-256 hex over the raw update, so that a repeated id with other content is seen. */
  digest: z.string(),
  /** Milliseconds since the epoch by the service's clock, when known. */
  sentAt: z.number().int().nullable(),
} as const;

export const inboundSchema = z.discriminatedUnion("kind", [
  /** A pressed button. */
  z.strictObject({
    ...inboundFields,
    kind: z.literal("answer"),
    token: z.string().max(200),
    eventId: z.string(),
    place: z.string().nullable(),
    topic: z.string().nullable(),
    reference: referenceSchema.nullable(),
    sender: senderSchema,
    traits: z.array(traitSchema),
  }),
  /** Typed text; `replyTo` when it answers one of our messages. */
  z.strictObject({
    ...inboundFields,
    kind: z.literal("message"),
    text: z.string(),
    place: z.string(),
    topic: z.string().nullable(),
    reference: referenceSchema,
    replyTo: referenceSchema.nullable(),
    sender: senderSchema,
    traits: z.array(traitSchema),
    /** True in a one-to-one chat with the bot. */
    direct: z.boolean(),
  }),
  z.strictObject({
    ...inboundFields,
    kind: z.literal("command"),
    command: z.string().max(64),
    args: z.string().max(4_096),
    place: z.string(),
    topic: z.string().nullable(),
    reference: referenceSchema,
    sender: senderSchema,
    traits: z.array(traitSchema),
  }),
  /** An answer that names decision, version and choice by itself, where the service has no buttons. */
  z.strictObject({
    ...inboundFields,
    kind: z.literal("choice"),
    eventId: z.string().max(256),
    decisionId: z.string().max(256),
    requestDigest: z.string().max(WIRE.idBytes),
    choice: z.string().max(256),
    text: z.string().nullable(),
    /** The person named no decision: it must be certain which one is meant. */
    bare: z.boolean(),
    place: z.string(),
    sender: senderSchema,
  }),
  /** The service itself says that a place has another id now (a group became a supergroup). */
  z.strictObject({ ...inboundFields, kind: z.literal("moved"), place: z.string(), movedTo: z.string() }),
  z.strictObject({ ...inboundFields, kind: z.literal("other"), what: z.string().max(64) }),
  z.strictObject({ ...inboundFields, kind: z.literal("unreadable"), what: z.string().max(200) }),
]);
export type Inbound = z.infer<typeof inboundSchema>;

export const fromAdapterSchema = z.discriminatedUnion("type", [
  /** The service knows us: `account` is how people see the bot. */
  z.strictObject({ type: z.literal("ready"), account: z.strictObject({ id: z.string(), name: z.string() }) }),
  z.strictObject({
    type: z.literal("dispatching"),
    ...attemptFields,
    part: z.number().int().positive(),
    of: z.number().int().positive(),
  }),
  z.strictObject({
    type: z.literal("part"),
    ...attemptFields,
    part: z.number().int().positive(),
    of: z.number().int().positive(),
    reference: referenceSchema,
  }),
  z.strictObject({
    type: z.literal("outcome"),
    ...attemptFields,
    outcome: attemptOutcomeSchema,
    /** Of an edit: the message already showed this content. */
    error: errorRecordSchema.optional(),
    /** The service asked to wait (429). */
    retryAfterMs: z.number().int().nonnegative().optional(),
    /** The place moved (a group became a supergroup). */
    movedTo: z.string().optional(),
    /** The place can never be reached again (blocked, kicked, deactivated, not found). */
    placeDead: z.boolean().optional(),
    /** Of an edit or delete: the message is gone. */
    gone: z.boolean().optional(),
    /** The service refused the marks on the text, not the text. */
    unparsed: z.boolean().optional(),
  }),
  inboundSchema,
  /** The verdict on this tap came after its acknowledgement had to be given: it is to be told as a message. */
  z.strictObject({
    type: z.literal("late"),
    updateId: z.number().int().nonnegative(),
    place: z.string(),
    topic: z.string().nullable(),
    reference: referenceSchema.nullable(),
  }),
  z.strictObject({
    type: z.literal("health"),
    /** How the last poll ended. */
    ok: z.boolean(),
    /** With a good poll: how many it brought. With a bad one null, or in a second frame how many wait at the service. */
    pendingUpdates: z.number().int().nullable(),
    error: errorRecordSchema.nullable(),
  }),
  /** The sign of life. */
  z.strictObject({ type: z.literal("pong") }),
  z.strictObject({ type: z.literal("exiting"), reason: z.string() }),
  ...linkFromAdapter,
]);
export type FromAdapter = z.infer<typeof fromAdapterSchema>;
