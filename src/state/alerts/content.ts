/** What a message of an alert shows when an attempt is given out: computed from its rows, so that nothing old is ever sent. */
import { alertButtons, type AlertMember, type AlertModel, type AlertOrigin } from "../../contracts/alert.ts";
import type { MessageContent } from "../../contracts/protocol/channel.ts";
import type { EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { digestByNo, membersOf } from "./digests.ts";
import { isTouched, standing, type About, type AlertRequest, type MessageKind } from "./messages.ts";
import { alertByNo, episodeOf, type AlertRow, type EpisodeRow, type Facts } from "./rows.ts";

interface MessageRow {
  readonly effectNo: number;
  readonly kind: MessageKind | "edit";
  readonly alertNo: number | null;
  readonly episode: number | null;
  readonly digestNo: number | null;
  readonly destination: string;
  readonly shown: number;
}

const MESSAGE = `SELECT effect_no AS effectNo, kind, alert_no AS alertNo, episode, digest_no AS digestNo, destination, shown FROM alert_messages WHERE effect_no = ?`;

function messageOf(tx: Tx, effectNo: number): MessageRow {
  const row = tx.get<MessageRow>(MESSAGE, effectNo);
  if (row === undefined) throw new Error(`effect ${effectNo} is no message of an alert`);
  return row;
}

/** What the message of an effect is about. */
export function aboutOf(tx: Tx, effectNo: number): About {
  const { alertNo, digestNo, episode } = messageOf(tx, effectNo);
  return digestNo === null ? { alertNo: alertNo as number, episode: episode as number } : { digestNo };
}

export interface Copy {
  readonly repeatOf: number | null;
  readonly timeZone: string | undefined;
}

/** Content, and the message that it answers. `tokens` makes one for each button. */
export function alertFrame(
  tx: Tx,
  effect: EffectRow,
  copy: Copy,
  tokens: (ids: readonly string[]) => Record<string, string>,
): { readonly content: MessageContent; readonly replyTo: string | null; readonly silent: boolean } {
  const message = messageOf(tx, effect.effectNo);
  const about = aboutOf(tx, effect.effectNo);
  const request = tx.unpack(effect.request) as unknown as AlertRequest;
  const alert = modelOf(tx, message.kind as MessageKind, about, request, message.destination);
  tx.run("UPDATE alert_messages SET shown = ? WHERE effect_no = ?", revisionOf(tx, about), effect.effectNo);
  return {
    content: contentOf(copy.repeatOf === null ? alert : { ...alert, possibleRepeatOf: copy.repeatOf }, copy, tokens),
    replyTo: answered(tx, message),
    silent: request.silent,
  };
}

/** The content of an edit of the message that `shown` sent. */
export function alertEdit(
  tx: Tx,
  shown: EffectRow,
  copy: Copy,
  tokens: (ids: readonly string[]) => Record<string, string>,
): MessageContent {
  const message = messageOf(tx, shown.effectNo);
  const request = tx.unpack(shown.request) as unknown as AlertRequest;
  const alert = modelOf(tx, message.kind as MessageKind, aboutOf(tx, shown.effectNo), request, message.destination);
  return contentOf(copy.repeatOf === null ? alert : { ...alert, possibleRepeatOf: copy.repeatOf }, copy, tokens);
}

function contentOf(
  alert: AlertModel,
  copy: Copy,
  tokens: (ids: readonly string[]) => Record<string, string>,
): MessageContent {
  const buttons = alertButtons(alert);
  return {
    kind: "alert",
    alert,
    timeZone: copy.timeZone ?? "UTC",
    ...(buttons.length === 0 ? {} : { tokens: tokens(buttons) }),
  };
}

/** The revision of what a message is about. */
export function revisionOf(tx: Tx, about: About): number {
  return about.digestNo === undefined
    ? episodeOf(tx, about.alertNo, about.episode).revision
    : digestByNo(tx, about.digestNo).revision;
}

function modelOf(tx: Tx, kind: MessageKind, about: About, request: AlertRequest, destination: string): AlertModel {
  if (about.digestNo !== undefined) return listModel(tx, kind, about.digestNo, destination);
  const episode = episodeOf(tx, about.alertNo, about.episode);
  const { condition, subject, title } = episode.facts;
  const name = { severity: episode.severity, subject, condition, title };
  const { changes, since } = episode;
  const origin = originOf(episode.facts);
  switch (kind) {
    case "closing":
      return {
        kind,
        ...name,
        severity: episode.ending?.severity ?? episode.severity,
        ...origin,
        over: episode.ending?.title ?? null,
        lines: [...(episode.ending?.lines ?? [])],
        since,
        until: episode.endedAt ?? tx.now,
        at: tx.now,
        delivered: standing(tx, about, destination).some((effect) => isTouched(tx, effect)),
        changes,
      };
    case "reminder":
      return {
        kind,
        ...name,
        since,
        at: tx.now,
        number: request.number ?? 1,
        last: request.last === true,
        snoozeOver: request.snoozeOver === true,
      };
    default:
      return card(tx, episode, name);
  }
}

function card(
  tx: Tx,
  episode: EpisodeRow,
  name: Pick<AlertModel & { kind: "card" }, "severity" | "subject" | "condition" | "title">,
): AlertModel {
  const { acknowledgedAt, acknowledgedBy, changes, endedAt, facts, seen, since, snoozedBy, snoozedUntil } = episode;
  const { state } = alertByNo(tx, episode.alertNo);
  const present = state.episode === episode.episode;
  const by = (who: string | null): { by?: string } => (who === null ? {} : { by: who });
  return {
    kind: "card",
    ...name,
    lines: [...facts.lines],
    ...originOf(facts),
    since,
    at: tx.now,
    seen,
    state: endedAt !== null ? "recovered" : present && state.flapping ? "flapping" : "open",
    holds: present && state.open,
    changes,
    ...(endedAt === null ? {} : { until: endedAt }),
    ...(acknowledgedAt === null ? {} : { acknowledged: { ...by(acknowledgedBy), at: acknowledgedAt } }),
    ...(snoozedUntil === null || snoozedUntil <= tx.now ? {} : { snoozed: { ...by(snoozedBy), until: snoozedUntil } }),
    ...(facts.repair ? { repair: asked(episode) } : {}),
  };
}

function originOf({ origin }: Facts): { origin?: AlertOrigin } {
  return origin === null ? {} : { origin };
}

function asked({ repairAskedAt, repairAskedBy }: EpisodeRow): { asked?: { by?: string; at: number } } {
  if (repairAskedAt === null) return {};
  return { asked: { ...(repairAskedBy === null ? {} : { by: repairAskedBy }), at: repairAskedAt } };
}

function listModel(tx: Tx, kind: MessageKind, digestNo: number, destination: string): AlertModel {
  const { closedAt, openedAt } = digestByNo(tx, digestNo);
  const members = membersOf(tx, digestNo).map(({ alert, episode }) => ({
    ...memberOf(tx, alert, episode),
    since: episode.since,
    until: episode.endedAt,
  }));
  const from = Math.min(openedAt, ...members.map(({ since }) => since));
  const until = closedAt === null ? {} : { until: Math.max(...members.map((member) => member.until ?? closedAt)) };
  const total = members.length;
  if (kind === "digestReminder")
    return { kind, open: members.filter(({ state }) => state !== "recovered").length, total, from, at: tx.now };
  if (kind === "digestClosing") {
    const delivered = standing(tx, { digestNo }, destination).some((effect) => isTouched(tx, effect));
    return { kind, total, from, until: until.until ?? tx.now, at: tx.now, delivered };
  }
  return {
    kind: "digest",
    members: members.map(({ since: _since, until: _until, ...member }) => member),
    from,
    at: tx.now,
    ...until,
  };
}

/** An alert as one of a list. */
export function memberOf({ now }: Pick<Tx, "now">, alert: AlertRow, episode: EpisodeRow): AlertMember {
  const { condition, subject } = episode.facts;
  const flapping = alert.episode === episode.episode && alert.state.flapping;
  return {
    severity: episode.severity,
    subject,
    condition,
    title: nameInList(episode.facts),
    state: episode.endedAt !== null ? "recovered" : flapping ? "flapping" : "open",
    acknowledged: episode.acknowledgedAt !== null,
    ...((episode.snoozedUntil ?? 0) > now ? { snoozed: true } : {}),
  };
}

/** Reports of one run have one subject; what they say tells them apart. */
export function nameInList({ lines: [first], origin, subject, title }: Facts): string | null {
  return origin?.kind === "workflow" && typeof first === "string" ? `${subject}: ${first}` : title;
}

/** What a message answers in its chat: the newest one that stood for the same thing before it. */
function answered(tx: Tx, message: MessageRow): string | null {
  const { alertNo, destination, digestNo, effectNo } = message;
  const row = tx.get<{ reference: string }>(
    `SELECT p.reference FROM alert_messages m JOIN effect_parts p ON p.effect_no = m.effect_no
     WHERE ${digestNo === null ? "m.alert_no" : "m.digest_no"} = ? AND m.destination = ? AND m.kind IN ('card', 'digest') AND m.effect_no < ?
       AND p.reference IS NOT NULL ORDER BY m.effect_no DESC, p.attempt_number DESC LIMIT 1`,
    digestNo ?? alertNo,
    destination,
    effectNo,
  );
  // A new alert stands by itself; only what belongs to one that is known answers it.
  if (row === undefined || (message.kind === "card" && isFirst(tx, message))) return null;
  return row.reference;
}

function isFirst(tx: Tx, { alertNo, destination, effectNo, episode }: MessageRow): boolean {
  const flaps = episodeOf(tx, alertNo as number, episode as number).changes > 0;
  const sql =
    "SELECT 1 FROM alert_messages WHERE alert_no = ? AND episode = ? AND destination = ? AND kind = 'card' AND effect_no < ?";
  return !flaps && tx.get(sql, alertNo, episode, destination, effectNo) === undefined;
}
