/**
 * One service for one pair of ways to answer: many rooms (chats with Ann and Bea), in each of which a question can be open, and the
 * rows that tell what became of it. The stand-in runs in this process, so that looking at it costs nothing.
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import Database from "better-sqlite3";

import { botMessages, startSim, type LedgerMessage, type Sim } from "../../../adapters/telegram/sim/index.ts";
import type { HoldpointClient } from "../../../src/client/index.ts";
import {
  client,
  HANG_MS,
  makeHome,
  ROOT,
  startServer,
  testClock,
  type Scope,
  type TestClock,
  type TestHome,
} from "../../harness/index.ts";
import { linesOf, until } from "../stage.ts";

export const ANN = 1_001;
export const BEA = 1_002;
export const ROOMS = 10;

/** A question that is open in a room. */
export interface Question {
  readonly run: string;
  readonly title: string;
  readonly chat: number;
  /** Its card as the people in the room see it. */
  readonly card: number;
  /** What each button of the card sends, by its label: a phone may still show a button that is gone. */
  readonly buttons: ReadonlyMap<string, string>;
  /** Of the run, while it waits for the answer. */
  readonly revision: number;
}

/** What the database says about the first decision of a run. */
export interface Outcome {
  readonly decision: string;
  readonly resolutions: number;
  readonly choice: string | null;
  readonly provenance: string | null;
  readonly continuations: number;
  /** Outcomes of everything that was submitted, in order. */
  readonly submissions: readonly string[];
  /** What was done about it, by the file of the action. */
  readonly lines: readonly string[];
  readonly runStatus: string;
  /** Status of the decision after it, null when none was asked. */
  readonly next: string | null;
}

export class Arena {
  readonly sim: Sim;
  readonly home: TestHome;
  readonly clock: TestClock;
  readonly client: HoldpointClient;
  readonly file: string;
  readonly #db: Database.Database;

  private constructor(sim: Sim, home: TestHome, clock: TestClock, own: HoldpointClient, db: Database.Database) {
    this.sim = sim;
    this.home = home;
    this.clock = clock;
    this.client = own;
    this.file = `${home.dir}/lines.txt`;
    this.#db = db;
  }

  static async open(scope: Scope): Promise<Arena> {
    const chats = Array.from({ length: ROOMS }, (_, index) => -1_000_100 - index);
    const sim = await startSim({
      token: `${79_000_000 + process.pid}:${randomBytes(24).toString("base64url")}`,
      users: [
        { id: ANN, firstName: "Ann" },
        { id: BEA, firstName: "Bea" },
      ],
      chats: chats.map((id) => ({ id, type: "supergroup", title: `Room ${id}` })),
      pollRules: { conflictDelayMs: 100, sameOffsetHoldMs: 0, sameOffsetLimitMs: 0 },
    });
    scope.add(() => sim.close());
    const home = makeHome(scope, {
      profiles: { default: { url: sim.url, token: sim.token } },
      audiences: Object.fromEntries(chats.map((id, index) => [`room${index}`, [`telegram:default/${id}`]])),
    });
    const clock = testClock(home);
    await startServer(scope, home, { env: clock.env() });
    const db = new Database(home.database, { readonly: true });
    scope.add(() => void db.close());
    return new Arena(sim, home, clock, await client(scope, home), db);
  }

  /** Asks in every room at once; resolves when the people there see the cards. `titles` has one for each room. */
  async ask(titles: readonly string[]): Promise<Question[]> {
    const workflowPath = resolve(ROOT, "test/fixtures/workflows/doubles.workflow.ts");
    return Promise.all(
      titles.map(async (title, room): Promise<Question> => {
        const input = { title, room: String(room), file: this.file };
        const started = { workflow: "doubles", workflowPath, projectPath: this.home.dir, input };
        const { runId: run } = await this.client.call("run.start", started);
        const chat = -1_000_100 - room;
        const { buttons: rows, id: card } = await this.see(chat, `the card of ${title}`, ({ text }) =>
          text.includes(title),
        );
        const [resource] = this.rows<{ revision: number }>(
          "SELECT revision FROM runs JOIN resources USING (resource_no) WHERE run_id = ?",
          run,
        );
        const buttons = new Map(rows.flat().map(({ data = "", text }) => [text, data]));
        return { run, title, chat, card, buttons, revision: resource?.revision ?? 0 };
      }),
    );
  }

  /** The newest message of the bot in a room that fits. */
  see(chat: number, what: string, fits: (message: LedgerMessage) => boolean): Promise<LedgerMessage> {
    return this.sim.ledger.waitFor((state) => botMessages(state, chat).findLast(fits), { timeoutMs: HANG_MS, what });
  }

  /** Lets every message that the bot sends from now on appear at once and be confirmed only after `release`. */
  hold(): { release: () => void } {
    const fault = this.sim.faults.add({ kind: "slow", what: "answer", method: "sendMessage", times: "always" });
    return { release: () => this.sim.faults.remove(fault) };
  }

  /** Waits until every message and edit has been sent and the service knows it. */
  confirmed(): Promise<unknown> {
    return until(
      () =>
        this.rows("SELECT 1 FROM effects WHERE status IN ('pending', 'applying') AND channel_id IS NOT NULL LIMIT 1")
          .length === 0,
      "the end of all sending",
    );
  }

  /** How many messages were sent whose arrival the service does not know of. */
  unconfirmed(): number {
    return this.rows("SELECT 1 FROM effect_parts WHERE state = 'dispatching'").length;
  }

  /** Waits until the service has been handed an update, whatever it does with it. */
  async handedOut(updateId: number): Promise<void> {
    await this.sim.ledger.waitFor(
      ({ requests }) => requests.findLast(({ updateIds }) => updateIds?.includes(updateId)) !== undefined,
      { timeoutMs: HANG_MS, what: `update ${updateId} on its way` },
    );
  }

  /** Waits until every update of these ids has a verdict. */
  async heard(updateIds: readonly number[]): Promise<void> {
    const known = this.#db.prepare("SELECT 1 FROM channel_inbox WHERE update_id = ?");
    await until(() => updateIds.every((id) => known.get(id) !== undefined), "a verdict on every update");
  }

  /** Copies of a question's card in its room. */
  async cards({ chat, title }: Question): Promise<number> {
    const isCard = (message: LedgerMessage): boolean => {
      const { buttons, text } = message.versions[0] ?? message;
      return buttons.length > 0 && text.includes(title) && !text.includes(`After ${title}`);
    };
    return this.sim.ledger
      .waitFor((state) => ({ n: botMessages(state, chat).filter(isCard).length }))
      .then(({ n }) => n);
  }

  outcome({ run, title }: Question): Outcome {
    const decisions = this.rows<{ no: number; id: string; status: string }>(
      "SELECT decision_no AS no, decision_id AS id, d.status FROM human_decisions d JOIN runs USING (run_no) WHERE run_id = ? ORDER BY decision_no",
      run,
    );
    const [first, next] = decisions;
    if (first === undefined || decisions.length > 2) throw new Error(`${title} has ${decisions.length} decisions`);
    const resolutions = this.rows<{ choice: string | null; provenance: string }>(
      "SELECT choice, provenance FROM human_decision_resolutions WHERE decision_no = ?",
      first.no,
    );
    return {
      decision: first.status,
      resolutions: resolutions.length,
      choice: resolutions[0]?.choice ?? null,
      provenance: resolutions[0]?.provenance ?? null,
      continuations: this.rows("SELECT 1 FROM run_continuations WHERE cause_id = ?", first.id).length,
      submissions: this.rows<{ outcome: string }>(
        "SELECT outcome FROM human_decision_submissions WHERE decision_no = ? ORDER BY submission_no",
        first.no,
      ).map(({ outcome }) => outcome),
      lines: linesOf(this.file).filter((line) => line.startsWith(`${title}:`)),
      runStatus: this.rows<{ status: string }>("SELECT status FROM runs WHERE run_id = ?", run)[0]?.status ?? "none",
      next: next?.status ?? null,
    };
  }

  rows<R>(sql: string, ...values: unknown[]): R[] {
    return this.#db.prepare(sql).all(...values) as R[];
  }
}
