/** The life of a resource runner: passes one after another while the process is as it was before the first, then its end. */
import { WARM } from "../../contracts/limits.ts";
import type { FromResourceRunner, ToResourceRunner } from "../../contracts/protocol/resource-runner.ts";
import type { FramePort } from "../../contracts/wire/frames.ts";
import { Baseline } from "../baseline.ts";
import { resourceSession, type ResourceSessionEnd } from "./session.ts";

/** Resolves when the process must end; never rejects. */
export async function serve(port: FramePort<ToResourceRunner, FromResourceRunner>): Promise<ResourceSessionEnd> {
  const baseline = await Baseline.take();
  let end = await resourceSession(port);
  for (let passes = 1; passes < WARM.launches; passes += 1) {
    if (end.kind !== "ended" || end.cwd === undefined) return end;
    const difference = await baseline.difference(end.cwd);
    if (difference !== null) {
      port.send({ type: "exiting", reason: `not used again: ${difference}`.slice(0, 500) });
      return end;
    }
    // It listens before the server knows that it may send.
    const next = resourceSession(port);
    port.send({ type: "released" });
    end = await next;
  }
  port.send({ type: "exiting", reason: "served its passes" });
  return end;
}
