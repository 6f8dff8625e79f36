/**
 * The long run of `npm run test:pi -- --full`: many runs over five sessions of real Pi, while Pi, the server and the adapter are killed at random.
 * Afterwards every message of ours must be once on its session, every step and decision answered once, and no Pi may have ended by itself.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { obliging } from "./cases/sessions.ts";
import type { MockServer } from "./mock-model.ts";
import type { Entry, PiRpc } from "./sessions/pi-rpc.ts";
import { inWorld, type World } from "./sessions/world.ts";
import { Stage } from "./stage.ts";

export interface SoakResult {
  readonly runs: number;
  readonly kills: number;
  readonly violations: readonly string[];
}

/** Sessions at once. */
const SESSIONS = 5;
/** A run that takes longer is stuck: what is killed comes back within seconds. */
const STUCK_MS = 180_000;
/** Between two kills. */
const KILL_MS = { least: 500, most: 2_500 };
const LOOK_MS = 100;
/** What each run says in its session, once. */
const ONCE_A_RUN: readonly string[] = ["notification", "decision", "terminal"];

export async function soak(
  command: readonly string[],
  server: MockServer,
  { say, seed, total }: { readonly total: number; readonly seed: number; readonly say: (line: string) => void },
): Promise<SoakResult> {
  const stage = new Stage("soak", command, server, obliging);
  const violations: string[] = [];
  let kills = 0;
  let runs = 0;
  try {
    await inWorld(stage, { pi: { rpcAnswers: true } }, async (world) => {
      const random = generator(seed);
      const sessions = Array.from({ length: SESSIONS }, (_, index) => new SoakSession(world, `soak-${index}`));
      world.scope.add(() => world.client.call("server.stop", {}).catch(() => undefined));
      const over = new AbortController();
      const killing = (async () => {
        while (!over.signal.aborted) {
          await sleep(KILL_MS.least + random() * (KILL_MS.most - KILL_MS.least));
          if (over.signal.aborted) return;
          kills += 1;
          const which = random();
          const session = sessions[Math.floor(random() * SESSIONS)] as SoakSession;
          if (which < 0.4) await session.killPi();
          else if (which < 0.7) killPid(await adapterPid(world));
          else killPid(serverPid(world));
        }
      })();
      const lane = async (session: SoakSession, count: number): Promise<void> => {
        for (let n = 0; n < count; n += 1) {
          try {
            await session.run();
            runs += 1;
            say(`soak: ${runs} of ${total} runs, ${kills} kills`);
          } catch (error) {
            violations.push(`${session.id}: ${error instanceof Error ? error.message : String(error)}`);
            // Its session has that run until it ends.
            return;
          }
        }
      };
      await Promise.all(
        sessions.map((session, index) => lane(session, Math.floor((total + SESSIONS - 1 - index) / SESSIONS))),
      );
      over.abort();
      await killing;
      for (const session of sessions) violations.push(...(await session.check()));
    });
  } catch (error) {
    violations.push(`the soak itself: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    stage.close();
  }
  return { runs, kills, violations };
}

class SoakSession {
  readonly id: string;
  readonly #world: World;
  readonly #runs: string[] = [];
  readonly #violations: string[] = [];
  #pi: PiRpc;

  constructor(world: World, id: string) {
    this.#world = world;
    this.id = id;
    this.#pi = world.pi({ sessionId: id });
  }

  /** Another Pi opens the session at once. */
  async killPi(): Promise<void> {
    if (!this.#pi.alive) this.#violations.push(`${this.id}: Pi ended by itself`);
    const { pid } = this.#pi;
    await this.#pi.kill();
    this.#pi = this.#world.pi({ sessionId: this.id });
    if (pid === this.#pi.pid) throw new Error("the same Pi");
  }

  /** One run from its start to its end, whatever is killed meanwhile. */
  async run(): Promise<void> {
    const { client, stage } = this.#world;
    const key = `${this.id}-${this.#runs.length}`;
    const payload = {
      workflow: "deploy",
      workflowPath: stage.path(".pi/workflows/deploy.workflow.ts"),
      projectPath: stage.cwd,
      input: {},
      origin: { session: this.id, turn: null, mode: "interactive" },
    } as const;
    const until = Date.now() + STUCK_MS;
    const { runId } = await this.#again(until, `the start of ${key}`, () =>
      client.call("run.start", payload, { idempotencyKey: key }),
    );
    this.#runs.push(runId);
    let answeredAt = 0;
    await this.#again(until, `the end of run ${runId}`, async () => {
      const { decisions, run } = await client.call("run.get", { run: runId });
      if (run.finishedAt !== null) {
        if (run.status !== "completed") this.#violations.push(`${this.id}: run ${runId} is ${run.status}`);
        if (decisions.length !== 1) this.#violations.push(`${this.id}: run ${runId} asked ${decisions.length} times`);
        return true;
      }
      const [pending] = decisions.filter(({ status }) => status === "pending");
      // As a person does: an answer follows the card.
      const shown = pending !== undefined && (await this.#pi.ours("decision")).length >= this.#runs.length;
      if (shown && Date.now() - answeredAt > 1_500) {
        answeredAt = Date.now();
        void this.#pi.prompt(`/workflow answer ${pending.fingerprint} approve`).catch(() => undefined);
      }
      return undefined;
    });
  }

  /** What is true in the end: called when nothing is killed any more. */
  async check(): Promise<string[]> {
    const until = Date.now() + STUCK_MS;
    const found = [...this.#violations];
    try {
      // The last message to arrive need not be the last that was written: each kind is waited for.
      await this.#again(until, "its last messages", async () => {
        const missing = this.#runs.length * ONCE_A_RUN.length - (await this.#counted()).length;
        return missing <= 0 ? true : undefined;
      });
    } catch (error) {
      found.push(`${this.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const all = await this.#details();
    const ids = all.map(({ messageId }) => messageId);
    for (const id of new Set(ids))
      if (ids.filter((one) => one === id).length > 1) found.push(`${this.id}: message ${id} is there twice`);
    for (const kind of ONCE_A_RUN) {
      const count = all.filter(({ message }) => message?.kind === kind).length;
      if (count !== this.#runs.length) found.push(`${this.id}: ${count} of ${this.#runs.length} messages "${kind}"`);
    }
    if (found.length > 0) found.push(...(await this.#stored(new Set(ids))));
    if (!this.#pi.alive) found.push(`${this.id}: Pi ended by itself`);
    return found;
  }

  async #details(): Promise<NonNullable<Entry["details"]>[]> {
    return (await this.#pi.ours()).flatMap(({ data, details }) => details ?? data ?? []);
  }

  async #counted(): Promise<NonNullable<Entry["details"]>[]> {
    return (await this.#details()).filter(({ message }) => ONCE_A_RUN.includes(message?.kind ?? ""));
  }

  /** What the store says of messages that are not in the session, and of those that it does not count as sent. */
  async #stored(there: ReadonlySet<string | undefined>): Promise<string[]> {
    const { client } = this.#world;
    const said: string[] = [];
    for (const run of this.#runs) {
      const { effects } = await client.call("run.get", { run });
      for (const effect of effects) {
        const { attempts, destination, effectId, error, nextAttemptAt, status, type } = effect;
        const fine = there.has(effectId) ? status === "applied" : status === "cancelled";
        if (destination !== `pi/${this.id}` || effect.purpose === "settlement" || fine) continue;
        const when = nextAttemptAt === null ? "" : `, next in ${nextAttemptAt - Date.now()} ms`;
        const place = there.has(effectId) ? "there" : "missing";
        said.push(
          `${this.id}: ${place}: ${type} ${effectId} of ${run} is ${status} after ${attempts} attempts${when}: ${error?.message ?? "no error"}`,
        );
        const { attemptList, parts } = await client.call("effect.show", { effect: effectId });
        said.push(`${this.id}:   ${JSON.stringify({ attemptList: attemptList.slice(-4), parts }).slice(0, 2_000)}`);
      }
    }
    return said;
  }

  async #again<T>(until: number, what: string, work: () => Promise<T | undefined>): Promise<T> {
    let last = "";
    for (;;) {
      const value = await work().catch((error: unknown) => {
        last = String(error);
        return undefined;
      });
      if (value !== undefined) return value;
      if (Date.now() > until)
        throw new Error(`${what} did not come. ${last} Widget: ${JSON.stringify(this.#pi.widget)}`);
      await sleep(LOOK_MS);
    }
  }
}

async function adapterPid({ client }: World): Promise<number> {
  const status = await client.call("channel.status", {}).catch(() => null);
  return status?.channels.find(({ channel }) => channel === "pi")?.pid ?? 0;
}

/** Of the server that runs now, whoever started it in this home. */
function serverPid({ home }: World): number {
  try {
    return (JSON.parse(readFileSync(join(home.dir, "server.json"), "utf8")) as { pid?: number }).pid ?? 0;
  } catch {
    return 0;
  }
}

function killPid(pid: number): void {
  if (pid <= 0) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

/** Numbers in [0, 1) that are the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
