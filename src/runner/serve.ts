/** The life of a runner: launches one after another while the process is as it was before the first, then its end. */
import { WARM } from "../contracts/limits.ts";
import type { FromRunner, ToRunner } from "../contracts/protocol/runner.ts";
import type { FramePort } from "../contracts/wire/frames.ts";
import { Baseline } from "./baseline.ts";
import { runSession, type SessionEnd } from "./session.ts";

/** Serves launches until one leaves the process unfit for the next. Resolves when the process must end; never rejects. */
export async function serve(port: FramePort<ToRunner, FromRunner>): Promise<SessionEnd> {
  const baseline = await Baseline.take();
  let end = await runSession(port);
  for (let launches = 1; launches < WARM.launches; launches += 1) {
    if (end.kind !== "ended" || end.cwd === undefined) return end;
    const difference = await baseline.difference(end.cwd);
    if (difference !== null) {
      port.send({ type: "exiting", reason: `${end.reason}; not used again: ${difference}`.slice(0, 500) });
      return end;
    }
    // It listens before the server knows that it may send.
    const next = runSession(port);
    port.send({ type: "released" });
    end = await next;
  }
  if (end.kind === "ended" && end.cwd !== undefined) port.send({ type: "exiting", reason: end.reason });
  return end;
}
