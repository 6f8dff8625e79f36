/**
 * A session that outlives its Pi: whoever kills that, the next one opens the session again. It starts runs, answers what they ask, and tells in the end
 * whether each message of ours is there once and each question was answered once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Entry, PiRpc } from "./pi-rpc.ts";
import type { World } from "./world.ts";

const LOOK_MS = 100;
/** A person who sees nothing come of an answer answers again. */
const AGAIN_MS = 1_500;
/** What each run of a workflow says in its session, once. */
const MESSAGES = {
  deploy: ["notification", "decision", "terminal"],
  ask: ["decision", "terminal"],
  quick: ["terminal"],
} as const;

export class LastingSession {
  readonly id: string;
  readonly #world: World;
  readonly #stuckMs: number;
  readonly #runs: string[] = [];
  readonly #violations: string[] = [];
  /** Messages that must be there once for each run, by kind. */
  readonly #wanted = new Map<string, number>();
  #pi: PiRpc;

  /** What takes longer than `stuckMs` is stuck. */
  constructor(world: World, id: string, stuckMs: number) {
    this.#world = world;
    this.#stuckMs = stuckMs;
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

  /** Pi as it is now. */
  get pi(): PiRpc {
    return this.#pi;
  }

  /** Starts a workflow of the world from the session; its run, whatever is killed meanwhile. */
  async start(workflow: keyof typeof MESSAGES): Promise<string> {
    const { client, stage } = this.#world;
    const key = `${this.id}-${this.#runs.length}`;
    const payload = {
      workflow,
      workflowPath: stage.path(`.pi/workflows/${workflow}.workflow.ts`),
      projectPath: stage.cwd,
      input: {},
      origin: { session: this.id, turn: null, mode: "interactive" },
    } as const;
    const { runId } = await this.#again(Date.now() + this.#stuckMs, `the start of ${key}`, () =>
      client.call("run.start", payload, { idempotencyKey: key }),
    );
    this.#runs.push(runId);
    for (const kind of MESSAGES[workflow]) this.#wanted.set(kind, (this.#wanted.get(kind) ?? 0) + 1);
    return runId;
  }

  /** Goes on until the run has ended, whatever is killed meanwhile; a person answers what it asks. */
  async finish(runId: string): Promise<void> {
    const { client } = this.#world;
    let answeredAt = 0;
    await this.#again(Date.now() + this.#stuckMs, `the end of run ${runId}`, async () => {
      const { decisions, run } = await client.call("run.get", { run: runId });
      if (run.finishedAt !== null) {
        if (run.status !== "completed") this.#violations.push(`${this.id}: run ${runId} is ${run.status}`);
        if (decisions.length > 1) this.#violations.push(`${this.id}: run ${runId} asked ${decisions.length} times`);
        return true;
      }
      const [pending] = decisions.filter(({ status }) => status === "pending");
      // As a person does: an answer follows the card.
      const cards = this.#wanted.get("decision") ?? 0;
      const shown = pending !== undefined && (await this.#pi.ours("decision")).length >= cards;
      if (shown && Date.now() - answeredAt > AGAIN_MS) {
        answeredAt = Date.now();
        void this.#pi.prompt(`/workflow answer ${pending.fingerprint} approve`).catch(() => undefined);
      }
      return undefined;
    });
  }

  /** What is true in the end: called when nothing is killed any more. */
  async check(): Promise<string[]> {
    const until = Date.now() + this.#stuckMs;
    const found = [...this.#violations];
    try {
      // The last message to arrive need not be the last that was written: each kind is waited for.
      await this.#again(until, "its last messages", async () => {
        const kinds = (await this.#details()).map(({ message }) => message?.kind ?? "");
        const there = [...this.#wanted].every(([kind, count]) => kinds.filter((one) => one === kind).length >= count);
        return there ? true : undefined;
      });
    } catch (error) {
      found.push(`${this.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const all = await this.#details();
    const ids = all.map(({ messageId }) => messageId);
    for (const id of new Set(ids))
      if (ids.filter((one) => one === id).length > 1) found.push(`${this.id}: message ${id} is there twice`);
    for (const [kind, wanted] of this.#wanted) {
      const count = all.filter(({ message }) => message?.kind === kind).length;
      if (count !== wanted) found.push(`${this.id}: ${count} of ${wanted} messages "${kind}"`);
    }
    if (found.length > 0) found.push(...(await this.#stored(new Set(ids))));
    if (!this.#pi.alive) found.push(`${this.id}: Pi ended by itself`);
    return found;
  }

  async #details(): Promise<NonNullable<Entry["details"]>[]> {
    return (await this.#pi.ours()).flatMap(({ data, details }) => details ?? data ?? []);
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
