/**
 * Defects that the model-based test must find: each is the engine with one thing wrong, written as a change of its source.
 * A text that is no longer there fails the test, so that a mutation cannot quietly become none.
 */

/** The cases that the test plays; the mutations are looked for among the same. */
export const MODEL = { runs: 300, seed: 20_261_130 } as const;

export interface Mutation {
  readonly id: string;
  readonly what: string;
  readonly changes: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}

const mutation = (id: string, what: string, file: string, find: string, replace: string): Mutation => ({
  id,
  what,
  changes: [{ file, find, replace }],
});

export const MUTATIONS: readonly Mutation[] = [
  mutation(
    "effect-key-visit",
    "the effect key forgets which visit it is",
    "src/state/effects/reserve.ts",
    "input.nodeId, open.visit)",
    "input.nodeId, 1)",
  ),
  mutation(
    "inherited-edge",
    "a switch finds inherited properties",
    "src/workflow/rules/path.ts",
    'if (typeof at !== "object" || at === null || !Object.hasOwn(at, field)) return undefined;',
    "if (at === null || at === undefined) return undefined;",
  ),
  mutation(
    "max-steps-off-by-one",
    "a run may execute one node more than its limit",
    "src/workflow/rules/after-step.ts",
    "if (stepsDone >= definition.maxSteps) {",
    "if (stepsDone > definition.maxSteps) {",
  ),
  {
    id: "max-steps-restarted",
    what: "a continuation counts the steps of its limit from its own start",
    changes: [
      {
        file: "src/workflow/engine/engine.ts",
        find: "const after = afterStep(this.#workflow.snapshot, result, entry.step + 1, this.#journal.marks);",
        replace:
          "const after = afterStep(this.#workflow.snapshot, result, entry.step + 1 - ((this as any).first ??= position.step), this.#journal.marks);",
      },
    ],
  },
  mutation(
    "mount-limit-off-by-one",
    "a mounted workflow may execute one node more than its limit",
    "src/workflow/rules/after-step.ts",
    "if (done < limit) continue;",
    "if (done <= limit) continue;",
  ),
  mutation(
    "lost-after-rewind",
    "steps that were taken back leave no earlier output",
    "src/workflow/engine/journal.ts",
    "put(undo.scope.results, undo.key, undo.before);",
    "put(undo.scope.results, undo.key, undefined);",
  ),
  mutation(
    "timeout-edge-ignored",
    "a node that timed out ends the run although an edge takes it further",
    "src/workflow/rules/route.ts",
    'if (!ok && edge.path?.root !== "result") return END;',
    'if (!ok && (edge.path?.root !== "result" || result.outcome === "timed_out")) return END;',
  ),
  mutation(
    "repeated-after-crash",
    "a manual action is done again after a crash, without asking",
    "src/state/effects/reserve.ts",
    'if (recovery === "idempotent") {',
    'if (recovery !== "observed") {',
  ),
  mutation(
    "acts-without-looking",
    "an observed action is done again after a crash, without looking",
    "src/workflow/engine/perform-action.ts",
    "return new ActionRun(node, performance, reservation).look();",
    "return new ActionRun(node, performance, reservation).act();",
  ),
  mutation(
    "failure-keeps-output",
    "a failed visit leaves the output of an earlier one",
    "src/workflow/engine/journal.ts",
    "scope.results.set(localId, result);",
    'if (result.outcome === "ok" || !scope.results.has(localId)) scope.results.set(localId, result);',
  ),
  mutation(
    "mount-remembers",
    "an invocation of a mount sees the outputs of the one before, after a crash",
    "src/workflow/engine/scopes.ts",
    "if (scope.firstStep > 0 && (latest.get(path) ?? -1) < scope.firstStep) continue;",
    "",
  ),
];
