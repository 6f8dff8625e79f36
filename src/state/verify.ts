/**
 * `state verify`: recomputes every event chain and every blob's hash. It proves that nothing was altered or lost, short of
 * a rewrite of chain and head together. Runs in pages and gives way between them.
 */
import { resourceId } from "../contracts/ids.ts";
import { PAGE } from "../contracts/limits.ts";
import { linkDigest } from "./chain.ts";
import { sha256Hex } from "./hash.ts";
import type { ReadDb } from "./reading.ts";

export interface VerifyReport {
  readonly resources: number;
  readonly events: number;
  readonly blobs: number;
  /** One sentence per finding, at most 100; empty when all is well. */
  readonly problems: readonly string[];
}

interface ResourceRow {
  no: number;
  type: string;
  key: string;
  count: number;
  head: Buffer | null;
}

interface EventRow {
  idx: number;
  revision: number;
  type: string;
  actorType: string;
  actorId: string;
  payload: string;
  payloadDigest: Buffer;
  digest: Buffer;
  at: number;
}

const MOST_PROBLEMS = 100;

/** Verifies what was committed when each resource was reached; later events do not disturb it. */
export async function verifyChains(db: ReadDb, breathe: () => Promise<void>): Promise<VerifyReport> {
  const problems: string[] = [];
  const add = (text: string): void => {
    if (problems.length < MOST_PROBLEMS) problems.push(text);
  };
  let resources = 0;
  let events = 0;
  let last = 0;
  for (;;) {
    const page = db.all<ResourceRow>(
      `SELECT resource_no AS no, resource_type AS type, aggregate_key AS key, event_count AS count, head_digest AS head
       FROM resources WHERE resource_no > ? ORDER BY resource_no LIMIT ${PAGE.rows}`,
      last,
    );
    for (const resource of page) {
      last = resource.no;
      resources += 1;
      events += await verifyResource(db, resource, add, breathe);
    }
    if (page.length < PAGE.rows) break;
    await breathe();
  }
  for (const row of db.all<{ no: number }>(
    `SELECT DISTINCT resource_no AS no FROM events WHERE resource_no NOT IN (SELECT resource_no FROM resources) LIMIT ${PAGE.rows}`,
  )) {
    add(`Events of resource ${row.no} have no resource.`);
  }
  return { resources, events, blobs: await verifyBlobs(db, add, breathe), problems };
}

async function verifyResource(
  db: ReadDb,
  resource: ResourceRow,
  add: (text: string) => void,
  breathe: () => Promise<void>,
): Promise<number> {
  const name = `${resource.type} ${resource.key}`;
  let previous: string | null = null;
  let index = 0;
  while (index < resource.count) {
    const page = db.all<EventRow>(
      `SELECT event_index AS idx, revision, event_type AS type, actor_type AS actorType, actor_id AS actorId, payload, payload_digest AS payloadDigest,
         digest, recorded_at AS at FROM events WHERE resource_no = ? AND event_index >= ? AND event_index < ? ORDER BY event_index LIMIT ${PAGE.rows}`,
      resource.no,
      index,
      resource.count,
    );
    if (page.length === 0) {
      add(`${name}: event ${index} of ${resource.count} is missing.`);
      return index;
    }
    for (const row of page) {
      if (row.idx !== index) {
        add(`${name}: event ${index} is missing.`);
        return index;
      }
      const problem = eventProblem(db, resource, row, previous);
      if (problem !== null) {
        add(`${name}: event ${index} ${problem}.`);
        return index;
      }
      previous = row.digest.toString("hex");
      index += 1;
    }
    await breathe();
  }
  const head = resource.head === null ? null : resource.head.toString("hex");
  if (head !== previous) add(`${name}: the head does not fit its last event.`);
  return index;
}

function eventProblem(db: ReadDb, resource: ResourceRow, row: EventRow, previous: string | null): string | null {
  let payload: string;
  try {
    payload = db.unpackText(row.payload);
  } catch {
    return "has lost its payload";
  }
  const payloadDigest = sha256Hex(payload);
  if (payloadDigest !== row.payloadDigest.toString("hex")) return "has another payload than was recorded";
  const digest = linkDigest({
    previous,
    resourceId: resourceId(resource.type, resource.key),
    index: row.idx,
    revision: row.revision,
    type: row.type,
    actor: { type: row.actorType, id: row.actorId },
    payloadDigest,
    recordedAt: row.at,
  });
  return digest === row.digest.toString("hex") ? null : "does not fit the chain";
}

async function verifyBlobs(db: ReadDb, add: (text: string) => void, breathe: () => Promise<void>): Promise<number> {
  let blobs = 0;
  let last: Buffer = Buffer.alloc(0);
  for (;;) {
    // A blob may be large, so a page is one row.
    const row = db.get<{ hash: Buffer; content: Buffer }>(
      "SELECT blob_hash AS hash, content FROM blobs WHERE blob_hash > ? ORDER BY blob_hash LIMIT 1",
      last,
    );
    if (row === undefined) return blobs;
    blobs += 1;
    last = row.hash;
    if (sha256Hex(row.content) !== row.hash.toString("hex"))
      add(`Content ${row.hash.toString("hex")} is not what its hash says.`);
    if (blobs % PAGE.rows === 0) await breathe();
  }
}
