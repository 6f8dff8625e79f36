/**
 * Follows a run on the terminal: a line for each thing that happens, until the run is over, cannot go on without a
 * person's command, or the reader leaves.
 */
import type { DecisionSummary, HoldpointClient, RunView } from "../client/index.ts";
import type { Context } from "./context.ts";
import { clean, hang } from "./layout.ts";
import { deadlineLine, destinationLines, itemText, storyItems } from "./story.ts";
import { clockTime } from "./times.ts";

export type FollowEnd = { kind: "view"; view: RunView } | { kind: "signal"; signal: NodeJS.Signals };

/** Whether following makes sense no longer: the run is over, or only a command can move it. */
export function isAtRest(view: RunView): boolean {
  return view.run.finishedAt !== null || view.run.status === "ambiguous" || view.run.status === "parked";
}

/** Resolves when the run is at rest or a signal came. Throws the watch's error. */
export async function follow(context: Context, client: HoldpointClient, runId: string): Promise<FollowEnd> {
  const printer = new Printer(context);
  let release = (): void => {};
  const left = new Promise<FollowEnd>((resolve) => {
    release = context.io.onSignal((signal) => resolve({ kind: "signal", signal }));
  });
  let stop = (): void => {};
  const rest = new Promise<FollowEnd>((resolve, reject) => {
    const onView = (view: RunView): void => {
      printer.show(view);
      if (isAtRest(view)) resolve({ kind: "view", view });
    };
    const onState = (state: "live" | "reconnecting"): void => {
      context.line(state === "live" ? "The server is back." : "The server is away; trying again …");
    };
    const watch = client.watchRun(runId, onView, { onState });
    watch.done.catch(reject);
    stop = () => watch.stop();
  });
  try {
    return await Promise.race([left, rest]);
  } finally {
    release();
    stop();
  }
}

/** Prints each event once, and where a decision went when that is known. */
class Printer {
  readonly #context: Context;
  readonly #events = new Set<string>();
  /** Decision id → its destinations as they were last printed. */
  readonly #destinations = new Map<string, string>();
  /** Time of the latest line. What has no time of its own is told with it, so that times never run backwards. */
  #latest = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  show(view: RunView): void {
    for (const item of storyItems(view.timeline)) {
      const key = `${item.at} ${item.index} ${item.type} ${JSON.stringify(item.detail)}`;
      if (this.#events.has(key)) continue;
      this.#events.add(key);
      this.#print(item.at, itemText(item));
    }
    for (const decision of view.decisions) this.#decision(decision);
  }

  #decision(decision: DecisionSummary): void {
    if (decision.status !== "pending") return;
    const where = destinationLines(decision).join("; ");
    const before = this.#destinations.get(decision.decisionId);
    if (before === where) return;
    this.#destinations.set(decision.decisionId, where);
    if (before === undefined) {
      this.#print(
        decision.createdAt,
        `Waits for ${clean(decision.audience)}: ${clean(decision.title)} (${decision.fingerprint}). ${deadlineLine(decision)}`,
      );
    }
    this.#print(decision.createdAt, `${decision.fingerprint} at ${where === "" ? "no destination" : where}`);
  }

  #print(at: number, text: string): void {
    this.#latest = Math.max(this.#latest, at);
    const time = this.#context.paint("dim", clockTime(this.#latest));
    this.#context.lines(hang(text, this.#context.width, `${time}  `, " ".repeat(10)));
  }
}
