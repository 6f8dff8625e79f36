/** Operations on managed resources. The caller of client.v1 is a person at this machine. */
import type { OperationName } from "../../contracts/protocol/operations.ts";
import type { ServerCore } from "../core.ts";
import type { Handlers } from "./connection.ts";
import type { HandlerTools } from "./control-handlers.ts";

type Names = Extract<OperationName, `resourceManager.${string}`>;

export function resourceHandlers(core: ServerCore, { actor, receipt }: HandlerTools): Pick<Handlers, Names> {
  const { store } = core.options;
  const { resources } = core;
  return {
    "resourceManager.list": async (query) => ({ outcome: "accepted", result: store.read.managed.list(query) }),
    "resourceManager.get": async (ref) => ({ outcome: "accepted", result: store.read.managed.detail(ref) }),
    "resourceManager.apply": async (payload, caller) => {
      const { outcome, result } = await resources.apply({
        ...payload,
        actor,
        receipt: receipt("resourceManager.apply", payload, caller),
      });
      return { outcome, result };
    },
    // Asking twice is one pass: no receipt is needed to tell a repetition.
    "resourceManager.reconcile": async (ref) => ({
      outcome: "accepted",
      result: await resources.enqueue({ ...ref, reason: "asked", urgent: true }),
    }),
    "resourceManager.rebuildQueue": async () => ({
      outcome: "accepted",
      result: { queued: await resources.rebuildQueue() },
    }),
    "resourceManager.delete": async (payload, caller) => {
      const { outcome, result } = await resources.remove({
        ...payload,
        actor,
        receipt: receipt("resourceManager.delete", payload, caller),
      });
      return { outcome, result };
    },
  };
}
