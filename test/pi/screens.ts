/**
 * What the extension draws, at three widths, from the real renderers: `node --import jiti/register test/pi/screens.ts` prints it, with `--write` it
 * goes into docs/pi.md. A test compares that page with it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { messageLines, widgetLines } from "../../renderers/pi/index.ts";
import type { CardState } from "../../src/contracts/decision/card.ts";
import type { SessionMessage } from "../../src/contracts/pi/session-message.ts";
import { exampleView } from "../adapters/pi/example-view.ts";
import { exampleCard, NOON } from "../decision/examples.ts";

const PAGE = new URL("../../docs/pi.md", import.meta.url);
const BEGIN = "<!-- screens: made by test/pi/screens.ts -->";
const END = "<!-- end of the screens -->";
const WIDTHS = [60, 100, 160] as const;
const ZONE = "Europe/Berlin";

const PENDING: CardState = { status: { kind: "pending" } };

/** The block between the marks of docs/pi.md. */
export function screens(): string {
  const parts = WIDTHS.map((columns) => `At ${columns} columns:\n\n\`\`\`\n${screen(columns)}\n\`\`\`\n`);
  return `${BEGIN}\n\n${parts.join("\n")}\n${END}`;
}

/** The page with its block made anew. */
export function withScreens(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < 0) throw new Error("docs/pi.md has no place for the screens");
  return page.slice(0, begin) + screens() + page.slice(end + END.length);
}

function screen(columns: number): string {
  const view = exampleView();
  const now = view.at;
  const draw = (message: SessionMessage, state: CardState | undefined, expanded: boolean): string[] =>
    messageLines(message, { columns, expanded, state, now, timeZone: ZONE }).map(({ text }) => text);
  const card = exampleCard();
  const chosen: CardState = {
    status: {
      kind: "chosen",
      provenance: "human",
      label: "Approve",
      by: "Ann",
      channel: "pi",
      assurance: "local",
      at: now,
    },
    story: { outcome: "completed", at: now },
  };
  const decision: SessionMessage = { kind: "decision", card, state: PENDING };
  const run = { runId: "run-1-7k3faaaa", runShortId: "7k3f", workflow: "deploy", title: "shop-api 4.12.0" };
  const terminal: SessionMessage = {
    kind: "terminal",
    ...run,
    status: "completed",
    result: '{"choice":"approve"}',
    error: null,
    steps: 7,
    startedAt: NOON,
    finishedAt: now,
  };
  return [
    ...draw(decision, PENDING, true),
    "",
    ...widgetLines(view, { columns, now, scroll: 0, live: true }),
    "",
    ...draw(decision, chosen, false),
    "",
    ...draw(terminal, undefined, false),
  ]
    .map((line) => line.trimEnd())
    .join("\n");
}

if (process.argv[1]?.endsWith("screens.ts") === true) {
  if (process.argv.includes("--write")) writeFileSync(PAGE, withScreens(readFileSync(PAGE, "utf8")));
  else process.stdout.write(`${screens()}\n`);
}
