/**
 * Messages whose arrival nobody knows, as time goes by: sent again where the audience wants that, asked about in another chat of the
 * audience, and the question closed when its doubt is over, however that came about.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { parseDestination, chatsOf, type Audience } from "../../contracts/config.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { DOUBT } from "../../contracts/limits.ts";
import { alertTitle, isAlertList, WANTED_ALERT } from "../alerts/shown.ts";
import { deadError, isReachable } from "../channels/places.ts";
import { ensureChannel } from "../channels/rows.ts";
import { defineCommand } from "../command.ts";
import { own, type Access } from "../decisions/access.ts";
import { decisionByNo } from "../decisions/rows.ts";
import type { Tx } from "../tx.ts";
import type { ReplyRequest } from "./content.ts";
import { EFFECT_COLUMNS, effectByNo, insertEffect, moveEffect, type EffectRow } from "./rows.ts";
import type { JsonReader } from "./views.ts";

interface OpenDoubt extends EffectRow {
  readonly since: number;
  readonly askedAt: number | null;
  readonly audience: string | null;
  /** The second audience that is asked too. */
  readonly escalatedTo: string | null;
  /** It is worth disturbing somebody elsewhere: a card, or an alert that holds and that nobody has taken. */
  readonly wanted: number;
}

/** Open doubts about messages that somebody may still need, oldest first; those of decisions that are over would only stand in line. */
const OPEN = `SELECT ${EFFECT_COLUMNS}, t.since, t.asked_at AS askedAt,
    coalesce(d.audience, (SELECT audience FROM notifications n WHERE n.notification_id = e.request ->> '$.notificationId'),
      CASE e.purpose WHEN 'alert' THEN e.request ->> '$.audience' END) AS audience,
    d.escalated_to AS escalatedTo, e.purpose = 'delivery' OR ${WANTED_ALERT} AS wanted
  FROM effect_doubts t INDEXED BY effect_doubts_open JOIN effects e ON e.effect_no = t.effect_no LEFT JOIN human_decisions d ON d.decision_no = e.decision_no
  WHERE t.until IS NULL AND e.purpose IN ('delivery', 'notification', 'alert') AND (d.status IS NULL OR d.status = 'pending') ORDER BY t.since LIMIT 256`;

/** Questions in a chat whose doubt is over; `how` is the transition that ended it, null = the decision or the alert is over. */
const ANSWERED = `SELECT t.effect_no AS effectNo, t.since, t.ended_by AS how, t.ended_by_name AS "by", t.asked_effect_no AS questionNo, p.reference, p.part
  FROM effect_doubts t INDEXED BY effect_doubts_asked JOIN effect_parts p ON p.effect_no = t.asked_effect_no
  JOIN effects e ON e.effect_no = t.effect_no LEFT JOIN human_decisions d ON d.decision_no = e.decision_no
  WHERE t.asked_effect_no IS NOT NULL AND t.closed_at IS NULL AND p.reference IS NOT NULL
    AND (t.until IS NOT NULL OR d.status <> 'pending' OR (e.purpose = 'alert' AND NOT ${WANTED_ALERT})) LIMIT 64`;

interface Answered {
  effectNo: number;
  since: number;
  how: string | null;
  by: string | null;
  questionNo: number;
  reference: string;
  part: number;
}

interface Plan {
  readonly what: "resend" | "ask";
  readonly at: number;
  readonly destination?: string;
}

/** Milliseconds since the epoch at which `tendDoubts` has something to do; in the past when it has now; null = only events can change that. */
export function nextDoubtAt(db: JsonReader & { now(): number }, access: Access): number | null {
  if (db.get(ANSWERED) !== undefined) return db.now();
  const times = db.all<OpenDoubt>(OPEN).flatMap((doubt) => planFor(db, doubt, access, db.now())?.at ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** Does what is due. */
export const tendDoubts = defineCommand(
  "effects.tendDoubts",
  (tx: Tx, { access }: { access: Access }): { resent: number; asked: number; closed: number } => {
    const done = { resent: 0, asked: 0, closed: 0 };
    for (const answered of tx.all<Answered>(ANSWERED)) {
      close(tx, answered, access);
      done.closed += 1;
    }
    for (const doubt of tx.all<OpenDoubt>(OPEN)) {
      const plan = planFor(tx, doubt, access, tx.now);
      if (plan === undefined || plan.at > tx.now) continue;
      if (plan.what === "resend") {
        resend(tx, doubt);
        done.resent += 1;
      } else {
        ask(tx, doubt, plan.destination as string, access);
        done.asked += 1;
      }
    }
    return done;
  },
);

/** What comes next for a doubt by itself: the policy of its audience, else a question to somebody elsewhere, once. */
function planFor(db: JsonReader, doubt: OpenDoubt, access: Access, now: number): Plan | undefined {
  const audiences = audiencesAsked(doubt, access);
  const [sentTo] = audiences;
  if (sentTo === undefined) return undefined;
  const { onAmbiguous = "wait" } = sentTo;
  if (onAmbiguous !== "wait" && resendsOf(db, doubt) < DOUBT.resends)
    return { what: "resend", at: doubt.since + onAmbiguous.resendAfterMs };
  if (doubt.wanted === 0 || doubt.askedAt !== null) return undefined;
  const destinations = audiences.flatMap(({ destinations: all }) => chatsOf(all));
  const destination = destinations.find((other) => isElsewhere(db, doubt, other, access, now));
  return destination === undefined ? undefined : { what: "ask", at: doubt.since + DOUBT.askAfterMs, destination };
}

/** The audiences that the message is for, first the one that it was sent to: its policy counts, and its chats are asked first. */
function audiencesAsked({ audience, destination, escalatedTo }: OpenDoubt, { audiences }: Access): Audience[] {
  const asked = [audience, escalatedTo].flatMap((name) => (name === null ? [] : (own(audiences, name) ?? [])));
  const isOwn = (one: Audience): boolean => one.destinations.includes(destination as string);
  return [...asked.filter(isOwn), ...asked.filter((one) => !isOwn(one))];
}

/** How often the policy has sent this message again. */
function resendsOf(db: JsonReader, { effectNo }: EffectRow): number {
  const sql = "SELECT count(*) AS n FROM effect_doubts WHERE effect_no = ? AND ended_by = 'resent'";
  return db.get<{ n: number }>(sql, effectNo)?.n ?? 0;
}

/** Another chat than the doubtful one, which can be written to. */
function isElsewhere(db: JsonReader, doubt: OpenDoubt, destination: string, access: Access, now: number): boolean {
  const { channel, place } = parseDestination(destination);
  if (channel === doubt.channelId && place === doubt.place) return false;
  return isReachable(db, access, channel, place) && deadError(db, channel, place, now) === undefined;
}

function resend(tx: Tx, doubt: OpenDoubt): void {
  const { channelId, destination, effectId, resourceNo, since } = doubt;
  moveEffect(tx, doubt, "resent", { error: null, nextAttemptAt: tx.now, failures: 0 });
  tx.event(resourceNo, {
    type: "delivery.resent",
    actor: { type: "policy", id: "onAmbiguous" },
    payload: { effectId, channel: channelId, destination, afterMs: tx.now - since },
  });
}

function ask(tx: Tx, doubt: OpenDoubt, at: string, access: Access): void {
  const { channel, kind, place, profile } = parseDestination(at);
  ensureChannel(tx, { channelId: channel, kind, profile });
  // A list of alerts is told in the chain of its channel, which is that of its effect.
  const resourceNo = doubt.decisionNo === null ? doubt.resourceNo : decisionByNo(tx, doubt.decisionNo).resourceNo;
  const person = Object.values(access.people).find(({ telegram }) => telegram.includes(doubt.place as string))?.name;
  const reply: ReplyCode = {
    code: "didArrive",
    ...namedIn(tx, doubt),
    ...(person === undefined ? {} : { person }),
    chat: doubt.place as string,
    at: doubt.since,
  };
  const request: ReplyRequest = { reply, timeZone: access.timeZone, prompt: null };
  const { effectNo } = insertEffect(tx, {
    purpose: "reply",
    effectType: `reply.${reply.code}`,
    key: `question:${doubt.effectId}:${doubt.since}`,
    resourceNo,
    request,
    requestDigest: sha256Digest(request),
    ...(doubt.decisionNo === null ? {} : { decisionNo: doubt.decisionNo }),
    channelId: channel,
    destination: at,
    place,
  });
  tx.run(
    "UPDATE effect_doubts SET asked_at = ?, asked_effect_no = ? WHERE effect_no = ? AND since = ?",
    tx.now,
    effectNo,
    doubt.effectNo,
    doubt.since,
  );
  tx.event(resourceNo, {
    type: "delivery.asked",
    actor: { type: "server", id: "doubt" },
    payload: { effectId: doubt.effectId, destination: doubt.destination, at },
  });
}

/** What the question calls the message that it is about. */
function namedIn(tx: Tx, effect: EffectRow): { title: string; what?: "alert" | "alertList" } {
  if (effect.decisionNo !== null) return { title: decisionByNo(tx, effect.decisionNo).title };
  return { title: alertTitle(tx, effect), what: isAlertList(tx, effect) ? "alertList" : "alert" };
}

const HOW: Readonly<Record<string, "arrived" | "resent" | "dropped">> = {
  applied: "arrived",
  retried: "resent",
  resent: "resent",
  rejected: "dropped",
};

/** The question loses its buttons and says what came of it. */
function close(tx: Tx, { by, effectNo, how, part, questionNo, reference, since }: Answered, access: Access): void {
  const question = effectByNo(tx, questionNo) as EffectRow;
  const reply: ReplyCode = {
    code: "arrivalSettled",
    ...namedIn(tx, effectByNo(tx, effectNo) as EffectRow),
    how: (how === null ? undefined : HOW[how]) ?? "over",
    ...(by === null ? {} : { by }),
  };
  const request: ReplyRequest = { reply, timeZone: access.timeZone, prompt: null };
  insertEffect(tx, {
    purpose: "settlement",
    effectType: "question.close",
    key: `question:${effectNo}:${since}:close`,
    resourceNo: question.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    ...(question.decisionNo === null ? {} : { decisionNo: question.decisionNo }),
    channelId: question.channelId,
    destination: question.destination,
    place: question.place,
    targetReference: reference,
    targetPart: part,
  });
  tx.run("UPDATE effect_doubts SET closed_at = ? WHERE effect_no = ? AND since = ?", tx.now, effectNo, since);
}
