/**
 * Plays a chaos run: the real server over the controlled clock with its adapter, its runners and a stand-in for Telegram; people press, faults
 * come and processes are killed as the plan says. Afterwards ten minutes pass without faults, what is still open is looked at and put right in
 * the way that the service names, and everything is judged.
 */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { startSim, type Sim } from "../../adapters/telegram/sim/index.ts";
import { connect, type HoldpointClient, type OperationPayload } from "../../src/client/index.ts";
import { isHoldpointError } from "../../src/contracts/errors.ts";
import type { OperationName, OperationResult } from "../../src/contracts/protocol/operations.ts";
import { openStore } from "../../src/state/store.ts";
import {
  HANG_MS,
  leakSearch,
  makeHome,
  ROOT,
  Scope,
  startServer,
  testClock,
  tokenForms,
  type ServerProcess,
  type TestClock,
  type TestHome,
} from "../harness/index.ts";
import { readFacts } from "./facts.ts";
import { violationsOf, type Expected, type Violation } from "./invariants.ts";
import { listingOf, settleDoubts } from "./listing.ts";
import { People } from "./people.ts";
import { MEMBERS_OF_ALL, STRANGER, turnsOf, type Amount, type Kill, type Member, type Turn } from "./plan.ts";
import { randomOf } from "./random.ts";

export interface ChaosReport {
  readonly seed: number;
  readonly decisions: number;
  readonly alerts: number;
  /** Processes that were killed. */
  readonly kills: number;
  /** Requests that a fault touched. */
  readonly faults: number;
  /** Polls among them that ended because another program polled. */
  readonly conflicts: number;
  readonly turns: number;
  /** What was listed with its cause ten minutes after the last fault. */
  readonly listed: number;
  readonly violations: readonly Violation[];
}

/** Pause between two looks; nothing depends on it. */
const LOOK_MS = 15;
/** Real time that a turn gives its work. Nothing is lost when it is too short: the next turn goes on. */
const TURN_MS = 250;
/** The pause after a 409, which the controlled clock does not shorten: a turn, more or less, instead of 55 s. */
const SETTINGS = JSON.stringify({ conflictWaitMs: 200 });
const CALM_MS = 10 * 60_000;
/** After the ten minutes: rounds of people and operator until all is over. */
const LAST_ROUNDS = 150;

/** Plays one run. `say` is told how far it is; `keep` is a folder that gets the home and the ledger as they were left. */
export async function playChaos(
  seed: number,
  amount: Amount,
  say: (text: string) => void = () => undefined,
  keep: string | null = null,
): Promise<ChaosReport> {
  const scope = new Scope();
  try {
    return await (await Chaos.open(scope, seed, amount, say)).play(keep);
  } finally {
    await scope.close();
  }
}

class Chaos {
  readonly #seed: number;
  readonly #amount: Amount;
  readonly #say: (text: string) => void;
  readonly #sim: Sim;
  readonly #home: TestHome;
  readonly #clock: TestClock;
  readonly #people: People;
  #server: ServerProcess;
  #client: HoldpointClient | null = null;
  #started = 0;
  #kills = 0;
  #calls = 0;
  /** Held polls that another program ended. */
  #ousted = 0;
  #turns = 0;
  readonly #problems: Violation[] = [];

  private constructor({
    amount,
    clock,
    home,
    say,
    seed,
    server,
    sim,
  }: {
    amount: Amount;
    clock: TestClock;
    home: TestHome;
    say: (text: string) => void;
    seed: number;
    server: ServerProcess;
    sim: Sim;
  }) {
    this.#seed = seed;
    this.#amount = amount;
    this.#say = say;
    this.#sim = sim;
    this.#home = home;
    this.#clock = clock;
    this.#server = server;
    this.#people = new People(sim, randomOf(seed + 1));
  }

  static async open(scope: Scope, seed: number, amount: Amount, say: (text: string) => void): Promise<Chaos> {
    const sim = await startSim({
      // A token of its own: a search for leaks over all processes must not meet that of another test.
      token: `${100_000_000 + process.pid}:${`chaos${seed}-`.padEnd(35, "kQz7")}`,
      users: [
        ...MEMBERS_OF_ALL.map(({ name, user }) => ({ id: user, firstName: name })),
        { id: STRANGER, firstName: "Mallory" },
      ],
      chats: [
        ...MEMBERS_OF_ALL.flatMap(({ chats, name }) =>
          chats.map((id) =>
            id > 0 ? { id, type: "private" as const } : { id, type: "supergroup" as const, title: name },
          ),
        ),
        { id: STRANGER, type: "private" },
      ],
      pollRules: { conflictDelayMs: 50, sameOffsetHoldMs: 10, sameOffsetLimitMs: 10 },
    });
    scope.add(() => sim.close());
    const home = makeHome(scope, {
      profiles: { default: { url: sim.url, token: sim.token } },
      people: Object.fromEntries(MEMBERS_OF_ALL.map(({ name, user }) => [name, { name, telegram: [user] }])),
      audiences: Object.fromEntries(
        MEMBERS_OF_ALL.map(({ chats, name, resends }) => [
          name,
          {
            destinations: chats.map((chat) => `telegram:default/${chat}`),
            people: [name],
            ...(resends ? { onAmbiguous: { resendAfterMs: 60_000 } } : {}),
          },
        ]),
      ),
    });
    const clock = testClock(home);
    const server = await startServer(scope, home, { env: envOf(clock) });
    return new Chaos({ amount, clock, home, say, seed, server, sim });
  }

  async play(keep: string | null): Promise<ChaosReport> {
    const turns = turnsOf(this.#seed, this.#amount);
    for (; this.#turns < this.#amount.turns && !(await this.#allAnswered()); this.#turns += 1) {
      await this.#turn(turns.next().value);
      if (this.#turns % 20 === 19) this.#say(`${this.#turns + 1} turns, ${this.#kills} kills, ${this.#hits()} faults`);
    }
    this.#sim.faults.clear();
    await this.#start(this.#amount.runs - this.#started);
    this.#people.greet();
    for (const end = this.#clock.now() + CALM_MS; this.#clock.now() < end; await this.#pass(15_000)) this.#press(1);
    await this.#quiet(HANG_MS);
    const listing = await listingOf(this.#sim.ledger.state(), (operation, payload) => this.#call(operation, payload));
    this.#say(`ten minutes later: ${listing.effects.length} open messages, ${listing.pending.length} decisions wait`);
    await this.#finish();
    return this.#judge(listing, keep);
  }

  /** Whether the faults have nothing left to disturb. */
  async #allAnswered(): Promise<boolean> {
    if (this.#started < this.#amount.runs) return false;
    const { runs } = await this.#call("run.list", { limit: 256, before: null });
    return runs.every(({ finishedAt }) => finishedAt !== null);
  }

  async #turn({ advanceMs, faults, killAfter, kills, release, rival, starts }: Turn): Promise<void> {
    const { faults: book } = this.#sim;
    if (release) book.clear();
    for (const spec of faults) book.add(spec);
    if (rival) this.#rival();
    await this.#start(starts);
    if (this.#press(0.5) === 0) this.#people.murmur();
    for (let looks = 0; looks < killAfter; looks += 1) await sleep(LOOK_MS);
    for (const kill of kills) await this.#kill(kill);
    await this.#quiet(TURN_MS);
    await this.#pass(advanceMs);
  }

  /** Another program polls: it ends a poll that is held, and is still there when the next one comes. */
  #rival(): void {
    const { faults, server } = this.#sim;
    if (server.otherPoller()) this.#ousted += 1;
    faults.add({ kind: "conflict", method: "getUpdates" });
  }

  #press(decides: number): number {
    return this.#people.act(this.#sim.ledger.state(), { decides, takesAlerts: 0.1 });
  }

  async #start(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      this.#started += 1;
      const { alerts, questions } = this.#amount;
      await this.#call("run.start", {
        workflow: "errand",
        workflowPath: `${ROOT}/test/chaos/workflows/errand.workflow.ts`,
        projectPath: ROOT,
        input: { run: this.#started, audience: memberOf(this.#started).name, questions, alerts },
      });
    }
  }

  async #kill(what: Kill): Promise<void> {
    if (what === "adapter") {
      const { channels } = await this.#call("channel.status", {});
      const pid = channels[0]?.pid ?? null;
      if (pid === null) return;
      this.#kills += 1;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It was gone already.
        this.#kills -= 1;
      }
      return;
    }
    this.#kills += 1;
    await this.#server.kill();
    this.#server = await this.#server.restart({ env: envOf(this.#clock) });
  }

  /** Lets what can be sent at this moment be sent, for as long as `ms` of real time. */
  async #quiet(ms: number): Promise<void> {
    for (const until = performance.now() + ms; performance.now() < until; await sleep(LOOK_MS)) {
      const { effects } = await this.#call("effect.list", { all: false });
      const { runs } = await this.#call("server.status", {});
      const now = this.#clock.now();
      const busy = effects.some(
        ({ nextAttemptAt, status }) => status === "applying" || (status === "pending" && (nextAttemptAt ?? 0) <= now),
      );
      if (
        !busy &&
        (runs["running"] ?? 0) + (runs["queued"] ?? 0) === 0 &&
        this.#sim.ledger.state().pendingUpdates.length === 0
      )
        return;
    }
  }

  /** Moves the clock on; without traffic the service would take a chat for silent. */
  async #pass(ms: number): Promise<void> {
    this.#people.murmur();
    await this.#clock.advance(ms);
    await this.#quiet(TURN_MS);
  }

  /** Goes on until nothing is open: people press, and doubts are settled as the service names it, truthfully. */
  async #finish(): Promise<void> {
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      const ledger = this.#sim.ledger.state();
      this.#people.act(ledger, { decides: 1, takesAlerts: 0 });
      await settleDoubts(this.#home.database, ledger, (operation, payload) => this.#call(operation, payload));
      await this.#pass(5_000);
      const { effects } = await this.#call("effect.list", { all: false });
      const { runs } = await this.#call("run.list", { limit: 256, before: null });
      if (effects.length === 0 && runs.every(({ finishedAt }) => finishedAt !== null)) return;
    }
    this.#problems.push({ rule: "noEnd", detail: `not everything ended within ${LAST_ROUNDS} rounds` });
  }

  async #judge(listing: Awaited<ReturnType<typeof listingOf>>, keep: string | null): Promise<ChaosReport> {
    const leaks = await leakSearch(this.#home, this.#sim.token);
    this.#client?.close();
    await this.#server.stop();
    const ledger = this.#sim.ledger.state();
    if (keep !== null) {
      cpSync(this.#home.dir, keep, { recursive: true, filter: (path) => !path.endsWith(".sock") });
      writeFileSync(join(keep, "ledger.json"), JSON.stringify(ledger));
    }
    const messages = Buffer.from(JSON.stringify(ledger.chats) + JSON.stringify(ledger.toasts));
    const inMessages = tokenForms(this.#sim.token).filter(({ bytes }) => messages.includes(bytes));
    const facts = readFacts(this.#home.database);
    const store = openStore({ path: this.#home.database, clock: Date });
    const { events, problems } = await store.verify();
    store.close();
    return {
      seed: this.#seed,
      decisions: facts.decisions.length,
      alerts: facts.alerts.length,
      kills: this.#kills,
      faults: this.#hits(),
      conflicts: this.#conflicts(),
      turns: this.#turns,
      listed: listing.effects.length,
      violations: [
        ...this.#problems,
        ...violationsOf({
          expected: expectedOf(this.#amount),
          facts,
          ledger,
          listing,
          leaks: [
            ...leaks.map(({ form, where }) => `${where} (${form})`),
            ...inMessages.map(({ form }) => `a message (${form})`),
          ],
          verified: events === 0 ? ["there are no events at all"] : problems,
        }),
      ],
    };
  }

  #hits(): number {
    return this.#ousted + hitsOf(this.#sim.faults.list());
  }

  #conflicts(): number {
    return this.#ousted + hitsOf(this.#sim.faults.list().filter(({ spec }) => spec.kind === "conflict"));
  }

  /** One operation, repeated with the same key over the death of the server, as a client that heard no answer does. */
  async #call<K extends OperationName>(operation: K, payload: OperationPayload<K>): Promise<OperationResult<K>> {
    const idempotencyKey = `call-${++this.#calls}`;
    for (const until = Date.now() + HANG_MS; ; await sleep(LOOK_MS)) {
      try {
        this.#client ??= await connect({ home: this.#home.dir, clientId: "chaos" });
        return await this.#client.call(operation, payload, { idempotencyKey });
      } catch (error) {
        if (!isHoldpointError(error) || error.kind !== "serverUnavailable" || Date.now() > until) throw error;
      }
    }
  }
}

function envOf(clock: TestClock): NodeJS.ProcessEnv {
  return { ...clock.env(), HOLDPOINT_TEST_SETTINGS: SETTINGS };
}

function hitsOf(faults: readonly { readonly hits: number }[]): number {
  return faults.reduce((sum, { hits }) => sum + hits, 0);
}

function memberOf(run: number): Member {
  return MEMBERS_OF_ALL[(run - 1) % MEMBERS_OF_ALL.length] as Member;
}

/** What an amount of work comes to. */
export function expectedOf({ alerts, questions, runs }: Amount): Expected {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
  const told = (letter: string, count: number): Expected["alerts"] =>
    numbers(runs).flatMap((run) =>
      numbers(count).map((n) => ({ name: `${letter}${run}-${n}`, chats: memberOf(run).chats })),
    );
  return { runs, decisions: told("Q", questions), alerts: told("A", questions * alerts) };
}
