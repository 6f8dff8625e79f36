/**
 * A press on a button under an answer to an operator. Each item of an answer can be used once. What was done is recorded, and the answer is edited to say it.
 */
import { sha256Digest } from "../../../contracts/canonical.ts";
import type { ReplyCode } from "../../../contracts/decision/codes.ts";
import { buttonKey } from "../../../contracts/decision/operator-codes.ts";
import type { ReplyRequest } from "../../effects/content.ts";
import { cancelPending, effectByNo, insertEffect, type EffectRow } from "../../effects/rows.ts";
import { runNoOf, shortIdOf } from "../../runs/rows.ts";
import type { Tx } from "../../tx.ts";
import type { TokenRow } from "../tap.ts";
import { listAlerts, takeAlert } from "./alerts.ts";
import type { OperatorAnswer, Pressable } from "./answer.ts";
import type { Asker } from "./asker.ts";
import { cancel } from "./control.ts";
import { listDecisions, showHere } from "./decisions.ts";
import { pageOf } from "./paging.ts";
import { listMonitors } from "./monitors.ts";
import { listProblems, settleProblem } from "./problems.ts";
import { listRuns } from "./runs.ts";

/** What a press came to. */
export interface Pressed {
  readonly verdict: string;
  /** The toast. */
  readonly ack: ReplyCode;
  /** A message of its own. */
  readonly answer?: OperatorAnswer;
  readonly stop?: string | null;
}

/** What the press does. The token was looked up and fits the message, which is known by now. */
export function press(asker: Asker, token: TokenRow, reference: string): Pressed {
  return use(asker, effectByNo(asker.tx, token.effectNo) as EffectRow, token.choice, reference);
}

function use(asker: Asker, effect: EffectRow, key: string, reference: string): Pressed {
  const { actor, actorId, name, tx } = asker;
  const { buttons = [], onlyFor } = tx.unpack(effect.request) as unknown as ReplyRequest;
  const button = buttons.flat().find((one) => buttonKey(one) === key);
  if (button === undefined) return { verdict: "unknownButton", ack: { code: "unknownButton" } };
  const { action, item } = button;
  if (onlyFor !== undefined && onlyFor !== actorId) return { verdict: "buttonOfOther", ack: { code: "buttonOfOther" } };
  const before = tx.get<{ name: string | null; at: number }>(
    "SELECT name, used_at AS at FROM operator_uses WHERE effect_no = ? AND item = ?",
    effect.effectNo,
    item,
  );
  if (before !== undefined) {
    const by = before.name === null ? {} : { by: before.name };
    return { verdict: "buttonUsed", ack: { code: "buttonUsed", ...by, at: before.at } };
  }
  const pressed = perform(asker, button);
  // What was refused has not used the button: somebody else may be allowed, or it may be possible later.
  if (!DONE.has(pressed.ack.code)) return pressed;
  tx.run(
    "INSERT INTO operator_uses (effect_no, item, action, actor_id, name, used_at) VALUES (?, ?, ?, ?, ?, ?)",
    effect.effectNo,
    item,
    action,
    actorId,
    name ?? null,
    tx.now,
  );
  tx.event(effect.resourceNo, {
    type: "operator.pressed",
    actor,
    payload: {
      action,
      item,
      target: button.target,
      verdict: pressed.verdict,
      by: name ?? null,
      updateId: asker.origin.updateId,
    },
  });
  showUse(tx, effect, reference, item);
  return pressed;
}

const DONE: ReadonlySet<ReplyCode["code"]> = new Set([
  "shownAgain",
  "recovered",
  "runKept",
  "runControlled",
  "moreBelow",
  "alertDone",
]);

function perform(asker: Asker, { action, target }: Pressable): Pressed {
  switch (action) {
    case "showAgain":
      return told(showHere(asker, target));
    case "arrived":
    case "sendAgain":
    case "drop":
      return told(settleProblem(asker, action, target));
    case "acknowledge":
    case "snooze":
      return told(takeAlert(asker, action, target));
    case "keepRun":
      return told({ code: "runKept", run: shortIdOf(asker.tx, target) });
    case "cancelRun": {
      const { reply, stop } = cancel(asker, runNoOf(asker.tx, target));
      return { ...told(reply), stop: stop ?? null };
    }
    case "more": {
      const { from, list } = pageOf(target);
      const lists = {
        decisions: listDecisions,
        runs: listRuns,
        problems: listProblems,
        alerts: listAlerts,
        monitors: listMonitors,
      };
      return { ...told({ code: "moreBelow" }), answer: lists[list as keyof typeof lists](asker, from) };
    }
  }
}

function told(ack: ReplyCode): Pressed {
  return { verdict: ack.code, ack };
}

/** The answer says what was done and loses the buttons of that item; a later edit shows what an earlier one would have. */
function showUse(tx: Tx, effect: EffectRow, reference: string, item: number): void {
  const request = { answer: effect.effectId, item };
  const { effectNo } = insertEffect(tx, {
    purpose: "settlement",
    effectType: "answer.settle",
    key: `answered:${effect.effectId}:${reference}:${item}`,
    resourceNo: effect.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    channelId: effect.channelId,
    destination: effect.destination,
    place: effect.place,
    targetReference: reference,
    targetPart: 1,
  });
  cancelPending(
    tx,
    "effect_type = 'answer.settle' AND channel_id = ? AND place = ? AND target_reference = ? AND effect_no <> ?",
    effect.channelId as string,
    effect.place as string,
    reference,
    effectNo,
  );
}
