/** `alerts.recover`: the condition of an alert does not hold any more. Of one that is not open, nothing becomes. */
import type { AlertLine, Severity } from "../../contracts/alert.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { ALERT } from "../../contracts/limits.ts";
import { recovered } from "../../alert/index.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import { wellFormed } from "../decisions/well-formed.ts";
import type { Actor, Tx } from "../tx.ts";
import { announce } from "./announce.ts";
import { bounded, checkLines, wellFormedLine, type AlertOutcome } from "./raise.ts";
import { alertById, alertIdOf, changeEpisode, episodeOf, saveAlert, type Ending } from "./rows.ts";

export interface RecoverInput {
  readonly access: Access;
  readonly audience: string;
  readonly groupKey: string;
  /** The author's sentence for the end; left out: the words for its condition. */
  readonly title?: string | null;
  readonly lines?: readonly AlertLine[];
  /** When it ended, milliseconds since the epoch; left out: now. */
  readonly at?: number | null;
  /** Of a workflow's last word. */
  readonly severity?: Severity;
  /** Left out: as the alert was. */
  readonly loud?: boolean;
  readonly actor?: Actor;
}

export const recover = defineCommand("alerts.recover", (tx: Tx, input: RecoverInput): AlertOutcome =>
  recoverAlert(tx, input),
);

/** Inside another command. Throws `alertInvalid`. */
export function recoverAlert(tx: Tx, input: RecoverInput): AlertOutcome {
  const { access, audience, groupKey } = input;
  const alertId = alertIdOf(audience, groupKey);
  const before = alertById(tx, alertId);
  const { said, state } = recovered(before?.state, tx.now);
  if (before === undefined || state === undefined || said === "nothing")
    return { alertId, episode: before?.episode ?? 0, said: "nothing" };
  const ending = tx.pack(endingOf(input));
  const alert = saveAlert(tx, { audience, groupKey }, state);
  const episode = episodeOf(tx, alert.alertNo, alert.episode);
  const shown = changeEpisode(
    tx,
    episode,
    said === "recovered"
      ? { ended_at: endOf(input, episode.since, tx.now), ending, ...loudness(input) }
      : { changes: state.flaps, ending },
  );
  tx.event(alert.resourceNo, {
    type: `alert.${said}`,
    actor: input.actor ?? { type: "server", id: "alerts" },
    payload: { episode: alert.episode, since: episode.since },
  });
  announce(tx, alert, shown, said, access);
  return { alertId, episode: alert.episode, said };
}

function loudness({ loud }: RecoverInput): { loud?: number } {
  return loud === undefined ? {} : { loud: loud ? 1 : 0 };
}

function endingOf({ lines = [], severity, title = null }: RecoverInput): Ending {
  if (title !== null) bounded("title", title, ALERT.titleUnits);
  checkLines(lines);
  return {
    severity: severity ?? null,
    title: title === null ? null : wellFormed(title),
    lines: lines.map(wellFormedLine),
  };
}

function endOf({ at }: RecoverInput, since: number, now: number): number {
  if (at === undefined || at === null) return now;
  if (!Number.isSafeInteger(at) || at > now)
    throw new HoldpointError("alertInvalid", `"at" of a recovery is ${at}; it must be a time that has been.`);
  return Math.max(at, since);
}
