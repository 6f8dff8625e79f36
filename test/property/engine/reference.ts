/**
 * The reference interpreter: what CONTRACTS say a workflow does, written down once more as plainly as possible. No journal,
 * no frames, no server, nothing of src/workflow; a crash is no concept here, for it must not change anything.
 */
import { deedOf, routeOf, type Deed, type Plan, type PlanMount, type PlanNode, type Story } from "./plan.ts";

type Outcome = "ok" | "failed" | "timed_out";

interface Result {
  readonly outcome: Outcome;
  readonly output?: unknown;
}

interface Scope {
  readonly plan: Plan;
  readonly name: string;
  readonly path: string;
  readonly parent: Scope | undefined;
  /** Steps of the run before its first one. */
  readonly firstStep: number;
  readonly input: { readonly value: string } | "failed";
  readonly results: Map<string, Result>;
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

class Ended extends Error {
  readonly status: string;
  readonly kind: string | null;
  readonly output: unknown;

  constructor(status: string, kind: string | null = null, output: unknown = null) {
    super(status);
    this.status = status;
    this.kind = kind;
    this.output = output;
  }
}

export function interpret(plan: Plan): Story {
  return new Reference(plan).story();
}

class Reference {
  readonly #steps: { readonly path: string; readonly outcome: Outcome }[] = [];
  readonly #visits = new Map<string, number>();
  readonly #outputs = new Map<string, unknown>();
  readonly #effects: string[] = [];
  readonly #root: Plan;
  #notified = 0;

  constructor(root: Plan) {
    this.#root = root;
  }

  story(): Story {
    const root: Scope = {
      plan: this.#root,
      name: "",
      path: "",
      parent: undefined,
      firstStep: 0,
      input: { value: "given" },
      results: new Map(),
    };
    let [scope, id] = this.#enter(root, this.#root.start);
    let end: Ended;
    for (;;) {
      try {
        [scope, id] = this.#step(scope, id);
      } catch (error) {
        if (!(error instanceof Ended)) throw error;
        end = error;
        break;
      }
    }
    return {
      status: end.status,
      error: end.kind,
      steps: this.#steps.map(({ outcome, path }) => `${path} ${outcome}`),
      outputs: Object.fromEntries([...this.#outputs].sort(([a], [b]) => (a < b ? -1 : 1))),
      finalOutput: end.output,
      effects: [...this.#effects].sort(),
    };
  }

  /** A target is a node, or a mount, which is entered until a node is reached. */
  #enter(scope: Scope, target: string): [Scope, string] {
    const mount = own(scope.plan.mounts, target);
    if (mount === undefined) return [scope, target];
    const inner: Scope = {
      plan: mount.flow,
      name: target,
      path: `${scope.path}${target}/`,
      parent: scope,
      firstStep: this.#steps.length,
      input: this.#input(scope, mount),
      results: new Map(),
    };
    // A mount that is entered again has not been left yet.
    scope.results.delete(target);
    return this.#enter(inner, mount.flow.start);
  }

  #input(scope: Scope, mount: PlanMount): Scope["input"] {
    if (scope.input === "failed" || mount.input === "throws") return "failed";
    return { value: this.#seen(scope) };
  }

  /** One node: done, recorded, and left towards what follows. */
  #step(scope: Scope, id: string): [Scope, string] {
    const path = scope.path + id;
    const node = own(scope.plan.nodes, id) as PlanNode;
    const visit = (this.#visits.get(path) ?? 0) + 1;
    this.#visits.set(path, visit);
    let made = scope.input === "failed" ? NO_INPUT : this.#perform(scope, id, node, visit);

    // The way out through exits, innermost first, each of which may look at the value.
    const left: Scope[] = [];
    let outer: Scope = scope;
    let address = id;
    for (;;) {
      const exit = Object.entries(outer.plan.exits).find(([, { from }]) => from === address);
      if (exit === undefined || outer.parent === undefined) break;
      const { validate } = exit[1];
      if (made.outcome === "ok" && validate === "refuses") made = { outcome: "failed", kind: "exitInvalid" };
      if (made.outcome === "ok" && validate === "changes") made = { ...made, output: { changed: made.output, r: "y" } };
      left.push(outer);
      address = `${outer.name}.${exit[0]}`;
      outer = outer.parent;
    }

    this.#steps.push({ path, outcome: made.outcome });
    this.#outputs.delete(path);
    if (made.outcome === "ok") this.#outputs.set(path, made.output);
    scope.results.set(id, made.outcome === "ok" ? { outcome: "ok", output: made.output } : { outcome: made.outcome });

    if (left.length > 0 && made.outcome !== "ok") throw new Ended(STATUS[made.outcome], made.kind);
    const target = this.#route(outer, address, made);
    if (target === undefined)
      throw made.outcome === "ok"
        ? new Ended("completed", null, made.output)
        : new Ended(STATUS[made.outcome], made.kind);
    if (this.#steps.length >= this.#root.maxSteps) throw new Ended("failed", "maxSteps");
    for (let around: Scope = outer; around.parent !== undefined; around = around.parent)
      if (this.#steps.length - around.firstStep >= around.plan.maxSteps) throw new Ended("failed", "maxSteps");

    this.#leave(id, left, made.output);
    return this.#enter(outer, target);
  }

  #leave(id: string, left: readonly Scope[], output: unknown): void {
    let address = id;
    for (const gone of left) {
      const exit = Object.entries(gone.plan.exits).find(([, { from }]) => from === address)?.[0] as string;
      gone.parent?.results.set(gone.name, { outcome: "ok", output: { exit, output } });
      address = `${gone.name}.${exit}`;
    }
  }

  #route(scope: Scope, address: string, made: Made): string | undefined {
    const way = own(scope.plan.edges, address);
    const ok = made.outcome === "ok";
    if (way === undefined) return undefined;
    if ("to" in way) return ok ? way.to : undefined;
    if (!ok && way.on !== "outcome") return undefined;
    const value =
      way.on === "outcome"
        ? made.outcome
        : way.on === "inherited"
          ? undefined
          : own((made.output ?? {}) as Record<string, unknown>, way.on === "route" ? "r" : "choice");
    const target = typeof value === "string" ? own(way.cases, value) : undefined;
    if (target === undefined) throw new Ended("failed", "routingFailed");
    return target;
  }

  #perform(scope: Scope, id: string, node: PlanNode, visit: number): Made {
    const path = scope.path + id;
    const inner = this.#steps.slice(scope.firstStep).filter((step) => step.path === path).length + 1;
    const waits = node.kind === "checkpoint" || node.kind === "decision";
    const deed = deedOf(node, waits ? visit : inner);
    const output = { tag: `${id}${inner}`, r: routeOf(deed), seen: this.#seen(scope) };
    switch (node.kind) {
      case "notify":
        return {
          outcome: "ok",
          output: { kind: "progress", message: `${id} ${output.seen}`, index: this.#notified++ },
        };
      case "checkpoint":
        return { outcome: "ok", output: { tag: `${path}${visit}`, r: routeOf(deed) } };
      case "decision":
        return { outcome: "ok", output: { choice: deed } };
      case "sleep":
        return { outcome: "ok", output: SLEPT };
      case "compute":
        return FAILURES[deed] ?? { outcome: "ok", output };
      case "manual":
        // Whoever settles one that hangs says that it happened.
        if (deed === "hang" || deed === "unknown") return this.#acted(path, visit, { outcome: "ok", output });
        return this.#acted(path, visit, FAILURES[deed] ?? { outcome: "ok", output }, deed);
      case "idempotent":
      case "observed":
        return this.#acted(path, visit, FAILURES[deed] ?? { outcome: "ok", output }, deed);
    }
  }

  #acted(path: string, visit: number, made: Made, deed?: Deed): Made {
    const applied = made.outcome === "ok" || deed === "bad";
    this.#effects.push(`${path}#${visit} ${applied ? "applied" : "rejected"}`);
    return made;
  }

  /** All that a node can look at, in one line; the workflow's own `seen` makes the same of its context. */
  #seen(scope: Scope): string {
    const outputs = [...scope.results]
      .filter(([, { outcome }]) => outcome === "ok")
      .map(([id, { output }]) => `${id}=${mark(output)}`);
    const results = [...scope.results].map(([id, { outcome }]) => `${id}:${outcome}`);
    const input = scope.input === "failed" ? "" : scope.input.value;
    return [
      outputs.sort().join(" "),
      results.sort().join(" "),
      String(this.#steps.length - scope.firstStep),
      `<${input}>`,
    ].join("|");
  }
}

interface Made {
  readonly outcome: Outcome;
  readonly output?: unknown;
  readonly kind?: string;
}

const NO_INPUT: Made = { outcome: "failed", kind: "includeInput" };
const FAILURES: Readonly<Partial<Record<Deed, Made>>> = {
  fail: { outcome: "failed", kind: "nodeFailed" },
  hang: { outcome: "timed_out", kind: "nodeTimedOut" },
  bad: { outcome: "failed", kind: "notCanonical" },
};
const STATUS = { ok: "completed", failed: "failed", timed_out: "timed_out" } as const;

/** Stands for what a sleep gives: its times are the clock's, not the workflow's. */
const SLEPT = "slept";

/** An output with the times of a sleep taken out; one that woke too early stays as it is. */
export function slept(output: unknown): unknown {
  if (typeof output !== "object" || output === null || !("wokeAt" in output)) return output;
  const { dueAt, wokeAt } = output as { readonly dueAt: number; readonly wokeAt: number };
  return wokeAt >= dueAt ? SLEPT : output;
}

/** An output in a word. It depends on all that its node saw, so that a wrong look is not forgotten with the next visit. */
export function mark(output: unknown): string {
  if (slept(output) === SLEPT) return "slept";
  const { changed, choice, exit, message, output: inner, seen, tag } = (output ?? {}) as Record<string, unknown>;
  if (typeof tag === "string") return typeof seen === "string" ? `${tag}.${digest(seen)}` : tag;
  if (typeof choice === "string") return choice;
  if (changed !== undefined) return `~${mark(changed)}`;
  if (typeof exit === "string") return `${exit}(${mark(inner)})`;
  return `#${digest(String(message))}`;
}

/** Four letters for a text (FNV-1a): enough to tell what differs, short enough to read. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(36).padStart(7, "0").slice(-4);
}
