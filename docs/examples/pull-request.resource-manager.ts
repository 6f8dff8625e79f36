// Keeps a pull request on its way to be merged: looks at it, has it repaired when its checks fail, asks people in chat when they pass, and
// merges exactly the head that was approved. Works with any code host that speaks this small HTTP API; replace `host` for yours.
import {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  defineResourceManager,
  effectRejected,
  isEffectRejected,
  type EffectObservation,
} from "holdpoint/resource-managers";

interface Spec {
  /** Root of the code host's API. */
  readonly api: string;
  readonly repository: string;
  readonly number: number;
}
interface Status {
  readonly phase: "observing" | "checking" | "repairing" | "asking" | "merging" | "merged" | "blocked";
  readonly head?: string;
}
interface Pull {
  readonly title: string;
  readonly head: string;
  readonly state: "open" | "closed" | "merged";
  readonly mergeCommit: string | null;
  readonly checks: "pending" | "success" | "failure";
}

const POLL_MS = 30_000;

/** A token would come from the environment of the server, never from the spec: that is stored and shown. */
async function host(spec: Spec, path: string, signal: AbortSignal, init: RequestInit = {}): Promise<Response> {
  const token = process.env["CODE_HOST_TOKEN"];
  const headers = {
    "content-type": "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return fetch(`${spec.api}/repos/${spec.repository}/pulls/${spec.number}${path}`, { ...init, headers, signal });
}

async function pullOf(spec: Spec, signal: AbortSignal): Promise<Pull> {
  const response = await host(spec, "", signal);
  if (!response.ok) throw new Error(`The code host answers ${response.status} for pull request ${spec.number}.`);
  return (await response.json()) as Pull;
}

export default defineResourceManager<Spec, Status>({
  name: "pull-request",
  initialStatus: (spec) => {
    if (!/^https?:/.test(spec.api) || !Number.isInteger(spec.number)) throw new Error("api and number are needed.");
    return { phase: "observing" };
  },

  async reconcile(ctx, { metadata, spec }) {
    const pull = await pullOf(spec, ctx.signal);
    const { head } = pull;
    const found = (phase: Status["phase"], condition: ReturnType<typeof conditionTrue>) => ({
      resourceManagerStatus: { phase, head },
      conditions: [condition],
    });
    // Everything is bound to this head and this spec: a push makes new keys, and old answers count for nothing.
    const version = `${metadata.generation}:${head}`;
    const merge = {
      key: `merge:${version}`,
      kind: "merge",
      request: { repository: spec.repository, number: spec.number, expectedHead: head },
      observe: async (signal: AbortSignal): Promise<EffectObservation> => {
        const now = await pullOf(spec, signal);
        return now.state === "merged" ? { applied: true, externalRef: now.mergeCommit ?? head } : { applied: false };
      },
    };
    if (pull.state === "merged") {
      // Where the answer to its own merge got lost, that is no longer in doubt.
      await ctx.effects.confirm(merge);
      return ctx.settled(found("merged", conditionTrue("Ready", "Merged", pull.mergeCommit ?? "")));
    }
    if (pull.state === "closed") return ctx.settled(found("blocked", conditionFalse("Ready", "Closed")));
    if (pull.checks === "pending")
      return ctx.requeueAfter(POLL_MS, found("checking", conditionUnknown("Ready", "ChecksRun")));

    const subject = { api: spec.api, repository: spec.repository, number: spec.number, title: pull.title, head };
    if (pull.checks === "failure") {
      const repair = await ctx.workflows.ensure({
        requestKey: `repair:${version}`,
        workflow: "repair-pull-request",
        input: subject,
      });
      if (repair.state === "failed" || repair.state === "interrupted")
        return ctx.settled(found("blocked", conditionFalse("Ready", "RepairFailed", repair.error?.message)));
      // The end of the run gives the next pass; after a repair that pass finds another head.
      if (repair.state !== "succeeded") return ctx.settled(found("repairing", conditionFalse("Ready", "ChecksFail")));
      return ctx.requeueAfter(POLL_MS, found("blocked", conditionFalse("Ready", "RepairChangedNothing")));
    }

    const asked = await ctx.workflows.ensure({
      requestKey: `merge:${version}`,
      workflow: "merge-pull-request",
      input: subject,
    });
    if (asked.state === "failed" || asked.state === "interrupted")
      return ctx.settled(found("blocked", conditionFalse("Ready", "NotAsked", asked.error?.message)));
    if (asked.state !== "succeeded") return ctx.settled(found("asking", conditionFalse("Ready", "WaitsForApproval")));
    if (!(asked.output as { merge: boolean }).merge)
      return ctx.settled(found("blocked", conditionFalse("Ready", "Declined")));

    try {
      await ctx.effects.ensure({
        ...merge,
        apply: async (signal) => {
          // The host refuses when the head has moved since people looked at it.
          const body = JSON.stringify({ expectedHead: head });
          const response = await host(spec, "/merge", signal, { method: "PUT", body });
          if (response.status === 409) throw effectRejected("The head has moved since it was approved.");
          if (!response.ok) throw new Error(`The code host answers ${response.status} to the merge.`);
          return { externalRef: ((await response.json()) as { mergeCommit: string }).mergeCommit };
        },
      });
    } catch (error) {
      if (!isEffectRejected(error)) throw error;
      return ctx.requeueAfter(POLL_MS, found("blocked", conditionFalse("Ready", "HeadMoved")));
    }
    // Look again after what was done: only the host says that it is merged.
    return ctx.requeue(found("merging", conditionFalse("Ready", "Merging")));
  },
});
