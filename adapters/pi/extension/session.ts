/**
 * One instance of the extension in one session: what it knows, and what it does at each event of Pi. Pi makes a new instance at
 * a start, a reload, a new session and a fork; nothing is shared between them. An error in here never reaches Pi.
 */
import { randomUUID } from "node:crypto";
import { piCommands as words } from "../../../renderers/text/en.ts";
import { inert } from "../../../src/contracts/decision/inert.ts";
import { PI_CONNECT, PI_WIDGET } from "../../../src/contracts/limits.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { Backend, CommandName } from "./backend.ts";
import { Cards } from "./cards.ts";
import { completing } from "./complete.ts";
import { Life } from "./life.ts";
import type { InputResult, InputSource, PiApi, PiContext, PiEvents, PiToolResult } from "./pi-api.ts";
import { OLDEST_PI, piVersion, tooOld } from "./pi-version.ts";
import { Recorder } from "./recorder.ts";
import type { ShortcutName } from "./shortcuts.ts";
import { StandingWatch } from "./standing.ts";
import { Steps } from "./steps.ts";
import { Turns, type TurnReport } from "./turns.ts";
import { Widget } from "./widget.ts";

export class Session {
  readonly life = new Life();
  readonly cards = new Cards();
  readonly recorder: Recorder;
  /** New for each instance of the extension. */
  readonly #instance = randomUUID();
  readonly #pi: PiApi;
  readonly #standing = new StandingWatch();
  readonly #steps = new Steps();
  readonly #widget = new Widget(this.life);
  readonly #turns = new Turns((report) => this.#report(report));
  /** Turns that were reported before there was a link to report them over. */
  readonly #early: TurnReport[] = [];
  /** The turn that was stopped because its step was over. */
  #stopped: string | undefined;
  /** Tells of the turn that was stopped a moment ago. */
  #settling: (() => void) | undefined;
  #loading: Promise<Backend | undefined> | undefined;
  #backend: Backend | undefined;

  constructor(pi: PiApi) {
    this.#pi = pi;
    this.recorder = new Recorder({
      life: this.life,
      instance: this.#instance,
      link: () => this.#backend?.link,
      turn: () => this.#turns.open,
    });
  }

  /** The session is there. Idempotent: some versions of Pi say so twice. */
  start(context: PiContext): void {
    if (this.#loading !== undefined) return;
    this.life.try("cards", () => this.cards.read(context.sessionManager));
    this.#loading = this.life.attempt("loading", () => this.#load());
    const version = piVersion();
    if (tooOld(version)) this.say(words.piTooOld(version, OLDEST_PI), "warning");
    if (context.mode !== "tui") return;
    const host = { view: () => this.#backend?.view, workflows: () => this.#backend?.workflowNames ?? [] };
    this.life.try("completion", () => context.ui.addAutocompleteProvider(completing(host)));
  }

  end({ reason }: PiEvents["session_shutdown"]): void {
    this.life.try("recording", () => this.recorder.end());
    this.life.try("end", () => this.#backend?.link.end(reason));
    this.life.end();
  }

  /** A line that was sent to Pi. Lines of ours are taken here, because only here Pi tells where they came from. */
  async input({ source, text }: PiEvents["input"], context: PiContext): Promise<InputResult> {
    const line = /^\/workflow(?:\s+([\s\S]*))?$/.exec(text.trim());
    if (line === null) {
      this.#standing.typed();
      this.#changed();
      return { action: "continue" };
    }
    const serving = this.command("workflow", line[1] ?? "", source, context);
    // Without anybody to tell later, Pi may be gone before there is something to tell.
    if (!context.hasUI) await serving;
    return { action: "handled" };
  }

  /** Serves a command and tells what came of it. Never rejects. */
  async command(name: CommandName, line: string, source: InputSource | "unknown", context: PiContext): Promise<void> {
    await this.life.attempt(name, async () => {
      const backend = await this.#ready(context);
      if (backend === undefined) return this.say(words.notLoaded(this.life.troubles.at(-1) ?? ""), "warning");
      const { failed, text } = await backend.command(name, { line: line.trim(), source, context });
      if (text !== "") this.say(text, failed ? "warning" : "info");
    });
  }

  /** The model's tool. A throw becomes the tool's error. */
  async tool(
    toolCallId: string,
    params: unknown,
    signal: AbortSignal | undefined,
    context: PiContext,
  ): Promise<PiToolResult> {
    const backend = await this.#ready(context);
    if (backend === undefined) throw new Error(words.notLoaded(this.life.troubles.at(-1) ?? ""));
    return backend.tool(toolCallId, params, signal);
  }

  shortcut(name: ShortcutName, context: PiContext): void {
    if (name === "answer") void this.command("workflow", "answer", "interactive", context);
    else this.#widget.scroll(name === "scrollUp" ? -PI_WIDGET.scroll : PI_WIDGET.scroll);
  }

  beforeAgent(event: PiEvents["before_agent_start"]): void {
    this.#settleNow();
    if (event.messageType === "custom") this.#steps.begins(event.message);
    this.#turns.beforeStart(event);
  }

  agentStart(): void {
    this.#settleNow();
    this.#standing.takenUp();
    this.#turns.start();
    this.#changed();
  }

  agentEnd(event: PiEvents["agent_end"]): void {
    this.#turns.pass(event);
  }

  agentSettled(event: PiEvents["agent_settled"], context: PiContext): void {
    this.#standing.takenUp();
    const settle = (): void => {
      this.#turns.settle(event, context.sessionManager);
      this.recorder.settled();
      this.#changed();
    };
    if (!this.#turns.stopped(event)) return settle();
    // Whoever leaves the session stops its turn on the way out, and has not asked for a pause: then this is never told, and the turn is lost.
    this.#settling = settle;
    this.life.after(PI_CONNECT.leavingMs, "turn", () => this.#settleNow());
  }

  #settleNow(): void {
    const settle = this.#settling;
    this.#settling = undefined;
    settle?.();
  }

  /** An entry may have come: one of ours, or the first that gives the session a file. */
  entries(): void {
    this.#changed();
  }

  branch(): void {
    this.#backend?.link.branch();
    this.#changed();
  }

  toolRefusal(toolName: string): string | undefined {
    return this.#steps.refusal(this.#turns.open, toolName);
  }

  say(text: string, type: "info" | "warning" = "info"): void {
    const { context } = this.life;
    if (context === undefined) return;
    // What servers, workflows and people wrote is shown, never obeyed by the terminal.
    const said = inert(text, { lines: true });
    if (context.hasUI) context.ui.notify(said, type);
    else if (context.mode === "print") process.stdout.write(`${said}\n`);
  }

  /** What the agent works for is over: its turn is stopped, once. Turns of the person are the person's. */
  #stopFor({ openTurn }: SessionView): void {
    const { open } = this.#turns;
    if (openTurn?.over !== true || openTurn.turnId !== open?.turnId || this.#stopped === openTurn.turnId) return;
    this.#stopped = openTurn.turnId;
    this.say(words.stepStopped);
    this.life.context?.abort();
  }

  #changed(): void {
    this.#backend?.link.changed();
  }

  #report(report: TurnReport): void {
    if (this.#backend === undefined) this.#early.push(report);
    else this.#backend.link.turn(report);
  }

  async #ready(context: PiContext): Promise<Backend | undefined> {
    this.life.see(context);
    if (this.#loading === undefined) this.start(context);
    return this.#loading;
  }

  async #load(): Promise<Backend | undefined> {
    // Pi draws its screen first; what is loaded here keeps it busy for a tenth of a second.
    await this.life.pause(PI_CONNECT.loadAfterMs);
    const { Backend } = await import("./backend.ts");
    const { context } = this.life;
    if (context === undefined) return undefined;
    this.#backend = new Backend(
      {
        life: this.life,
        pi: this.#pi,
        instance: this.#instance,
        standing: this.#standing,
        say: (text, type) => this.say(text, type),
        onView: (view) => {
          this.cards.see(view);
          this.#steps.see(view);
          this.#widget.show(view);
          this.#stopFor(view);
          this.recorder.follow(view);
        },
        onEntry: () => this.recorder.entries(),
        onReachable: (reachable) => this.#widget.reachable(reachable),
        now: () => this.#widget.now(),
        openTurn: () => {
          const { activeMs, open } = this.#turns;
          return open === undefined ? undefined : { ...open, activeMs };
        },
        wantsText: (turn) => this.#steps.wantsText(turn),
      },
      context,
    );
    for (const report of this.#early.splice(0)) this.#backend.link.turn(report);
    return this.#backend;
  }
}
