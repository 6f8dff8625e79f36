/** The workflow of a plan, as an author would write it, and the world outside on which its actions act. */
import * as h from "../../../src/workflow/index.ts";
import { deedOf, routeOf, type Plan, type PlanExit, type PlanNode, type Way } from "./plan.ts";
import { mark } from "./reference.ts";

/** One time that an action's function ran. */
export interface Execution {
  readonly effectId: string;
  readonly attempt: number;
  readonly path: string;
  /** Whether it changed the world. */
  readonly acted: boolean;
  /** Whether doing it again does no harm. */
  readonly repeatable: boolean;
  /** What an operator who finds it done would report as its result. */
  readonly result: unknown;
}

/** What actions did, in order. */
export interface Ledger {
  readonly executions: Execution[];
}

/** A node runs out of time after this; nothing that does not hang waits for anything. */
const TIMEOUT_MS = 3;
const forever = (): Promise<never> => new Promise(() => undefined);

export function buildWorkflow(plan: Plan, ledger: Ledger): h.WorkflowDefinition {
  return new Builder(ledger).flow(plan, "", "root");
}

type Context = h.NodeContext<any, any>;
type Acting = h.ActionContext<any, any>;

class Builder {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  flow(plan: Plan, path: string, name: string): h.WorkflowDefinition {
    const define = h.defineWorkflow as unknown as (options: object) => h.WorkflowDefinition;
    const mounts = Object.entries(plan.mounts).map(([id, { flow, input }]) => {
      const make = (context: Context): string => {
        if (input === "throws") throw new Error("no input");
        return seenBy(context);
      };
      return [id, h.includeWorkflow(this.flow(flow, `${path}${id}/`, id), { input: make })] as const;
    });
    return define({
      name,
      startAt: plan.start,
      maxSteps: plan.maxSteps,
      nodes: Object.fromEntries(Object.entries(plan.nodes).map(([id, node]) => [id, this.#node(id, path, node)])),
      includes: Object.fromEntries(mounts),
      exits: Object.fromEntries(Object.entries(plan.exits).map(([id, exit]) => [id, exitOf(exit)])),
      edges: Object.entries(plan.edges).map(([from, way]) => edgeOf(from, way)),
    });
  }

  #node(id: string, path: string, node: PlanNode): h.WorkflowNode {
    switch (node.kind) {
      case "compute":
        return h.compute({ timeoutMs: TIMEOUT_MS, run: (context) => this.#run(id, node, context) });
      case "notify":
        return h.notify({ kind: "progress", message: (context: Context) => `${id} ${seenBy(context)}` });
      case "sleep":
        // Some are over at once, some need the clock to go on.
        return h.sleep({ ms: node.deeds[0] === "x" ? 0 : 90_000, reason: id });
      case "checkpoint":
        return h.checkpoint({ summary: id });
      case "decision":
        return h.humanDecision({
          audience: "ops",
          choices: { x: { label: "X" }, y: { label: "Y" } },
          request: () => ({ title: id, subject: {}, presentation: { summary: id, blocks: [] } }),
        });
      case "idempotent":
      case "manual": {
        const effect = node.kind === "manual" ? h.manualEffect("act") : h.idempotentEffect("act");
        return h.action({ effect, timeoutMs: TIMEOUT_MS, run: (context) => this.#act(id, path, node, context) });
      }
      case "observed": {
        const observe = (context: Acting): h.Observation => {
          const done = this.#ledger.executions.some(
            ({ acted, effectId }) => acted && effectId === context.effect.idempotencyKey,
          );
          return done ? { applied: true, output: this.#result(id, node, context) } : { applied: false };
        };
        const effect = h.observedEffect("act", { observe });
        return h.action({ effect, timeoutMs: TIMEOUT_MS, run: (context) => this.#act(id, path, node, context) });
      }
    }
  }

  #run(id: string, node: PlanNode, context: Context): unknown {
    const deed = deedOf(node, visitIn(id, context));
    if (deed === "fail") throw new Error("failed as planned");
    return deed === "hang" ? forever() : this.#result(id, node, context);
  }

  #act(id: string, path: string, node: PlanNode, context: Acting): unknown {
    const { attempt, idempotencyKey } = context.effect;
    const deed = deedOf(node, visitIn(id, context));
    const asks = deed === "unknown" && attempt === 1;
    const result = this.#result(id, node, context);
    const acted = deed !== "fail" && deed !== "hang" && !asks;
    const repeatable = node.kind === "idempotent";
    this.#ledger.executions.push({ effectId: idempotencyKey, attempt, path: path + id, acted, repeatable, result });
    if (asks) throw h.outcomeUnknown("who knows");
    if (deed === "fail" || deed === "lost") throw new Error("failed as planned");
    return deed === "hang" ? forever() : result;
  }

  #result(id: string, node: PlanNode, context: Context): unknown {
    const visit = visitIn(id, context);
    const deed = deedOf(node, visit);
    if (deed === "bad") return { tag: 1n };
    return { tag: `${id}${visit}`, r: routeOf(deed), seen: seenBy(context) };
  }
}

/** Which visit of the node in its invocation this is. */
function visitIn(id: string, { state }: Context): number {
  return state.steps.filter(({ nodeId }) => nodeId === id).length + 1;
}

function seenBy({ input, outputs, results, state }: Context): string {
  const known = Object.entries(outputs as Record<string, unknown>).map(([id, output]) => `${id}=${mark(output)}`);
  const came = Object.entries(results as Record<string, h.NodeResult>).map(([id, { outcome }]) => `${id}:${outcome}`);
  return [known.sort().join(" "), came.sort().join(" "), String(state.steps.length), `<${String(input ?? "")}>`].join(
    "|",
  );
}

function exitOf({ from, validate }: PlanExit): object {
  switch (validate) {
    case "none":
      return { from };
    case "keeps":
      return { from, validate: () => true };
    case "refuses":
      return { from, validate: () => false };
    case "changes":
      return { from, validate: (value: unknown) => ({ changed: value, r: "y" }) };
  }
}

const PATHS = {
  route: "$.r",
  outcome: "$result.outcome",
  choice: "$.choice",
  inherited: "$.constructor.name",
} as const;

function edgeOf(from: string, way: Way): object {
  return "to" in way ? { from, to: way.to } : { from, switch: { on: PATHS[way.on], cases: way.cases } };
}
