/** One service for the tests of a file: stand-in, home, server, client, and the phones of Ann and Bea. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";

import type { SimOptions } from "../../adapters/telegram/sim/types.ts";
import { requestsOf } from "../../adapters/telegram/sim/view.ts";
import type { HoldpointClient, RunView } from "../../src/client/index.ts";
import type { ChannelStatus, EffectDetail } from "../../src/contracts/protocol/operations.ts";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import {
  HANG_MS,
  client,
  leakSearch,
  makeHome,
  runCli,
  startRun,
  startServer,
  startStandIn,
  testClock,
  waitForRun,
  type CliResult,
  type HomeOptions,
  type Leak,
  type Phone,
  type Scope,
  type ServerProcess,
  type StandIn,
  type TestClock,
  type TestHome,
} from "../harness/index.ts";

export interface StageOptions {
  readonly standIn?: SimOptions;
  readonly home?: HomeOptions;
  /** Profiles beside `default`. */
  readonly profiles?: HomeOptions["profiles"];
  /** Starts the server with the controlled clock. */
  readonly clock?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

/** A question on its way: the run, and the card as Ann's phone shows it. */
export interface Asked {
  readonly run: string;
  readonly title: string;
  /** Gets a line for each execution of the action. */
  readonly file: string;
  readonly card: number;
}

let numbers = 0;

export class Stage {
  readonly scope: Scope;
  readonly standIn: StandIn;
  readonly home: TestHome;
  readonly clock: TestClock | undefined;
  readonly ann: Phone;
  readonly bea: Phone;
  server: ServerProcess;
  client: HoldpointClient;

  private constructor(
    scope: Scope,
    parts: {
      standIn: StandIn;
      home: TestHome;
      clock: TestClock | undefined;
      server: ServerProcess;
      client: HoldpointClient;
    },
  ) {
    this.scope = scope;
    this.standIn = parts.standIn;
    this.home = parts.home;
    this.clock = parts.clock;
    this.server = parts.server;
    this.client = parts.client;
    this.ann = parts.standIn.phone(1_001);
    this.bea = parts.standIn.phone(1_002);
  }

  static async open(scope: Scope, options: StageOptions = {}): Promise<Stage> {
    // A token of its own: a leak search over all processes must not meet the token of another test.
    const token = `${77_000_000 + process.pid}:${randomBytes(24).toString("base64url")}`;
    // The real server's pauses for a hasty poller are tested with the stand-in; here they would only cost time.
    const pollRules = { conflictDelayMs: 100, sameOffsetHoldMs: 100, sameOffsetLimitMs: 100 };
    const standIn = await startStandIn(scope, { token, pollRules, ...options.standIn });
    const home = makeHome(scope, {
      profiles: { default: standIn.profile(), ...options.profiles },
      ...options.home,
    });
    const clock = options.clock === true ? testClock(home) : undefined;
    const server = await startServer(scope, home, { env: { ...clock?.env(), ...options.env } });
    return new Stage(scope, { standIn, home, clock, server, client: await client(scope, home) });
  }

  /** A text that no other test on this service uses. */
  unique(text: string): string {
    numbers += 1;
    return `${text} ${numbers}`;
  }

  /** A path in the home that does not exist yet. */
  file(): string {
    return join(this.home.dir, `${this.unique("out").replace(" ", "-")}.txt`);
  }

  /** Starts a workflow of test/fixtures/workflows. Returns the run's id. */
  async start(workflow: string, input: JsonValue = {}): Promise<string> {
    return (await startRun(this.client, `test/fixtures/workflows/${workflow}.workflow.ts`, input)).runId;
  }

  /** Starts a question and waits until Ann's phone shows it. */
  async ask(what: string, input: Record<string, JsonValue> = {}, workflow = "ask"): Promise<Asked> {
    const title = this.unique(what);
    const file = this.file();
    const run = await this.start(workflow, { title, file, ...input });
    const { id } = await this.ann.waitForCard(title);
    return { run, title, file, card: id };
  }

  view(run: string): Promise<RunView> {
    return this.client.call("run.get", { run });
  }

  waitForRun(run: string, predicate: (view: RunView) => boolean, what: string): Promise<RunView> {
    return waitForRun(this.client, run, predicate, what);
  }

  /** The last view of a run that has ended. */
  finished(run: string): Promise<RunView> {
    return this.waitForRun(run, (view) => view.run.finishedAt !== null, "its end");
  }

  /** The first view in which every message of the run's decisions has come to its end. */
  quiet(run: string): Promise<RunView> {
    return this.waitForRun(
      run,
      ({ effects }) => effects.every(({ status }) => status !== "pending" && status !== "applying"),
      "the end of its messages",
    );
  }

  /** A message of Ann's chat (or another) as it looks now. */
  async message(id: number, chat = 1_001): Promise<string> {
    const state = await this.standIn.control.state();
    const found = state.chats.find((known) => known.id === chat)?.messages.find((message) => message.id === id);
    if (found === undefined) throw new Error(`there is no message ${id} in chat ${chat}`);
    return found.text;
  }

  /** Waits until a message shows a text. */
  waitForText(id: number, text: string, chat = 1_001): Promise<string> {
    return this.standIn.waitFor((state) => {
      const messages = state.chats.find((known) => known.id === chat)?.messages;
      const found = messages?.find((message) => message.id === id && message.text.includes(text));
      return found?.text;
    }, `"${text}" in message ${id} of chat ${chat}`);
  }

  /** How many times a message with this text was asked for, whatever became of the request. */
  async sends(text: string): Promise<number> {
    const requests = requestsOf(await this.standIn.control.state(), "sendMessage");
    return requests.filter(({ params }) => params["text"]?.includes(text)).length;
  }

  /** Copies of a message that people can see in a chat. */
  async copies(text: string, phone: Phone = this.ann): Promise<number> {
    return (await phone.messages()).filter((message) => message.text.includes(text)).length;
  }

  /** Everything that was queued before this in Ann's chat has gone out when this resolves: a later question is there. */
  async barrier(): Promise<void> {
    const asked = await this.ask("After everything else");
    await this.client.call("run.cancel", { run: asked.run, reason: null });
    await this.ann.waitForSettled(asked.card);
  }

  /** SIGKILL, nothing else; the next server has to find everything on the disk. */
  async killAndRestart(env: NodeJS.ProcessEnv = {}): Promise<void> {
    await this.server.kill("SIGKILL");
    await this.restart(env);
  }

  /** Starts the next server; the one before must be gone. */
  async restart(env: NodeJS.ProcessEnv = {}): Promise<void> {
    this.server = await this.server.restart({ env: { ...this.clock?.env(), ...env } });
  }

  /** Rows of the database, read beside the server. */
  rows<R>(sql: string, ...values: unknown[]): R[] {
    const database = new Database(this.home.database, { readonly: true });
    try {
      return database.prepare(sql).all(...values) as R[];
    } finally {
      database.close();
    }
  }

  /** The stored verdict on an update. */
  verdict(updateId: number | null): Promise<string> {
    return until(
      () =>
        this.rows<{ verdict: string }>("SELECT verdict FROM channel_inbox WHERE update_id = ?", updateId)[0]?.verdict,
      `a verdict on update ${updateId}`,
    );
  }

  /** What was submitted for the decisions of a run, in order: who, what, and what it came to. */
  submissions(run: string): { actor: string | null; choice: string | null; outcome: string; reason: string | null }[] {
    return this.rows(
      `SELECT s.actor_id AS actor, s.choice, s.outcome, s.reason FROM human_decision_submissions s
       JOIN human_decisions d USING (decision_no) JOIN runs r USING (run_no) WHERE r.run_id = ? ORDER BY submission_no`,
      run,
    );
  }

  /** The card's effect with its attempts and parts, in the state that the test waits for. */
  async delivery(run: string, status: EffectDetail["status"]): Promise<EffectDetail> {
    const view = await this.waitForRun(
      run,
      ({ effects }) => effects.some((effect) => effect.purpose === "delivery" && effect.status === status),
      `a delivery that is ${status}`,
    );
    const effect = view.effects.find(({ purpose }) => purpose === "delivery")?.effectId ?? "";
    return this.client.call("effect.show", { effect });
  }

  /** The status of the channel when it is as the test waits for. */
  channelWhen(predicate: (status: ChannelStatus) => boolean, what: string): Promise<ChannelStatus> {
    return until(async () => {
      const { channels } = await this.client.call("channel.status", {});
      return channels.find((status) => status.channel === "telegram:default" && predicate(status));
    }, what);
  }

  /** Moves the controlled clock on, a little at a time, until something is there. */
  advanceUntil<T>(look: () => Promise<T | undefined | false>, what: string, stepMs = 1_000): Promise<T> {
    return until(async () => {
      const found = await look();
      if (found === undefined || found === false) await this.clock?.advance(stepMs);
      return found;
    }, what);
  }

  cli(args: readonly string[], options: { cwd?: string; stdin?: string } = {}): Promise<CliResult> {
    return runCli(this.scope, ["--home", this.home.dir, ...args], options);
  }

  leaks(): Promise<Leak[]> {
    return leakSearch(this.home, this.standIn.token, this.client);
  }
}

/** The lines of a file; none when it does not exist. */
export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Asks again and again for something that announces itself nowhere, up to the hang limit. */
export async function until<T>(
  look: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  what: string,
): Promise<T> {
  const deadline = performance.now() + HANG_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${HANG_MS / 1_000} s`);
    await pause(20);
  }
}

/** Whether a process is alive; a zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
