// Single words and names in German: how a choice, a person, a place are put into a sentence.

import { CUT, short } from "../en/words.ts";

export const quote = (text: string, units: number = CUT.excerpt): string => `\u201e${short(text, units)}\u201c`;
/** "von Ann", after a space. */
export const byName = (name: string | undefined): string => (name === undefined ? "" : ` von ${short(name, CUT.name)}`);
export const characters = (count: number): string => `${count} Zeichen`;

/** "Ann", "Ann und Bea", "Ann, Bea und Cem". */
export function list(items: readonly string[], last: "und" | "oder"): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}`;
}

/** Labels that are verbs, German or English, read better as what was done. */
const DONE: Readonly<Record<string, string>> = {
  abbrechen: "abgebrochen",
  ablehnen: "abgelehnt",
  annehmen: "angenommen",
  approve: "genehmigt",
  bestätigen: "best\u00e4tigt",
  cancel: "abgebrochen",
  confirm: "best\u00e4tigt",
  continue: "fortgesetzt",
  deny: "abgelehnt",
  fortsetzen: "fortgesetzt",
  freigeben: "freigegeben",
  genehmigen: "genehmigt",
  reject: "abgelehnt",
  release: "freigegeben",
  replan: "neu geplant",
  retry: "wiederholt",
  skip: "\u00fcbersprungen",
  stop: "gestoppt",
  stoppen: "gestoppt",
  verschieben: "verschoben",
  veröffentlichen: "ver\u00f6ffentlicht",
  wiederholen: "wiederholt",
  zustimmen: "zugestimmt",
};

/** "genehmigt" for the label "Genehmigen"; undefined for a label that is no verb known here. */
export function doneVerb(label: string): string | undefined {
  const verb = label
    .trim()
    .replace(/\u2026$/, "")
    .toLowerCase();
  return Object.hasOwn(DONE, verb) ? DONE[verb] : undefined;
}

/** "Genehmigt", or for a label that is no known verb: "„Blauer Pool“ gewählt". */
export function outcome(label: string): string {
  const done = doneVerb(label);
  return done === undefined ? `${quote(label, CUT.label)} gew\u00e4hlt` : done.charAt(0).toUpperCase() + done.slice(1);
}

/** Where an answer was given: "in Pi". */
export function place(channel: string): string {
  const kind = channel.split(":", 1)[0] ?? "";
  const known: Readonly<Record<string, string>> = { pi: "in Pi", telegram: "in Telegram", terminal: "am Terminal" };
  return Object.hasOwn(known, kind) ? (known[kind] as string) : `in ${short(kind, CUT.channel)}`;
}
