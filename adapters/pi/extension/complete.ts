/**
 * Completion of `/workflow …` in Pi's editor: the words, workflows, the decisions that wait with their choices, the run. Only
 * what is known already is offered; a keystroke asks no server.
 */
import { pi as words } from "../../../renderers/text/en.ts";
import { clean } from "../../../renderers/terminal/layout.ts";
import { RESERVED_WORKFLOW_NAMES } from "../../../src/contracts/workflow-words.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { CompletionItem, CompletionProvider } from "./pi-api.ts";

const LINE = /^\/workflow(\s+.*)$/s;
const RUN_WORDS = new Set(["cancel", "pause", "restart", "resume", "status"]);

export interface CompletionHost {
  readonly view: () => SessionView | undefined;
  /** Names of workflows that were found for this folder. */
  readonly workflows: () => readonly string[];
}

export function completing(host: CompletionHost): (current: CompletionProvider) => CompletionProvider {
  return (current) => ({
    ...(current.triggerCharacters === undefined ? {} : { triggerCharacters: current.triggerCharacters }),
    getSuggestions: async (lines, line, column, options) => {
      const ours = line === 0 ? suggestions((lines[0] ?? "").slice(0, column), host) : undefined;
      return ours === undefined ? current.getSuggestions(lines, line, column, options) : ours;
    },
    applyCompletion: (lines, line, column, item, prefix) => {
      if (line !== 0 || !LINE.test(lines[0] ?? "")) return current.applyCompletion(lines, line, column, item, prefix);
      const text = lines[0] ?? "";
      const before = `${text.slice(0, column - prefix.length)}${item.value} `;
      return {
        lines: [before + text.slice(column).trimStart(), ...lines.slice(1)],
        cursorLine: 0,
        cursorCol: before.length,
      };
    },
    shouldTriggerFileCompletion: (lines, line, column) =>
      current.shouldTriggerFileCompletion?.(lines, line, column) ?? true,
  });
}

/**
 * What can stand at the end of the text before the cursor; undefined when that is not ours to say. Null when the word is whole:
 * an open list would take the Enter that sends the line.
 */
export function suggestions(
  before: string,
  host: CompletionHost,
): { items: CompletionItem[]; prefix: string } | null | undefined {
  const rest = LINE.exec(before)?.[1];
  if (rest === undefined) return undefined;
  const given = rest.trimStart().split(/\s+/);
  const prefix = given.at(-1) ?? "";
  const items = itemsAfter(given.slice(0, -1), host).filter(({ value }) => value.startsWith(prefix));
  if (items.some(({ value }) => value === prefix)) return null;
  return items.length === 0 ? undefined : { items, prefix };
}

function itemsAfter(given: readonly string[], host: CompletionHost): CompletionItem[] {
  const [word, second, ...more] = given;
  if (word === undefined) {
    const known = [...RESERVED_WORKFLOW_NAMES].toSorted().map((value) => ({ value, label: value }));
    return [...known, ...host.workflows().map((value) => ({ value, label: value, description: words.workflowWord }))];
  }
  const view = host.view();
  if (RUN_WORDS.has(word) && second === undefined) {
    const summary = view?.run?.summary;
    return summary === undefined
      ? []
      : [{ value: summary.shortId, label: words.runName(summary.workflow, summary.shortId) }];
  }
  if (word !== "answer" || more.length > 0) return [];
  const pending =
    view?.decisions.filter(({ answerable, state }) => answerable && state.status.kind === "pending") ?? [];
  if (second === undefined)
    return pending.map(({ card, fingerprint }) => ({
      value: fingerprint,
      label: fingerprint,
      description: clean(card.title),
    }));
  const card = pending.find(({ fingerprint }) => fingerprint === second)?.card;
  return (card?.choices ?? []).map(({ hasInput, id, label }) => ({
    value: id,
    label: id,
    description: `${clean(label)}${hasInput ? " <text>" : ""}`,
  }));
}
