/**
 * The rules of a monitor: what follows from an observation, whatever the model that made it would like. Pure; the memory is handed on
 * from check to check.
 */
import type { Action, Input, Observation } from "./observation.ts";

/** A check that fails this often in a row ends the monitor: nobody would hear of anything any more. */
export const FAILED_CHECKS = 3;
/** Repairs that are remembered. */
const REPAIRS = 64;

export type Route = "stop" | "wait" | "advance" | "recover" | "stopRunners" | "repair";

interface Deed {
  readonly kind: Action["kind"];
  readonly target: string;
  readonly targetStateId: string;
}
interface Failure {
  readonly failureId: string;
  readonly targetStateId: string;
}

export interface Verdict {
  readonly route: Route;
  /** Why a monitor stops; null while it goes on. */
  readonly stoppedBy:
    | "stopWhen"
    | "goal"
    | "maxChecks"
    | "authority"
    | "sameFailure"
    | "runnersStillRun"
    | "failedChecks"
    | null;
  readonly reason: string;
  /** What was wanted and is not done, for the report. */
  readonly overruled: string | null;
  readonly checks: number;
  readonly failedInARow: number;
  readonly repairs: readonly Failure[];
  /** Failures for which runners were asked to stop already. */
  readonly runnersAsked: readonly string[];
  readonly lastDeed: Deed | null;
}

export interface Guarded {
  readonly input: Input;
  /** Undefined: the check failed, as `failure` says. */
  readonly observation: Observation | undefined;
  readonly failure: string | undefined;
  readonly before: Verdict | undefined;
  /** What people have allowed since the monitor began. */
  readonly allowedSince: string;
}

type Decided = Pick<Verdict, "route" | "reason"> &
  Partial<Pick<Verdict, "stoppedBy" | "overruled" | "repairs" | "runnersAsked" | "lastDeed">>;

/** What happens after a check. */
export function guard(given: Guarded): Verdict {
  const { before, failure, input, observation } = given;
  const checks = (before?.checks ?? 0) + 1;
  const failedInARow = observation === undefined ? (before?.failedInARow ?? 0) + 1 : 0;
  const decided =
    observation === undefined
      ? afterFailure(failure ?? "no reason was given", failedInARow)
      : decide(given, observation);
  const last = checks >= input.maxChecks && decided.route !== "stop";
  return {
    stoppedBy: null,
    overruled: null,
    repairs: before?.repairs ?? [],
    runnersAsked: before?.runnersAsked ?? [],
    lastDeed: null,
    ...decided,
    ...(last
      ? { route: "stop", stoppedBy: "maxChecks", reason: `This was check ${checks} of ${input.maxChecks}.` }
      : {}),
    checks,
    failedInARow,
  };
}

function afterFailure(failure: string, inARow: number): Decided {
  if (inARow < FAILED_CHECKS) return { route: "wait", reason: `The check failed: ${failure}` };
  return {
    route: "stop",
    stoppedBy: "failedChecks",
    reason: `${inARow} checks failed in a row, the last one: ${failure}`,
  };
}

function decide({ allowedSince, before, input }: Guarded, observation: Observation): Decided {
  const { action, authorizedActions, goalState, reason, route, targetStateId } = observation;
  if (goalState === "complete") return { route: "stop", stoppedBy: "goal", reason };
  if (route === "stop") return { route: "stop", stoppedBy: "stopWhen", reason };
  if (route === "wait" || action === undefined) return { route: "wait", reason };
  const { cost, defect, kind, target } = action;
  if (!authorizedActions.includes(kind)) return overruled(`The task does not allow to ${kind} anything`, action);
  // A model cannot allow itself what costs money: the words must stand in what people wrote.
  if (cost === "paid" && !isQuoted(action.authority, [input.task, allowedSince])) {
    const what = `It would cost money to ${kind} ${target}, and nobody has allowed that`;
    return {
      route: "stop",
      stoppedBy: "authority",
      reason: `${what}.`,
      overruled: `${what}: ${action.request}`.slice(0, 1_000),
    };
  }
  const deed: Deed = { kind, target, targetStateId };
  if (kind !== "repair" || defect === undefined) {
    if (isSame(before?.lastDeed ?? null, deed))
      return overruled("The same was done for the same state just now", action);
    return { route: kind === "repair" ? "wait" : kind, reason, lastDeed: deed };
  }
  const failure: Failure = { failureId: defect.failureId, targetStateId };
  const repairs = before?.repairs ?? [];
  if (repairs.some((other) => other.failureId === failure.failureId && other.targetStateId === targetStateId)) {
    return {
      route: "stop",
      stoppedBy: "sameFailure",
      reason: `Failure ${failure.failureId} is back in the same state after its repair.`,
    };
  }
  const running = defect.paidRunners.filter(({ state }) => state === "running").map((runner) => runner.id);
  if (running.length === 0) return { route: "repair", reason, repairs: [...repairs, failure].slice(-REPAIRS) };
  const asked = before?.runnersAsked ?? [];
  if (asked.includes(failure.failureId)) {
    return {
      route: "stop",
      stoppedBy: "runnersStillRun",
      reason:
        `Paid runners still run with failure ${failure.failureId}, although they were to stop: ${running.join(", ")}`.slice(
          0,
          2_000,
        ),
    };
  }
  return { route: "stopRunners", reason, runnersAsked: [...asked, failure.failureId].slice(-REPAIRS) };
}

function overruled(why: string, action: Action): Decided {
  return { route: "wait", reason: `${why}.`, overruled: `${why}: ${action.request}`.slice(0, 1_000) };
}

function isSame(a: Deed | null, b: Deed): boolean {
  return a !== null && a.kind === b.kind && a.target === b.target && a.targetStateId === b.targetStateId;
}

/** Whether these words stand in one of the texts, however they are spaced and cased. Fewer than three words allow nothing. */
export function isQuoted(words: string, texts: readonly string[]): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();
  const wanted = plain(words).replace(/^["'“‘]+|["'”’.]+$/g, "");
  return wanted.split(" ").length >= 3 && texts.some((text) => plain(text).includes(wanted));
}
