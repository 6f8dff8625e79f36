/** `/resource-manager list | get | apply | reconcile | delete` */
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { Refusal } from "../actions.ts";
import { takeWord } from "../answer/plan.ts";
import type { Command } from "./request.ts";

export const MANAGER_WORDS: Readonly<Record<string, Command>> = {};

export const resourceManagerCommand: Command = (request, tools) => {
  const [word, rest] = takeWord(request.line);
  const command = MANAGER_WORDS[word === "" ? "list" : word];
  if (command === undefined) throw new Refusal(words.unknownWord(word, Object.keys(MANAGER_WORDS)));
  return command({ ...request, line: rest }, tools);
};
