/**
 * The monitors of a configuration, each read by itself: one that is wrong is told, and the others are watched. Apart from config.ts,
 * because reading schedules costs what a command line should not pay for `--help`.
 */
import type { Config } from "../config.ts";
import { cutToUnits } from "../decision/graphemes.ts";
import { messageOf } from "../errors.ts";
import { MONITOR } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { cron } from "../schedule.ts";
import { readMonitorSpec, type MonitorSpec } from "./spec.ts";

export interface DefinedMonitors {
  readonly good: readonly { readonly name: string; readonly spec: MonitorSpec }[];
  readonly bad: readonly { readonly name: string; readonly problems: readonly string[] }[];
}

export function definedMonitors(config: Pick<Config, "monitors" | "audiences" | "timeZone">): DefinedMonitors {
  const good: { name: string; spec: MonitorSpec }[] = [];
  const bad: { name: string; problems: readonly string[] }[] = [];
  for (const [name, value] of Object.entries(config.monitors)) {
    const read = readMonitorSpec(value);
    const problems = [
      ...nameTrouble(name),
      ...("problems" in read ? read.problems : monitorTrouble(read.spec, config)),
    ];
    if ("spec" in read && problems.length === 0) good.push({ name, spec: read.spec });
    else bad.push({ name, problems });
  }
  return { good, bad };
}

/** Of the name that a monitor has here. An applied one has its key, with `added` characters. */
export function nameTrouble(name: string, added = 0): string[] {
  const limit = MONITOR.nameChars - added;
  if (name.length <= limit) return [];
  return [
    `${added === 0 ? "name" : "key"}: "${cutToUnits(name, 40)}" has ${name.length} characters; the limit is ${limit}`,
  ];
}

/** What the schema cannot know: schedules that come, an audience that there is. */
export function monitorTrouble(
  spec: MonitorSpec,
  { audiences, timeZone }: Pick<Config, "audiences" | "timeZone">,
): string[] {
  const problems: string[] = [];
  const schedule = (field: string, line: string, zone: string | undefined): void => {
    try {
      cron(line, zone ?? timeZone);
    } catch (error) {
      problems.push(`${field}: ${messageOf(error)}`);
    }
  };
  if (spec.schedule !== undefined) schedule("schedule", spec.schedule, spec.timeZone);
  for (const [index, window] of spec.maintenance.entries())
    if ("schedule" in window) schedule(`maintenance.${index}.schedule`, window.schedule, window.timeZone);
  if (!Object.hasOwn(audiences, spec.audience)) {
    const near = nearest(spec.audience, Object.keys(audiences));
    problems.push(
      `audience: "${spec.audience}" is not in audiences${near === undefined ? "" : `; did you mean "${near}"?`}`,
    );
  }
  return problems;
}
