/**
 * Which message goes out next on a channel. In one place (chat) one message at a time is on its way; posts keep their order per
 * destination; edits overtake posts that wait for their next attempt; a place that the service wants left alone is left alone.
 */
import { PI } from "../../contracts/config.ts";
import { readerOf, type ReadAt } from "../../contracts/reader.ts";
import type { Perform } from "../../contracts/protocol/channel.ts";
import { deadError, isReachable } from "../channels/places.ts";
import { isPaced, pacedUntil } from "../channels/pace.ts";
import { spokenFor } from "../channels/rows.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import { HoldpointError, type ErrorKind, type ErrorRecord } from "../../contracts/errors.ts";
import type { Tx } from "../tx.ts";
import { audiencesOf, forReader, frameOf } from "./content.ts";
import { partsOf, progressOf } from "./part-rows.ts";
import { refuseAll } from "./refuse.ts";
import { EFFECT_COLUMNS, recordAttempt, type EffectRow } from "./rows.ts";
import { tell } from "./tell.ts";

export interface NextAttemptInput {
  readonly channelId: string;
  readonly adapterEpoch: string;
  /** The live configuration; with it, nothing goes to a place that is not allowed any more: its effects are rejected. */
  readonly access?: Access | null;
  /** The configured zone; cards show times in it where a client cannot show the reader's own. Default: that of the request. */
  readonly timeZone?: string | undefined;
}

export interface NextAttempt {
  /** What to send; null when nothing may go out now. */
  readonly perform: Perform | null;
  /** A message was refused because of its chat: what waits for a decision's cards may be due at once. */
  readonly refused: boolean;
}

/** Records the next attempt of the oldest message that may go out now and says what to send. */
export const nextAttempt = defineCommand("effects.nextAttempt", (tx: Tx, input: NextAttemptInput): NextAttempt => {
  const { access = null, adapterEpoch, channelId } = input;
  spokenFor(tx, channelId, adapterEpoch);
  followMoves(tx, channelId);
  const { effect, refused } = oldestOf(tx, channelId, access);
  if (effect === undefined) return { perform: null, refused };
  const { firstMissing, possiblySentAt } = progressOf(effect.attemptCount === 0 ? [] : partsOf(tx, effect.effectNo));
  const fromPart = effect.purpose === "settlement" ? 1 : firstMissing;
  const attempt = recordAttempt(tx, effect, adapterEpoch, fromPart, possiblySentAt);
  tell(tx, effect, "recorded", attempt, {
    fromPart,
    ...(possiblySentAt === null ? {} : { possibleRepeatOf: possiblySentAt }),
  });
  const perform: Perform = {
    type: "perform",
    effectId: effect.effectId,
    attempt,
    destination: effect.destination as string,
    fromPart,
    ...(access !== null && isProtected(tx, effect, access) ? { protect: true } : {}),
    ...(effect.plain === 1 ? { plain: true as const } : {}),
    ...forReader(
      frameOf(tx, effect, attempt, { repeatOf: possiblySentAt, timeZone: input.timeZone }),
      access === null ? undefined : readerOf(access, readAt(tx, effect)),
    ),
  };
  return { perform, refused };
});

/** Where a message is read, and by whom. */
function readAt(tx: Tx, effect: EffectRow): ReadAt {
  return {
    channelId: effect.channelId as string,
    place: effect.place as string,
    topic: effect.destination?.split("/")[2] ?? null,
    audiences: () => audiencesOf(tx, effect),
  };
}

/** Whether an audience of a post wants it protected; by the live configuration. An edit keeps what its message has. */
function isProtected(tx: Tx, effect: EffectRow, { audiences }: Access): boolean {
  // Most installations have none: nothing more is read then.
  if (effect.purpose === "settlement" || !Object.values(audiences).some((one) => one.protectContent === true))
    return false;
  return audiencesOf(tx, effect).some(
    (name) => Object.hasOwn(audiences, name) && audiences[name]?.protectContent === true,
  );
}

interface Place {
  readonly place: string;
  /** No effect of this place that may go out is older than this one. */
  readonly from: number;
}

/** The oldest effect that may go out now. Places are looked at by what they may hold, so that mostly one is. */
function oldestOf(tx: Tx, channelId: string, access: Access | null): { effect?: EffectRow; refused: boolean } {
  let best: EffectRow | undefined;
  let refused = false;
  for (const { from, place } of openPlaces(tx, channelId)) {
    if (best !== undefined && best.effectNo < from) break;
    const error =
      access === null ? undefined : (closedTo(tx, channelId, place, access) ?? deadError(tx, channelId, place, tx.now));
    if (error !== undefined) {
      refuseAll(tx, channelId, place, error);
      refused = true;
      continue;
    }
    for (const effect of inPace(tx, channelId, place))
      if (best === undefined || effect.effectNo < best.effectNo) best = effect;
  }
  return best === undefined ? { refused } : { effect: best, refused };
}

const DUE = (settlement: 0 | 1): string =>
  `(SELECT d.effect_no FROM effects d INDEXED BY effects_queue WHERE d.status = 'pending' AND d.channel_id = ?1 AND d.place = p.place
     AND (d.purpose = 'settlement') = ${settlement} AND d.next_attempt_at <= ?2 ORDER BY d.effect_no LIMIT 1)`;
const NEXT_PLACE =
  "SELECT min(n.place) FROM effects n INDEXED BY effects_queue WHERE n.status = 'pending' AND n.channel_id = ?1";
const OPEN_PLACES = `WITH RECURSIVE p (place) AS (
    ${NEXT_PLACE} UNION ALL SELECT (${NEXT_PLACE} AND n.place > p.place) FROM p WHERE p.place IS NOT NULL),
  due AS MATERIALIZED (SELECT p.place, min(coalesce(${DUE(1)}, ${Number.MAX_SAFE_INTEGER}), coalesce(${DUE(0)}, ${Number.MAX_SAFE_INTEGER})) AS "from"
    FROM p WHERE p.place IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM effects a INDEXED BY effects_applying WHERE a.status = 'applying' AND a.channel_id = ?1 AND a.place = p.place)
      AND coalesce((SELECT held_until FROM channel_places h WHERE h.channel_id = ?1 AND h.place = p.place), 0) <= ?2)
  SELECT place, "from" FROM due WHERE "from" < ${Number.MAX_SAFE_INTEGER} ORDER BY "from"`;

/** Places with something due in which nothing is on its way and which are not held, by a skip scan over the index. */
function openPlaces(tx: Tx, channelId: string): Place[] {
  return tx.all<Place>(OPEN_PLACES, channelId, tx.now);
}

/** Posts that wait for a chat which has another id now go there; what is in the old chat is edited there. */
function followMoves(tx: Tx, channelId: string): void {
  const moves = tx.all<{ place: string; movedTo: string }>(
    "SELECT place, moved_to AS movedTo FROM channel_places WHERE channel_id = ? AND moved_to IS NOT NULL",
    channelId,
  );
  for (const { movedTo, place } of moves)
    tx.run(
      `UPDATE effects SET place = ?3, destination = channel_id || '/' || ?3 || substr(destination, length(channel_id || '/' || ?2) + 1)
       WHERE status = 'pending' AND channel_id = ?1 AND place = ?2 AND (purpose = 'settlement') = 0`,
      channelId,
      place,
      movedTo,
    );
}

/** What may have to wait for its turn in a chat, and is then overtaken by what does not. */
const PACED = "('alert', 'notification')";
/** What is in a session of Pi already, and waits for its file only. */
const UNSAVED: ErrorKind = "sessionUnsaved";
const PENDING = `SELECT ${EFFECT_COLUMNS} FROM effects e INDEXED BY effects_queue WHERE e.status = 'pending' AND e.channel_id = ?1 AND e.place = ?2`;
const DUE_EDIT = `${PENDING} AND (e.purpose = 'settlement') = 1 AND e.next_attempt_at <= ?3 ORDER BY e.effect_no LIMIT 1`;
const DUE_POST = `${PENDING} AND (e.purpose = 'settlement') = 0 AND e.next_attempt_at <= ?3 AND NOT EXISTS (
  SELECT 1 FROM effects w INDEXED BY effects_queue WHERE w.status = 'pending' AND w.channel_id = e.channel_id AND w.place = e.place
    AND (w.purpose = 'settlement') = 0 AND w.effect_no < e.effect_no AND w.destination = e.destination
    AND NOT (w.channel_id <> '${PI}' AND w.attempt_count = 0 AND w.purpose IN ${PACED} AND e.purpose NOT IN ${PACED})
    AND coalesce(w.error ->> '$.kind', '') <> '${UNSAVED}') ORDER BY e.effect_no LIMIT 1`;

/** What may go out in a place now. Alerts that come too fast for their chat get a later time, which is on record like every other. */
function inPace(tx: Tx, channelId: string, place: string): EffectRow[] {
  for (;;) {
    const candidates = candidatesOf(tx, channelId, place);
    const paced = candidates.filter(isPaced);
    const at = paced.length === 0 ? 0 : pacedUntil(tx, channelId, place);
    if (at <= tx.now) return candidates;
    // Behind them may be a card, which does not wait for its turn among alerts.
    for (const effect of paced)
      tx.run("UPDATE effects SET next_attempt_at = ? WHERE effect_no = ?", at, effect.effectNo);
  }
}

function candidatesOf(tx: Tx, channelId: string, place: string): EffectRow[] {
  return [DUE_EDIT, DUE_POST].flatMap((sql) => tx.get<EffectRow>(sql, channelId, place, tx.now) ?? []);
}

/** Why nothing may be sent to a place any more, or undefined. */
function closedTo(tx: Tx, channelId: string, place: string, access: Access): ErrorRecord | undefined {
  if (isReachable(tx, access, channelId, place)) return undefined;
  const message = `Chat ${place} is not allowed for ${channelId} any more; nothing is sent there.`;
  return new HoldpointError("configInvalid", message).toRecord();
}
