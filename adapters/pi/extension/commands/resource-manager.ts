/** `/resource-manager list | get | apply | reconcile | delete`, for the resources of this folder. */
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { clean } from "../../../../renderers/terminal/layout.ts";
import { when } from "../../../../renderers/terminal/times.ts";
import { PAGE } from "../../../../src/contracts/limits.ts";
import { Refusal } from "../actions.ts";
import { takeWord } from "../answer/plan.ts";
import { json, needed, type Command, type CommandRequest } from "./request.ts";

export const MANAGER_WORDS: Readonly<Record<string, Command>> = {
  list: async ({ context, line }, { service }) => {
    const [manager] = takeWord(line);
    const payload = {
      projectPath: context.cwd,
      manager: manager === "" ? null : manager,
      after: null,
      limit: PAGE.rows,
    };
    const { more, resources } = await service.call("resourceManager.list", payload);
    if (resources.length === 0) return words.noResources;
    const lines = resources.map(({ deletionAt, failures, key, manager: name, outcome, ready, readyReason }) => {
      const state = ready === null ? (outcome ?? "not looked at yet") : `ready: ${ready}`;
      const reason = readyReason === null ? "" : ` (${clean(readyReason)})`;
      const failed = failures === 0 ? "" : `, failed ${failures}×`;
      return `${clean(name)} ${clean(key)}  ${state}${reason}${failed}${deletionAt === null ? "" : ", being deleted"}`;
    });
    return [...lines, ...(more ? ["…"] : [])].join("\n");
  },
  get: async (request, { service }) => {
    const { children, lastPass, queue, resource } = await service.call("resourceManager.get", refOf(request, "get"));
    const { conditions, workflowRun } = resource.status;
    const lines = [
      `${clean(resource.metadata.resourceManager)} ${clean(resource.metadata.key)}, generation ${resource.metadata.generation}`,
      ...conditions.map(
        ({ message, reason, status, type }) =>
          `  ${clean(type)}: ${status} (${clean(reason)})${message === undefined ? "" : ` ${clean(message)}`}`,
      ),
      `  spec: ${clean(JSON.stringify(resource.spec))}`,
    ];
    if (lastPass !== null)
      lines.push(
        `  last pass ${when(lastPass.at)}: ${lastPass.outcome}${lastPass.error === null ? "" : `, ${clean(lastPass.error.message)}`}`,
      );
    if (queue !== null) lines.push(`  next pass ${when(queue.availableAt)} (${clean(queue.reason)})`);
    if (workflowRun !== undefined)
      lines.push(`  run ${workflowRun.runId ?? workflowRun.requestId}: ${workflowRun.state}`);
    for (const { requestKey, runId, state } of children)
      lines.push(`  run ${runId} for ${clean(requestKey)}: ${state}`);
    return lines.join("\n");
  },
  apply: async (request, { service }) => {
    const [manager, rest] = takeWord(request.line);
    const [key, spec] = takeWord(rest);
    const usage = "/resource-manager apply <manager> <key> <spec as json>";
    const payload = {
      projectPath: request.context.cwd,
      manager: needed(manager, usage),
      key: needed(key, usage),
      spec: json("The spec", needed(spec, usage)),
      path: null,
      expectedVersion: null,
    };
    const { generation, outcome } = await service.call("resourceManager.apply", payload);
    return words.resourceApplied(outcome, generation);
  },
  reconcile: async (request, { service }) => {
    const { availableAt } = await service.call("resourceManager.reconcile", refOf(request, "reconcile"));
    return words.passDue(when(availableAt));
  },
  delete: async (request, { service }) => {
    const { deleted, finalizers } = await service.call("resourceManager.delete", refOf(request, "delete"));
    return deleted ? words.resourceDeleted : words.deletionRequested(finalizers);
  },
};

export const resourceManagerCommand: Command = (request, tools) => {
  const [word, rest] = takeWord(request.line);
  const name = word === "" ? "list" : word;
  const command = Object.hasOwn(MANAGER_WORDS, name) ? MANAGER_WORDS[name] : undefined;
  if (command === undefined) throw new Refusal(words.unknownWord(word, Object.keys(MANAGER_WORDS)));
  return command({ ...request, line: rest }, tools);
};

function refOf({ context, line }: CommandRequest, word: string): { projectPath: string; manager: string; key: string } {
  const usage = `/resource-manager ${word} <manager> <key>`;
  const [manager, rest] = takeWord(line);
  const [key] = takeWord(rest);
  return { projectPath: context.cwd, manager: needed(manager, usage), key: needed(key, usage) };
}
