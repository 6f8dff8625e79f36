/**
 * The event chain of a resource: each event's digest covers the digest before it, so that nothing can be altered or
 * removed without rewriting the chain and its head in `resources`. This proves no more than that.
 */
import { resourceId } from "../contracts/ids.ts";
import { sha256Hex } from "./hash.ts";
import type { Statements } from "./statements.ts";
import { packText } from "./values.ts";

/** Who caused an event: `server`, `runner`, `control`, `channel`, `human`, `policy`, with an id of that kind. */
export interface Actor {
  readonly type: string;
  readonly id: string;
}

/** The facts that an event's digest covers; `previous` and `payloadDigest` are hex. */
export interface Link {
  readonly previous: string | null;
  readonly resourceId: string;
  readonly index: number;
  readonly revision: number;
  readonly type: string;
  readonly actor: Actor;
  readonly payloadDigest: string;
  readonly recordedAt: number;
}

/**
 * Digest of an event, hex: SHA-256 of the canonical JSON of its link. The text is written by hand, because this runs once
 * per step of a workflow; a test compares it with `canonicalJson`.
 */
export function linkDigest(link: Link): string {
  return sha256Hex(linkText(link));
}

/** The canonical JSON that is hashed. */
export function linkText(link: Link): string {
  const previous = link.previous === null ? "null" : `"${link.previous}"`;
  return (
    `{"actor":{"id":${JSON.stringify(link.actor.id)},"type":${JSON.stringify(link.actor.type)}},"index":${link.index}` +
    `,"payloadDigest":"${link.payloadDigest}","previous":${previous},"recordedAt":${link.recordedAt}` +
    `,"resourceId":${JSON.stringify(link.resourceId)},"revision":${link.revision},"type":${JSON.stringify(link.type)}}`
  );
}

/** The head of one resource while a command works on it. */
export interface Head {
  readonly resourceNo: number;
  readonly resourceId: string;
  revision: number;
  bumped: boolean;
  count: number;
  /** Hex digest of the last event. */
  digest: string | null;
}

/** A head as it is stored. */
export interface HeadRow {
  readonly headRevision: number;
  readonly headCount: number;
  /** Hex, empty without an event: as text, because each buffer that the binding makes costs more than the whole row. */
  readonly headDigest: string;
}

/** The columns of a `HeadRow`, for a SELECT that joins `resources h`. */
export const HEAD_COLUMNS =
  "h.revision AS headRevision, h.event_count AS headCount, lower(hex(h.head_digest)) AS headDigest";

const HEAD = `SELECT h.resource_type AS type, h.aggregate_key AS "key", ${HEAD_COLUMNS} FROM resources h WHERE h.resource_no = ?`;

export function loadHead(db: Statements, resourceNo: number): Head {
  const row = db.get<HeadRow & { type: string; key: string }>(HEAD, resourceNo);
  if (row === undefined) throw new Error(`resource ${resourceNo} does not exist`);
  return headOf(resourceNo, row.type, row.key, row);
}

/** The head of a resource whose row was read with another. */
export function headOf(resourceNo: number, type: string, key: string, row: HeadRow): Head {
  const { headCount, headDigest, headRevision } = row;
  return {
    resourceNo,
    resourceId: resourceId(type, key),
    revision: headRevision,
    bumped: false,
    count: headCount,
    digest: headDigest === "" ? null : headDigest,
  };
}

/** Appends one event under the head's present revision. `payload` is canonical JSON. */
export function appendEvent(
  db: Statements,
  head: Head,
  type: string,
  actor: Actor,
  payload: string,
  now: number,
): void {
  const payloadDigest = sha256Hex(payload);
  const index = head.count;
  const digest = linkDigest({
    previous: head.digest,
    resourceId: head.resourceId,
    index,
    revision: head.revision,
    type,
    actor,
    payloadDigest,
    recordedAt: now,
  });
  db.run(
    "INSERT INTO events (resource_no, event_index, revision, event_type, actor_type, actor_id, payload, payload_digest, digest, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, unhex(?), unhex(?), ?)",
    head.resourceNo,
    index,
    head.revision,
    type,
    actor.type,
    actor.id,
    packText(db, payload, now),
    payloadDigest,
    digest,
    now,
  );
  head.count = index + 1;
  head.digest = digest;
}

/** Writes a head back; done once per resource before the command's savepoint is released. */
export function saveHead(db: Statements, head: Head): void {
  db.run(
    "UPDATE resources SET revision = ?, event_count = ?, head_digest = unhex(?) WHERE resource_no = ?",
    head.revision,
    head.count,
    head.digest,
    head.resourceNo,
  );
}
