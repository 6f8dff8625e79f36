/**
 * Child process: asks for a managed run through the store's own command, with the fault seam of the environment, as a resource manager
 * will. Arguments: path of the database, path of the workflow file, folder of the run. Asks twice under one key and prints the run's id.
 */
import { faultSeam, parseFault } from "../../../src/state/faults.ts";
import { openStore } from "../../../src/state/store.ts";

const [path = "", workflowPath = "", folder = ""] = process.argv.slice(2);
const fault = process.env["HOLDPOINT_FAULT"];
const store = openStore({ path, clock: Date, faults: fault === undefined ? undefined : faultSeam(parseFault(fault)) });
const request = {
  owner: "deployments/shop",
  requestKey: "roll-out-7",
  workflow: "journey",
  workflowPath,
  projectPath: folder,
  input: { title: "managed", folder },
};
const [first, second] = await Promise.all([store.managed.ensure(request), store.managed.ensure(request)]);
store.close();
if (first.runId !== second.runId) throw new Error(`one key has the runs ${first.runId} and ${second.runId}`);
process.stdout.write(first.runId);
