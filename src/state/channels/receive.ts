/**
 * One update of a channel, one command: its verdict is stored and the cursor stands on it, whatever it was. A repeated update gets the
 * stored verdict. The body of an update is never stored here; answers have their own rows.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { CHANNEL } from "../../contracts/limits.ts";
import type { Inbound } from "../../contracts/protocol/channel.ts";
import { defineCommand } from "../command.ts";
import { isPlaceAllowed, type Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import { markMoved } from "./places.ts";
import { receiveChoice } from "./receive-choice.ts";
import { receiveCommand } from "./receive-command.ts";
import { receiveTap } from "./receive-tap.ts";
import { receiveMessage } from "./receive-text.ts";
import { spokenBefore, type ChannelRow } from "./rows.ts";
import type { ServiceFacts } from "./service-facts.ts";

export interface ReceiveInput {
  readonly channelId: string;
  readonly adapterEpoch: string;
  readonly inbound: Inbound;
  readonly access: Access;
  /** For the answers that tell how the service is. */
  readonly service?: ServiceFacts;
}

export interface Handled {
  /** A word for what it came to: an answer's kind, or `silent`, `notOnList`, `unknownButton`, `promptText`, `help`, `ignored`, `duplicate`… */
  readonly verdict: string;
  /** What the tap is told; null = nothing. */
  readonly ack: ReplyCode | null;
  /** Epoch of a runner that lost its claim by this and must be stopped. */
  readonly stop?: string | null;
}

export interface ReceiveResult extends Handled {
  /** The update was handled before; nothing was done again. */
  readonly repeated: boolean;
}

/** Throws `channelUnknown`, or `protocolRejected` for an adapter that was replaced; otherwise every update gets a verdict. */
export const receive = defineCommand(
  "channels.receive",
  (tx: Tx, { access, adapterEpoch, channelId, inbound, service }: ReceiveInput): ReceiveResult => {
    const place = "place" in inbound ? inbound.place : null;
    const channel = spokenBefore(tx, { channelId, adapterEpoch }, { updateId: inbound.updateId, place });
    const { ack, digest, verdict } = channel;
    if (verdict !== null && digest === inbound.digest) {
      advance(tx, channel, inbound.updateId);
      return { verdict, ack: ack === null ? null : (tx.unpack(ack) as unknown as ReplyCode), repeated: true };
    }
    // The service counts anew: an id far below the cursor, or a known id with another content.
    const restarted =
      verdict !== null || (channel.cursor !== null && channel.cursor - inbound.updateId > CHANNEL.epochStepBack);
    if (restarted) channel.channelEpoch += 1;
    const handled = handle(tx, channel, inbound, access, service);
    tx.run(
      "INSERT INTO channel_inbox (channel_id, channel_epoch, update_id, kind, verdict, ack, digest, received_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      channelId,
      channel.channelEpoch,
      inbound.updateId,
      inbound.kind,
      handled.verdict,
      handled.ack === null ? null : tx.pack(handled.ack),
      inbound.digest,
      tx.now,
    );
    advance(tx, channel, inbound.updateId);
    return { ...handled, repeated: false };
  },
);

function handle(
  tx: Tx,
  channel: ChannelRow,
  inbound: Inbound,
  access: Access,
  service: ServiceFacts | undefined,
): Handled {
  switch (inbound.kind) {
    case "answer":
      return receiveTap(tx, channel, inbound, access);
    case "message":
      return receiveMessage(tx, channel, inbound, access);
    case "command":
      return receiveCommand(tx, channel, inbound, access, service);
    case "choice":
      return receiveChoice(tx, channel, inbound, access);
    case "moved":
      if (!isPlaceAllowed(access, channel.channelId, inbound.place)) return { verdict: "silent", ack: null };
      markMoved(tx, channel.channelId, inbound.place, inbound.movedTo);
      return { verdict: "moved", ack: null };
    case "other":
      return { verdict: "ignored", ack: null };
    case "unreadable":
      return { verdict: "unreadable", ack: null };
  }
}

/** The cursor is the last id handled, not a maximum. */
function advance(tx: Tx, channel: ChannelRow, updateId: number): void {
  tx.run(
    "UPDATE channels SET channel_epoch = ?, cursor = ?, cursor_at = ? WHERE channel_id = ?",
    channel.channelEpoch,
    updateId,
    tx.now,
    channel.channelId,
  );
}
