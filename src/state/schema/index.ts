/**
 * Version 1 of the database. STRICT tables; integer keys inside, public ids beside them. JSON values are canonical text,
 * or `@sha256:<hex>` when they are large and live in `blobs` (see values.ts). Times are integer milliseconds.
 *
 * Rows that answers and steps write are keyed by numbers in order of creation, and what is large and never changes stands in a table of
 * its own: commands of one batch then share pages, which decides what a commit costs. Each public id has one index, no more.
 */
import { ALERTS } from "./alerts.ts";
import { CHANNELS } from "./channels.ts";
import { DECISIONS } from "./decisions.ts";
import { EFFECTS } from "./effects.ts";
import { FOUNDATION } from "./foundation.ts";
import { MANAGED } from "./managed.ts";
import { PI_SESSIONS } from "./pi.ts";
import { MONITORS } from "./monitors.ts";
import { RUNS } from "./runs.ts";
import { STEPS } from "./steps.ts";

/** "HOLD" in ASCII: SQLite's application id of our files. */
export const APPLICATION_ID = 0x484f4c44;
export const SCHEMA_NAME = "holdpoint-state";
export const SCHEMA_VERSION = 1;

/**
 * `x IN (…)` of three constants and more, written as equalities: for such a list SQLite fills a temporary b-tree whenever a statement
 * checks the row, which cost an answer as much as five of its rows.
 */
function withoutLists(ddl: string): string {
  return ddl.replace(/(\w+) IN \(('\w+'(?:, ?'\w+'){2,})\)/g, (_, column: string, list: string) => {
    const equalities = list.split(/, ?/).map((value) => `${column} = ${value}`);
    return `(${equalities.join(" OR ")})`;
  });
}

/** In the order in which tables refer to each other. */
export const SCHEMA_V1 = withoutLists(
  [FOUNDATION, RUNS, STEPS, MANAGED, DECISIONS, CHANNELS, EFFECTS, ALERTS, MONITORS, PI_SESSIONS].join(""),
);
