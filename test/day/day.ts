/**
 * A day of monitors in fast-forward: the real server over the controlled clock, its probing child and a stand-in for Telegram, with web
 * targets and jobs that do as the plan says. What people were told is read from the chats and compared with what happened.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { botMessages } from "../../adapters/telegram/sim/view.ts";
import type { HoldpointClient } from "../../src/client/index.ts";
import {
  client,
  HANG_MS,
  makeHome,
  Scope,
  startServer,
  startStandIn,
  testClock,
  type TestClock,
} from "../harness/index.ts";
import { CHATS, HOUR, MINUTE, planDay, type Plan } from "./plan.ts";

export interface DayReport {
  readonly monitors: number;
  readonly checks: number;
  /** Alerts that people were told, and those whose end they were told. */
  readonly alerts: number;
  readonly closed: number;
  /** Alerts or ends that people should have been told, and were not. */
  readonly missed: number;
  /** Messages about the same thing beyond the one. */
  readonly duplicates: number;
  /** Looks that nobody could make while the machine slept or no server ran. */
  readonly unseen: number;
  readonly problems: readonly string[];
  /** What stood in the chats at the end, message by message in the order of each chat. */
  readonly transcript: readonly string[];
}

/** The clock moves on by this much at a time. */
const STEP_MS = 5 * MINUTE;

class Targets {
  readonly down = new Set<string>();
  readonly #asked = new Map<string, number>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const name = (request.url ?? "").slice(1);
      const times = (this.#asked.get(name) ?? 0) + 1;
      this.#asked.set(name, times);
      const bad = this.down.has(name) || (name.startsWith("flapping") && times % 2 === 0);
      response.writeHead(bad ? 503 : 200).end();
    });
  }

  static async listen(scope: Scope): Promise<Targets> {
    const targets = new Targets();
    await new Promise<void>((resolve) => targets.#server.listen(0, "127.0.0.1", resolve));
    scope.add(() => {
      targets.#server.closeAllConnections();
      targets.#server.close();
    });
    return targets;
  }

  url(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }
}

/** Plays a day. `say` is told how far it is. */
export async function playDay(
  count: number,
  when: Pick<Plan, "start" | "phases">,
  say: (text: string) => void = () => undefined,
): Promise<DayReport> {
  const scope = new Scope();
  try {
    return await new Day(scope, say).play(count, when);
  } finally {
    await scope.close();
  }
}

class Day {
  readonly #scope: Scope;
  readonly #say: (text: string) => void;
  readonly #problems: string[] = [];

  constructor(scope: Scope, say: (text: string) => void) {
    this.#scope = scope;
    this.#say = say;
  }

  async play(count: number, when: Pick<Plan, "start" | "phases">): Promise<DayReport> {
    const scope = this.#scope;
    const [targets, standIn] = await Promise.all([Targets.listen(scope), startStandIn(scope)]);
    const plan = planDay(count, when, (name) => targets.url(name));
    const home = makeHome(scope, {
      profiles: { default: standIn.profile() },
      audiences: { ann: [`telegram:default/${CHATS.ann}`], bea: [`telegram:default/${CHATS.bea}`] },
      config: {
        timeZone: "Europe/Berlin",
        webhooks: { port: await freePort() },
        monitors: Object.fromEntries(plan.monitors.map(({ name, spec }) => [name, spec])),
      },
    });
    const clock = testClock(home, plan.start);
    let server = await startServer(scope, home, { env: clock.env() });
    let caller = await client(scope, home);
    const jobs = await this.#jobs(plan, caller);
    // The clock of the plan: what was slept or skipped does not lie in it, but for the sleep.
    let at = 0;
    for (const phase of plan.phases) {
      this.#say(`${JSON.stringify(phase)} from ${new Date(clock.now()).toISOString()}`);
      if ("until" in phase) {
        caller.close();
        await server.stop();
        clock.leap(Date.parse(phase.until) - clock.now());
        server = await server.restart({ env: clock.env() });
        caller = await client(scope, home);
        continue;
      }
      if ("sleep" in phase) {
        at += phase.sleep;
        this.#break(plan, targets, at);
        await clock.jump(phase.sleep);
        await quiet(caller, clock);
        continue;
      }
      for (const end = at + phase.run; at < end; at += STEP_MS) {
        this.#break(plan, targets, at);
        if (at % (30 * MINUTE) === 0) await Promise.all(jobs.filter(({ until }) => at < until).map(report));
        await clock.advance(STEP_MS);
        await quiet(caller, clock);
      }
    }
    await settled(caller, clock);
    const state = await standIn.control.state();
    const texts = Object.values(CHATS).flatMap((chat) => botMessages(state, chat).map(({ text }) => text));
    return this.#report(plan, texts, await everything(caller));
  }

  #break({ outages }: Plan, { down }: Targets, at: number): void {
    for (const { from, name, to } of outages) {
      if (from <= at && at < to) down.add(name);
      else down.delete(name);
    }
  }

  /** Where jobs report to; one of them does so for an hour only. */
  async #jobs({ monitors }: Plan, caller: HoldpointClient): Promise<{ url: string; until: number }[]> {
    const found = monitors.filter(({ kind }) => kind === "job" || kind === "deadJob");
    return Promise.all(
      found.map(async ({ kind, name }) => {
        const { heartbeatUrl } = await caller.call("monitor.get", { monitor: name });
        if (heartbeatUrl === null) throw new Error(`${name} has no address`);
        return { url: heartbeatUrl, until: kind === "job" ? Number.POSITIVE_INFINITY : HOUR };
      }),
    );
  }

  #report(plan: Plan, texts: readonly string[], rows: Awaited<ReturnType<typeof everything>>): DayReport {
    const told = texts.flatMap(toldBy);
    let [alerts, closed, missed, duplicates] = [0, 0, 0, 0];
    const broke = new Set(plan.outages.map(({ name }) => name));
    for (const { kind, name } of plan.monitors) {
      const about = told.filter((line) => new RegExp(` ${name} (?:is|keeps) `).test(line.text));
      const ends = about.filter(({ end }) => end).length;
      // The first of a storm have a message each before a list names them together with all others.
      const own = about.filter(({ begin, listed }) => begin && !listed).length;
      const listed = about.filter((line) => line.listed).length;
      const begins = own + (own === 1 && listed === 1 ? 0 : listed);
      const wanted = broke.has(name) || kind === "flapping" || kind === "deadJob" ? 1 : 0;
      // Whatever flaps does so to the end, and the dead job stays dead.
      const wantedEnds = broke.has(name) ? 1 : 0;
      alerts += begins;
      closed += ends;
      missed += Math.max(0, wanted - begins) + Math.max(0, wantedEnds - ends);
      duplicates += Math.max(0, begins - wanted) + Math.max(0, ends - wantedEnds);
      if (begins !== wanted || ends !== wantedEnds) this.#problems.push(`${name}: ${JSON.stringify(about)}`);
    }
    const strange = told.filter(({ text }) => !plan.monitors.some(({ name }) => text.includes(` ${name} `)));
    if (strange.length > 0) this.#problems.push(`other messages: ${JSON.stringify(strange.slice(0, 5))}`);
    this.#nightly(plan, rows);
    return {
      monitors: rows.length,
      checks: rows.reduce((sum, { checks }) => sum + checks, 0),
      alerts,
      closed,
      missed,
      duplicates,
      unseen: rows.reduce((sum, row) => sum + row.missed, 0),
      problems: this.#problems,
      transcript: texts,
    };
  }

  /** 02:30 on the wall comes once on each date, over the gap and over the hour that comes twice. */
  #nightly({ monitors, phases, start }: Plan, rows: Awaited<ReturnType<typeof everything>>): void {
    const nights = nightsOf(start, phases);
    for (const { kind, name } of monitors) {
      if (kind !== "nightly") continue;
      const { checks = 0, missed = 0 } = rows.find((row) => row.name === name) ?? {};
      if (checks + missed !== nights)
        this.#problems.push(`${name}: ${checks} looks and ${missed} missed in ${nights} nights`);
    }
  }
}

interface Told {
  readonly text: string;
  readonly listed: boolean;
  readonly begin: boolean;
  readonly end: boolean;
}

/** What a message tells: of one monitor in its first line, or of many that began at once in a line for each. */
function toldBy(text: string): Told[] {
  const [head = "", ...lines] = text.split("\n");
  if (/ All \d+ alerts are over/.test(head)) return [];
  if (!/ \d+ alerts/.test(head))
    return [{ text: head, listed: false, begin: !head.endsWith(" again"), end: head.endsWith(" again") }];
  const members = lines.filter((line) => / (?:is|keeps) /.test(line));
  return members.map((line) => ({ text: `${line} `, listed: true, begin: true, end: line.startsWith(OVER) }));
}
/** Before what is over, in a list. */
const OVER = "\u{1F7E2}";

/** Dates in Berlin on which 02:30 (or the first moment after a gap) lies within the day. */
function nightsOf(start: number, phases: readonly Plan["phases"][number][]): number {
  let end = start;
  for (const phase of phases)
    end = "until" in phase ? Date.parse(phase.until) : end + ("run" in phase ? phase.run : phase.sleep);
  const wall = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "short" });
  const nights = new Set<string>();
  for (let at = start; at <= end; at += 30 * MINUTE) {
    const [date = "", time = ""] = wall.format(at).split(" ");
    if (time >= "02:30" && time <= "03:30" && at > start) nights.add(date);
  }
  return nights.size;
}

async function report({ url }: { readonly url: string }): Promise<void> {
  const { status } = await fetch(url, { method: "POST" });
  if (status !== 202) throw new Error(`a report was answered with ${status}`);
}

/** Nothing is left that could be sent at this moment. True: nor later, but for edits of messages that stand. */
async function quiet(caller: HoldpointClient, clock: TestClock): Promise<boolean> {
  for (const deadline = Date.now() + HANG_MS; Date.now() < deadline; await sleep(5)) {
    const { effects } = await caller.call("effect.list", { all: false });
    const now = clock.now();
    if (effects.every(({ nextAttemptAt, status }) => status === "pending" && (nextAttemptAt ?? 0) > now))
      return effects.every(({ type }) => type === "alert.edit");
  }
  throw new Error("messages are stuck");
}

/** Nothing is left at all; what waits for its turn gets it. */
async function settled(caller: HoldpointClient, clock: TestClock): Promise<void> {
  for (let turns = 0; turns < 600; turns += 1) {
    if (await quiet(caller, clock)) return;
    await clock.advance(1_000);
  }
  throw new Error("messages wait for ever");
}

async function everything(caller: HoldpointClient): Promise<{ name: string; checks: number; missed: number }[]> {
  const all: { name: string; checks: number; missed: number }[] = [];
  for (let more = true; more;) {
    const page = await caller.call("monitor.list", { after: all.at(-1)?.name ?? "" });
    all.push(...page.monitors);
    more = page.more;
  }
  return all;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
