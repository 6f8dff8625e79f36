/**
 * What happened in the demo, from all sides: the demo's own steps, the server's record, the phone's ledger, the
 * processes. One machine, one clock, so the times can be compared.
 */
import type { RunView } from "../../client/index.ts";
import { clean } from "../layout.ts";
import { itemText, storyItems } from "../story.ts";
import { duration } from "../times.ts";
import { PERSON, type Stage } from "./stage.ts";
import type { PhoneState } from "./stand-in.ts";

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
  for (const item of storyItems(view.timeline)) rows.push({ at: item.at, side: "server", text: itemText(item) });
  for (const { kind, pid, startedAt, endedAt, outcome } of view.processes) {
    if (kind === "server") continue;
    rows.push({ at: startedAt, side: "process", text: `${clean(kind)} started (pid ${pid})` });
    if (endedAt !== null)
      rows.push({
        at: endedAt,
        side: "process",
        text: `${clean(kind)} ended (pid ${pid}${outcome === null ? "" : `, ${outcome}`})`,
      });
  }
  rows.push(...phoneRows(stage, state));
  return rows.sort((a, b) => a.at - b.at);
}

function phoneRows(stage: Stage, state: PhoneState): TimelineRow[] {
  const rows: TimelineRow[] = [];
  const add = (at: number, text: string): void => void rows.push({ at, side: "phone", text });
  for (const message of stage.standIn.messages(state)) {
    const first = firstLine(message.versions?.[0] ?? message);
    if (message.from === "bot") add(message.at, `Message ${message.id} arrived: ${first}`);
    else add(message.at, `${PERSON.name} wrote message ${message.id}: ${first}`);
    if (message.editedAt !== undefined) add(message.editedAt, `Message ${message.id} now says: ${firstLine(message)}`);
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

function firstLine(message: { readonly text: string }): string {
  return clean(message.text.split("\n")[0] ?? "");
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
  const edited = state.chats
    .flatMap((chat) => chat.messages)
    .find((message) => message.id === tap?.messageId)?.editedAt;
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
