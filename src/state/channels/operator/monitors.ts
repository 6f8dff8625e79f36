/** What is being watched, for the operator chat: what is not well first. */
import { OPERATOR } from "../../../contracts/limits.ts";
import { monitorTitle } from "../../../contracts/monitor/spec.ts";
import { monitorsForPeople, monitorCounts } from "../../monitors/rows.ts";
import { wellFormed } from "../../decisions/well-formed.ts";
import { alertsFor } from "./alerts.ts";
import type { OperatorAnswer } from "./answer.ts";
import type { Asker } from "./asker.ts";
import { moreAfter } from "./paging.ts";

export function listMonitors(asker: Asker, from: number): OperatorAnswer {
  const { tx } = asker;
  const alerts = alertsFor(asker).length;
  const counts = monitorCounts(tx);
  const rows = monitorsForPeople(tx, from, OPERATOR.pageItems);
  const items = rows.map(({ lastFinding, name, spec, state }) => ({
    name: wellFormed(name),
    title: wellFormed(monitorTitle(name, spec)),
    standing: state.unstable ? ("unstable" as const) : state.standing,
    ...(state.standing === "new" ? {} : { since: state.since }),
    ...(lastFinding === null || lastFinding.code === "ok" ? {} : { finding: lastFinding }),
  }));
  return {
    reply: {
      code: "monitorList",
      items,
      troubled: counts.troubled,
      ...(alerts === 0 ? {} : { alerts }),
      from,
      total: counts.total,
    },
    ...moreAfter("monitors", from + rows.length, counts.total),
  };
}
