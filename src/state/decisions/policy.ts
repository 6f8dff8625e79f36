/**
 * The snapshot of an audience's policy that goes into a request: with the zone of quiet hours filled in, and with those veto choices that
 * the decision has, by the audience's list or by the workflow's own mark.
 */
import type { Config } from "../../contracts/config.ts";
import { vetoesIn } from "../../contracts/decision/choices.ts";
import type { DecisionPolicy } from "../../contracts/decision/policy.ts";

const MINUTE_MS = 60_000;

/** `choices` as the workflow wrote them. Keys are written only when they are set. */
export function snapshotOf(
  policy: Config["audiences"][string]["policy"],
  { choices, timeZone }: { readonly choices: unknown; readonly timeZone: string },
): DecisionPolicy {
  const { escalateAfter, quorum, remindAfter, require } = policy;
  const { ids, vetoes } = vetoesIn(choices);
  const veto = quorum === 1 ? [] : ids.filter((id) => vetoes.includes(id) || policy.veto?.includes(id) === true);
  return {
    quorum,
    ...(veto.length === 0 ? {} : { veto }),
    ...(require === undefined || Object.keys(require).length === 0 ? {} : { require }),
    ...(remindAfter === undefined ? {} : { remindAfter: remindersOf(remindAfter, timeZone) }),
    ...(escalateAfter === undefined
      ? {}
      : { escalateAfter: { afterMs: escalateAfter.minutes * MINUTE_MS, audience: escalateAfter.audience } }),
  };
}

function remindersOf(
  { atMost, everyMinutes, minutes, quiet }: NonNullable<Config["audiences"][string]["policy"]["remindAfter"]>,
  timeZone: string,
): NonNullable<DecisionPolicy["remindAfter"]> {
  return {
    afterMs: minutes * MINUTE_MS,
    everyMs: (everyMinutes ?? minutes) * MINUTE_MS,
    atMost,
    ...(quiet === undefined ? {} : { quiet: { timeZone, ...quiet } }),
  };
}
