/**
 * What is wrong outside, for the operator chat: alerts that hold, with a button to take each and one to leave it in peace. An alert is told in
 * a chat of its audience, and in the private chat of somebody who may take it.
 */
import type { AlertReply } from "../../../contracts/decision/alert-codes.ts";
import { chatsOf, parseDestination } from "../../../contracts/config.ts";
import { ALERT, OPERATOR } from "../../../contracts/limits.ts";
import { memberOf } from "../../alerts/content.ts";
import { acknowledgeAlert, snoozeAlert, takerOf, type By } from "../../alerts/people.ts";
import { alertById, alertsWhere, episodeOf, type AlertRow } from "../../alerts/rows.ts";
import { own } from "../../decisions/access.ts";
import { replyFor } from "../receive-alert.ts";
import type { OperatorAnswer, Pressable } from "./answer.ts";
import { isPrivate, sourceFor, type Asker } from "./asker.ts";
import { moreButton } from "./paging.ts";

/** Alerts that hold and may be told in this chat, those that nobody has taken first, then the newest. */
export function alertsFor(asker: Asker): AlertRow[] {
  const audiences = new Map<string, boolean>();
  const isTold = ({ audience }: AlertRow): boolean => {
    const known = audiences.get(audience) ?? mayTell(asker, audience);
    audiences.set(audience, known);
    return known;
  };
  const live = alertsWhere(asker.tx, "WHERE a.live = 1 ORDER BY a.alert_no DESC").filter(isTold);
  const taken = ({ state }: AlertRow): number => (state.acknowledged ? 1 : 0);
  return live.sort((a, b) => taken(a) - taken(b));
}

function mayTell(asker: Asker, audience: string): boolean {
  const { access, origin } = asker;
  const here = chatsOf(own(access.audiences, audience)?.destinations ?? []).some((destination) => {
    const { channel, place } = parseDestination(destination);
    return channel === origin.channel.channelId && place === origin.place;
  });
  return here || (isPrivate(asker) && taker(asker, audience) !== undefined);
}

function taker(asker: Asker, audience: string): By | undefined {
  return takerOf(asker.access, audience, sourceFor(asker));
}

export function listAlerts(asker: Asker, from: number): OperatorAnswer {
  const { tx } = asker;
  const all = alertsFor(asker);
  const page = all.slice(from, from + OPERATOR.pageItems).map((alert, at) => {
    const episode = episodeOf(tx, alert.alertNo, alert.episode);
    return { alert, item: from + at + 1, member: memberOf(tx, alert, episode), since: episode.since };
  });
  const rows = page.map(({ alert, item, member }): Pressable[] => {
    if (member.acknowledged || taker(asker, alert.audience) === undefined) return [];
    const acknowledge = { action: "acknowledge", item, target: alert.alertId } as const;
    return member.snoozed === true ? [acknowledge] : [acknowledge, { ...acknowledge, action: "snooze" }];
  });
  return {
    reply: {
      code: "alertList",
      items: page.map(({ item, member, since }) => ({ item, ...member, since })),
      from,
      total: all.length,
    },
    buttons: [...rows.filter((row) => row.length > 0), ...moreButton("alerts", from + page.length, all.length)],
  };
}

/** Takes an alert of such a list, or leaves it in peace for an hour. */
export function takeAlert(asker: Asker, action: "acknowledge" | "snooze", alertId: string): AlertReply {
  const { access, tx } = asker;
  const alert = alertById(tx, alertId);
  const by = alert === undefined ? undefined : taker(asker, alert.audience);
  if (alert === undefined || by === undefined) return { code: "alertNotOnList" };
  const done =
    action === "acknowledge"
      ? acknowledgeAlert(tx, alert, by, access)
      : snoozeAlert(tx, alert, { access, by, until: tx.now + ALERT.snoozeMs });
  return replyFor(done, action);
}
