/**
 * `alerts.raise`: the condition of an alert holds. Repeating it is free: what was reported before is the same thing, and edits one message.
 */
import type { AlertLine, AlertOrigin, Condition, Severity } from "../../contracts/alert.ts";
import { sha256Digest } from "../../contracts/canonical.ts";
import type { RemindAfter } from "../../contracts/decision/policy.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { ALERT } from "../../contracts/limits.ts";
import { raised, type Said } from "../../alert/index.ts";
import { defineCommand } from "../command.ts";
import { audienceNamed, type Access } from "../decisions/access.ts";
import { wellFormed } from "../decisions/well-formed.ts";
import type { Actor, Tx } from "../tx.ts";
import { alertById, alertIdOf, changeEpisode, episodeOf, saveAlert, type EpisodeRow, type Facts } from "./rows.ts";
import { announce } from "./announce.ts";

export interface RaiseInput {
  readonly access: Access;
  /** A name in the configuration. Throws `audienceUnknown`. */
  readonly audience: string;
  /** What makes two reports the same thing, within the audience. */
  readonly groupKey: string;
  readonly severity: Severity;
  /** What it is about: "shop.example". */
  readonly subject: string;
  /** What is wrong with it, in a word that renderers know. */
  readonly condition?: Condition | null;
  /** Instead: the author's own sentence. */
  readonly title?: string | null;
  /** Evidence. */
  readonly lines?: readonly AlertLine[];
  readonly origin?: AlertOrigin | null;
  /** What makes it another condition, without anything that changes by itself; left out: severity and name. */
  readonly fingerprint?: string | null;
  /** Left out: everything but `info` is. */
  readonly loud?: boolean | null;
  /** When it began, milliseconds since the epoch; left out: now. */
  readonly since?: number | null;
  /** While nobody has acknowledged it. */
  readonly remind?: RemindAfter | null;
  /** Whether somebody can be asked to repair it. */
  readonly repair?: boolean;
  /** False: whoever reports notices unrest by itself, and reports the condition `unstable`. */
  readonly watchFlapping?: boolean;
  /** Somebody did something about it, and looks at the message: it is edited at once. */
  readonly atOnce?: boolean;
  readonly actor?: Actor;
}

export interface AlertOutcome {
  readonly alertId: string;
  /** Number of the episode, from 1; 0 when there never was one. */
  readonly episode: number;
  /** What it came to. */
  readonly said: Said;
}

export const raise = defineCommand("alerts.raise", (tx: Tx, input: RaiseInput): AlertOutcome => raiseAlert(tx, input));

/** Inside another command. Throws `audienceUnknown`, `alertInvalid`. */
export function raiseAlert(tx: Tx, input: RaiseInput): AlertOutcome {
  const { access, audience, groupKey, severity } = input;
  audienceNamed(access, audience);
  const facts = factsOf(input, tx.now);
  const before = alertById(tx, alertIdOf(audience, groupKey));
  const fingerprint =
    input.fingerprint ??
    sha256Digest({ severity, subject: facts.subject, condition: facts.condition, title: facts.title });
  const { said, state } = raised(
    before?.state,
    { fingerprint, severity, remind: input.remind ?? null, watched: input.watchFlapping !== false },
    tx.now,
  );
  const alert = saveAlert(tx, { audience, groupKey }, state);
  const isNew = before?.episode !== alert.episode;
  const loud = (input.loud ?? severity !== "info") ? 1 : 0;
  const shown = isNew
    ? begin(tx, alert.alertNo, { input, facts, loud, state })
    : report(tx, episodeOf(tx, alert.alertNo, alert.episode), { input, facts, loud, said, flaps: state.flaps });
  // That it lasts is in the row; the chain tells what changed.
  if (said !== "same")
    tx.event(alert.resourceNo, {
      type: `alert.${said}`,
      actor: input.actor ?? { type: "server", id: "alerts" },
      payload: {
        episode: alert.episode,
        severity,
        subject: facts.subject,
        condition: facts.condition,
        title: facts.title,
      },
    });
  announce(tx, alert, shown, said === "same" && input.atOnce === true ? "quiet" : said, access);
  return { alertId: alert.alertId, episode: alert.episode, said };
}

interface Reported {
  readonly input: RaiseInput;
  readonly facts: Facts;
  readonly loud: number;
}

function begin(
  tx: Tx,
  alertNo: number,
  {
    facts,
    input,
    loud,
    state,
  }: Reported & { readonly state: { episode: number; flaps: number; snoozedUntil: number | null } },
): EpisodeRow {
  tx.run(
    `INSERT INTO alert_episodes (alert_no, episode, revision, severity, loud, facts, since, seen, changes, snoozed_until) VALUES (?, ?, 1, ?, ?, ?, ?, 1, ?, ?)`,
    alertNo,
    state.episode,
    input.severity,
    loud,
    tx.pack(facts),
    input.since ?? tx.now,
    state.flaps,
    state.snoozedUntil,
  );
  return episodeOf(tx, alertNo, state.episode);
}

function report(
  tx: Tx,
  episode: EpisodeRow,
  { facts, flaps, input, loud, said }: Reported & { readonly said: Said; readonly flaps: number },
): EpisodeRow {
  return changeEpisode(tx, episode, {
    severity: input.severity,
    loud,
    facts: tx.pack(facts),
    seen: episode.seen + 1,
    changes: flaps,
    // It is another condition now: what was acknowledged was the one before.
    ...(said === "changed" ? { acknowledged_at: null, acknowledged_by: null } : {}),
  });
}

function factsOf(input: RaiseInput, now: number): Facts {
  const { groupKey, lines = [], origin = null, since } = input;
  bounded("groupKey", groupKey, ALERT.keyUnits);
  bounded("subject", input.subject, ALERT.subjectUnits);
  if (input.title !== undefined && input.title !== null) bounded("title", input.title, ALERT.titleUnits);
  checkLines(lines);
  if (since !== undefined && since !== null && (!Number.isSafeInteger(since) || since < 0 || since > now))
    throw new HoldpointError("alertInvalid", `"since" of an alert is ${since}; it must be a time that has been.`);
  return {
    subject: wellFormed(input.subject),
    condition: input.condition ?? null,
    title: input.title === undefined || input.title === null ? null : wellFormed(input.title),
    lines: lines.map(wellFormedLine),
    origin,
    repair: input.repair === true,
  };
}

export function checkLines(lines: readonly AlertLine[]): void {
  if (lines.length > ALERT.lines)
    throw new HoldpointError("alertInvalid", `An alert has ${lines.length} lines; the limit is ${ALERT.lines}.`, {
      details: { limit: ALERT.lines, seen: lines.length },
    });
  const units = lines.reduce((sum, line) => sum + (typeof line === "string" ? line.length : ALERT.wordedUnits) + 1, 0);
  if (units > ALERT.linesUnits)
    throw new HoldpointError(
      "alertInvalid",
      `The lines of an alert have ${units} characters; the limit is ${ALERT.linesUnits}.`,
      { details: { limit: ALERT.linesUnits, seen: units } },
    );
}

/** What is no text was bounded where it was made. */
export function wellFormedLine(line: AlertLine): AlertLine {
  return typeof line === "string" ? wellFormed(line) : line;
}

export function bounded(field: string, text: string, limit: number): void {
  if (text.trim() !== "" && text.length <= limit) return;
  throw new HoldpointError(
    "alertInvalid",
    text.trim() === ""
      ? `The ${field} of an alert is empty.`
      : `The ${field} of an alert has ${text.length} characters; the limit is ${limit}.`,
    { details: { field, limit, seen: text.length } },
  );
}
