/** The server's own record: epoch, heartbeat, release, recovery. It starts and stops no process. */
import type { ReadDb } from "../reading.ts";
import { claimEpoch, release } from "./epoch.ts";
import { heartbeat } from "./heartbeat.ts";
import { recover } from "./recover.ts";

export const commands = { claimEpoch, heartbeat, release, recover };

export interface ServerStateRow {
  readonly epoch: number;
  readonly serverId: string;
  readonly pid: number;
  readonly startIdentity: string;
  readonly startedAt: number;
  readonly heartbeatAt: number;
  readonly releasedAt: number | null;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** Null before the first server. */
  state: (): ServerStateRow | null =>
    db.get<ServerStateRow>(
      `SELECT epoch, server_id AS serverId, pid, start_identity AS startIdentity, started_at AS startedAt, heartbeat_at AS heartbeatAt,
         released_at AS releasedAt FROM server_state WHERE id = 1`,
    ) ?? null,
});
