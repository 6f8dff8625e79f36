/**
 * The snapshot of an audience's policy that goes into a request: with the zone of quiet hours filled in, and with those veto choices that
 * the decision has.
 */
import type { Config } from "../../contracts/config.ts";
import type { DecisionPolicy } from "../../contracts/decision/policy.ts";

const MINUTE_MS = 60_000;

/** `choices` are ids. Keys are written only when they are set. */
export function snapshotOf(
  policy: Config["audiences"][string]["policy"],
  { choices, timeZone }: { readonly choices: readonly string[]; readonly timeZone: string },
): DecisionPolicy {
  const { escalateAfter, quorum, remindAfter, require } = policy;
  const veto = quorum === 1 ? [] : choices.filter((id) => policy.veto?.includes(id) === true);
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

/** The ids of authored choices, which are a map or a list; what is neither is refused later. */
export function choiceIdsIn(authored: unknown): string[] {
  const choices =
    typeof authored === "object" && authored !== null ? (authored as { choices?: unknown }).choices : null;
  if (typeof choices !== "object" || choices === null) return [];
  if (!Array.isArray(choices)) return Object.keys(choices);
  return choices.flatMap((choice: unknown) => {
    const id = typeof choice === "object" && choice !== null ? (choice as { id?: unknown }).id : undefined;
    return typeof id === "string" ? [id] : [];
  });
}
