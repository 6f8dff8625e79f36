/**
 * What happened in the demo, from all sides: the demo's own steps, the server's record, the phone's ledger, the
 * processes. One machine, one clock, so the times can be compared.
 */
import type { RunView, TimelineItem } from "../../client/index.ts";
import { clean } from "../layout.ts";
import { itemText, storyItems } from "../story.ts";
import { duration } from "../times.ts";
import { PERSON, type Stage } from "./stage.ts";
import type { PhoneMessage, PhoneState } from "./stand-in.ts";

export interface TimelineRow {
  readonly at: number;
  /** Whose view this is: demo, server, phone, process. */
  readonly side: "demo" | "server" | "phone" | "process";
  readonly text: string;
}

export interface ProcessRow {
  readonly kind: string;
  readonly pid: number;
}

/** All rows, oldest first. */
export function timelineRows(stage: Stage, view: RunView, state: PhoneState): TimelineRow[] {
  const rows: TimelineRow[] = stage.milestones.map(({ at, text }) => ({ at, side: "demo", text }));
  for (const item of storyItems(view.timeline)) rows.push({ at: item.at, side: "server", text: serverText(item) });
  for (const { kind, pid, startedAt, endedAt, outcome } of view.processes) {
    if (kind === "server") continue;
    // A warm runner serves one launch of the run after another; its process goes on in between.
    const [begins, ends] = kind === "runner" ? ["takes up the run", "lets go of it"] : ["started", "ended"];
    const name = clean(kind);
    rows.push({ at: startedAt, side: "process", text: `${name} ${begins} (pid ${pid})` });
    if (endedAt === null) continue;
    const how = outcome === null || outcome === "exited" ? `${ends} (pid ${pid})` : `ended (pid ${pid}, ${outcome})`;
    rows.push({ at: endedAt, side: "process", text: `${name} ${how}` });
  }
  rows.push(...phoneRows(state));
  return rows.sort((a, b) => a.at - b.at);
}

/** The sentence of an event, with the update that carried an answer: it ties the phone's side to the server's. */
function serverText(item: TimelineItem): string {
  const text = itemText(item);
  const detail = item.detail;
  const updateId =
    typeof detail === "object" && detail !== null && !Array.isArray(detail) ? detail["updateId"] : undefined;
  return typeof updateId === "number" ? `${text} (update ${updateId})` : text;
}

function phoneRows(state: PhoneState): TimelineRow[] {
  const rows: TimelineRow[] = [];
  const add = (at: number, text: string): void => void rows.push({ at, side: "phone", text });
  for (const message of state.chats.flatMap((chat) => chat.messages)) {
    const [first = message, ...edits] = looks(message);
    if (message.from === "bot") add(first.at, `Message ${message.id} arrived: ${lineOf(first.text, 0)}`);
    else add(first.at, `${PERSON.name} wrote message ${message.id}: ${lineOf(first.text, 0)}`);
    // What an edit adds stands at the end of a card.
    for (const { at, text } of edits) add(at, `Message ${message.id} now ends: ${lineOf(text, -1)}`);
  }
  for (const tap of state.taps) {
    add(tap.at, `${PERSON.name} pressed a button of message ${tap.messageId} (update ${tap.updateId})`);
    if (tap.answer) add(tap.answer.at, `The press was acknowledged: ${clean(tap.answer.text) || "(no words)"}`);
  }
  const handed = new Set<number>();
  for (const request of state.requests) {
    for (const id of request.updateIds ?? []) {
      if (handed.has(id)) continue;
      handed.add(id);
      add(request.verdict?.at ?? request.at, `getUpdates handed out update ${id}`);
    }
  }
  return rows;
}

/** Every look of a message with its time, oldest first. */
function looks(message: PhoneMessage): { at: number; text: string }[] {
  const now = { at: message.editedAt ?? message.at, text: message.text };
  return [...message.versions.map(({ at, text }) => ({ at, text })), now];
}

/** A line that is not empty: 0 is the first, -1 the last. */
function lineOf(text: string, index: number): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return clean(lines.at(index) ?? "");
}

/** Every process that took part, each pid once. */
export function processRows(stage: Stage, view: RunView, channelPids: readonly ProcessRow[]): ProcessRow[] {
  const all = [
    { kind: "demo", pid: process.pid },
    { kind: "stand-in", pid: stage.standInPid },
    { kind: "server", pid: stage.serverPid },
    ...channelPids,
    ...view.processes.map(({ kind, pid }) => ({ kind, pid })),
  ];
  const seen = new Set<number>();
  return all.filter(({ pid }) => !seen.has(pid) && seen.add(pid));
}

/** Update ids of taps and replies, in order. */
export function answerUpdates(state: PhoneState): number[] {
  const ids = state.requests.flatMap((request) => [...(request.updateIds ?? [])]);
  return [...new Set(ids)].sort((a, b) => a - b);
}

/** How long the interesting parts took, as sentences. */
export function durations(view: RunView, state: PhoneState): { name: string; ms: number }[] {
  const found: { name: string; ms: number }[] = [];
  const tap = state.taps.at(-1);
  const resolved = view.decisions
    .map((decision) => decision.resolution?.resolvedAt ?? 0)
    .reduce((a, b) => Math.max(a, b), 0);
  if (tap !== undefined && resolved >= tap.at)
    found.push({ name: "from the press to the stored answer", ms: resolved - tap.at });
  const card = state.chats.flatMap((chat) => chat.messages).find((message) => message.id === tap?.messageId);
  const edited = card === undefined ? undefined : looks(card).find(({ at }) => tap !== undefined && at > tap.at)?.at;
  if (tap !== undefined && edited !== undefined)
    found.push({ name: "from the press to the settled card", ms: edited - tap.at });
  if (view.run.finishedAt !== null) {
    if (tap !== undefined)
      found.push({ name: "from the press to the end of the run", ms: view.run.finishedAt - tap.at });
    found.push({ name: "the whole run", ms: view.run.finishedAt - view.run.createdAt });
  }
  return found;
}

export function durationLine(one: { name: string; ms: number }): string {
  return `${duration(one.ms)} ${one.name}`;
}
