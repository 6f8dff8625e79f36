/**
 * What one attempt of a message carries: the content, computed when it is given out, and the tokens of its buttons.
 */
import { PI } from "../../contracts/config.ts";
import { forChat } from "../../contracts/decision/card.ts";
import { buttonIdsOf, type ReplyCode } from "../../contracts/decision/codes.ts";
import { DECISION } from "../../contracts/limits.ts";
import type { Reader } from "../../contracts/reader.ts";
import { buttonKey, type OperatorButton, type OperatorUse } from "../../contracts/decision/operator-codes.ts";
import type { MessageContent, Perform } from "../../contracts/protocol/channel.ts";
import { listNow } from "../channels/offer-lists.ts";
import type { Pressable } from "../channels/operator/answer.ts";
import { cardContent } from "../decisions/card.ts";
import { DOCUMENT_EFFECT, documentNote } from "../decisions/document.ts";
import { decisionByNo, requestOf, type DecisionRow } from "../decisions/rows.ts";
import { sha256 } from "../hash.ts";
import type { Tx } from "../tx.ts";
import { messageContent } from "../sessions/messages.ts";
import { alertEdit, alertFrame } from "../alerts/content.ts";
import type { AlertRequest } from "../alerts/messages.ts";
import { isSilent, notificationContent } from "../notifications/content.ts";
import { partByReference } from "./part-rows.ts";
import { attemptOf, effectByNo, type EffectRow } from "./rows.ts";

/** The stored request of a reply. */
export interface ReplyRequest {
  readonly reply: ReplyCode;
  readonly timeZone: string;
  readonly prompt: { readonly placeholder: string } | null;
  /** Rows of buttons under an answer to an operator. */
  readonly buttons?: readonly (readonly Pressable[])[];
  /** The only account that may press them. */
  readonly onlyFor?: string;
}

type Frame = Pick<Perform, "op" | "content" | "part" | "reference" | "replyTo" | "silent">;

/** The audiences that a message is for (a decision may have been passed on to a second one); none for an answer to somebody. */
export function audiencesOf(tx: Tx, effect: EffectRow): string[] {
  if (effect.decisionNo !== null) {
    const { audience, escalatedTo } = decisionByNo(tx, effect.decisionNo);
    return escalatedTo === null ? [audience] : [audience, escalatedTo];
  }
  if (effect.purpose === "alert") return [(tx.unpack(effect.request) as unknown as AlertRequest).audience];
  if (effect.purpose !== "notification") return [];
  const { notificationId } = tx.unpack(effect.request) as { notificationId: string };
  const sql = "SELECT audience FROM notifications WHERE notification_id = ?";
  const audience = tx.get<{ audience: string | null }>(sql, notificationId)?.audience ?? null;
  return audience === null ? [] : [audience];
}

/** The frame with its content for this reader. */
export function forReader(frame: Frame, reader: Reader | undefined): Frame {
  const { content } = frame;
  // Messages of a session name no times.
  if (content === null || reader === undefined || content.kind === "session") return frame;
  if (content.kind !== "card") return { ...frame, content: { ...content, ...reader } };
  return { ...frame, content: { ...content, card: { ...content.card, ...reader } } };
}

const POST = { op: "post", part: null, reference: null } as const;

/** The part of a `perform` frame that depends on what kind of message it is. Stores the tokens of a card's buttons. */
export function frameOf(
  tx: Tx,
  effect: EffectRow,
  attempt: number,
  copy: { readonly repeatOf: number | null; readonly timeZone: string | undefined },
): Frame {
  switch (effect.purpose) {
    case "delivery": {
      const decision = decisionByNo(tx, effect.decisionNo as number);
      // In a session an answer names its decision by itself.
      const buttons = decision.status === "pending" && effect.channelId !== PI;
      const tokens = buttons ? issueTokens(tx, decision, effect.effectNo, attempt) : undefined;
      return {
        ...POST,
        content: chatCard(tx, decision, { tokens, of: effect, ...copy, destination: effect.destination }),
        replyTo: null,
      };
    }
    case "settlement": {
      const target = { part: effect.targetPart, reference: effect.targetReference, replyTo: null };
      if (effect.effectType === "prompt.close") return { op: "delete", content: null, ...target };
      if (effect.effectType === "question.close") {
        const { reply, timeZone } = tx.unpack(effect.request) as unknown as ReplyRequest;
        return { op: "edit", content: { kind: "reply", reply, timeZone, prompt: null }, ...target };
      }
      if (effect.effectType === "alert.edit")
        return { op: "edit", content: editedAlert(tx, effect, copy.timeZone), ...target };
      if (effect.effectType === "answer.settle" || effect.effectType === "list.settle")
        return { op: "edit", content: usedAnswer(tx, effect), ...target };
      return { op: "edit", content: settledCard(tx, effect, copy.timeZone), ...target };
    }
    case "reply": {
      if (effect.effectType === DOCUMENT_EFFECT) {
        const decision = decisionByNo(tx, effect.decisionNo as number);
        const content = chatCard(tx, decision, { ...copy, destination: effect.destination });
        return { ...POST, op: "document", content, replyTo: null };
      }
      const content = replyContent(tx, effect, attempt, []);
      return { ...POST, content, replyTo: effect.targetReference };
    }
    case "notification": {
      const { notificationId } = tx.unpack(effect.request) as { notificationId: string };
      const content = notificationContent(tx, notificationId, {
        repeatOf: copy.repeatOf,
        timeZone: copy.timeZone ?? "UTC",
      });
      const silent = isSilent(tx, notificationId) ? { silent: true as const } : {};
      return { ...POST, content, replyTo: null, ...silent };
    }
    case "message":
      return { ...POST, content: messageContent(tx, effect), replyTo: null };
    case "alert": {
      const tokens = (ids: readonly string[]): Record<string, string> => issue(tx, ids, effect.effectNo, attempt);
      const { content, replyTo, silent } = alertFrame(tx, effect, copy, tokens);
      return { ...POST, content, replyTo, ...(silent ? { silent: true as const } : {}) };
    }
    case "action":
      throw new Error(`effect ${effect.effectId} is no message`);
  }
}

/** The card for one destination: without what a chat may not have, and with word of its document. */
function chatCard(
  tx: Tx,
  decision: DecisionRow,
  { destination, ...copy }: Parameters<typeof cardContent>[2] & { readonly destination: string | null },
): MessageContent {
  const content = cardContent(tx, decision, copy);
  if (content.kind !== "card") return content;
  const { card, state } = forChat(content.card, content.state);
  // A session shows everything, and gets no document.
  const note = destination?.startsWith(`${PI}/`) === true ? {} : documentNote(tx, decision, destination);
  return {
    ...content,
    card,
    state: note.document === undefined ? state : { ...state, notes: { ...state.notes, ...note } },
  };
}

function settledCard(tx: Tx, effect: EffectRow, timeZone: string | undefined): MessageContent {
  const shown = partByReference(tx, effect.channelId as string, effect.targetReference as string);
  const copy = shown === undefined ? undefined : attemptOf(tx, shown.effectNo, shown.attempt);
  const decision = decisionByNo(tx, effect.decisionNo as number);
  // Further buttons of the same copy: those that it has stay good, as nobody knows whether the edit will arrive.
  const pending = shown !== undefined && decision.status === "pending" && effect.channelId !== PI;
  const tokens = pending ? issueTokens(tx, decision, shown.effectNo, shown.attempt) : undefined;
  return chatCard(tx, decision, {
    tokens,
    of: shown === undefined ? undefined : effectByNo(tx, shown.effectNo),
    repeatOf: copy?.repeatOf ?? null,
    timeZone,
    destination: effect.destination,
  });
}

/** An alert as it stands now, under the message that shows it; its buttons are further ones of the same copy. */
function editedAlert(tx: Tx, edit: EffectRow, timeZone: string | undefined): MessageContent {
  const { attempt, message } = messageUnder(tx, edit);
  const repeatOf = attemptOf(tx, message.effectNo, attempt)?.repeatOf ?? null;
  const tokens = (ids: readonly string[]): Record<string, string> => issue(tx, ids, message.effectNo, attempt);
  return alertEdit(tx, message, { repeatOf, timeZone }, tokens);
}

/** A reply with those of its buttons that were not used, each with a token of its own, and what was done with the others. */
function replyContent(tx: Tx, effect: EffectRow, attempt: number, used: OperatorUse[]): MessageContent {
  const { buttons, prompt, reply: asked, timeZone } = tx.unpack(effect.request) as unknown as ReplyRequest;
  const reply = asked.code === "offlineDigest" ? listNow(tx, asked) : asked;
  const done = new Set(used.map(({ item }) => item));
  const rows = buttons
    ?.map((row) =>
      row.filter(({ item }) => !done.has(item)).map(({ action, item }): OperatorButton => ({ action, item })),
    )
    .filter((row) => row.length > 0);
  const ids = rows?.flat().map(buttonKey) ?? buttonIdsOf(reply);
  return {
    kind: "reply",
    reply,
    timeZone,
    prompt,
    ...(rows === undefined || rows.length === 0 ? {} : { buttons: rows }),
    ...(ids.length === 0 ? {} : { tokens: issue(tx, ids, effect.effectNo, attempt) }),
    ...(used.length === 0 ? {} : { used }),
  };
}

/** The message that an edit is about, and the attempt that sent it. */
function messageUnder(tx: Tx, edit: EffectRow): { readonly message: EffectRow; readonly attempt: number } {
  const shown = partByReference(tx, edit.channelId as string, edit.targetReference as string);
  if (shown === undefined) throw new Error(`effect ${edit.effectId} edits a message that nobody knows`);
  return { message: effectByNo(tx, shown.effectNo) as EffectRow, attempt: shown.attempt };
}

/** An answer to an operator, or a list, as it stands after its buttons were used. */
function usedAnswer(tx: Tx, edit: EffectRow): MessageContent {
  const { attempt, message } = messageUnder(tx, edit);
  const used = tx
    .all<OperatorUse & { by: string | null }>(
      "SELECT item, action, name AS by, used_at AS at FROM operator_uses WHERE effect_no = ? ORDER BY item",
      message.effectNo,
    )
    .map(({ action, at, by, item }): OperatorUse => ({ action, item, ...(by === null ? {} : { by }), at }));
  return replyContent(tx, message, attempt, used);
}

function issueTokens(tx: Tx, decision: DecisionRow, effectNo: number, attempt: number): Record<string, string> {
  const ids = requestOf(tx, decision).choices.map(({ id }) => id);
  return issue(tx, ids, effectNo, attempt);
}

/** One unguessable token per button; only their hashes are stored, bound to a choice, an attempt, and through it to version and destination. */
function issue(tx: Tx, ids: readonly string[], effectNo: number, attempt: number): Record<string, string> {
  const tokens: Record<string, string> = {};
  for (const id of ids) {
    const token = tx.random(DECISION.tokenBytes).toString("base64url");
    tokens[id] = token;
    tx.run(
      "INSERT INTO decision_tokens (token_hash, effect_no, attempt_number, choice) VALUES (?, ?, ?, ?)",
      sha256(token),
      effectNo,
      attempt,
      id,
    );
  }
  return tokens;
}
