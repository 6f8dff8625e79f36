/**
 * Child process: gives the commands of a resource manager's pass to the store, with the fault seam of the environment, and goes on where
 * an earlier one was killed. Arguments: path of the database, path of the workflow file, folder of the run. Asks twice for a run under one
 * key and prints the run's id.
 */
import { faultsOf } from "../../../src/state/faults.ts";
import { openStore } from "../../../src/state/store.ts";

const [path = "", workflowPath = "", folder = ""] = process.argv.slice(2);
const store = openStore({ path, clock: Date, faults: faultsOf(process.env) ?? undefined });
const actor = { type: "human", id: "uid:0" } as const;

const { epoch } = await store.server.claimEpoch({ serverId: "beside", pid: process.pid, startIdentity: "beside" });
await store.server.recover({ epoch });

function applied(key: string, lane: string): ReturnType<typeof store.managed.apply> {
  return store.managed.apply({
    projectPath: folder,
    manager: "deployments",
    key,
    spec: { key },
    initialStatus: {},
    lane,
    source: "builtin:beside@1",
    sources: [],
    expectedVersion: null,
    receipt: null,
    actor,
  });
}

await applied("shop", "beside");
const ref = { projectPath: folder, manager: "deployments", key: "shop" };
await store.managed.enqueue({ ...ref, reason: "asked", urgent: true });
await store.managed.rebuild({ after: null });
const claimed = await store.managed.claim({
  lane: "beside",
  reconcileId: `pass-${process.pid}`,
  serverEpoch: epoch,
  held: [],
});
if (claimed === null) throw new Error("nothing was due");
const { claim, resource } = claimed;
await store.managed.renew({ claims: [claim] });
await store.managed.finalizer({ claim, finalizer: "cleanup", present: true });
const effect = { claim, key: "roll-out", kind: "deploy", request: { version: 7 } };
const { attempt, effectId, state } = await store.managed.reserve(effect);
if (state !== "settled")
  await store.managed.settle({ claim, effectId, attempt, outcome: "applied", externalRef: "deploy-7" });
const request = {
  claim,
  requestKey: "roll-out-7",
  workflow: "journey",
  workflowPath,
  input: { title: "managed", folder },
};
const [first, second] = await Promise.all([store.managed.ensure(request), store.managed.ensure(request)]);
if (first.runId !== second.runId) throw new Error(`one key has the runs ${first.runId} and ${second.runId}`);
await store.managed.finalizer({ claim, finalizer: "cleanup", present: false });
const conditions = [{ type: "Ready", status: true, reason: "RolledOut" }];
const { generation } = resource.metadata;
await store.managed.finish({ claim, generation, durationMs: 1, end: { outcome: "settled", conditions } });
await applied("gone", "nobody");
await store.managed.remove({ projectPath: folder, manager: "deployments", key: "gone", receipt: null, actor });
await store.server.release({ epoch });
store.close();
process.stdout.write(first.runId);
