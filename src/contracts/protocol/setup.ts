/**
 * channel-setup.v1: what `holdpoint setup` and the set-up part of a channel say on their private pipe. The part is a child of the
 * command line, started by path. It alone opens the token file and talks to the service; it writes no file.
 *
 * connect → connected; pair → noticed … → paired; test → (moved →) tested. `refused` answers any of them and ends it.
 */
import { z } from "zod";
import { errorRecordSchema } from "./shared.ts";

export const toSetupSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("connect"),
    /** How messages name the channel, for example `telegram:default`. */
    channel: z.string(),
    tokenFile: z.string(),
    settings: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    type: z.literal("pair"),
    code: z.string(),
    /** True: what waits belongs to a channel that is in use and stays for its server; nothing is confirmed. */
    keepUpdates: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("test"),
    destination: z.string(),
    /** Whom the message speaks of. */
    audience: z.string(),
  }),
]);
export type ToSetup = z.infer<typeof toSetupSchema>;

const who = z.strictObject({ id: z.string(), name: z.string().nullable() });

/** Where the code was sent. `group` has no topics and gets another id when it becomes a `supergroup`. */
const placeSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(["private", "group", "supergroup"]),
  title: z.string().nullable(),
  topic: z.string().nullable(),
});
export type PairedPlace = z.infer<typeof placeSchema>;

/** Why something that came in does not pair. */
export const pairingNoticeSchema = z.enum([
  "wrongCode",
  "otherText",
  "forwarded",
  "edited",
  "anonymous",
  "bot",
  "channelPost",
  "otherRoute",
  "unreachable",
]);
export type PairingNotice = z.infer<typeof pairingNoticeSchema>;

export const fromSetupSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("connected"),
    /** `username` without "@". */
    account: z.strictObject({ id: z.string(), name: z.string(), username: z.string().nullable() }),
    /** False: in groups the bot sees commands and replies to itself only (privacy mode). */
    readsGroups: z.boolean(),
    joinsGroups: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("noticed"),
    notice: pairingNoticeSchema,
    sender: who.nullable(),
    place: z.string().nullable(),
    detail: z.string().max(500).nullable(),
  }),
  z.strictObject({ type: z.literal("paired"), place: placeSchema, sender: who }),
  /** The group became a supergroup: this is its id now. */
  z.strictObject({ type: z.literal("moved"), from: z.string(), to: z.string() }),
  z.strictObject({ type: z.literal("tested"), destination: z.string(), reference: z.string() }),
  z.strictObject({ type: z.literal("refused"), error: errorRecordSchema }),
]);
export type FromSetup = z.infer<typeof fromSetupSchema>;
