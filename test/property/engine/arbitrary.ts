/** Random plans and faults. Whatever is drawn is made into a valid graph by leaving out what cannot be reached. */
import fc from "fast-check";
import type { Deed, Fault, Kind, Plan, PlanExit, PlanMount, PlanNode, Way } from "./plan.ts";

/** Names of a prototype are names like others. */
const NODES = ["a", "b", "constructor", "d", "toString"] as const;
const ANSWERED = "Answered";
const MOUNTS = ["sub", "valueOf"] as const;

interface RawWay {
  readonly kind: "end" | "to" | "route" | "outcome" | "inherited";
  readonly to: readonly number[];
  readonly exit: PlanExit["validate"] | "no";
  /** Which cases the switch has. */
  readonly cases: readonly boolean[];
}

interface Raw {
  readonly start: number;
  readonly maxSteps: number;
  readonly nodes: readonly { readonly kind: Kind; readonly deeds: readonly Deed[]; readonly way: RawWay }[];
  readonly mounts: readonly {
    readonly flow: Raw;
    readonly input: PlanMount["input"];
    readonly ways: readonly RawWay[];
  }[];
}

const weighted = <T>(...choices: readonly (readonly [number, T])[]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })));

const deed: fc.Arbitrary<Deed> = weighted(
  [8, "x"],
  [6, "y"],
  [1, "z"],
  [4, "fail"],
  [1, "hang"],
  [1, "bad"],
  [1, "lost"],
  [1, "unknown"],
);
const kind: fc.Arbitrary<Kind> = weighted(
  [6, "compute"],
  [2, "idempotent"],
  [2, "observed"],
  [2, "manual"],
  [2, "checkpoint"],
  [1, "decision"],
  [1, "notify"],
  [1, "sleep"],
);
const way: fc.Arbitrary<RawWay> = fc.record({
  kind: weighted<RawWay["kind"]>([4, "to"], [3, "end"], [4, "route"], [4, "outcome"], [1, "inherited"]),
  to: fc.array(fc.nat(6), { minLength: 3, maxLength: 3 }),
  exit: weighted<RawWay["exit"]>([3, "none"], [2, "no"], [1, "keeps"], [1, "changes"], [1, "refuses"]),
  cases: fc.tuple(weighted([9, true], [1, false]), weighted([9, true], [1, false]), fc.boolean()),
});
const node = fc.record({ kind, deeds: fc.array(deed, { minLength: 1, maxLength: 3 }), way });

function raw(depth: number): fc.Arbitrary<Raw> {
  const mount = (): fc.Arbitrary<Raw["mounts"][number]> =>
    fc.record({
      flow: raw(depth - 1),
      input: weighted<PlanMount["input"]>([8, "made"], [1, "throws"]),
      ways: fc.array(way, { minLength: NODES.length, maxLength: NODES.length }),
    });
  return fc.record({
    start: fc.nat(6),
    maxSteps: weighted([1, 4], [3, 7], [3, 12], [2, 20]),
    nodes: fc.array(node, { minLength: 1, maxLength: NODES.length }),
    mounts: depth === 0 ? fc.constant([]) : fc.array(mount(), { maxLength: MOUNTS.length }),
  });
}

/** Two levels of mounts below the run's own workflow. */
export const plans: fc.Arbitrary<Plan> = raw(2).map((drawn) => planOf(drawn, false));

export const faults: fc.Arbitrary<readonly Fault[]> = fc.array(
  fc.record({
    frame: fc.nat(16),
    kind: weighted<Fault["kind"]>([2, "killBefore"], [3, "killAfter"], [1, "server"], [4, "refused"]),
  }),
  { maxLength: 4 },
);

function planOf(drawn: Raw, mounted: boolean): Plan {
  const ids = NODES.slice(0, drawn.nodes.length);
  const names = MOUNTS.slice(0, drawn.mounts.length);
  const all = [...ids, ...names];
  const target = (index: number): string => all[index % all.length] as string;
  const flows = drawn.mounts.map(({ flow }) => planOf(flow, true));

  const edges: Record<string, Way> = {};
  const exits: Record<string, PlanExit> = {};
  const connect = (from: string, { cases, exit, kind: how, to }: RawWay, node?: PlanNode): void => {
    const [first = 0, second = 0, third = 0] = to;
    // Exits that are left with an answer are named so: nobody may validate an answer.
    const waits = node?.kind === "checkpoint" || node?.kind === "sleep" || from.includes(`.${ANSWERED}`);
    if (how === "end") {
      const validate = waits && exit !== "no" ? "none" : exit;
      // After an exit people may go on by any path, but a person's choice is only found in one.
      if (mounted && validate !== "no" && node?.kind !== "decision")
        exits[`${waits ? ANSWERED : "X"}${from.replace(".", "_")}`] = { from, validate };
    } else if (node?.kind === "decision") {
      edges[from] = { on: "choice", cases: { x: target(first), y: target(second) } };
    } else if (how === "to") edges[from] = { to: target(first) };
    else if (how === "inherited") edges[from] = { on: "inherited", cases: { Object: target(first) } };
    else {
      const labels = how === "route" ? ["x", "y", "z"] : ["ok", "failed", "timed_out"];
      const named = labels.map((label, index) => [label, target([first, second, third][index] as number)] as const);
      const kept = named.filter((_, index) => cases[index] === true);
      edges[from] = { on: how, cases: Object.fromEntries(kept.length > 0 ? kept : named) };
    }
  };
  const nodes: Record<string, PlanNode> = {};
  for (const [index, { deeds, kind: drawnKind, way: leads }] of drawn.nodes.entries()) {
    const id = ids[index] as string;
    const node = { kind: drawnKind, deeds: deeds.map((given) => possible(drawnKind, given)) };
    nodes[id] = node;
    connect(id, leads, node);
  }
  for (const [index, flow] of flows.entries())
    for (const [nth, exit] of Object.keys(flow.exits).entries())
      connect(`${names[index]}.${exit}`, drawn.mounts[index]?.ways[nth % NODES.length] as RawWay);

  const start = target(drawn.start);
  const reached = reachable(start, nodes, Object.fromEntries(names.map((name, i) => [name, flows[i] as Plan])), edges);
  const keep = <T>(record: Readonly<Record<string, T>>, address = (key: string, _value: T): string => key) =>
    Object.fromEntries(
      Object.entries(record).filter(([key, value]) => reached.has(address(key, value).split(".")[0] as string)),
    );
  const mounts = names.map(
    (name, i) => [name, { flow: flows[i] as Plan, input: drawn.mounts[i]?.input ?? "made" }] as const,
  );
  return {
    start,
    maxSteps: drawn.maxSteps,
    nodes: keep(nodes),
    mounts: keep(Object.fromEntries(mounts)),
    exits: keep(exits, (_, { from }) => from),
    edges: keep(edges),
  };
}

/** What a node of this kind can do. */
function possible(of: Kind, given: Deed): Deed {
  switch (of) {
    case "compute":
      return given === "lost" || given === "unknown" ? "x" : given;
    case "idempotent":
      return given === "lost" || given === "unknown" ? "y" : given;
    case "observed":
      return given === "unknown" ? "lost" : given;
    case "manual":
      // An operator cannot report what JSON cannot carry, nor know of an error that came after the deed.
      return given === "bad" || given === "lost" ? "unknown" : given;
    case "decision":
      return given === "x" || given === "fail" ? "x" : "y";
    case "checkpoint":
    case "sleep":
    case "notify":
      return given === "x" || given === "y" || given === "z" ? given : "x";
  }
}

function reachable(
  start: string,
  nodes: Readonly<Record<string, PlanNode>>,
  mounts: Readonly<Record<string, Plan>>,
  edges: Readonly<Record<string, Way>>,
): Set<string> {
  const reached = new Set([start]);
  for (const at of reached) {
    const from = Object.hasOwn(nodes, at) ? [at] : Object.keys(mounts[at]?.exits ?? {}).map((exit) => `${at}.${exit}`);
    for (const address of from) {
      const edge = Object.hasOwn(edges, address) ? edges[address] : undefined;
      if (edge === undefined) continue;
      for (const to of "to" in edge ? [edge.to] : Object.values(edge.cases)) reached.add(to);
    }
  }
  return reached;
}
