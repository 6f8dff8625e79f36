/**
 * An adapter begins to speak for a channel: from now on only its epoch may report. It is told where to go on with the updates.
 */
import { CHANNEL } from "../../contracts/limits.ts";
import { defineCommand } from "../command.ts";
import { abandonAttempts } from "../effects/gone.ts";
import type { Tx } from "../tx.ts";
import { ensureChannel } from "./rows.ts";

export interface OpenInput {
  readonly channelId: string;
  readonly kind: string;
  readonly profile: string;
  readonly adapterEpoch: string;
}

export interface OpenResult {
  readonly channelEpoch: number;
  /** Last update handled in this epoch; null = begin without an offset. */
  readonly cursor: number | null;
}

/** Attempts that an earlier adapter still had in its hands are settled by the rule of `effects.adapterGone`. */
export const open = defineCommand("channels.open", (tx: Tx, input: OpenInput): OpenResult => {
  const channel = ensureChannel(tx, input);
  if (channel.adapterEpoch !== null)
    abandonAttempts(tx, { channelId: input.channelId, adapterEpoch: channel.adapterEpoch });
  const silent = channel.cursorAt !== null && tx.now - channel.cursorAt > CHANNEL.epochSilenceMs;
  const channelEpoch = silent ? channel.channelEpoch + 1 : channel.channelEpoch;
  const cursor = silent ? null : channel.cursor;
  tx.run(
    "UPDATE channels SET adapter_epoch = ?, channel_epoch = ?, cursor = ?, cursor_at = ? WHERE channel_id = ?",
    input.adapterEpoch,
    channelEpoch,
    cursor,
    silent ? null : channel.cursorAt,
    input.channelId,
  );
  tx.event(channel.resourceNo, {
    type: "channel.opened",
    actor: { type: "channel", id: input.channelId },
    payload: { adapterEpoch: input.adapterEpoch, channelEpoch, cursor },
  });
  return { channelEpoch, cursor };
});
