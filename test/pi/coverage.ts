/** State of a session × what happens to it, and the test that shows it: what `npm run test:pi -- --list` prints. A name that no case has is an error. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { STAGE_CASES } from "./stages/index.ts";
import type { Case } from "./cases/case.ts";
import { CASES } from "./cases/index.ts";
import { installed } from "./cases/installed.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const SERVER = "test/server/pi/";

/** `pi`: a case of this folder, by the beginning of its name; else a file and a sentence in it. `-`: nothing shows it. */
const ROWS: readonly (readonly [state: string, event: string, shownBy: string])[] = [
  ["new, without a file", "a message comes", "pi:in a new session, which has no file"],
  [
    "new, without a file",
    "Pi is killed",
    `${SERVER}delivery.test.ts:come again into a session that lost them because it had no file`,
  ],
  ["--no-session", "a whole run", "pi:a session that never has a file"],
  ["idle", "a run is started in a turn", "pi:a run that the model starts in a turn"],
  ["in the turn that reserved a run", "the link breaks", `${SERVER}time.test.ts:waits for a session whose link broke`],
  ["in the turn that reserved a run", "Pi quits", `${SERVER}steps.test.ts:begins when its session has parted`],
  ["in a step's turn", "Pi is killed", "pi:Pi is killed in the middle of a step"],
  [
    "in a step's turn",
    "server or Pi is away",
    `${SERVER}time.test.ts:counts only the time in which its agent was at work`,
  ],
  ["in a step's turn", "Escape", "pi:Escape in a step's turn"],
  ["in a step's turn", "its time is over", "pi:in a new session, which has no file"],
  ["in a step's turn", "the run is cancelled", `${SERVER}steps.test.ts:is cancelled with its run`],
  ["a result is judged", "the judge dies", `${SERVER}steps.test.ts:rejects a result over which its judge died`],
  ["a card waits", "server and adapter are killed", "pi:server and adapter are killed while a session waits"],
  ["a card waits", "reload, /new, a walk through the tree, a second Pi", "pi:a new session, a reload and a walk"],
  ["a card waits", "typed answer, answer in Telegram", "pi:what a person types in Pi's terminal"],
  ["a card waits", "a model or a program answers", "pi:the model cannot answer a decision"],
  [
    "a delivery is on its way",
    "the adapter dies",
    `${SERVER}delivery.test.ts:survive the death of the adapter in the middle of a delivery`,
  ],
  [
    "a delivery is on its way",
    "the server dies",
    `${SERVER}delivery.test.ts:survive the loss of the server in the middle of a delivery`,
  ],
  ["a delivery is on its way", "the person types", `${SERVER}delivery.test.ts:are held while the person is at work`],
  ["any", "random kills, many runs", "test/pi/soak.ts:Pi, the server and the adapter are killed at random"],
  ["compaction", "a command is typed", "pi:what a person types while Pi compacts"],
  ["a step or a card waits", "compaction, /fork", "pi:a conversation that is compacted or forked"],
];

/** The table as lines, and the kills of the full run. Throws for a row whose test is not there. */
export function coverage(): string[] {
  const names = (cases: readonly Case[]): string[] => cases.map(({ name }) => name);
  return [...table(), "", "Only with --full:", ...names(installed), ...names(STAGE_CASES)];
}

function table(): string[] {
  const width = (column: 0 | 1): number => Math.max(...ROWS.map((row) => row[column].length));
  return ROWS.map(([state, event, shownBy]) => {
    if (!exists(shownBy)) throw new Error(`nothing is called “${shownBy}”`);
    return `${state.padEnd(width(0))}  ${event.padEnd(width(1))}  ${shownBy === "-" ? "NOT COVERED" : shownBy}`;
  });
}

function exists(shownBy: string): boolean {
  if (shownBy === "-") return true;
  const [file = "", sentence = ""] = shownBy.split(/:(.*)/s);
  if (file === "pi") return CASES.some(({ name }) => name.startsWith(sentence));
  return readFileSync(join(root, file), "utf8").includes(sentence);
}
