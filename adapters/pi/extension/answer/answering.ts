/**
 * Answers that a person gives in this session: what the line means, the dialog where something is left open, and the answer's
 * way over the link. Decisions only; the server judges whether it counts.
 */
import { randomUUID } from "node:crypto";
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { resolutionLine } from "../../../../renderers/text/en/story.ts";
import { PI_ANSWER } from "../../../../src/contracts/limits.ts";
import type { SessionDecision, SessionView } from "../../../../src/contracts/pi/session-view.ts";
import { Refusal, type Actions } from "../actions.ts";
import { jsonOrText, type CommandRequest } from "../commands/request.ts";
import type { Life } from "../life.ts";
import type { Link } from "../link/link.ts";
import type { PiContext } from "../pi-api.ts";
import type { Service } from "../service.ts";
import { Dialogs, type Chosen } from "./dialog.ts";
import { isCheckpoint, isUnfound, planAnswer, type Plan } from "./plan.ts";

/** Where an answer came from, as the adapter judges it. */
type Input = "interactive" | "rpc" | "dialog";

export interface AnsweringHost {
  readonly life: Life;
  readonly link: Pick<Link, "ask" | "whenLive">;
  readonly service: Pick<Service, "call">;
  readonly actions: Actions;
  readonly view: () => SessionView | undefined;
  /** By the clock of the view. */
  readonly now: () => number;
  readonly say: (text: string) => void;
}

export class Answering {
  readonly #host: AnsweringHost;
  readonly #dialogs: Dialogs;
  /** Wakes who waits for a view. */
  #viewed: () => void = () => {};

  constructor(host: AnsweringHost) {
    this.#host = host;
    this.#dialogs = new Dialogs(host.life);
  }

  see(view: SessionView): void {
    this.#viewed();
    this.#dialogs.see(view);
  }

  /** A line `/workflow answer …`. */
  async line({ context, line, source }: CommandRequest): Promise<string> {
    // Nothing that was not given by a person may answer, and a dialog on behalf of a program would only surprise one.
    if (source === "extension" || source === "unknown") throw new Refusal(words.answers.notTyped);
    const plan = await this.#plan(line);
    switch (plan.kind) {
      case "refuse":
        throw new Refusal(plan.text);
      case "elsewhere":
        return this.#elsewhere(plan.reference, plan.rest);
      case "ask":
        this.#host.life.begin("dialog", () => this.#ask(context, plan.decision));
        return "";
      case "answer":
        return this.#send(plan.decision, plan, source, plan.bare);
    }
  }

  /** A card may be read a moment before the view that tells of it is here: what cannot be found is waited for, a little while. */
  async #plan(line: string): Promise<Plan> {
    const { life, now, view } = this.#host;
    // When the person gave it: how long a card had stood there is not a matter of our waiting.
    const given = now();
    const until = performance.now() + PI_ANSWER.viewMs;
    for (;;) {
      const plan = planAnswer(line, view()?.decisions ?? [], given);
      const left = until - performance.now();
      if (!isUnfound(plan) || left <= 0 || life.over) return plan;
      await Promise.race([life.pause(left), new Promise<void>((resolve) => (this.#viewed = resolve))]);
    }
  }

  /** A checkpoint of a run, or a decision that is not this session's. */
  async #elsewhere(reference: string, rest: string): Promise<string> {
    if (isCheckpoint(reference, rest)) return this.#host.actions.answerCheckpoint(reference, jsonOrText(rest));
    const { decisions } = await this.#host.service.call("decision.list", { all: true });
    const known = decisions.find(
      ({ decisionId, fingerprint }) => reference === fingerprint || reference === decisionId,
    );
    const more = known === undefined ? "" : ` ${resolutionLine(known)}`;
    throw new Refusal(`${words.answers.unknown(reference)}${more}`);
  }

  async #ask(context: PiContext, decision: SessionDecision): Promise<void> {
    const { life, say } = this.#host;
    if (!context.hasUI) return say(words.needs("/workflow answer <id> <choice> [text]"));
    const input: Input = context.mode === "tui" ? "dialog" : "rpc";
    const chosen = await this.#dialogs.ask(context.ui, decision);
    if (chosen === null || life.over) return;
    say(await this.#send(decision, chosen, input, false));
  }

  async #send(
    { card, decisionId }: SessionDecision,
    { choice, text }: Chosen,
    input: Input,
    bare: boolean,
  ): Promise<string> {
    // An answer must not be given long after the person gave it: what they saw may have changed.
    if (!(await this.#host.link.whenLive(PI_ANSWER.linkMs))) throw new Refusal(words.noLink);
    const eventId = `pi-${randomUUID()}`;
    const { requestDigest } = card;
    const answer = { type: "answer", eventId, decisionId, requestDigest, choice, text, input, bare } as const;
    const reply = await this.#host.link.ask(answer, PI_ANSWER.linkMs);
    return reply.error === null ? reply.text : `${reply.text} ${reply.error.remedy}`;
  }
}
