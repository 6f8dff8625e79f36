// An alert as one Telegram message: what it is in bold, evidence, how it stands, and its buttons.

import { alertButtons, type AlertModel } from "../../src/contracts/alert.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import type { Part, PartButton } from "../part.ts";
import { wordsIn, type Words } from "../text/index.ts";
import type { Clock } from "../text/phrase.ts";
import { RichText } from "./rich.ts";

/** Room for the words around the names in a list. */
const LIST_RESERVE = 300;

/** Always one message: what is too long is cut with an ellipsis, and every member of a list keeps a line. */
export function renderAlert(alert: AlertModel, clock: Clock): Part {
  const at = { nameZone: true, ...clock };
  const words = wordsIn(clock.language);
  const heading = words.alertHeading(alert);
  const rich = new RichText().add(`${heading.glyph} `).add(heading.text, "bold").phrase(heading.rest, at);
  if (alert.kind === "digest") for (const line of memberLines(alert.members, words)) rich.add(`\n${line}`);
  for (const line of words.alertBody(alert)) rich.add("\n").phrase(line, at);
  return {
    text: rich.text,
    entities: rich.entities,
    buttons: buttonsOf(alert, words),
    index: 1,
    of: 1,
    body: { offset: 0, length: rich.text.length },
  };
}

/** One line for each; when they do not fit, the longest names are cut until they do. */
function memberLines(members: Extract<AlertModel, { kind: "digest" }>["members"], { memberLine }: Words): string[] {
  const room = TELEGRAM.messageUnits - LIST_RESERVE - members.length;
  const lines = (units: number): string[] => members.map((member) => memberLine(member, units));
  const fits = (units: number): boolean => lines(units).reduce((sum, line) => sum + line.length, 0) <= room;
  let [low, high] = [1, TELEGRAM.messageUnits];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return lines(low);
}

function buttonsOf(alert: AlertModel, { alertButton }: Words): PartButton[][] {
  const actions = alertButtons(alert);
  if (actions.length === 0) return [];
  return [
    actions.map((action): PartButton => ({ label: alertButton(action, alert.kind === "digest"), choice: action })),
  ];
}
