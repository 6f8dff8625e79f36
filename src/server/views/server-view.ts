/** What `server status` shows. No ids of people, no prompts, no payloads. */
import type { ServerStatus } from "../../contracts/protocol/operations.ts";
import type { ServerCore } from "../core.ts";

/** The status of a running core, from memory and a few counts. */
export function serverStatus(core: ServerCore): ServerStatus {
  const { store, ports, product, pid, home } = core.options;
  const managed = store.read.managed.counts();
  return {
    state: "running",
    product,
    pid,
    epoch: core.epoch,
    home,
    startedAt: core.startedAt,
    now: ports.clock.now(),
    runs: store.read.runs.counts(),
    pendingDecisions: store.read.decisions.pendingCount(),
    ambiguousEffects: store.read.effects.ambiguousCount(),
    runners: core.scheduler.active,
    resources: {
      count: managed.resources,
      queued: managed.queued,
      passes: core.resourceLane.active,
      idleRunners: core.resourceLane.idle,
    },
    channels: core.channels.status(),
    clients: core.clients,
    capacity: core.scheduler.capacity,
    configError: core.configError,
    crashes: core.crashes.list(),
  };
}
