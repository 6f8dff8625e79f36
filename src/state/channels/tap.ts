/** A tap as its handlers share it: the update, the token behind the button, and who tapped. */
import type { Inbound } from "../../contracts/protocol/channel.ts";
import type { AnswerSource } from "../decisions/access.ts";
import { wellFormed } from "../decisions/well-formed.ts";

export type Tap = Extract<Inbound, { kind: "answer" }>;

/** What a button's token stands for. */
export interface TokenRow {
  channelId: string;
  place: string;
  destination: string;
  effectNo: number;
  attempt: number;
  decisionNo: number | null;
  purpose: string;
  choice: string;
  /** The last part of that attempt; null when none was begun. */
  part: number | null;
  of: number | null;
  reference: string | null;
}

/** Who tapped, for the door and for the record. */
export function sourceOf(channelId: string, tap: Tap): AnswerSource {
  return {
    type: "channel",
    channel: channelId,
    actorId: tap.sender.id,
    personId: null,
    // Outside text goes into the event chain, which takes well-formed text only.
    actorName: tap.sender.name === null ? null : wellFormed(tap.sender.name),
    eventId: tap.eventId,
    updateId: tap.updateId,
    assurance: "remote",
  };
}
