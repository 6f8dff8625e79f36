/**
 * What each operation of client.v1 does: a command of the store with a receipt, or a read. The server sets the actor; a client
 * never says who it is beyond its connection.
 */
import { createHash } from "node:crypto";
import { userInfo } from "node:os";
import { canonicalJson } from "../../contracts/canonical.ts";
import type { OperationName } from "../../contracts/protocol/operations.ts";
import type { Receipt } from "../../state/store.ts";
import type { ServerCore } from "../core.ts";
import { decisionSummaries, runSummaries, runView } from "../views/run-view.ts";
import { serverStatus } from "../views/server-view.ts";
import type { Caller, HandlerResult, Handlers } from "./connection.ts";
import { alertHandlers } from "./alert-handlers.ts";
import { controlHandlers } from "./control-handlers.ts";
import { monitorHandlers } from "./monitor-handlers.ts";
import { resourceHandlers } from "./resource-handlers.ts";
import { terminalHandlers } from "./terminal-handlers.ts";

/** Handlers over one core. */
export function makeHandlers(core: ServerCore): Handlers {
  const { store, ports } = core.options;
  const actor = { type: "human", id: `uid:${userInfo().uid}` } as const;
  const receipt = (operation: OperationName, payload: unknown, caller: Caller): Receipt | null =>
    caller.idempotencyKey === null
      ? null
      : {
          clientId: caller.clientId,
          idempotencyKey: caller.idempotencyKey,
          operation,
          fingerprint: createHash("sha256").update(canonicalJson(payload)).digest(),
          serverEpoch: core.epoch,
        };
  const wakeAll = (): void => {
    core.scheduler.wake();
    core.managed.wake();
    core.resources.wake();
    core.channels.wake();
    core.wakeDeadlines();
    core.wakeAlerts();
    core.watchers.wake();
    core.pi.conversations.wake();
  };
  const control =
    (operation: "run.pause" | "run.resume" | "run.cancel", verb: "pause" | "resume" | "cancel") =>
    async (payload: { run: string; reason?: string | null }, caller: Caller): Promise<HandlerResult> => {
      const done = await store.runs[verb]({
        run: payload.run,
        reason: payload.reason ?? null,
        expectedRevision: caller.expectedRevision,
        receipt: receipt(operation, payload, caller),
        actor,
      });
      // The command has released the claim; the processes follow, and the answer waits until they are gone.
      if (done.stop) await core.scheduler.stopRunner(done.stop.runnerEpoch, verb);
      wakeAll();
      return { outcome: done.outcome, result: done.result };
    };

  return {
    "server.status": () => read(serverStatus(core)),
    "server.stop": () => {
      setImmediate(core.options.onStopRequest);
      return read({ stopping: true });
    },
    "server.reload": async () => {
      const error = await core.reload();
      return { outcome: "accepted", result: { loaded: error === null, error } };
    },
    "run.start": async (payload, caller) => {
      const { workflow, workflowPath, projectPath, input, origin } = payload;
      // A turn that has ended already (its tool call was stopped) is not waited for.
      const turn = origin === undefined || core.pi.conversations.isIdle(origin.session) ? null : origin.turn;
      const done = await store.runs.start({
        workflow,
        workflowPath,
        projectPath,
        input,
        ...(origin === undefined ? {} : { origin: { ...origin, turn } }),
        receipt: receipt("run.start", payload, caller),
      });
      if (turn !== null) core.pi.conversations.watchReserved();
      wakeAll();
      return done;
    },
    "pi.open": async () => read({ socket: await core.pi.open() }),
    "run.list": ({ limit, before }) => read(runSummaries(store, limit, before, ports.clock.now())),
    "run.get": async ({ run }) => {
      await core.waiting.look();
      return read(runView(store, run, ports.clock.now(), core.access()));
    },
    "run.session": ({ after, limit, run }) => {
      const { runId, runNo, shortId } = store.read.runs.get(run);
      const captures = store.read.sessions.captures(runNo);
      return read({ runId, shortId, captures, ...store.read.sessions.records(runNo, after, limit) });
    },
    "run.watch": ({ run }, caller) => {
      const { runId } = runView(store, run, ports.clock.now(), core.access()).run;
      return read({ subscriptionId: caller.subscribe((send) => core.watchers.watch(runId, send)) });
    },
    "run.pause": control("run.pause", "pause"),
    "run.resume": control("run.resume", "resume"),
    "run.cancel": control("run.cancel", "cancel"),
    ...controlHandlers(core, { actor, receipt, wakeAll }),
    ...monitorHandlers(core),
    ...resourceHandlers(core, { actor, receipt, wakeAll }),
    "decision.list": async ({ all }) => {
      await core.waiting.look();
      return read({ decisions: decisionSummaries(store.read.decisions.list({ all }), core.access()) });
    },
    ...alertHandlers(core, { actor, receipt, wakeAll }),
    ...terminalHandlers(core, { actorId: actor.id, receipt, wakeAll }),
    "effect.list": ({ all }) => read({ effects: store.read.effects.list({ all }) }),
    "effect.show": ({ effect }) => read(store.read.effects.get(effect)),
    "effect.settle": async (payload, caller) => {
      const { effect, outcome, result } = payload;
      const done = await store.effects.settle({
        effect,
        outcome,
        result,
        actor,
        receipt: receipt("effect.settle", payload, caller),
      });
      wakeAll();
      return { outcome: done.outcome, result: done.result };
    },
    "channel.status": () => read({ channels: core.channels.status() }),
    "channel.recover": async (payload, caller) => {
      const { effect, action, part, reference } = payload;
      const done = await store.effects.recover({
        effect,
        action,
        part,
        reference,
        actor,
        receipt: receipt("channel.recover", payload, caller),
      });
      wakeAll();
      return { outcome: done.outcome, result: done.result };
    },
  };
}

function read(result: unknown): Promise<HandlerResult> {
  return Promise.resolve({ outcome: "accepted", result });
}
