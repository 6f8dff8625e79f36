/** What people do with an alert: acknowledge it, leave it in peace for a time, ask for its repair. Each is recorded with the person. */
import { HoldpointError } from "../../contracts/errors.ts";
import { ALERT } from "../../contracts/limits.ts";
import { acknowledged, isLive, snoozed } from "../../alert/index.ts";
import { defineCommand } from "../command.ts";
import { FIRST_ANSWER } from "../../contracts/decision/policy.ts";
import { judgeSource, type Access, type AnswerSource } from "../decisions/access.ts";
import { withReceipt, type Receipt, type Receipted } from "../receipts.ts";
import type { Actor, Tx } from "../tx.ts";
import { announce } from "./announce.ts";
import { alertByRef, changeEpisode, episodeOf, saveAlert, type AlertRow, type EpisodeRow } from "./rows.ts";

/** Who did it: for the chain, and as chats show it. */
export interface By {
  readonly actor: Actor;
  readonly name: string | null;
  /** Where it came from, for the record. */
  readonly via?: Readonly<Record<string, string | number | null>>;
}

/** Who pressed or wrote, if the audience of the alert lists them. */
export function takerOf(access: Access, audience: string, source: AnswerSource): By | undefined {
  const judged = judgeSource(access, { audience, policy: FIRST_ANSWER }, source, null);
  if (!judged.allowed) return undefined;
  const { actorId, channel, updateId } = source;
  const via = { channel, actorId, ...(updateId === undefined ? {} : { updateId }) };
  return { actor: { type: "human", id: judged.personId }, name: judged.name ?? source.actorName ?? null, via };
}

export interface Done {
  readonly alertId: string;
  readonly shortId: string;
  /** `before`: somebody had done it already. `over`: it does not hold any more. */
  readonly result: "done" | "before" | "over";
  readonly by: string | null;
  /** When it was done, or when the alert ended; of a snooze, until when. */
  readonly at: number;
}

export interface ByRef {
  readonly alert: string;
  readonly access: Access;
  readonly by: By;
  readonly receipt: Receipt | null;
}

/** Throws `alertNotFound`, `ambiguousId`, and `alertState` for one that is over. */
export const acknowledge = defineCommand("alerts.acknowledge", (tx: Tx, input: ByRef): Receipted<Done> =>
  withReceipt(tx, input.receipt, () => live(acknowledgeAlert(tx, alertByRef(tx, input.alert), input.by, input.access))),
);

/** `forMs` from now. Throws as `alerts.acknowledge`, and `alertInvalid`. */
export const snooze = defineCommand(
  "alerts.snooze",
  (tx: Tx, input: ByRef & { readonly forMs: number }): Receipted<Done> =>
    withReceipt(tx, input.receipt, () => {
      const { forMs } = input;
      if (!Number.isSafeInteger(forMs) || forMs < 1 || forMs > ALERT.snoozeMaxMs)
        throw new HoldpointError(
          "alertInvalid",
          `An alert cannot be snoozed for ${forMs} ms; the limit is ${ALERT.snoozeMaxMs}.`,
          { details: { limit: ALERT.snoozeMaxMs, seen: forMs } },
        );
      return live(snoozeAlert(tx, alertByRef(tx, input.alert), { ...input, until: tx.now + forMs }));
    }),
);

function live(done: Done): Done {
  if (done.result !== "over") return done;
  throw new HoldpointError("alertState", `Alert ${done.shortId} is over.`, { details: { alertId: done.alertId } });
}

/** No reminders any more, and everybody sees who has taken it. */
export function acknowledgeAlert(tx: Tx, alert: AlertRow, by: By, access: Access): Done {
  const episode = episodeOf(tx, alert.alertNo, alert.episode);
  if (!isLive(alert.state)) return over(tx, alert, episode);
  if (episode.acknowledgedAt !== null)
    return done(alert, "before", { name: episode.acknowledgedBy }, episode.acknowledgedAt);
  const saved = saveAlert(tx, alert, acknowledged(alert.state));
  const shown = changeEpisode(tx, episode, {
    acknowledged_at: tx.now,
    acknowledged_by: by.name,
    snoozed_until: null,
    snoozed_by: null,
  });
  tell(tx, alert, "alert.acknowledged", by, {});
  announce(tx, saved, shown, "quiet", access);
  return done(alert, "done", by, tx.now);
}

/** Without a sound until then; a later snooze replaces an earlier one. */
export function snoozeAlert(
  tx: Tx,
  alert: AlertRow,
  { access, by, until }: { readonly access: Access; readonly by: By; readonly until: number },
): Done {
  const episode = episodeOf(tx, alert.alertNo, alert.episode);
  if (!isLive(alert.state)) return over(tx, alert, episode);
  const saved = saveAlert(tx, alert, snoozed(alert.state, until));
  const shown = changeEpisode(tx, episode, { snoozed_until: until, snoozed_by: by.name });
  tell(tx, alert, "alert.snoozed", by, { until });
  announce(tx, saved, shown, "quiet", access);
  return done(alert, "done", by, until);
}

/** Somebody wants it repaired: whoever can takes the wish with `alerts.takeRepair`. */
export function askRepair(tx: Tx, alert: AlertRow, by: By, access: Access): Done {
  const episode = episodeOf(tx, alert.alertNo, alert.episode);
  if (!isLive(alert.state)) return over(tx, alert, episode);
  if (episode.repairAskedAt !== null)
    return done(alert, "before", { name: episode.repairAskedBy }, episode.repairAskedAt);
  const shown = changeEpisode(tx, episode, { repair_asked_at: tx.now, repair_asked_by: by.name });
  tell(tx, alert, "alert.repairAsked", by, {});
  announce(tx, alert, shown, "quiet", access);
  return done(alert, "done", by, tx.now);
}

/** Whether this caller has taken the wish for a repair; one does. */
export const takeRepair = defineCommand(
  "alerts.takeRepair",
  (tx: Tx, input: { readonly alertId: string; readonly episode: number }): boolean => {
    const { alertNo } = alertByRef(tx, input.alertId);
    const { changes } = tx.run(
      "UPDATE alert_episodes SET repair_taken_at = ? WHERE alert_no = ? AND episode = ? AND repair_asked_at IS NOT NULL AND repair_taken_at IS NULL",
      tx.now,
      alertNo,
      input.episode,
    );
    return changes === 1;
  },
);

function over(tx: Tx, alert: AlertRow, { endedAt }: EpisodeRow): Done {
  return done(alert, "over", { name: null }, endedAt ?? tx.now);
}

function done({ alertId, shortId }: AlertRow, result: Done["result"], { name }: Pick<By, "name">, at: number): Done {
  return { alertId, shortId, result, by: name, at };
}

function tell(
  tx: Tx,
  alert: AlertRow,
  type: string,
  { actor, name, via = {} }: By,
  more: Record<string, unknown>,
): void {
  tx.event(alert.resourceNo, { type, actor, payload: { episode: alert.episode, by: name, ...via, ...more } });
}
