/**
 * A watch on one run that outlives its connection: after a loss it connects again with backoff and goes on with a new
 * snapshot. Nothing is replayed; a view is always the whole present state.
 */
import { fromErrorRecord, HoldpointError, isHoldpointError } from "../contracts/errors.ts";
import { CLIENT } from "../contracts/limits.ts";
import type { ClientEvent } from "../contracts/protocol/client.ts";
import { runViewSchema, type RunView } from "../contracts/protocol/operations.ts";
import { errorRecordSchema } from "../contracts/protocol/shared.ts";
import { backoffMs, pause } from "./backoff.ts";
import type { Connection } from "./connection.ts";
import { requestOf, resultOf } from "./requests.ts";

export interface WatchOptions {
  /** Told when the connection was lost (`reconnecting`, with the cause) and when views come again (`live`). */
  readonly onState?: ((state: "live" | "reconnecting", cause?: HoldpointError) => void) | undefined;
  /** A number in [0, 1); for tests. */
  readonly random?: (() => number) | undefined;
}

export interface Watch {
  /** Ends the watch; `done` resolves. */
  stop(): void;
  /** Resolves after `stop`; rejects when the watch cannot go on (unknown run, other version, server gone for good). */
  readonly done: Promise<void>;
}

/** Watches a run over connections of its own. See `HoldpointClient.watchRun`. */
export function watchRun(
  dial: () => Promise<Connection>,
  run: string,
  onView: (view: RunView) => void,
  options: WatchOptions = {},
): Watch {
  const stopper = new AbortController();
  const done = keepWatching(dial, run, onView, options, stopper.signal);
  // A caller may only care for views; an unhandled rejection must not end its process.
  done.catch(() => {});
  return { stop: () => stopper.abort(), done };
}

async function keepWatching(
  dial: () => Promise<Connection>,
  run: string,
  onView: (view: RunView) => void,
  options: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const seen = (view: RunView): void => {
    if (failures > 0) options.onState?.("live");
    failures = 0;
    onView(view);
  };
  while (!signal.aborted) {
    const cause = await once(dial, run, seen, signal);
    if (signal.aborted) return;
    if (cause.kind !== "serverUnavailable") throw cause;
    if (failures >= CLIENT.reconnects) throw exhausted(cause);
    if (failures === 0) options.onState?.("reconnecting", cause);
    await pause(backoffMs(failures, options.random), signal);
    failures += 1;
  }
}

/** One connection's worth of watching; resolves with the reason why it ended. */
async function once(
  dial: () => Promise<Connection>,
  run: string,
  onView: (view: RunView) => void,
  signal: AbortSignal,
): Promise<HoldpointError> {
  let connection: Connection | undefined;
  const close = (): void => connection?.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    connection = await dial();
    if (signal.aborted) return new HoldpointError("serverUnavailable", "The watch was stopped.");
    const open = connection;
    const ended = new Promise<HoldpointError>((resolve) => {
      open.onClose(resolve);
      open.onEvent((event) => {
        try {
          const problem = take(event, onView);
          if (problem) resolve(problem);
        } catch (error) {
          resolve(asOurs(error));
        }
      });
    });
    resultOf("run.watch", await open.request(requestOf("run.watch", { run }, {})));
    return await ended;
  } catch (error) {
    return asOurs(error);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

function take(event: ClientEvent, onView: (view: RunView) => void): HoldpointError | undefined {
  if (event.event === "unavailable") {
    const cause = errorRecordSchema.safeParse(event.payload);
    if (!cause.success) return new HoldpointError("serverUnavailable", "The server stopped sending views of this run.");
    const { kind, message, remedy } = fromErrorRecord(cause.data);
    // Connecting again would meet the same: the watch ends with the cause.
    return new HoldpointError(kind, `The server cannot show this run: ${message}`, { remedy });
  }
  const parsed = runViewSchema.safeParse(event.payload);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return new HoldpointError("frameInvalid", `A run view is invalid at "${issue?.path.join(".")}": ${issue?.message}`);
  }
  onView(parsed.data);
  return undefined;
}

function asOurs(error: unknown): HoldpointError {
  if (isHoldpointError(error)) return error;
  return new HoldpointError("internal", error instanceof Error ? error.message : String(error), { cause: error });
}

function exhausted(cause: HoldpointError): HoldpointError {
  return new HoldpointError(
    "serverUnavailable",
    `The server did not come back in ${CLIENT.reconnects} attempts. Last: ${cause.message}`,
  );
}
