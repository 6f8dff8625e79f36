/**
 * Scopes of a run: the root, and each invocation of a mount. A scope has its own input, results and settings; what is in
 * one is not seen from another.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { MountState } from "../../contracts/include.ts";
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { SettingsVersion } from "../../contracts/settings.ts";
import type { CompiledScope, CompiledWorkflow } from "../compile.ts";
import type { ExecutedStep } from "../context.ts";
import type { MountMarks } from "../rules/mounts.ts";
import { deepFreeze } from "./values.ts";

/** What came of making an include's input. */
export type MadeInput =
  | { readonly kind: "made"; readonly value: JsonValue }
  | { readonly kind: "failed"; readonly error: ErrorRecord };

export interface RunScope {
  readonly compiled: CompiledScope;
  readonly parent: RunScope | undefined;
  /** 1 for the root. */
  readonly invocation: number;
  readonly firstStep: number;
  /** Undefined until it has been made. */
  input: MadeInput | undefined;
  /** By local id: nodes, and mounts with how they were left. */
  readonly results: Map<string, NodeResult>;
  /** The version that attempts see; undefined until the host has told it. */
  settings: SettingsVersion | undefined;
}

export function newScope(
  compiled: CompiledScope,
  parent: RunScope | undefined,
  mark: { readonly invocation: number; readonly firstStep: number },
  input: MadeInput | undefined,
): RunScope {
  const { firstStep, invocation } = mark;
  return { compiled, parent, invocation, firstStep, input, results: new Map(), settings: undefined };
}

/** A mount's result as its parent sees it. */
export function exitResult(mount: string, exit: string, output: JsonValue): NodeResult {
  return Object.freeze({ nodeId: mount, outcome: "ok", output: Object.freeze({ exit, output }) as JsonValue });
}

/**
 * The scopes around a node of a run that goes on after an interruption; the innermost is returned. Results of earlier
 * invocations are left out: a node belongs to a scope if it was executed since the scope's first step.
 */
export function restoreScopes(
  workflow: CompiledWorkflow,
  input: JsonValue,
  at: CompiledScope,
  run: {
    readonly marks: MountMarks;
    readonly results: readonly NodeResult[];
    readonly steps: readonly ExecutedStep[];
    readonly mounts: readonly MountState[];
  },
): RunScope {
  const chain: CompiledScope[] = [];
  for (let scope: CompiledScope | undefined = at; scope !== undefined; scope = scope.parent) chain.unshift(scope);
  const inputs = new Map(run.mounts.map(({ input: made, invocation, mount }) => [`${mount} ${invocation}`, made]));
  const scopes: RunScope[] = [];
  for (const compiled of chain) {
    const root = compiled.parent === undefined;
    const mark = root ? { invocation: 1, firstStep: 0 } : run.marks.get(compiled.mount);
    const { firstStep, invocation } = mark ?? { invocation: 1, firstStep: run.steps.length };
    const stored = root ? input : inputs.get(`${compiled.mount} ${invocation}`);
    const made = stored === undefined ? undefined : ({ kind: "made", value: deepFreeze(stored) } as const);
    scopes.push(newScope(compiled, scopes.at(-1), { invocation, firstStep }, made));
  }

  const latest = new Map<string, number>();
  if (chain.length > 1 || workflow.scopes.size > 1) {
    for (const [index, { nodeId }] of run.steps.entries()) latest.set(nodeId, index);
  }
  const byMount = new Map(scopes.map((scope) => [scope.compiled.mount, scope]));
  const byPath = new Map(run.results.map((result) => [result.nodeId, result]));
  for (const [path, result] of byPath) {
    const node = workflow.nodes.get(path);
    const scope = node && byMount.get(node.scope.mount);
    if (node === undefined || scope === undefined) continue;
    // Without mounts every node belongs to the root.
    if (scope.firstStep > 0 && (latest.get(path) ?? -1) < scope.firstStep) continue;
    scope.results.set(node.localId, deepFreeze(result as never) as NodeResult);
  }
  for (const mark of run.marks.values()) {
    const { mount } = mark;
    // Until the input of an invocation has been made, its parent sees how the one before was left.
    const entering = byMount.get(mount)?.input === undefined ? mark.before : undefined;
    const { exit, firstStep } = mark.exit === undefined ? (entering ?? mark) : mark;
    if (exit === undefined) continue;
    const compiled = workflow.scopes.get(mount);
    const parent = compiled?.parent && byMount.get(compiled.parent.mount);
    if (compiled === undefined || parent === undefined || firstStep < parent.firstStep) continue;
    const leaving = workflow.snapshot.includes?.[mount]?.exits[exit];
    const result = leaving === undefined ? undefined : byPath.get(leaving);
    if (result?.outcome === "ok")
      parent.results.set(compiled.name, exitResult(mount, exit, deepFreeze(result.output ?? null)));
  }
  return scopes.at(-1) as RunScope;
}
