/**
 * Runs: start, claim, steps, waiting, ending, control. Owns `runs`, `run_queue`, `run_runners`, `node_attempts`, `run_nodes`,
 * `run_continuations`, `run_mounts`, `run_sources` and definitions. It does not judge answers and sends nothing.
 */
import { advance } from "./advance.ts";
import { cancel } from "./cancel.ts";
import { claim } from "./claim.ts";
import { pause, resume } from "./control.ts";
import { finish, loadFailed, park } from "./finish.ts";
import { enter } from "./mounts.ts";
import { ready } from "./ready.ts";
import { renew, runnerEnded } from "./runner-ended.ts";
import { restart } from "./restart.ts";
import { noteSources } from "./source-obstacle.ts";
import { start } from "./start.ts";

export const commands = {
  start,
  claim,
  ready,
  advance,
  finish,
  loadFailed,
  park,
  runnerEnded,
  renew,
  pause,
  resume,
  cancel,
  restart,
  enter,
  noteSources,
};
export { reads } from "./reads.ts";
