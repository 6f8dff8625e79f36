/** What the server knows of itself and the database does not: passed to commands that tell people how the service is. */
import type { ChannelStatus } from "../../contracts/protocol/operations.ts";

export interface ServiceFacts {
  readonly startedAt: number;
  readonly channels: readonly Pick<ChannelStatus, "channel" | "state" | "lastPollAt">[];
}
