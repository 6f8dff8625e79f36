/**
 * Performs attempts exactly as told: for each part the mark `dispatching`, the server's permit, one call, the receipt.
 * Attempts of one place run one after another in the order they came; places do not wait for each other.
 * Nothing is repeated here.
 */
import { HoldpointError, toErrorRecord, type ErrorRecord } from "../../src/contracts/errors.ts";
import type { FromAdapter, Perform, ToAdapter } from "../../src/contracts/protocol/channel.ts";
import type { SendResult, Transport } from "./transport.ts";

type Reply = Extract<ToAdapter, { type: "permit" | "partStored" | "outcomeStored" }>;
type Permit = Extract<Reply, { type: "permit" }>;

/** What the attempts need of their surroundings. */
export interface AttemptPorts {
  send(frame: FromAdapter): void;
  /** The connected transport, or why there is none. */
  transport(): Transport | ErrorRecord;
}

export class Attempts {
  readonly #ports: AttemptPorts;
  /** Place → end of the last attempt handed out for it. */
  readonly #places = new Map<string, Promise<void>>();
  /** Attempts that began or wait for their turn. */
  readonly #active = new Map<string, Promise<void>>();
  /** Replies that an attempt waits for. */
  readonly #waiting = new Map<string, (reply: Reply) => void>();
  #stopped = false;

  constructor(ports: AttemptPorts) {
    this.#ports = ports;
  }

  /** Takes an attempt. Throws `protocolRejected` when the same attempt is under way. */
  perform(perform: Perform): void {
    const id = attemptId(perform);
    if (this.#active.has(id)) throw new HoldpointError("protocolRejected", `Attempt ${id} is already under way.`);
    const place = placeOf(perform.destination);
    const before = this.#places.get(place) ?? Promise.resolve();
    const done = before
      .then(() => this.#run(perform))
      .finally(() => {
        this.#active.delete(id);
        if (this.#places.get(place) === done) this.#places.delete(place);
      });
    this.#places.set(place, done);
    this.#active.set(id, done);
  }

  /** Takes the server's word on an attempt. Throws `protocolRejected` when nothing waits for it. */
  reply(reply: Reply): void {
    const key = replyKey(reply);
    const waiter = this.#waiting.get(key);
    if (!waiter) throw new HoldpointError("protocolRejected", `Nothing waits for ${key}.`);
    this.#waiting.delete(key);
    waiter(reply);
  }

  /** Begins nothing new; what waits for its turn ends as not sent. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Resolves when the attempts of this moment are over. */
  async idle(): Promise<void> {
    await Promise.all(this.#active.values());
  }

  async #run(perform: Perform): Promise<void> {
    const result = await this.#parts(perform);
    const { effectId, attempt } = perform;
    const { outcome, error, retryAfterMs, movedTo, placeDead, gone, unparsed } = result;
    const stored = this.#expect<Reply>({ type: "outcomeStored", effectId, attempt });
    this.#ports.send({
      type: "outcome",
      effectId,
      attempt,
      outcome,
      ...(error === undefined ? {} : { error }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(movedTo === undefined ? {} : { movedTo }),
      ...(placeDead === undefined ? {} : { placeDead }),
      ...(gone === undefined ? {} : { gone }),
      ...(unparsed === undefined ? {} : { unparsed }),
    });
    await stored;
  }

  /** The result of the whole attempt: that of the first part that was not accepted, or `accepted`. */
  async #parts(perform: Perform): Promise<SendResult> {
    if (this.#stopped) return { outcome: "notSent" };
    const transport = this.#ports.transport();
    if (!("send" in transport)) return { outcome: "notSent", error: transport };
    let of: number;
    try {
      of = transport.parts(perform);
    } catch (error) {
      // Nothing was sent, but the same content will fail again: final, so that somebody hears of it.
      return { outcome: "rejected", error: toErrorRecord(error) };
    }
    const { effectId, attempt } = perform;
    // An edit or a deletion is one call on one message; only what is new goes through all parts.
    const post = perform.op === "post" || perform.op === "document";
    const first = post ? perform.fromPart : (perform.part ?? 1);
    const last = post ? of : first;
    for (let part = first; part <= last; part += 1) {
      const permit = this.#expect<Permit>({ type: "permit", effectId, attempt, part });
      this.#ports.send({ type: "dispatching", effectId, attempt, part, of: Math.max(of, last) });
      // Parts before this one keep their receipts; this one was provably not sent.
      if (!(await permit).go) return { outcome: "notSent" };
      const result = await call(transport, perform, part);
      if (result.outcome !== "accepted") return result;
      if (!post) return result;
      if (result.reference === undefined) {
        const error = new HoldpointError("channelUnconfirmed", `Part ${part} was accepted without a message id.`);
        return { outcome: "ambiguous", error: error.toRecord() };
      }
      const stored = this.#expect<Reply>({ type: "partStored", effectId, attempt, part });
      this.#ports.send({ type: "part", effectId, attempt, part, of, reference: result.reference });
      await stored;
    }
    return { outcome: "accepted" };
  }

  /** Must be called before the frame is sent that the server answers. */
  #expect<T extends Reply>(reply: ReplyName): Promise<T> {
    return new Promise((resolve) => this.#waiting.set(replyKey(reply), resolve as (reply: Reply) => void));
  }
}

async function call(transport: Transport, perform: Perform, part: number): Promise<SendResult> {
  try {
    return await transport.send(perform, part);
  } catch (error) {
    // A defect of the transport: after the permit nobody can say that nothing went out.
    return { outcome: "ambiguous", error: toErrorRecord(error, "channelUnconfirmed") };
  }
}

interface ReplyName {
  readonly type: Reply["type"];
  readonly effectId: string;
  readonly attempt: number;
  readonly part?: number;
}

function replyKey({ type, effectId, attempt, part }: ReplyName): string {
  return part === undefined ? `${type} ${effectId}/${attempt}` : `${type} ${effectId}/${attempt} part ${part}`;
}

function attemptId({ effectId, attempt }: Perform): string {
  return `${effectId}/${attempt}`;
}

/** Channel and place of a destination, without the topic: a service orders and limits by place. */
function placeOf(destination: string): string {
  return destination.split("/", 2).join("/");
}
