/** What happens in the fast-forward day: which monitors there are, which targets break when, which job stops reporting. Pure, and the same each time. */

export const MINUTE = 60_000;
export const HOUR = 3_600_000;

/** Audience and the chat that it is. */
export const CHATS = { ann: 1_001, bea: 1_002 } as const;
export type Audience = keyof typeof CHATS;

type Kind = "web" | "nightly" | "flapping" | "job" | "deadJob";

export interface Planned {
  readonly name: string;
  readonly kind: Kind;
  readonly audience: Audience;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A target is down from one time of the day to another, both since its beginning. */
export interface Outage {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** `run`: the clock runs for so long. `sleep`: the machine sleeps. `leap`: no server runs until then. */
export type Phase = { readonly run: number } | { readonly sleep: number } | { readonly until: string };

export interface Plan {
  readonly start: number;
  readonly phases: readonly Phase[];
  readonly monitors: readonly Planned[];
  readonly outages: readonly Outage[];
}

const ZONE = "Europe/Berlin";
const EVERY_SECONDS = 300;

/** 24 hours of watching over the gap of March and the hour of October that comes twice, with a sleep of 36 hours in between. */
export const WHOLE_DAY: Pick<Plan, "start" | "phases"> = {
  start: Date.parse("2026-03-28T20:00:00Z"),
  phases: [
    { run: 10 * HOUR },
    { sleep: 36 * HOUR },
    { run: 6 * HOUR },
    { until: "2026-10-24T20:00:00Z" },
    { run: 8 * HOUR },
  ],
};

/** The same over one change of the clocks. */
export const SHORT_DAY: Pick<Plan, "start" | "phases"> = {
  start: Date.parse("2026-03-29T00:00:00Z"),
  phases: [{ run: 3 * HOUR }, { sleep: 36 * HOUR }, { run: 2 * HOUR }],
};

/** `url` gives the address of a target, by its name. */
export function planDay(count: number, when: Pick<Plan, "start" | "phases">, url: (name: string) => string): Plan {
  const monitors = Array.from({ length: count }, (_, index): Planned => {
    const kind = kindOf(index);
    const name = `${kind.toLowerCase()}-${index}`;
    const audience = index % 2 === 0 ? "ann" : "bea";
    return { name, kind, audience, spec: { ...specOf(kind, url(name)), title: name, audience } };
  });
  return { ...when, monitors, outages: outagesOf(monitors, when.phases) };
}

/** Of ten: one by a schedule, one job; of twenty, one that flaps and one whose job dies. */
function kindOf(index: number): Kind {
  if (index === 3) return "deadJob";
  if (index % 20 === 7) return "flapping";
  if (index % 10 === 5) return "nightly";
  return index % 10 === 9 ? "job" : "web";
}

function specOf(kind: Kind, url: string): object {
  switch (kind) {
    case "web":
      return { everySeconds: EVERY_SECONDS, probe: { type: "http", url }, failAfter: 2, recoverAfter: 2 };
    case "flapping":
      return { everySeconds: EVERY_SECONDS, probe: { type: "http", url }, failAfter: 3, recoverAfter: 3 };
    case "nightly":
      return { schedule: "30 2 * * *", timeZone: ZONE, probe: { type: "http", url } };
    case "job":
    case "deadJob":
      return { everySeconds: 3_600, probe: { type: "heartbeat", graceSeconds: 600 } };
  }
}

/** Every seventh web target breaks once, one after the other, in a time in which the clock runs; one breaks while the machine sleeps. */
function outagesOf(monitors: readonly Planned[], phases: readonly Phase[]): Outage[] {
  const [first] = phases;
  const length = first !== undefined && "run" in first ? first.run : 0;
  const web = monitors.filter(({ kind }) => kind === "web");
  const breaking = web.filter((_, index) => index % 7 === 2);
  const room = length - HOUR - 20 * MINUTE;
  const outages = breaking.map(({ name }, index): Outage => {
    const from = 20 * MINUTE + Math.floor((index * room) / Math.max(1, breaking.length) / (5 * MINUTE)) * 5 * MINUTE;
    return { name, from, to: from + 40 * MINUTE };
  });
  const asleep = web.find((_, index) => index % 7 === 4);
  if (asleep === undefined) return outages;
  // From within the sleep until one hour after it.
  return [...outages, { name: asleep.name, from: length + HOUR, to: length + 37 * HOUR }];
}
