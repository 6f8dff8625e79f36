/**
 * The link of a session to the Pi adapter: connects, waits for the view, reports the branch, and only then reports turns and
 * takes deliveries; comes back by itself after a loss, with growing waits. What must not be lost is kept until its reply.
 */
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { cutToUnits } from "../../../../src/contracts/decision/graphemes.ts";
import { isHoldpointError } from "../../../../src/contracts/errors.ts";
import { PI_CONNECT, PI_LINK } from "../../../../src/contracts/limits.ts";
import type { SessionView } from "../../../../src/contracts/pi/session-view.ts";
import { seenIn } from "../hidden-id.ts";
import type { Life } from "../life.ts";
import type { PiContext } from "../pi-api.ts";
import type { TurnReport } from "../turns.ts";
import type { Standing, StandingWatch } from "../standing.ts";
import { Conversation, Parted, type Asking, type Hello, type Reply } from "./conversation.ts";
import { Deliveries, type DeliveriesHost } from "./deliveries.ts";

/** `connecting` before the first view, `live` after the branch was stored, `lost` while it comes back, `over` for good. */
export type LinkState = "connecting" | "live" | "lost" | "over";

export interface LinkHost {
  readonly life: Life;
  readonly pi: DeliveriesHost["pi"];
  readonly standing: StandingWatch;
  /** Where the adapter listens; asks the server, which starts both on demand. */
  readonly socketPath: () => Promise<string>;
  readonly hello: (context: PiContext) => Hello;
  readonly onView: (view: SessionView) => void;
  /** The turn that is under way, with its time so far. */
  readonly openTurn: () => { readonly turnId: string; readonly activeMs: number } | null;
  readonly onState: (state: LinkState, why?: string) => void;
  /** A message of ours is on the tree; of one that starts no turn Pi tells nothing. */
  readonly onEntry: () => void;
  /** The text that the end of a turn carries to the server, if the step's contract asks for it. */
  readonly textOf: (report: TurnReport) => string | null;
  /** For tests: jitter in [0, 1). */
  readonly random?: () => number;
}

interface Pending {
  readonly asking: Asking;
  readonly resolve: (reply: Reply) => void;
  /** It is not sent (again) after this, by the monotonic clock. */
  readonly until: number;
  sent: boolean;
  /** Connections that were lost over it. */
  losses: number;
}

export class Link {
  readonly #host: LinkHost;
  readonly #deliveries: Deliveries;
  /** In the order in which they must arrive; repeated after a loss. The server knows them by turn, tool call or event. */
  readonly #pending: Pending[] = [];
  #conversation: Conversation | undefined;
  #ready = false;
  #over = false;
  #told = "";
  /** The last branch told that turns were kept back. */
  #toldKept = false;
  /** Resolves when the state has changed. */
  #turned!: Promise<void>;
  #turn!: () => void;

  constructor(host: LinkHost) {
    this.#host = host;
    this.#deliveries = new Deliveries({
      ...host,
      tell: (frame) => {
        this.#conversation?.tell(frame);
        // So that its end is told as well: the message comes again only when the session says that it is idle.
        if (frame.result === "busy") this.changed();
        if (frame.result === "sent") host.onEntry();
      },
    });
    this.#arm();
  }

  get live(): boolean {
    return this.#ready;
  }

  /** Resolves as soon as the link is live; with false when it is not after so long, or never will be. */
  async whenLive(ms: number): Promise<boolean> {
    const { life } = this.#host;
    for (const end = Date.now() + ms; !this.#ready && !this.#over && !life.over && Date.now() < end;)
      await Promise.race([life.pause(end - Date.now()), this.#turned]);
    return this.#ready;
  }

  /** Keeps the link up until the end of the life. Never rejects. */
  async run(): Promise<void> {
    const { life, onState, random = Math.random } = this.#host;
    for (let failures = 0; !life.over;) {
      onState(failures === 0 ? "connecting" : "lost");
      const ended = await this.#once(() => (failures = 0)).catch((error: unknown) => error);
      this.#ready = false;
      this.#conversation = undefined;
      for (const pending of this.#pending) pending.sent = false;
      if (life.over) return;
      const why = ended instanceof Error ? ended.message : String(ended);
      // A server of another version stays one: nothing is gained by asking again.
      if (ended instanceof Parted || (isHoldpointError(ended) && ended.kind === "versionSkew")) {
        this.#over = true;
        this.#arm();
        return onState("over", why);
      }
      life.trouble("link", ended);
      onState("lost", why);
      const ceiling = Math.min(PI_CONNECT.backoffMaxMs, PI_CONNECT.backoffMinMs * 2 ** Math.min(failures, 10));
      failures += 1;
      await life.pause(ceiling * (0.5 + random() / 2));
    }
  }

  /**
   * Asks now or as soon as there is a link. Resolves with the reply; without one it waits for as long as the life lasts, or with `withinMs` no longer
   * than that for a link: then it is not sent any more, and the reply is a refusal that says so.
   */
  ask(asking: Asking, withinMs?: number): Promise<Reply> {
    return new Promise((resolve) => {
      const until = withinMs === undefined ? Infinity : performance.now() + withinMs;
      const pending: Pending = { asking, resolve, until, sent: false, losses: 0 };
      this.#pending.push(pending);
      this.#flush();
      if (withinMs !== undefined)
        this.#host.life.after(withinMs, "an answer that waits", () => {
          if (!pending.sent && this.#pending.includes(pending)) this.#settle(pending, tooLate(pending));
        });
    });
  }

  turn(report: TurnReport): void {
    const cause = report.start.cause;
    const asking: Asking =
      "end" in report
        ? {
            type: "turn.end",
            turnId: report.end.turnId,
            stop: report.end.stop,
            error: report.end.error?.slice(0, 2_000) ?? null,
            responseEntryId: report.end.responseEntryId,
            activeMs: report.end.activeMs,
            text: cutToLink(this.#host.textOf(report)),
          }
        : { type: "turn.start", turnId: report.start.turnId, cause };
    void this.ask(asking);
    this.changed();
  }

  /** Something happened that may have changed how the session stands, or may have put a message of ours on the tree. */
  changed(): void {
    this.#deliveries.look();
    const context = this.#host.life.context;
    if (!this.#ready || context === undefined) return;
    const standing = this.#host.standing.now(context);
    const key = JSON.stringify(standing);
    if (key === this.#told) return;
    const durableNow = standing.durable && !this.#told.includes('"durable":true');
    this.#told = key;
    if (durableNow) this.branch();
    else this.#conversation?.tell({ type: "standing", ...standing });
  }

  /** Reports what is on the tree now. */
  branch(): void {
    const context = this.#host.life.context;
    if (this.#ready && context !== undefined) void this.#conversation?.ask(this.#branchOf(context)).catch(() => {});
  }

  /** Sends something for whose reply nobody can wait any more, if there is a link. */
  last(asking: Asking): void {
    if (this.#ready) this.#conversation?.ask(asking).catch(() => {});
  }

  /** Parts in good order; the life is about to end. */
  end(reason: string): void {
    this.#conversation?.tell({ type: "bye", reason: reason.slice(0, 64) });
    this.#conversation?.close();
  }

  /** One connection, to its end. */
  async #once(onLive: () => void): Promise<Error> {
    const { life } = this.#host;
    const socketPath = await this.#host.socketPath();
    const context = life.context;
    if (context === undefined) throw new Error("the session is over");
    let firstView: () => void = () => {};
    const viewed = new Promise<void>((resolve) => (firstView = resolve));
    const conversation = await Conversation.open(socketPath, this.#host.hello(context), {
      onView: (view) => {
        life.try("view", () => this.#host.onView(view));
        firstView();
      },
      onDeliver: (delivery) => life.try("delivery", () => this.#deliveries.deliver(delivery)),
    });
    this.#conversation = conversation;
    const ended = conversation.ended;
    await Promise.race([viewed, ended.then((error) => Promise.reject(error))]);
    const now = life.context;
    if (now === undefined) throw new Error("the session is over");
    this.#told = JSON.stringify(this.#host.standing.now(now));
    const stored = await conversation.ask(this.#branchOf(now));
    if (!stored.ok) throw new Error(stored.text);
    this.#ready = true;
    this.#arm();
    onLive();
    this.#host.onState("live");
    this.#flush();
    this.#look(conversation);
    return ended;
  }

  /** Not every change of how a session stands has an event after which it can be seen. */
  #look(conversation: Conversation): void {
    if (conversation !== this.#conversation || conversation.closed) return;
    this.changed();
    this.#host.life.after(PI_CONNECT.lookMs, "look", () => this.#look(conversation));
  }

  /** Wakes who waits for a change of the state, and lets others wait for the next. */
  #arm(): void {
    const turn: (() => void) | undefined = this.#turn;
    this.#turned = new Promise((resolve) => (this.#turn = resolve));
    turn?.();
  }

  #flush(): void {
    const conversation = this.#conversation;
    if (!this.#ready || conversation === undefined) return;
    for (const pending of this.#pending) {
      if (pending.sent) continue;
      pending.sent = true;
      conversation.ask(pending.asking).then(
        (reply) => this.#settle(pending, reply),
        (error: unknown) => {
          // After a loss it is sent again. What cannot be sent (too large), or ends every connection, is given up.
          pending.losses += 1;
          if (performance.now() > pending.until) this.#settle(pending, tooLate(pending));
          else if (!conversation.closed || pending.losses >= PI_CONNECT.losses) this.#settle(pending, refusal(error));
        },
      );
    }
  }

  #settle(pending: Pending, reply: Reply): void {
    const index = this.#pending.indexOf(pending);
    if (index >= 0) this.#pending.splice(index, 1);
    pending.resolve(reply);
    // Only now the server may conclude from what it was told that a turn was lost.
    if (this.#toldKept && this.#kept === 0) this.branch();
  }

  #branchOf(context: PiContext): Asking {
    const standing: Standing = this.#host.standing.now(context);
    const leaf = context.sessionManager.getLeafId();
    const seen = seenIn(context.sessionManager, PI_LINK.seen);
    const kept = this.#kept;
    this.#toldKept = kept > 0;
    return { type: "branch", full: true, seen, leaf, turn: this.#host.openTurn(), kept, ...standing };
  }

  /** Beginnings and ends of turns that have no reply yet. */
  get #kept(): number {
    return this.#pending.filter(({ asking: { type } }) => type === "turn.start" || type === "turn.end").length;
  }
}

/** A text that is too long for its step is so after the cut too; the end of the turn must arrive. */
function cutToLink(text: string | null): string | null {
  return text === null ? null : cutToUnits(text, PI_LINK.textChars);
}

/** What was sent and lost may have arrived: the view tells. */
function tooLate({ losses }: Pending): Reply {
  return refusal(losses === 0 ? words.answers.notSent : words.answers.maybeSent);
}

function refusal(error: unknown): Reply {
  const text = error instanceof Error ? error.message : String(error);
  return { type: "reply", callId: "none", ok: false, text, code: null, end: false, error: null };
}
