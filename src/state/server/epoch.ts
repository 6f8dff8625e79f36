/** The server's epoch: who owns the database. A higher epoch fences everything that an earlier server gave out. */
import { HoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";
import { stopClock } from "../sessions/turns.ts";
import type { Tx } from "../tx.ts";

interface EpochRow {
  readonly epoch: number;
  readonly pid: number | null;
  readonly startIdentity: string | null;
  readonly releasedAt: number | null;
  readonly heartbeatAt: number | null;
}

function epochRow(tx: Tx): EpochRow | undefined {
  return tx.get<EpochRow>(
    "SELECT epoch, pid, start_identity AS startIdentity, released_at AS releasedAt, heartbeat_at AS heartbeatAt FROM server_state WHERE id = 1",
  );
}

export interface ClaimEpoch {
  readonly serverId: string;
  readonly pid: number;
  readonly startIdentity: string;
  /** Which product runs, and from where. */
  readonly install?: string;
}

export interface EpochClaimed {
  readonly epoch: number;
  /** The server before this one; `released` when it ended in order, `heardAt` the last time it is known to have been at work. */
  readonly previous: {
    readonly epoch: number;
    readonly pid: number | null;
    readonly startIdentity: string | null;
    readonly released: boolean;
    readonly heardAt: number | null;
    /** As its own claim said; null when it did not. */
    readonly install: string | null;
  } | null;
}

/** Takes the database: epoch + 1. The single-server lock is the caller's; this is the fence behind it. */
export const claimEpoch = defineCommand("server.claimEpoch", (tx, input: ClaimEpoch): EpochClaimed => {
  const before = epochRow(tx);
  const epoch = (before?.epoch ?? 0) + 1;
  tx.run(
    `INSERT INTO server_state (id, epoch, server_id, pid, start_identity, started_at, heartbeat_at, released_at) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?5, NULL)
     ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, server_id = excluded.server_id, pid = excluded.pid,
       start_identity = excluded.start_identity, started_at = excluded.started_at, heartbeat_at = excluded.heartbeat_at, released_at = NULL`,
    epoch,
    input.serverId,
    input.pid,
    input.startIdentity,
    tx.now,
  );
  // What sessions did meanwhile they tell when they return.
  stopClock(tx, null);
  const resource = tx.resource("server", "server");
  const install = before === undefined ? null : lastInstall(tx, resource);
  tx.event(resource, {
    type: "server.started",
    actor: { type: "server", id: input.serverId },
    payload: {
      epoch,
      pid: input.pid,
      previousReleased: before === undefined ? null : before.releasedAt !== null,
      ...(input.install === undefined ? {} : { install: input.install }),
    },
  });
  const previous =
    before === undefined
      ? null
      : {
          epoch: before.epoch,
          pid: before.pid,
          startIdentity: before.startIdentity,
          released: before.releasedAt !== null,
          heardAt: before.releasedAt ?? before.heartbeatAt,
          install,
        };
  return { epoch, previous };
});

function lastInstall(tx: Tx, resourceNo: number): string | null {
  const row = tx.get<{ payload: string }>(
    "SELECT payload FROM events WHERE resource_no = ? AND event_type = 'server.started' ORDER BY event_index DESC LIMIT 1",
    resourceNo,
  );
  const { install } = (row === undefined ? {} : tx.unpack(row.payload)) as { install?: string };
  return install ?? null;
}

/** An orderly end; the next server knows that nothing of this one is left. */
export const release = defineCommand("server.release", (tx, input: { epoch: number }): null => {
  checkEpoch(tx, input.epoch);
  tx.run("UPDATE server_state SET released_at = ? WHERE id = 1", tx.now);
  tx.event(tx.resource("server", "server"), {
    type: "server.stopped",
    actor: { type: "server", id: "server" },
    payload: { epoch: input.epoch },
  });
  return null;
});

/** Throws `claimLost` unless `epoch` is the present one. */
export function checkEpoch(tx: Tx, epoch: number): void {
  if (epochRow(tx)?.epoch !== epoch)
    throw new HoldpointError("claimLost", `Server epoch ${epoch} is no longer the present one.`);
}
