/**
 * The fault seam of the queue: a process that kills itself at a named point, for the crash tests. Whether the seam may be
 * used at all is decided by the server, not here.
 */
import { appendFileSync } from "node:fs";
import { HoldpointError } from "../contracts/errors.ts";
import { type Command, LABELS } from "./command.ts";
import { heartbeat } from "./server/heartbeat.ts";
import type { Tx } from "./tx.ts";

/** A command that the queue adds to a batch; what it returns or throws is nobody's. */
interface NoiseCommand {
  // oxlint-disable-next-line no-explicit-any -- commands of all inputs
  readonly command: Command<any, any>;
  readonly input: unknown;
}

/** Called with the labels of the commands that succeeded in this batch. */
export interface FaultSeam {
  /** Everything is written, nothing is committed. */
  before(labels: readonly string[]): void;
  /** Committed, nobody has heard of it. */
  after(labels: readonly string[]): void;
  /** Commands to add to a batch that is about to run, given the labels in it. */
  noise?(labels: readonly string[]): readonly NoiseCommand[];
}

export interface FaultPoint {
  readonly label: string;
  readonly when: "before" | "after";
  /** Which occurrence, from 1. */
  readonly count: number;
  /** Put three other commands, of which one throws, into the batch that holds the label. */
  readonly batch: boolean;
  /** As it was given. */
  readonly text: string;
}

/** Reads `<label>:<before|after>[:n][+batch]`. Throws `usage` for another form or an unknown label. */
export function parseFault(text: string): FaultPoint {
  const match = /^([a-z][a-zA-Z]*\.[A-Za-z]+):(before|after)(?::([1-9][0-9]{0,5}))?(\+batch)?$/.exec(text);
  if (match === null) {
    throw new HoldpointError("usage", `HOLDPOINT_FAULT "${text}" has not the form <label>:<before|after>[:n][+batch].`);
  }
  const [, label = "", when, count, batch] = match;
  if (!LABELS.has(label)) {
    throw new HoldpointError("usage", `HOLDPOINT_FAULT names the unknown command "${label}".`, {
      details: { labels: [...LABELS] },
    });
  }
  return {
    label,
    when: when === "after" ? "after" : "before",
    count: Number(count ?? 1),
    batch: batch !== undefined,
    text,
  };
}

/** The fault points of a text, separated by spaces. */
export function faultTexts(text: string | undefined): readonly string[] {
  return (text ?? "").split(" ").filter((one) => one !== "");
}

/** Says that a point was reached, in the file that `HOLDPOINT_FAULT_TOLD` names: it is written when this returns. */
export function tellFault(env: NodeJS.ProcessEnv, text: string): void {
  const path = env["HOLDPOINT_FAULT_TOLD"];
  if (path) appendFileSync(path, `${text}\n`);
}

/**
 * The points of `HOLDPOINT_FAULT`; null without one. The process dies at whichever is reached first.
 * @throws HoldpointError `usage` as `parseFault`
 */
export function faultsOf(env: NodeJS.ProcessEnv): FaultSeam | null {
  const points = faultTexts(env["HOLDPOINT_FAULT"]).map((text) => parseFault(text));
  if (points.length === 0) return null;
  return faultSeam(points, ({ text }) => {
    tellFault(env, text);
    process.kill(process.pid, "SIGKILL");
  });
}

/** The seam of some points, each of which is counted by itself and calls `strike` when it is reached. */
export function faultSeam(points: readonly FaultPoint[], strike: (point: FaultPoint) => void): FaultSeam {
  const seen = new Map<FaultPoint, number>();
  const count =
    (when: FaultPoint["when"]) =>
    (labels: readonly string[]): void => {
      for (const label of labels) {
        for (const point of points) {
          if (point.label !== label || point.when !== when) continue;
          seen.set(point, (seen.get(point) ?? 0) + 1);
          if (seen.get(point) === point.count) strike(point);
        }
      }
    };
  return {
    before: count("before"),
    after: count("after"),
    noise: (labels) => (points.some(({ batch, label }) => batch && labels.includes(label)) ? NOISE : []),
  };
}

/** Dies nowhere: once armed, it adds the noise to the next batch, for faults that are not those of a label. */
export function noiseSeam(): FaultSeam & { arm(): void } {
  let armed = false;
  const ignore = (): void => undefined;
  return {
    before: ignore,
    after: ignore,
    arm: () => {
      armed = true;
    },
    noise: () => {
      const added = armed ? NOISE : [];
      armed = false;
      return added;
    },
  };
}

/** A heartbeat of the present epoch, or nothing before the first epoch: harmless whenever it runs. */
const beat: Command<null, null> = {
  label: heartbeat.label,
  run: (tx: Tx) => {
    const row = tx.get<{ epoch: number }>("SELECT epoch FROM server_state WHERE id = 1");
    if (row !== undefined) heartbeat.run(tx, { epoch: row.epoch });
    return null;
  },
};

/** The heartbeat of an epoch that never was, which throws `claimLost` after the savepoint has begun. */
const NOISE: readonly NoiseCommand[] = [
  { command: beat, input: null },
  { command: heartbeat, input: { epoch: -1 } },
  { command: beat, input: null },
];
