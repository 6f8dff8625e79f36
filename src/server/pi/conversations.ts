/**
 * The sessions that are connected, as the server sees them: takes what they report, keeps what that means in the store, and shows each the state of
 * its run. Whoever connects last speaks for a session; frames of an earlier connection are refused.
 */
import type { Config } from "../../contracts/config.ts";
import { toErrorRecord } from "../../contracts/errors.ts";
import { CLIENT, SESSION } from "../../contracts/limits.ts";
import type { FromAdapter, ToAdapter } from "../../contracts/protocol/channel.ts";
import type { LinkReport } from "../../contracts/protocol/pi-link.ts";
import type { SessionView } from "../../contracts/pi/session-view.ts";
import { parseUpdate } from "../../contracts/update.ts";
import type { Store } from "../../state/store.ts";
import type { AccessSource, Wake } from "../context.ts";
import type { Clock, Log, Timer } from "../ports.ts";
import { sessionView } from "../views/session-view.ts";

export type LinkFrame = Extract<FromAdapter, { type: "link.open" | "link.closed" | "link.report" }>;
export type SendLink = (frame: Extract<ToAdapter, { type: "link.view" | "link.reply" }>) => void;
type Report<T extends LinkReport["type"]> = Extract<LinkReport, { type: T }>;

/**
 * A turn whose end (or beginning) is not told although its session is idle and keeps nothing back is lost after this long. Short, so that sessions
 * whose server or Pi is restarted again and again come to it too.
 */
const LOST_MS = 1_000;

interface Live {
  readonly place: string;
  readonly epoch: number;
  readonly send: SendLink;
  idle: boolean;
  /** Counts what the session has said of being idle or at work: a report that took time must not speak over a later one. */
  said: number;
  views: number;
  /** The last view without what changes by itself. */
  shown: string;
  /** Results that are being judged, by tool call: whom to tell. */
  readonly judged: Map<string, { readonly callId: string; readonly requestId: string }>;
  /** When the view changes by itself. */
  viewTimer: Timer | undefined;
  /** When a turn whose end nobody tells is given up. */
  lostTimer: Timer | undefined;
}

export interface ConversationDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
  readonly config: () => Config;
  readonly stopRunner: (runnerEpoch: string) => Promise<void>;
}

/** What a report comes to. */
interface Reply {
  readonly ok: boolean;
  readonly text: string;
  readonly code?: string;
  readonly end?: boolean;
}

export class Conversations {
  readonly #deps: ConversationDeps;
  readonly #live = new Map<string, Live>();
  #limit: Timer | undefined;
  #reserved: Timer | undefined;
  #scheduled = false;
  #publishedAt = 0;
  #stopped = false;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
  }

  /** Sessions that are connected. */
  get count(): number {
    return this.#live.size;
  }

  isIdle(session: string): boolean {
    return this.#live.get(session)?.idle === true;
  }

  /** The server has started: time limits run on, and reserved runs wait for their sessions, but not for ever. */
  begin(): void {
    this.wake();
    this.watchReserved();
  }

  /** Reserved runs whose session never says anything begin after a while. */
  watchReserved(): void {
    const { clock, store } = this.#deps;
    if (store.read.sessions.reserved().length === 0) return;
    this.#reserved?.cancel();
    this.#reserved = clock.timer(clock.now() + SESSION.reservedMs, () => void this.#releaseAbandoned());
  }

  stop(): void {
    this.#stopped = true;
    this.#limit?.cancel();
    this.#reserved?.cancel();
    for (const live of this.#live.values()) cancelTimers(live);
    this.#live.clear();
  }

  /** The adapter that these sessions were connected to is gone. */
  adapterGone(send: SendLink): void {
    for (const live of this.#live.values()) if (live.send === send) this.#closed(live, false);
  }

  /** Something changed: views are sent anew where they differ, at most every 250 ms. */
  wake(): void {
    this.#armLimit();
    if (this.#live.size === 0) return;
    this.#tellJudged();
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    const wait = Math.max(0, this.#publishedAt + CLIENT.viewMs - performance.now());
    setTimeout(() => {
      this.#scheduled = false;
      this.#publishedAt = performance.now();
      for (const live of this.#live.values()) this.#publish(live);
    }, wait).unref();
  }

  /** Takes a frame of the adapter. Rejects only when the store does. */
  async take(frame: LinkFrame, send: SendLink): Promise<void> {
    const { epoch, place } = frame;
    const live = this.#live.get(place);
    switch (frame.type) {
      case "link.open":
        return this.#opened({
          place,
          epoch,
          send,
          idle: false,
          said: 0,
          views: 0,
          shown: "",
          judged: new Map(),
          viewTimer: undefined,
          lostTimer: undefined,
        });
      case "link.closed":
        if (live?.epoch === epoch && live.send === send) this.#closed(live, frame.parted);
        return;
      case "link.report":
        if (live?.epoch === epoch && live.send === send) return this.#report(live, frame.report);
    }
  }

  #opened(live: Live): void {
    const before = this.#live.get(live.place);
    if (before !== undefined) cancelTimers(before);
    if (before !== undefined) this.#away(live.place);
    this.#live.set(live.place, live);
    this.#publish(live);
  }

  /** `parted`: in good order, so that the turn is over which reserved a run. Otherwise it may go on, and is waited for a while. */
  #closed(live: Live, parted: boolean): void {
    cancelTimers(live);
    if (this.#live.get(live.place) !== live) return;
    this.#live.delete(live.place);
    if (this.#stopped) return;
    this.#away(live.place);
    if (parted) this.#guard(this.#release(live.place), "releasing a reserved run");
    else this.watchReserved();
  }

  #away(session: string): void {
    const stopped = this.#deps.store.sessions.away({ session }).then(() => this.#armLimit());
    this.#guard(stopped, "stopping the clock of a turn");
  }

  async #report(live: Live, report: LinkReport): Promise<void> {
    if (report.type === "standing") {
      live.said += 1;
      return this.#standing(live, report);
    }
    try {
      const reply = await this.#answerTo(live, report);
      if (reply !== null) this.#reply(live, report.callId, reply);
    } catch (error) {
      const record = toErrorRecord(error);
      this.#deps.log.debug({ session: live.place, report: report.type, error: record }, "a session was refused");
      live.send({
        type: "link.reply",
        place: live.place,
        epoch: live.epoch,
        callId: report.callId,
        ok: false,
        text: record.message,
        code: "rejected",
        end: false,
        error: record,
      });
    }
  }

  async #answerTo(live: Live, report: Exclude<LinkReport, { type: "standing" }>): Promise<Reply | null> {
    const { store } = this.#deps;
    switch (report.type) {
      case "branch":
        return this.#branch(live, report);
      case "turn.start": {
        const { cause, turnId } = report;
        const messageId = cause.kind === "message" ? cause.messageId : null;
        live.idle = false;
        live.said += 1;
        await store.sessions.turnStarted({ session: live.place, turnId, messageId });
        this.#deps.wake.views();
        return { ok: true, text: "" };
      }
      case "turn.end":
        return this.#turnEnd(live, report);
      case "submit":
        return this.#submit(live, report);
      case "update": {
        const { requestId, toolCallId, update } = report;
        const envelope = parseUpdate(update);
        await store.interactions.update({ session: live.place, requestId, key: toolCallId, envelope });
        this.#deps.wake.views();
        return { ok: true, text: "Noted." };
      }
      case "clear": {
        const { cleared } = await store.sessions.clear({ session: live.place });
        this.#deps.wake.views();
        return { ok: true, text: cleared ?? "" };
      }
      case "capture": {
        if (this.#deps.config().pi.capture === false)
          return { ok: false, text: "Recording is switched off.", code: "off" };
        const { before, dropped, first, instance, records, runId } = report;
        const { full } = await store.sessions.capture({
          session: live.place,
          instance,
          runId,
          first,
          records,
          before: before ?? [],
          dropped,
        });
        return full ? { ok: false, text: "No more is recorded of this run.", code: "full" } : { ok: true, text: "" };
      }
    }
  }

  async #branch(live: Live, { durable, idle, kept, pendingInput, seen, turn }: Report<"branch">): Promise<Reply> {
    const { clock, store, wake } = this.#deps;
    const said = (live.said += 1);
    // What has no file may still be lost: it proves nothing yet.
    const proof = durable ? seen : [];
    if (proof.length > 0 || turn !== null) {
      const { proved } = await store.sessions.seen({ session: live.place, seen: proof, turn });
      if (proved > 0) wake.views();
      this.#armLimit();
    }
    live.lostTimer?.cancel();
    if (idle && kept === 0 && this.#live.get(live.place) === live) {
      const unfinished = store.read.sessions.unfinished(live.place);
      if (unfinished !== null)
        live.lostTimer = clock.timer(clock.now() + LOST_MS, () =>
          this.#guard(this.#lost(live, unfinished), "a lost turn"),
        );
    }
    // The reply comes first: only after it anything may be sent to the session.
    setImmediate(() => {
      if (live.said === said) this.#guard(this.#standing(live, { idle, pendingInput }), "what waits for a session");
    });
    return { ok: true, text: "", code: "branchStored" };
  }

  async #lost(live: Live, unfinished: string): Promise<void> {
    const { store, wake } = this.#deps;
    if (!live.idle || this.#live.get(live.place) !== live) return;
    if (store.read.sessions.unfinished(live.place) !== unfinished) return;
    await store.sessions.lostTurns({ session: live.place });
    wake.channels();
    wake.views();
  }

  async #standing(
    live: Live,
    { idle, pendingInput }: Pick<Report<"standing">, "idle" | "pendingInput">,
  ): Promise<void> {
    const { store, wake } = this.#deps;
    live.idle = idle && !pendingInput;
    if (!live.idle) return;
    await this.#release(live.place);
    // Also while an attempt is on its way: that it was away may be stored only now, after this was said.
    if (store.read.sessions.waiting(live.place) > 0) await store.sessions.reached({ session: live.place });
    wake.channels();
  }

  async #turnEnd(
    live: Live,
    { activeMs, error, responseEntryId: entry, stop, text, turnId }: Report<"turn.end">,
  ): Promise<Reply> {
    const { log, store, wake } = this.#deps;
    const ended = await store.sessions.turnEnded({ session: live.place, turnId, stop, error, entry, text, activeMs });
    if (ended.stop !== null)
      this.#deps
        .stopRunner(ended.stop.runnerEpoch)
        .catch((reason: unknown) => log.error({ error: String(reason) }, "stopping a runner failed"));
    wake.runs();
    wake.channels();
    wake.views();
    return { ok: true, text: "" };
  }

  async #submit(live: Live, { callId, output, requestId, toolCallId: key }: Report<"submit">): Promise<Reply | null> {
    const { store, wake } = this.#deps;
    const submitted = await store.interactions.submit({ session: live.place, requestId, key, output });
    if (submitted.status !== "validating") return verdictOf(submitted);
    live.judged.set(key, { callId, requestId });
    wake.runs();
    wake.views();
    return null;
  }

  /** Whoever handed something in is told once it is judged. */
  #tellJudged(): void {
    for (const live of this.#live.values()) {
      for (const [key, { callId, requestId }] of live.judged) {
        const now = this.#deps.store.read.sessions.submission(requestId, key);
        if (now?.status === "validating" && !now.paused) continue;
        live.judged.delete(key);
        this.#reply(live, callId, now === null ? { ok: false, text: "It is not known any more." } : verdictOf(now));
      }
    }
  }

  #reply({ epoch, place, send }: Live, callId: string, { code, end = false, ok, text }: Reply): void {
    send({ type: "link.reply", place, epoch, callId, ok, text, code: code ?? null, end, error: null });
  }

  async #release(session: string): Promise<void> {
    const { store, wake } = this.#deps;
    if (!store.read.sessions.reserved().includes(session)) return;
    const { began } = await store.sessions.release({ session });
    if (began) wake.runs();
    wake.views();
  }

  async #releaseAbandoned(): Promise<void> {
    for (const session of this.#deps.store.read.sessions.reserved()) {
      const live = this.#live.get(session);
      if (live === undefined || live.idle) await this.#release(session).catch(() => undefined);
    }
  }

  #publish(live: Live): void {
    const { access, clock, log, store } = this.#deps;
    if (this.#live.get(live.place) !== live) return;
    try {
      const { until, view } = sessionView(store, live.place, { access: access(), now: clock.now() });
      live.viewTimer?.cancel();
      live.viewTimer = until === null ? undefined : clock.timer(until, () => this.wake());
      const shown = JSON.stringify(view);
      if (shown === live.shown) return;
      live.shown = shown;
      live.views += 1;
      const whole: SessionView = { ...view, number: live.views, at: clock.now() };
      live.send({ type: "link.view", place: live.place, epoch: live.epoch, view: whole });
    } catch (error) {
      log.error({ session: live.place, error: toErrorRecord(error) }, "the view of a session failed");
    }
  }

  #armLimit(): void {
    const { clock, store } = this.#deps;
    if (this.#stopped) return;
    this.#limit?.cancel();
    this.#limit = undefined;
    const next = store.read.sessions.nextTimeLimit();
    if (next === null) return;
    this.#limit = clock.timer(next.at, () => this.#guard(this.#timeUp(next.requestId), "the end of a step's time"));
  }

  async #timeUp(requestId: string): Promise<void> {
    const { store, wake } = this.#deps;
    const { done } = await store.interactions.timeOut({ requestId });
    if (done) wake.runs();
    if (done) wake.views();
    this.#armLimit();
  }

  #guard(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => this.#deps.log.error({ error: toErrorRecord(error) }, `${what} failed`));
  }
}

function cancelTimers({ lostTimer, viewTimer }: Live): void {
  lostTimer?.cancel();
  viewTimer?.cancel();
}

function verdictOf({ message, status }: { readonly status: string; readonly message: string | null }): Reply {
  if (status === "accepted")
    return { ok: true, text: "The result was accepted. End your turn now.", code: status, end: true };
  if (status === "validating")
    return {
      ok: true,
      text: "The result is stored. The run is paused; it is checked when the run goes on. End your turn now.",
      code: status,
      end: true,
    };
  return { ok: false, text: message ?? "The result was refused.", code: status };
}
