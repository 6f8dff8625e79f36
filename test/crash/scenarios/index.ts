/** The scenarios by name. Each one ends the same way with and without a fault. */
import { alarms } from "./alarm.ts";
import { asking } from "./asking.ts";
import { control } from "./control.ts";
import { delivery } from "./delivery.ts";
import { doubt } from "./doubt.ts";
import { lifetime } from "./lifetime.ts";
import { refusal } from "./refusal.ts";
import type { Scenario } from "./scenario.ts";
import { sessions } from "./session.ts";
import { tending } from "./tending.ts";
import { watches } from "./watch.ts";
import { work } from "./work.ts";

export const SCENARIOS = {
  ...alarms,
  ...asking,
  ...control,
  ...delivery,
  ...doubt,
  ...lifetime,
  ...refusal,
  ...sessions,
  ...tending,
  ...watches,
  ...work,
} as const satisfies Readonly<Record<string, Scenario>>;
/** The folders' names one after the other: a name that two of them use would hide a scenario. */
export const SCENARIO_NAMES: readonly string[] = [
  alarms,
  asking,
  control,
  delivery,
  doubt,
  lifetime,
  refusal,
  sessions,
  tending,
  watches,
  work,
].flatMap((group) => Object.keys(group));
export type ScenarioName = keyof typeof SCENARIOS;
