/** `/workflow …`: the words that it knows; anything else is the name or path of a workflow to start. */
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { effectTitle, certainty } from "../../../../renderers/text/en/story.ts";
import { clean } from "../../../../renderers/terminal/layout.ts";
import { Refusal } from "../actions.ts";
import { takeWord } from "../answer/plan.ts";
import { json, needed, type Command } from "./request.ts";

const INPUT_JSON = "--input-json";
const OUTCOMES = ["applied", "notApplied", "retry"] as const;

/** The subcommands, by their words. */
export const WORKFLOW_WORDS: Readonly<Record<string, Command>> = {
  list: async (_request, { actions }) => {
    const files = await actions.workflows();
    if (files.length === 0) return words.noWorkflows;
    const width = Math.max(...files.map(({ name }) => name.length));
    return files.map(({ name, origin }) => `${name.padEnd(width)}  ${origin}`).join("\n");
  },
  help: () => Promise.resolve(words.help),
  status: ({ line }, { actions }) => actions.status(runIn(line)),
  pause: ({ line }, { actions }) => actions.pause(runIn(line)),
  resume: ({ line }, { actions }) => actions.resume(runIn(line)),
  cancel: ({ line }, { actions }) => actions.cancel(runIn(line)),
  restart: ({ line }, { actions }) => actions.restart(runIn(line)),
  clear: (_request, { clear }) => clear(),
  answer: (request, { answering }) => answering.line(request),
  effect: async ({ line, source }, { service }) => {
    const [effect, rest] = takeWord(line);
    if (effect === "") {
      const { effects } = await service.call("effect.list", { all: false });
      if (effects.length === 0) return words.noEffects;
      return effects
        .map((one) =>
          `${one.shortId}  ${effectTitle(one)}: ${certainty(one)}\n  ${clean(one.settleWith ?? "")}`.trimEnd(),
        )
        .join("\n");
    }
    const [given, result] = takeWord(rest);
    if (given === "") {
      const detail = await service.call("effect.show", { effect });
      return `${detail.shortId}  ${effectTitle(detail)}: ${certainty(detail)}\n${clean(JSON.stringify(detail.request))}`;
    }
    const outcome = OUTCOMES.find((one) => one === given);
    if (outcome === undefined) throw new Refusal(words.unknownWord(given, OUTCOMES));
    // What happened outside is a person's word.
    if (source === "extension" || source === "unknown") throw new Refusal(words.answers.notTyped);
    const value = result === "" ? null : json("The result", result);
    const settled = await service.call("effect.settle", { effect, outcome, result: value });
    return `${settled.shortId} (${effectTitle(settled)}): ${certainty(settled)}`;
  },
  "change-settings": ({ line }, { actions }) =>
    actions.changeSettings({}, json("The change", needed(line, "/workflow change-settings <json patch>"))),
  "queue-follow-up": ({ line }, { actions }) =>
    actions.queueFollowUp(undefined, needed(line, "/workflow queue-follow-up <text>")),
  "remove-follow-up": ({ line }, { actions }) =>
    actions.removeFollowUp(undefined, needed(line, "/workflow remove-follow-up <id>")),
};

export const workflowCommand: Command = (request, tools) => {
  const [word, rest] = takeWord(request.line);
  const name = word === "" ? "list" : word;
  const command = Object.hasOwn(WORKFLOW_WORDS, name) ? WORKFLOW_WORDS[name] : undefined;
  return command === undefined ? start(word, rest, tools.actions) : command({ ...request, line: rest }, tools);
};

function start(workflow: string, rest: string, actions: Parameters<Command>[1]["actions"]): Promise<string> {
  const [flag, text] = takeWord(rest);
  if (flag === INPUT_JSON)
    return actions.start(workflow, json(INPUT_JSON, needed(text, `/workflow ${workflow} ${INPUT_JSON} {…}`)), {});
  return actions.start(workflow, rest === "" ? {} : { task: rest }, {});
}

function runIn(line: string): string | undefined {
  const [run] = takeWord(line);
  return run === "" ? undefined : run;
}
