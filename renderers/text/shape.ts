// What alerts and lists look like in every language: glyphs, marks and how much fits.

import type { AlertLine, AlertModel, AlertName, AlertOrigin, Severity } from "../../src/contracts/alert.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { ALERT } from "../../src/contracts/limits.ts";
import { CUT, short } from "./en/words.ts";
import type { Phrase } from "./phrase.ts";

export type Kind<K extends AlertModel["kind"]> = Extract<AlertModel, { kind: K }>;
export type Member = Kind<"digest">["members"][number];

export const GLYPH: Readonly<Record<Severity, string>> = {
  critical: "\u{1F534}",
  warning: "\u26a0\ufe0f",
  info: "\u2139\ufe0f",
};
const UNSTABLE = "\u{1F7E0}";
export const OVER = "\u{1F7E2}";

export const subjectOf = ({ subject }: AlertName): string => short(subject, ALERT.subjectUnits);

export function glyphOf({ condition, severity, state }: AlertName & { readonly state: Member["state"] }): string {
  if (state === "recovered") return OVER;
  return state === "flapping" || condition === "unstable" ? UNSTABLE : GLYPH[severity];
}

export function worst(members: readonly Member[]): Severity {
  const open = members.filter(({ state }) => state !== "recovered");
  return open.some(({ severity }) => severity === "critical") ? "critical" : "warning";
}

/** What a workflow reports is its own story, and no condition of something outside. */
export function isReport({ origin: given }: { readonly origin?: AlertOrigin | undefined }): boolean {
  return given?.kind === "workflow";
}

/** Made visible, a text may be much longer than it was; together they keep within one message. */
export function fitting(lines: readonly AlertLine[], write: (line: AlertLine) => Phrase): Phrase[] {
  const phrases: Phrase[] = [];
  let room: number = ALERT.linesUnits;
  for (const line of lines) {
    const phrase = write(line).map((piece) => (typeof piece === "string" ? cutToUnits(piece, room) : piece));
    phrases.push(phrase);
    room -= phrase.reduce((sum, piece) => sum + (typeof piece === "string" ? piece.length : 20), 1);
    if (room < 1) break;
  }
  return phrases;
}

/** Whether somebody has taken it, or left it in peace. */
export function markOf({ acknowledged, snoozed, state }: Member): string {
  if (state === "recovered") return "";
  return acknowledged ? " \u2713" : snoozed === true ? " \u{1F4A4}" : "";
}

/** Of the names that a card lists. */
const ASKED_UNITS = 100;

/** As many of the names as a card lists. */
export function shownNames(names: readonly string[]): string[] {
  const shown: string[] = [];
  for (const name of names.map((one) => short(one, CUT.name))) {
    if (shown.join(", ").length + name.length > ASKED_UNITS) break;
    shown.push(name);
  }
  return shown;
}

export const bullet = (text: string): string => `\u2022 ${text}`;
export const lines = (first: string, rest: readonly string[]): string => [first, ...rest].join("\n");
