// Single words and names in English: how a choice, a person, a place are put into a sentence.
// Values come as they are from outside; everything that goes into a phrase is made inert and cut here.

import { cutToUnits } from "../../../src/contracts/decision/graphemes.ts";
import { inert } from "../../../src/contracts/decision/inert.ts";

/** Units that a value may take inside a phrase; together they keep the worst card within its reserve. */
export const CUT = {
  name: 40,
  label: 64,
  excerpt: 160,
  reason: 80,
  workflow: 48,
  run: 16,
  channel: 24,
  given: 60,
} as const;

export const short = (text: string, units: number): string => cutToUnits(inert(text).trim(), units);
export const quote = (text: string, units: number = CUT.excerpt): string => `\u201c${short(text, units)}\u201d`;
export const sentence = (text: string): string => (/[.!?\u2026]$/.test(text) ? text : `${text}.`);
export const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const byName = (name: string | undefined): string => (name === undefined ? "" : ` by ${short(name, CUT.name)}`);
export const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;
export const characters = (count: number): string => `${count} character${count === 1 ? "" : "s"}`;

/** "Ann", "Ann and Bea", "Ann, Bea and Cem". */
export function list(items: readonly string[], last: "and" | "or"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

/** "2nd", "3rd", "11th". */
export function ordinal(count: number): string {
  const teen = count % 100 > 10 && count % 100 < 14;
  return `${count}${teen ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th")}`;
}

/** Labels that are verbs read better as what was done. */
const DONE: Readonly<Record<string, string>> = {
  accept: "accepted",
  acknowledge: "acknowledged",
  allow: "allowed",
  approve: "approved",
  cancel: "cancelled",
  confirm: "confirmed",
  continue: "continued",
  decline: "declined",
  deny: "denied",
  merge: "merged",
  postpone: "postponed",
  publish: "published",
  reject: "rejected",
  release: "released",
  replan: "replanned",
  retry: "retried",
  skip: "skipped",
  stop: "stopped",
};

/** "approved" for the label "Approve"; undefined for a label that is no verb known here. */
export function doneVerb(label: string): string | undefined {
  const verb = label
    .trim()
    .replace(/\u2026$/, "")
    .toLowerCase();
  return Object.hasOwn(DONE, verb) ? DONE[verb] : undefined;
}

/** "Approved", or for a label that is no known verb: "“Blue pool” chosen". */
export function outcome(label: string): string {
  const done = doneVerb(label);
  return done === undefined ? `${quote(label, CUT.label)} chosen` : done.charAt(0).toUpperCase() + done.slice(1);
}

/** Where an answer was given: "in Pi". */
export function place(channel: string): string {
  const kind = channel.split(":", 1)[0] ?? "";
  const known: Readonly<Record<string, string>> = { pi: "in Pi", telegram: "in Telegram", terminal: "in the terminal" };
  return Object.hasOwn(known, kind) ? (known[kind] as string) : `in ${short(kind, CUT.channel)}`;
}
