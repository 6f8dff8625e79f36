/**
 * A small world around one store: a workflow that asks, people, chats, and an adapter that does what a test tells it. Everything goes through
 * the store's commands, as the server calls them.
 */
import Database from "better-sqlite3";
import type { Config } from "../../../src/contracts/config.ts";
import { buttonKey, type OperatorAction } from "../../../src/contracts/decision/operator-codes.ts";
import type { DefinitionSnapshot } from "../../../src/contracts/definition.ts";
import type { Inbound, MessageContent, Perform, Trait } from "../../../src/contracts/protocol/channel.ts";
import { performSchema } from "../../../src/contracts/protocol/channel.ts";
import type { Access, AnswerSource } from "../../../src/state/decisions/access.ts";
import type { AnswerInput } from "../../../src/state/decisions/answer.ts";
import type { Launch } from "../../../src/state/runs/claim.ts";
import type { Store, StoreOptions } from "../../../src/state/store.ts";
import { becomeReady, claimNext, openTemp, startRun, takeEpoch, type TestClock } from "../fixture.ts";

/** ask → act (approve) | ask again (replan) | end (stop). */
export const DEPLOY: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "deploy",
  startAt: "ask",
  maxSteps: 20,
  nodes: {
    ask: { type: "humanDecision", timeoutMs: null, choices: ["approve", "replan", "stop"] },
    act: { type: "action", timeoutMs: null, effect: { recovery: "manual", type: "deploy" } },
    end: { type: "compute", timeoutMs: null },
  },
  edges: [{ from: "ask", switch: { on: "$.choice", cases: { approve: "act", replan: "ask", stop: "end" } } }],
};

export const ANN = "101";
export const BEA = "102";
/** On the profile's list, but a configured person of no audience. */
export const GUEST = "103";
export const STRANGER = "999";
export const OPS = "-1001";
export const LOBBY = "-1002";
/** A chat that no list names. */
export const ELSEWHERE = "-6666";
export const MAIN = "telegram:main";

const PROFILE = {
  tokenFile: "/t",
  allowedUserIds: [ANN, BEA, GUEST],
  allowedChatIds: [OPS, LOBBY],
  apiRoot: "http://127.0.0.1:1",
};

export const ACCESS: Access = {
  people: { ann: { name: "Ann", telegram: [ANN] }, bea: { name: "Bea", telegram: [BEA] } },
  audiences: {
    ops: {
      destinations: [`${MAIN}/${OPS}`, "terminal"],
      people: ["ann", "bea"],
      policy: { quorum: 1 },
      assurance: "any",
    },
    both: { destinations: [`${MAIN}/${OPS}`, `${MAIN}/${LOBBY}/7`], policy: { quorum: 1 }, assurance: "any" },
    remote: { destinations: [`${MAIN}/${OPS}`], policy: { quorum: 1 }, assurance: "remote" },
  } satisfies Config["audiences"],
  profiles: { main: PROFILE },
  timeZone: "Europe/Berlin",
  outage: null,
};

export const CHOICES = {
  approve: { label: "Approve", style: "success" },
  replan: {
    label: "Replan",
    input: { name: "instructions", prompt: "What should change?", minLength: 3, maxLength: 20 },
  },
  stop: { label: "Stop", style: "danger" },
} as const;

/** An authored request; `change` overrides fields. */
export function authored(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    audience: "ops",
    title: "Approve the deployment",
    subject: { version: "4.12.0" },
    presentation: {
      schema: "holdpoint.decision-presentation.v1",
      summary: "shop-api 4.12.0 to production",
      blocks: [],
    },
    choices: CHOICES,
    ...change,
  };
}

export interface Asked {
  readonly launch: Launch;
  readonly runId: string;
  readonly runNo: number;
  readonly decisionId: string;
  readonly fingerprint: string;
  readonly requestDigest: string;
  readonly deadlineAt: number | null;
}

/** A message that the channel accepted: what was sent, and the reference of each part. */
export interface Posted {
  readonly perform: Perform;
  readonly references: string[];
}

export interface TapOptions {
  readonly user?: string;
  readonly place?: string;
  readonly reference?: string | null;
  readonly updateId?: number;
  readonly digest?: string;
  readonly traits?: Trait[];
  readonly access?: Access;
}

export class World {
  readonly store: Store;
  readonly clock: TestClock;
  readonly path: string;
  epoch = 0;
  adapterEpoch = "adapter-1";
  access = ACCESS;
  #update = 1_000;
  #message = 500;

  constructor(options: Partial<StoreOptions> & { clock?: TestClock } = {}) {
    const { clock, path, store } = openTemp(options);
    this.store = store;
    this.clock = clock;
    this.path = path;
  }

  static async open(options: Partial<StoreOptions> & { clock?: TestClock } = {}): Promise<World> {
    const world = new World(options);
    world.epoch = await takeEpoch(world.store);
    await world.openChannel();
    return world;
  }

  async openChannel(adapterEpoch = this.adapterEpoch): Promise<{ channelEpoch: number; cursor: number | null }> {
    this.adapterEpoch = adapterEpoch;
    return this.store.channels.open({ channelId: MAIN, kind: "telegram", profile: "main", adapterEpoch });
  }

  /** A run that waits at its decision. */
  async ask(change: Record<string, unknown> = {}): Promise<Asked> {
    await startRun(this.store, DEPLOY);
    const launch = await claimNext(this.store, this.epoch);
    await becomeReady(this.store, launch, DEPLOY);
    return this.askAgain(launch, change, 0);
  }

  /** The decision of a run whose claim is at hand. */
  async askAgain(launch: Launch, change: Record<string, unknown>, step: number): Promise<Asked> {
    const { claim } = launch;
    const asked = await this.store.decisions.request({
      claim,
      step,
      nodeId: "ask",
      request: authored(change),
      access: this.access,
    });
    const { requestDigest } = this.row<{ requestDigest: string }>(asked.decisionId);
    return { launch, runId: claim.runId, runNo: claim.runNo, requestDigest, ...asked };
  }

  row<R>(decisionId: string): R {
    return this.all<R>(
      `SELECT request_digest AS requestDigest, status FROM human_decisions WHERE decision_id = '${decisionId}'`,
    )[0] as R;
  }

  /** Rows of a statement, read as a view would. */
  all<R>(sql: string): R[] {
    return peek<R>(this.path, sql);
  }

  get mine(): { channelId: string; adapterEpoch: string } {
    return { channelId: MAIN, adapterEpoch: this.adapterEpoch };
  }

  /** The next frame for the adapter, checked against the wire schema; null when nothing may go out. */
  async next(access: Access | null = this.access): Promise<Perform | null> {
    const { perform } = await this.store.effects.nextAttempt({ ...this.mine, access });
    return perform === null ? null : performSchema.parse(perform);
  }

  async mustNext(): Promise<Perform> {
    const perform = await this.next();
    if (perform === null) throw new Error("nothing may go out");
    return perform;
  }

  dispatch(perform: Perform, part = perform.fromPart, of = 1): Promise<{ go: boolean }> {
    return this.store.effects.dispatch({
      ...this.mine,
      effectId: perform.effectId,
      attempt: perform.attempt,
      part,
      of,
    });
  }

  store_(perform: Perform, part: number, of: number, reference: string): Promise<{ stored: boolean }> {
    return this.store.effects.storePart({
      ...this.mine,
      effectId: perform.effectId,
      attempt: perform.attempt,
      part,
      of,
      reference,
    });
  }

  finish(
    perform: Perform,
    outcome: "accepted" | "rejected" | "notSent" | "ambiguous",
    more: Record<string, unknown> = {},
  ): ReturnType<Store["effects"]["finishAttempt"]> {
    return this.store.effects.finishAttempt({
      ...this.mine,
      effectId: perform.effectId,
      attempt: perform.attempt,
      outcome,
      ...more,
    });
  }

  reference(place: string): string {
    this.#message += 1;
    return `${place}:${this.#message}`;
  }

  /** Sends a frame as a channel that works: every part accepted. */
  async post(perform: Perform, of = 1): Promise<Posted> {
    const references: string[] = [];
    const place = perform.destination.split("/")[1] as string;
    if (perform.op === "post" || perform.op === "document") {
      for (let part = perform.fromPart; part <= of; part += 1) {
        const { go } = await this.dispatch(perform, part, of);
        if (!go) throw new Error("no permission");
        const reference = this.reference(place);
        await this.store_(perform, part, of, reference);
        references.push(reference);
      }
    } else {
      await this.dispatch(perform, 1, 1);
    }
    await this.finish(perform, "accepted");
    return { perform, references };
  }

  async deliver(of = 1): Promise<Posted> {
    return this.post(await this.mustNext(), of);
  }

  /** Everything that may go out, sent; returns the frames. */
  async drain(): Promise<Perform[]> {
    const frames: Perform[] = [];
    for (;;) {
      const perform = await this.next();
      if (perform === null) return frames;
      await this.post(perform);
      frames.push(perform);
    }
  }

  nextUpdate(): number {
    this.#update += 1;
    return this.#update;
  }

  /** A tap on the button of a choice. */
  tap(card: Posted | Perform, choice: string, options: TapOptions = {}): ReturnType<Store["channels"]["receive"]> {
    const perform = "perform" in card ? card.perform : card;
    const token = tokensOf(perform)[choice];
    if (token === undefined) throw new Error(`no button for ${choice}`);
    const shown = "references" in card ? card.references.at(-1) : undefined;
    return this.tapToken(token, { ...(shown === undefined ? {} : { reference: shown }), ...options });
  }

  tapToken(token: string, options: TapOptions = {}): ReturnType<Store["channels"]["receive"]> {
    const { place = OPS, reference = null, updateId = this.nextUpdate(), user = ANN, traits = [] } = options;
    return this.receive(
      {
        ...this.#fields(updateId, options.digest),
        kind: "answer",
        token,
        eventId: `q${updateId}`,
        place,
        topic: null,
        reference,
        sender: { id: user, name: `User ${user}` },
        traits,
      },
      options.access,
    );
  }

  /** Typed text, as a reply when `replyTo` is given. */
  say(text: string, options: TapOptions & { replyTo?: string | null } = {}): ReturnType<Store["channels"]["receive"]> {
    const { place = OPS, updateId = this.nextUpdate(), user = ANN, replyTo = null, traits = [] } = options;
    const reference = this.reference(place);
    return this.receive(
      {
        ...this.#fields(updateId, options.digest),
        kind: "message",
        text,
        place,
        topic: null,
        reference,
        replyTo,
        sender: { id: user, name: `User ${user}` },
        traits,
        direct: false,
      },
      options.access,
    );
  }

  command(args: string, options: TapOptions & { command?: string } = {}): ReturnType<Store["channels"]["receive"]> {
    const {
      place = OPS,
      updateId = this.nextUpdate(),
      user = ANN,
      command = "workflow_channel",
      traits = [],
    } = options;
    const reference = this.reference(place);
    return this.receive(
      {
        ...this.#fields(updateId, options.digest),
        kind: "command",
        command,
        args,
        place,
        topic: null,
        reference,
        sender: { id: user, name: null },
        traits,
      },
      options.access,
    );
  }

  receive(inbound: Inbound, access: Access = this.access): ReturnType<Store["channels"]["receive"]> {
    return this.store.channels.receive({ ...this.mine, inbound, access });
  }

  #fields(
    updateId: number,
    digest: string | undefined,
  ): { type: "inbound"; updateId: number; digest: string; sentAt: null } {
    return { type: "inbound", updateId, digest: digest ?? `digest-${updateId}`, sentAt: null };
  }

  answer(
    asked: Asked,
    choice: string,
    change: Partial<AnswerInput> & { user?: Partial<AnswerSource> } = {},
  ): ReturnType<Store["decisions"]["answer"]> {
    const { user, ...rest } = change;
    const source: AnswerSource = {
      type: "channel",
      channel: MAIN,
      actorId: ANN,
      personId: null,
      eventId: "e",
      assurance: "remote",
      ...user,
    };
    return this.store.decisions.answer({
      decision: asked.decisionId,
      requestDigest: asked.requestDigest,
      choice,
      source,
      access: this.access,
      receipt: null,
      ...rest,
    });
  }

  /** Output of the decision's node in the run. */
  output(asked: Asked): unknown {
    return this.store.read.runs.nodes(asked.runNo).find(({ nodeId }) => nodeId === "ask")?.output;
  }

  count(table: string, where = "1"): number {
    return this.all<{ n: number }>(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)[0]?.n ?? -1;
  }
}

export function tokensOf(perform: Perform): Record<string, string> {
  return perform.content?.kind === "card" ? (perform.content.tokens ?? {}) : {};
}

/** The token of a button under an answer to an operator. */
export function buttonOf(perform: Perform, action: OperatorAction, item = -1): string {
  const token = replyOf(perform).tokens?.[buttonKey({ action, item })];
  if (token === undefined) throw new Error(`no button ${action} for item ${item}`);
  return token;
}

export function cardOf(perform: Perform): Extract<MessageContent, { kind: "card" }> {
  if (perform.content?.kind !== "card") throw new Error(`frame ${perform.op} carries no card`);
  return perform.content;
}

export function replyOf(perform: Perform | null): Extract<MessageContent, { kind: "reply" }> {
  if (perform?.content?.kind !== "reply") throw new Error("frame carries no reply");
  return perform.content;
}

/** Rows as another process would read them. */
export function peek<R>(path: string, sql: string): R[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare(sql).all() as R[];
  } finally {
    db.close();
  }
}
