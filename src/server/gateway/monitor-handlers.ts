/** Operations on monitors. */
import { PAGE } from "../../contracts/limits.ts";
import type { OperationName } from "../../contracts/protocol/operations.ts";
import type { ServerCore } from "../core.ts";
import { monitorDetail, monitorSummary } from "../views/monitor-view.ts";
import type { Handlers } from "./connection.ts";

type Names = Extract<OperationName, `monitor.${string}`>;

export function monitorHandlers(core: ServerCore): Pick<Handlers, Names> {
  const { ports, store } = core.options;
  return {
    "monitor.list": async ({ after }) => {
      const rows = store.read.monitors.page(after);
      const now = ports.clock.now();
      return {
        outcome: "accepted",
        result: {
          monitors: rows.map((row) => monitorSummary(row, now, core.config.timeZone)),
          more: rows.length === PAGE.rows,
          invalid:
            after === "" ? core.monitors.invalid.map(({ name, problems }) => ({ name, problems: [...problems] })) : [],
        },
      };
    },
    "monitor.get": async ({ monitor }) => ({ outcome: "accepted", result: monitorDetail(core, monitor) }),
    "monitor.check": async ({ monitor }) => ({ outcome: "accepted", result: await core.monitors.check(monitor) }),
  };
}
