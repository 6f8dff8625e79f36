/**
 * A tap on a button of an alert, or of a list of them. The token was looked up and fits the message; what is left to judge is the person, by the
 * audience of each alert. A late or second tap is told what is true.
 */
import type { AlertAction } from "../../contracts/alert.ts";
import type { AlertReply } from "../../contracts/decision/alert-codes.ts";
import { ALERT } from "../../contracts/limits.ts";
import { isLive } from "../../alert/index.ts";
import { aboutOf } from "../alerts/content.ts";
import { membersOf } from "../alerts/digests.ts";
import { acknowledgeAlert, askRepair, snoozeAlert, takerOf, type By, type Done } from "../alerts/people.ts";
import { alertByNo, episodeOf, type AlertRow } from "../alerts/rows.ts";
import type { Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import type { Handled } from "./receive.ts";
import type { ChannelRow } from "./rows.ts";
import { sourceOf, type Tap, type TokenRow } from "./tap.ts";

export function receiveAlertTap(tx: Tx, channel: ChannelRow, tap: Tap, token: TokenRow, access: Access): Handled {
  const told = (ack: AlertReply): Handled => ({ verdict: ack.code, ack });
  const action = token.choice as AlertAction;
  const about = aboutOf(tx, token.effectNo);
  const pressed: Pressed = { tx, channel, tap, access, action };
  if (about.digestNo !== undefined) return told(pressAll(pressed, about.digestNo));
  const alert = alertByNo(tx, about.alertNo);
  const by = whoFor(pressed, alert);
  if (by === undefined) return told({ code: "alertNotOnList" });
  // The message is of an earlier opening: that one is over, whatever is now.
  if (alert.episode !== about.episode)
    return told({ code: "alertOver", at: episodeOf(tx, about.alertNo, about.episode).endedAt ?? tx.now });
  return told(replyFor(press(pressed, alert, by), action));
}

interface Pressed {
  readonly tx: Tx;
  readonly channel: ChannelRow;
  readonly tap: Tap;
  readonly access: Access;
  readonly action: AlertAction;
}

/** Every member of the list that still holds, as far as this person may. */
function pressAll(pressed: Pressed, digestNo: number): AlertReply {
  const { action, tx } = pressed;
  const members = membersOf(tx, digestNo).filter(({ alert, episode }) => alert.episode === episode.episode);
  const mine = members.flatMap(({ alert }) => {
    const by = whoFor(pressed, alert);
    return by === undefined ? [] : [{ alert, by }];
  });
  if (mine.length === 0 && members.length > 0) return { code: "alertNotOnList" };
  const live = mine.filter(({ alert }) => isLive(alert.state));
  const [done] = live.length === 0 ? [undefined] : live.map(({ alert, by }) => press(pressed, alert, by)).slice(-1);
  if (done === undefined) return { code: "alertOver", at: tx.now };
  return { code: "alertsDone", action, count: live.length, at: done.at };
}

function press({ access, action, tx }: Pressed, alert: AlertRow, by: By): Done {
  switch (action) {
    case "acknowledge":
      return acknowledgeAlert(tx, alert, by, access);
    case "snooze":
      return snoozeAlert(tx, alert, { access, by, until: tx.now + ALERT.snoozeMs });
    case "repair":
      return askRepair(tx, alert, by, access);
  }
}

function whoFor({ access, channel, tap }: Pressed, { audience }: AlertRow): By | undefined {
  return takerOf(access, audience, sourceOf(channel.channelId, tap));
}

export function replyFor({ at, by, result }: Done, action: AlertAction): AlertReply {
  if (result === "over") return { code: "alertOver", at };
  if (result === "before") return { code: "alertBefore", action, ...(by === null ? {} : { by }), at };
  return { code: "alertDone", action, at };
}
