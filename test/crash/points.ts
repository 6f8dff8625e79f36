/**
 * The points: every label of the store before and after its commit, and every frame kind of the child protocols, each with the
 * scenario that reaches it. The registries are the denominator: what has no scenario here is reported as unhit.
 */
import {
  CHILD_FRAMES,
  framesOf,
  type ChildFaultPoint,
  type FrameMoment,
} from "../../src/server/system/child-faults.ts";
import { LABELS } from "../../src/state/store.ts";
import type { ScenarioName } from "./scenarios/index.ts";

export interface Point {
  /** For `--only`: unique. */
  readonly name: string;
  readonly scenario: ScenarioName;
  /** What makes the server die, or kill a child: one of a point alone, several of a chain of points, none of a baseline. */
  readonly faults: readonly string[];
}

/** Where something is reached: the scenario, and the how-manieth time (default 1). */
type Way = readonly [ScenarioName, number?];

/** The first way of each label is its own; the others are for the full run. */
const LABEL_WAYS: Readonly<Record<string, readonly Way[]>> = {
  "server.claimEpoch": [["restart"], ["approve"]],
  "server.recover": [["restart"], ["approve"]],
  "server.heartbeat": [["long"]],
  "server.release": [["stop"]],
  "children.register": [["restart"], ["approve", 2], ["crash", 3]],
  "children.ended": [["approve"], ["crash"], ["adapter"]],
  "runs.start": [["approve"]],
  "runs.claim": [["approve"], ["replan", 3], ["crash", 2]],
  "runs.ready": [["approve", 2], ["approve"], ["effects", 2]],
  "runs.advance": [["approve"], ["approve", 2], ["replan", 3]],
  "runs.finish": [["approve"]],
  "runs.loadFailed": [["broken"]],
  "runs.park": [["changed"]],
  "runs.runnerEnded": [["crash"], ["effects", 2]],
  "runs.renew": [["long"]],
  "runs.pause": [["pause"], ["pause", 2]],
  "runs.resume": [["pause"], ["pause", 2]],
  "runs.cancel": [["cancel"], ["cancel", 2], ["tended"]],
  "decisions.request": [["approve"], ["replan", 2]],
  "decisions.answer": [["host"]],
  "decisions.expire": [["timeout"]],
  "decisions.remind": [["policy"], ["policy", 2]],
  "decisions.escalate": [["policy"]],
  "decisions.revise": [["policy"]],
  "effects.nextAttempt": [["approve"], ["replan", 2], ["replan", 4], ["parts", 2]],
  "effects.dispatch": [
    ["approve"],
    ["approve", 2],
    ["replan", 2],
    ["parts", 2],
    ["parts", 3],
    ["twice", 2],
    ["late", 3],
  ],
  "effects.storePart": [["late", 2], ["approve"], ["replan", 2], ["parts", 2], ["parts", 3], ["twice"]],
  "effects.finishAttempt": [["approve"], ["approve", 2], ["replan", 2], ["parts"], ["twice"], ["late", 4]],
  "effects.adapterGone": [["twice"], ["adapter"]],
  "effects.reserve": [["approve"], ["effects", 2], ["effects", 4]],
  "effects.report": [["approve", 2], ["approve"]],
  "effects.settle": [["effects"], ["effects", 2]],
  "channels.open": [["restart"], ["adapter", 2]],
  "channels.receive": [
    ["echo", 2],
    ["approve"],
    ["echo", 4],
    ["replan", 2],
    ["stranger"],
    ["stranger", 2],
    ["chat"],
    ["chat", 2],
  ],
  "channels.polled": [["silence", 2], ["approve"]],
  "channels.tellLate": [["slow"]],
  "effects.tendDoubts": [["asked"], ["asked", 2]],
  "channels.hearing": [["deaf"], ["deaf", 2]],
  "channels.recover": [["recover"], ["recover", 2], ["twice"]],
  "retention.sweep": [["retention"]],
  "runs.enter": [["study"]],
  "runs.noteSources": [["lost"]],
  "runs.restart": [["again"]],
  "processes.register": [["agents"], ["study"]],
  "processes.ended": [["study"], ["agents"]],
  "checkpoints.request": [["study"]],
  "checkpoints.answer": [["study"], ["again", 2]],
  "timers.set": [["study"]],
  "timers.fire": [["study"], ["again", 2]],
  "content.put": [["study"]],
  "notifications.send": [["study"]],
  "updates.publish": [["study"], ["agents"]],
  "settings.ensure": [["study"]],
  "settings.change": [["study"], ["tended"]],
  "followUps.queue": [["study"], ["study", 2]],
  "followUps.remove": [["study"], ["tended"]],
  "alerts.raise": [["alarm"]],
  "alerts.recover": [["alarm"]],
  "alerts.acknowledge": [["taken"]],
  "alerts.snooze": [["taken"]],
  "alerts.takeRepair": [["alarm"]],
  "alerts.tend": [["taken"]],
  "managed.apply": [["managed"], ["managed", 2], ["tended"]],
  "managed.enqueue": [["managed"]],
  "managed.rebuild": [["managed"]],
  "managed.claim": [["managed"], ["tended"], ["tended", 3]],
  "managed.renew": [["managed"]],
  "managed.finalizer": [["managed"], ["managed", 2], ["tended"], ["tended", 2]],
  "managed.reserve": [["managed"], ["tended"], ["tended", 2]],
  "managed.settle": [["managed"], ["tended"]],
  "managed.finish": [["managed"], ["tended"], ["tended", 2]],
  "managed.remove": [["managed"], ["tended"]],
  "interactions.ask": [["session"], ["session", 2]],
  "interactions.submit": [["session"], ["session", 2]],
  "interactions.judged": [["session"], ["session", 2]],
  "interactions.update": [["session"]],
  "interactions.timeOut": [["tardy"]],
  "sessions.seen": [["session"]],
  "sessions.turnStarted": [["session", 2], ["session"]],
  "sessions.turnEnded": [["session"]],
  "sessions.lostTurns": [["tardy"]],
  "sessions.capture": [["session"]],
  "sessions.away": [["session"], ["tardy"]],
  "sessions.reached": [["session"]],
  "sessions.release": [["session"]],
  "sessions.clear": [["session"]],
  "monitors.sync": [["watched"]],
  "monitors.put": [["watched"]],
  "monitors.remove": [["watched"]],
  "monitors.checked": [["watched"], ["probed"], ["probed", 2]],
  "monitors.beat": [["watched"]],
  "monitors.postpone": [["watched"]],
  "monitors.askRepair": [["watched"]],
  "monitors.startRepair": [["watched"]],
  "sources.receive": [["watched"]],
  "sources.plan": [["watched"]],
  "sources.fire": [["watched"]],
  "sources.changed": [["watched"]],
  "sources.sweep": [["watched"]],
  "managed.ensure": [["managed"], ["managed", 2], ["tended"], ["tended", 2]],
  "managed.complete": [["managed"], ["tended"]],
};

/** Ways of the frames that the children send (`in`, `lost`) and get (`out`). */
const FRAME_WAYS: Readonly<Record<ChildFaultPoint["child"], { readonly in: Ways; readonly out: Ways }>> = {
  runner: {
    in: {
      ready: [["approve"], ["approve", 2]],
      loadFailed: [["broken"]],
      park: [["changed"]],
      advance: [["approve"], ["replan", 3]],
      "advance.betweenActions": [["approve"]],
      "effect.reserve": [["approve"], ["effects", 2]],
      "effect.settle": [["approve", 2], ["approve"]],
      decision: [["approve"], ["replan", 2]],
      checkpoint: [["study"]],
      sleep: [["study"]],
      interaction: [["session"], ["session", 2]],
      "interaction.judged": [["session"], ["session", 2]],
      notify: [["study"]],
      update: [["study"], ["agents"]],
      settings: [["study"], ["study", 2]],
      enter: [["study"]],
      "content.put": [["study"], ["study", 3]],
      "content.read": [["study"]],
      judged: [["study"]],
      finish: [["approve"]],
      "process.register": [["study"], ["agents"]],
      "process.unregister": [["agents"], ["study"]],
      released: [["approve"], ["study"]],
      exiting: [["broken"]],
      alive: [["held"]],
    },
    out: {
      launch: [["approve"], ["approve", 2]],
      "state.results": [["approve"]],
      "state.steps": [["approve"]],
      "state.mounts": [["study"], ["study", 2]],
      "content.part": [["study"], ["study", 2]],
      "settings.changed": [["study"]],
      judge: [["study"]],
      go: [["approve"], ["approve", 2]],
      ack: [["approve"], ["replan", 3]],
      rewind: [["busy"]],
      "effect.reserved": [["approve", 3], ["approve"], ["approve", 2]],
      reply: [["approve"], ["approve", 2], ["approve", 3], ["approve", 4]],
      claimLost: [["fenced"]],
      stop: [["pause"], ["stop"]],
      ping: [["held"]],
    },
  },
  adapter: {
    in: {
      ready: [["approve"]],
      dispatching: [["approve"], ["replan", 2], ["parts", 2]],
      part: [["late", 2], ["approve"], ["replan", 2], ["parts"], ["parts", 2]],
      outcome: [["approve"], ["replan", 2], ["parts"]],
      inbound: [["approve"], ["replan", 2], ["echo", 2]],
      health: [["approve"], ["approve", 2]],
      late: [["slow"]],
      pong: [["unheard"]],
      "link.open": [["session"]],
      "link.closed": [["session"]],
      "link.report": [["session", 3], ["session"], ["session", 8]],
      exiting: [["stop"]],
    },
    out: {
      launch: [["approve"]],
      perform: [["approve"], ["replan", 2]],
      ping: [["unheard"]],
      permit: [["approve"], ["replan", 2], ["parts", 2]],
      partStored: [["approve"], ["parts"]],
      outcomeStored: [["approve"], ["replan", 2]],
      verdict: [["approve"], ["replan", 2], ["echo", 2]],
      "link.view": [["session"], ["session", 3]],
      "link.reply": [
        ["session", 2],
        ["session", 5],
      ],
      stop: [["stop"]],
    },
  },
  resource: {
    in: {
      resolved: [["tended"]],
      "runner.ready": [["tended"], ["tended", 2]],
      "finalizer.set": [["tended"], ["tended", 2]],
      "effect.reserve": [["tended"], ["tended", 2]],
      "effect.settle": [["tended"]],
      "workflow.ensure": [["tended"], ["tended", 2]],
      "workflow.cancel": [["tended"]],
      "workflow.changeSettings": [["tended"]],
      "workflow.queueFollowUp": [["tended"], ["tended", 2]],
      "workflow.removeFollowUp": [["tended"]],
      value: [["tended", 2], ["tended"]],
      "runner.finished": [["tended"], ["tended", 2]],
      "runner.failed": [["tended"]],
      released: [["tended"], ["tended", 2]],
      exiting: [["tended"]],
    },
    out: {
      resolve: [["tended"]],
      reconcile: [["tended"], ["tended", 2]],
      value: [["tended"], ["tended", 2]],
      reply: [
        ["tended", 2],
        ["tended", 3],
        ["tended", 4],
      ],
      abort: [["tended"]],
    },
  },
  probes: {
    in: {
      ready: [["probed"]],
      result: [["probed"], ["probed", 2]],
      group: [["probed"], ["probed", 2]],
      "group.gone": [["probed"], ["probed", 2]],
    },
    out: {
      launch: [["probed"]],
      probe: [["probed"], ["probed", 2]],
      registered: [["probed"], ["probed", 2]],
      stop: [["probed"]],
    },
  },
};
const CHILDREN = Object.keys(FRAME_WAYS) as ChildFaultPoint["child"][];
type Ways = Readonly<Record<string, readonly Way[]>>;

/** Points without a way, which nothing can reach: labels and frames that were added without a scenario. */
export function unreachable(): string[] {
  const labels = [...LABELS].filter((label) => !Object.hasOwn(LABEL_WAYS, label));
  const frames = CHILDREN.flatMap((child) =>
    (["in", "out"] as const).flatMap((direction) =>
      CHILD_FRAMES[child][direction]
        .filter((frame) => !Object.hasOwn(FRAME_WAYS[child][direction], frame))
        .map((frame) => `${child}:${direction}:${frame}`),
    ),
  );
  return [...labels, ...frames];
}

/** All points: each alone and in a batch, with every way. */
export function allPoints(): Point[] {
  return basePoints(true).flatMap((base) => [pointOf(base, false), pointOf(base, true)]);
}

/** Each label and frame once, its first way, alone or in a batch as the hash of its name says. */
export function shortPoints(): Point[] {
  return basePoints(false).map((base) => pointOf(base, parity(base.fault)));
}

/** Every scenario without a fault: what the others are compared with. */
export function baselines(names: readonly ScenarioName[]): Point[] {
  return names.map((scenario) => ({ name: `none@${scenario}`, scenario, faults: [] }));
}

/** Whether a child is killed at this fault, and not the server. */
export function isOfChild(fault: string): boolean {
  return /^(?:runner|adapter|resource|probes):/.test(fault);
}

/** The environment in which a server, or a process beside it, meets these faults. */
export function envOf(faults: readonly string[], told: string): Readonly<Record<string, string>> {
  return {
    HOLDPOINT_FAULT: faults.filter((fault) => !isOfChild(fault)).join(" "),
    HOLDPOINT_FAULT_CHILD: faults.filter(isOfChild).join(" "),
    HOLDPOINT_FAULT_TOLD: told,
  };
}

interface Base {
  readonly fault: string;
  readonly scenario: ScenarioName;
}

function basePoints(everyWay: boolean): Base[] {
  const use = (ways: readonly Way[] | undefined): readonly Way[] =>
    everyWay ? (ways ?? []) : (ways ?? []).slice(0, 1);
  const labels = [...LABELS].flatMap((label) =>
    use(LABEL_WAYS[label]).flatMap(([scenario, count = 1]) =>
      ["before", "after"].map((when): Base => ({ fault: numbered(`${label}:${when}`, count), scenario })),
    ),
  );
  const frames = CHILDREN.flatMap((child) =>
    (["in", "lost", "out"] as const satisfies FrameMoment[]).flatMap((moment) =>
      framesOf(child, moment).flatMap((frame) =>
        use(FRAME_WAYS[child][moment === "out" ? "out" : "in"][frame]).map(([scenario, count = 1]): Base => ({
          fault: numbered(`${child}:${moment}:${frame}`, count),
          scenario,
        })),
      ),
    ),
  );
  return [...labels, ...frames];
}

function numbered(fault: string, count: number): string {
  return count === 1 ? fault : `${fault}:${count}`;
}

function pointOf({ fault, scenario }: Base, batch: boolean): Point {
  return chainOf(scenario, [batch ? `${fault}+batch` : fault]);
}

/** Points of one scenario in one play of it. */
export function chainOf(scenario: ScenarioName, faults: readonly string[]): Point {
  return { name: `${faults.join(" ")}@${scenario}`, scenario, faults };
}

/** A fixed rule that has nothing to do with the order of the list. */
function parity(text: string): boolean {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % 2 === 1;
}
