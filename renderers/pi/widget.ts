// The widget above the editor of a Pi session: at most ten lines about its run. Pure: from the server's view to lines.

import type { SessionDecision, SessionView } from "../../src/contracts/pi/session-view.ts";
import { PI_WIDGET } from "../../src/contracts/limits.ts";
import type { ProgressView } from "../../src/contracts/protocol/operations.ts";
import { cutToColumns, cutToScreen, displayWidth } from "../terminal/width.ts";
import { duration } from "../terminal/times.ts";
import { clean } from "../terminal/layout.ts";
import { pi as words, plain } from "../text/en.ts";

type Run = NonNullable<SessionView["run"]>;

export interface WidgetOptions {
  readonly columns: number;
  /** The server's clock now. */
  readonly now: number;
  /** Rows by which the person scrolled away from the current node; negative is up. */
  readonly scroll: number;
  /** False while the server cannot be reached: what is shown may be old. */
  readonly live: boolean;
}

/** The lines, each at most `columns` wide; none when the session has no run. */
export function widgetLines(view: SessionView, options: WidgetOptions): string[] {
  const { run } = view;
  if (run === null) return [];
  const below = [...progressLines(run, options.now - view.at), ...decisionLines(view), ...checkLines(run, options)];
  const room = PI_WIDGET.lines - 1 - Math.min(below.length, PI_WIDGET.lines - 2);
  const lines = [head(run, options), ...nodeLines(run, room, options), ...below].slice(0, PI_WIDGET.lines);
  // Pi ends when a line is wider than its terminal.
  return lines.map((line) => cutToScreen(line, options.columns));
}

/** How far one can scroll the nodes of a run, as the bounds of `scroll`. */
export function scrollBounds({ run }: SessionView): { readonly least: number; readonly most: number } {
  if (run === null) return { least: 0, most: 0 };
  const current = currentRow(run);
  return { least: -current, most: Math.max(0, run.nodes.length - 1 - current) };
}

function head({ reserved, summary }: Run, { columns, live, now }: WidgetOptions): string {
  const name = words.runName(summary.workflow, summary.shortId);
  const took = duration(Math.max(0, (summary.finishedAt ?? now) - summary.createdAt));
  const state = reserved ? words.reservedWord : `${words.runWord(summary.status)}, ${took}`;
  const title = summary.title === null ? "" : ` \u00b7 ${clean(summary.title)}`;
  const line = `${words.runGlyph(summary.status)} ${name} \u00b7 ${live ? state : words.unreachable}`;
  // The title is the first to go.
  const room = columns - displayWidth(line);
  return room < 8 || title === "" ? line : line + cutToColumns(title, room);
}

function currentRow({ nodes, summary }: Run): number {
  const current = nodes.findIndex(({ nodeId }) => nodeId === summary.currentNode);
  if (current >= 0) return current;
  const last = nodes.findLastIndex(({ status }) => status !== "pending");
  return Math.max(0, last);
}

/** Rows around the current node (two thirds of the room above it are history at most), moved by what the person scrolled. */
function nodeLines(run: Run, room: number, { scroll }: WidgetOptions): string[] {
  const { nodes } = run;
  if (nodes.length === 0 || room <= 0) return [];
  const current = currentRow(run);
  const size = Math.min(room, nodes.length, PI_WIDGET.nodes);
  const lead = Math.min(size - 1, PI_WIDGET.lead);
  const wished = current - (size - 1 - lead) + scroll;
  const first = Math.min(Math.max(0, wished), nodes.length - size);
  const lines = nodes.slice(first, first + size).map((node, index) => {
    const here = first + index === current ? "\u203a" : " ";
    const again = node.visits > 1 ? ` ${words.visits(node.visits)}` : "";
    const word = node.status === "pending" || node.status === "done" ? "" : ` ${node.status}`;
    return `${here}${words.nodeGlyph(node.status)} ${clean(node.nodeId)}${again}${word}`;
  });
  const hidden = run.nodesTotal > size && lines.length > 1;
  if (hidden) {
    const from = run.firstNode + first + 1;
    lines[lines.length - 1] += `   ${words.windowText(from, from + size - 1, run.nodesTotal)}`;
  }
  return lines;
}

function progressLines({ progress }: Run, sinceMs: number): string[] {
  const shown = progress.filter(({ status }) => status !== "completed" && status !== "cancelled");
  const some = (shown.length > 0 ? shown : progress.slice(-1)).slice(0, PI_WIDGET.progress);
  return some.map((one) => progressText(one, sinceMs));
}

function progressText(progress: ProgressView, sinceMs: number): string {
  const { completed, label, phase, status, total, unit } = progress;
  const of = total === null ? `${completed ?? ""}` : `${completed ?? "?"}/${total}`;
  const count = completed === null && total === null ? "" : ` ${of}${unit === null ? "" : ` ${clean(unit)}`}`;
  const where = phase === null ? "" : ` (${clean(phase)})`;
  const state = status === "running" ? "" : `, ${status}`;
  return ` ${clean(label)}${count}${where}${state}${etaText(progress, sinceMs)}`;
}

/** `sinceMs`: how long ago the estimate was made. */
function etaText({ estimate, status }: ProgressView, sinceMs: number): string {
  if (status !== "running" && status !== "pending") return "";
  if (estimate.kind === "unavailable") return ` \u00b7 ${words.etaUnavailable(clean(estimate.reason))}`;
  const left = Math.max(0, estimate.remainingMs.median - Math.max(0, sinceMs));
  const trust = estimate.confidence === "low" ? ", roughly" : "";
  return ` \u00b7 about ${duration(left)} left${trust}`;
}

function decisionLines({ decisions }: SessionView): string[] {
  const pending = decisions.filter(({ state }) => state.status.kind === "pending");
  const [first, ...others] = pending;
  if (first === undefined) return [];
  const lines = [` ${words.waitsFor(first)}${until(first)}`, `   ${words.answerHint(first)}`];
  if (others.length > 0) lines.push(` ${words.moreDecisions(others.length)}`);
  return lines;
}

function until({ card }: SessionDecision): string {
  if (card.deadlineAt === undefined) return "";
  const clock = { timeZone: card.timeZone, reference: card.createdAt };
  return ` \u00b7 ${plain(["until ", { at: card.deadlineAt, style: "clock" }], clock)}`;
}

function checkLines({ nextCheckAt, summary }: Run, { now }: WidgetOptions): string[] {
  if (nextCheckAt === null || summary.finishedAt !== null) return [];
  const relative = plain([{ at: nextCheckAt, style: "relative" }], { timeZone: "UTC", reference: now });
  return [` ${words.nextCheck(nextCheckAt <= now ? "now" : relative)}`];
}
