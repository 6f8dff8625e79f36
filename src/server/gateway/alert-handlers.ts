/** Alerts for a person at this machine: lists, and the same as the buttons in a chat. */
import { userInfo } from "node:os";
import type { ServerCore } from "../core.ts";
import type { HandlerResult, Handlers } from "./connection.ts";
import type { HandlerTools } from "./control-handlers.ts";

type Names = "alert.list" | "alert.get" | "alert.acknowledge" | "alert.snooze";

export function alertHandlers(core: ServerCore, { actor, receipt, wakeAll }: HandlerTools): Pick<Handlers, Names> {
  const { store } = core.options;
  const changed = async (work: Promise<HandlerResult>): Promise<HandlerResult> => {
    const { outcome, result } = await work;
    wakeAll();
    return { outcome, result };
  };
  const by = { actor, name: userInfo().username } as const;
  return {
    "alert.list": async ({ all }) => ({ outcome: "accepted", result: { alerts: store.read.alerts.list({ all }) } }),
    "alert.get": async ({ alert }) => ({ outcome: "accepted", result: store.read.alerts.get(alert) }),
    "alert.acknowledge": (payload, caller) =>
      changed(
        store.alerts.acknowledge({
          ...payload,
          access: core.access(),
          by,
          receipt: receipt("alert.acknowledge", payload, caller),
        }),
      ),
    "alert.snooze": (payload, caller) =>
      changed(
        store.alerts.snooze({
          ...payload,
          access: core.access(),
          by,
          receipt: receipt("alert.snooze", payload, caller),
        }),
      ),
  };
}
