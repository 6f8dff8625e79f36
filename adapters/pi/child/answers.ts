/**
 * Answers of people in Pi, on their way to the server: only those that a person typed or chose, as Pi tells it. They wait here for the child loop,
 * which hands over one at a time, and each is told its verdict.
 */
import { userInfo } from "node:os";
import { digestHex } from "../../../src/contracts/canonical.ts";
import { HoldpointError } from "../../../src/contracts/errors.ts";
import type { Inbound } from "../../../src/contracts/protocol/channel.ts";
import type { FromExtension, ToExtension } from "../../../src/contracts/protocol/pi-link.ts";
import { replyText } from "../../../renderers/text/en.ts";
import type { Ack } from "../../channel/transport.ts";
import type { PiSession } from "./session.ts";

type Answer = Extract<FromExtension, { type: "answer" }>;
type Reply = Extract<ToExtension, { type: "reply" }>;
export type Choice = Extract<Inbound, { kind: "choice" }>;

/** Verdicts after which the answer stands. */
const STANDS: ReadonlySet<string> = new Set(["accepted", "recorded", "adopted"]);

/** What one session may have waiting. */
const PER_SESSION = 16;

interface Waiting {
  readonly session: PiSession;
  readonly answer: Answer;
}

export class Answers {
  readonly #rpcAnswers: boolean;
  readonly #queue: Waiting[] = [];
  /** Handed over, by update id. */
  readonly #handed = new Map<number, Waiting>();
  #wake: (() => void) | null = null;

  constructor(rpcAnswers: boolean) {
    this.#rpcAnswers = rpcAnswers;
  }

  /** Takes an answer, or refuses it at once. */
  take(session: PiSession, answer: Answer): void {
    const error = this.#refusal(session, answer);
    if (error !== null)
      return session.send({
        ...reply(answer),
        ok: false,
        text: error.message,
        code: "rejected",
        error: error.toRecord(),
      });
    this.#queue.push({ session, answer });
    this.#wake?.();
  }

  /** What waits, as updates after `after`; waits up to `ms` for one. */
  async next(after: number | null, ms: number, signal: AbortSignal): Promise<Choice[]> {
    if (this.#queue.length === 0) await this.#until(ms, signal);
    return this.#queue.splice(0).map((waiting, index) => {
      const updateId = (after ?? 0) + 1 + index;
      this.#handed.set(updateId, waiting);
      return inboundOf(updateId, waiting);
    });
  }

  /** Tells the person what became of an answer. */
  told(choice: Choice, { code, timeZone, verdict = "" }: Ack): void {
    const waiting = this.#handed.get(choice.updateId);
    this.#handed.delete(choice.updateId);
    if (waiting === undefined) return;
    const text = replyText(code, { timeZone, reference: Date.now(), nameZone: true });
    waiting.session.send({ ...reply(waiting.answer), ok: STANDS.has(verdict), text, code: verdict });
  }

  #refusal(session: PiSession, { input }: Answer): HoldpointError | null {
    if (this.#queue.filter((waiting) => waiting.session === session).length >= PER_SESSION)
      return new HoldpointError("inputUntrusted", `More than ${PER_SESSION} answers of this session wait.`);
    // A dialog is shown by the program at the other end of RPC, which then answers it too.
    const remote = input === "rpc" || (input === "dialog" && session.hello.mode !== "tui");
    if (input === "extension")
      return new HoldpointError("inputUntrusted", "This answer was injected by a program; only a person can answer.");
    if (input === "interactive" && session.hello.mode !== "tui")
      return new HoldpointError("inputUntrusted", `Nobody types in a Pi in ${session.hello.mode} mode.`);
    if (remote && !this.#rpcAnswers)
      return new HoldpointError("inputUntrusted", "Answers over Pi's RPC are not allowed here.", {
        remedy: 'To allow them, set "rpcAnswers": true under "pi" in config.json.',
      });
    return null;
  }

  #until(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done);
      this.#wake = done;
    });
  }
}

function reply({ callId }: Answer): Reply {
  return { type: "reply", callId, ok: false, text: "", code: null, end: false, error: null };
}

function inboundOf(updateId: number, { answer, session }: Waiting): Choice {
  const { bare, choice, decisionId, eventId, requestDigest, text } = answer;
  const { uid, username } = userInfo();
  const said = { bare, choice, decisionId, eventId, requestDigest, text } as const;
  return {
    type: "inbound",
    updateId,
    // Two answers are never the same update, however alike they are.
    digest: digestHex(JSON.stringify([session.hello.instance, answer.callId, said])),
    sentAt: null,
    kind: "choice",
    ...said,
    place: session.place,
    sender: { id: `uid:${uid}`, name: username },
  };
}
