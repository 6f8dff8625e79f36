/**
 * The server's side of channel.v1 for one adapter child: gives out attempts, grants each first byte, stores each receipt and
 * each verdict before it answers. Words and transport are the child's; decisions are the store's.
 */
import { PI } from "../../contracts/config.ts";
import { HoldpointError, toErrorRecord } from "../../contracts/errors.ts";
import { OFFER, PROCESS } from "../../contracts/limits.ts";
import { readerOf, type ReadAt } from "../../contracts/reader.ts";
import type { FromAdapter, Inbound, ToAdapter } from "../../contracts/protocol/channel.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { ServiceFacts, Store } from "../../state/store.ts";
import type { AccessSource, Wake } from "../context.ts";
import type { Child, Clock, Log, Timer } from "../ports.ts";
import type { Conversations, SendLink } from "../pi/conversations.ts";
import { SilenceWatch } from "./silence-watch.ts";
import { Pump } from "../pump.ts";

/** Attempts given to one child at a time; order within a place is the store's business. */
const IN_FLIGHT = 16;

export interface ChannelSessionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
  /** What the service can tell of itself in a chat. */
  readonly facts: () => ServiceFacts;
  /** Ends a runner that lost its claim. */
  readonly stopRunner: (runnerEpoch: string) => Promise<void>;
  /** A poll came back: the channel hears. `drained` when nothing more was waiting. */
  readonly onHeard: (channelId: string, drained: boolean) => void;
  /** A poll ended: well (null) or not. */
  readonly onPolled: (channelId: string, error: ErrorRecord | null) => void;
  /** What sessions report, on a channel that is a conversation. */
  readonly conversations: Pick<Conversations, "take" | "adapterGone">;
}

export class ChannelSession {
  ready = false;
  account: string | null = null;
  lastPollAt: number | null = null;
  pendingUpdates: number | null = null;
  error: ErrorRecord | null = null;
  /** Why the server ended the child, if it did. */
  endedFor: ErrorRecord | null = null;
  readonly channelId: string;
  readonly adapterEpoch: string;
  readonly #deps: ChannelSessionDeps;
  readonly #child: Child<FromAdapter, ToAdapter>;
  readonly #inFlight = new Set<string>();
  readonly #pump: Pump;
  readonly #sendLink: SendLink;
  readonly #silence: SilenceWatch;
  #stopping = false;
  /** When the database last heard of a poll, by this session. */
  #pollStoredAt: number | null = null;
  /** A silence ended with a backlog; what follows it comes with the first empty poll. */
  #mayOffer = false;
  #dueTimer: Timer | undefined;
  #idleWaiters: (() => void)[] = [];
  onReady: () => void = () => undefined;

  constructor(deps: ChannelSessionDeps, channelId: string, adapterEpoch: string, child: Child<FromAdapter, ToAdapter>) {
    this.#deps = deps;
    this.channelId = channelId;
    this.adapterEpoch = adapterEpoch;
    this.#child = child;
    this.#sendLink = (frame) => child.port.send(frame);
    this.#pump = new Pump({
      work: () => this.#fill(),
      clock: deps.clock,
      log: deps.log,
      what: `sending on ${channelId}`,
    });
    this.#silence = new SilenceWatch({
      clock: deps.clock,
      ping: () => child.port.send({ type: "ping" }),
      onSilent: () => this.#silent(),
    });
    child.port.onFrame((frame) => {
      this.#silence.heard();
      this.#handle(frame).catch((error: unknown) => this.#failed(frame, error));
    });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Offers the next due messages to the child. */
  pump(): void {
    if (this.ready && !this.#stopping) this.#pump.wake();
  }

  /** No new attempts; resolves when those given out have an outcome. */
  quiesce(): Promise<void> {
    this.#stopping = true;
    this.#dueTimer?.cancel();
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** The child is gone. */
  close(): void {
    this.#stopping = true;
    this.ready = false;
    this.#silence.stop();
    this.#dueTimer?.cancel();
    void this.#pump.stop();
    this.#deps.conversations.adapterGone(this.#sendLink);
    for (const waiter of this.#idleWaiters.splice(0)) waiter();
  }

  async #fill(): Promise<void> {
    const { store, clock, wake } = this.#deps;
    this.#dueTimer?.cancel();
    this.#dueTimer = undefined;
    while (this.ready && !this.#stopping && this.#inFlight.size < IN_FLIGHT) {
      const askedAt = clock.now();
      const { perform, refused } = await store.effects.nextAttempt({
        channelId: this.channelId,
        adapterEpoch: this.adapterEpoch,
        access: this.#deps.access(),
      });
      // A card that cannot be shown there may be one for somebody else.
      if (refused) wake.deadlines();
      if (!perform) {
        // What became due while that was stored was not looked at, and nobody else will say so.
        const at = store.read.channels.nextDueAt(this.channelId, askedAt);
        if (at !== null) this.#dueTimer = clock.timer(at, () => this.pump());
        return;
      }
      this.#inFlight.add(perform.effectId);
      this.#child.port.send(perform);
    }
  }

  async #handle(frame: FromAdapter): Promise<void> {
    const { store, wake } = this.#deps;
    const mine = { channelId: this.channelId, adapterEpoch: this.adapterEpoch };
    switch (frame.type) {
      case "ready":
        this.ready = true;
        this.account = frame.account.name;
        this.error = null;
        this.onReady();
        return this.pump();
      case "dispatching": {
        const { effectId, attempt, part, of } = frame;
        const { go } = await store.effects.dispatch({ ...mine, effectId, attempt, part, of });
        return this.#child.port.send({ type: "permit", effectId, attempt, part, go });
      }
      case "part": {
        const { effectId, attempt, part, of, reference } = frame;
        await store.effects.storePart({ ...mine, effectId, attempt, part, of, reference });
        this.#child.port.send({ type: "partStored", effectId, attempt, part });
        wake.views();
        return this.pump();
      }
      case "outcome": {
        const { type: _type, ...outcome } = frame;
        await store.effects.finishAttempt({ ...mine, ...outcome });
        wake.doubts();
        this.#child.port.send({ type: "outcomeStored", effectId: frame.effectId, attempt: frame.attempt });
        this.#inFlight.delete(frame.effectId);
        if (this.#inFlight.size === 0) for (const waiter of this.#idleWaiters.splice(0)) waiter();
        if (outcome.outcome === "rejected") wake.deadlines();
        wake.views();
        return this.pump();
      }
      case "inbound":
        return this.#inbound(frame);
      case "health":
        this.pendingUpdates = frame.pendingUpdates ?? this.pendingUpdates;
        this.error = frame.error;
        // Only how much waits at the service; the failure itself was told before.
        if (!frame.ok && frame.pendingUpdates !== null) return;
        this.#deps.onPolled(this.channelId, frame.ok ? null : (frame.error ?? unexplained()));
        if (frame.ok) {
          const drained = (frame.pendingUpdates ?? 0) === 0;
          this.#deps.onHeard(this.channelId, drained);
          return this.#polled(drained);
        }
        return;
      case "late": {
        const { place, reference, topic, updateId } = frame;
        await store.channels.tellLate({ ...mine, updateId, place, topic, reference, access: this.#deps.access() });
        return this.pump();
      }
      case "link.open":
      case "link.closed":
      case "link.report":
        return this.#deps.conversations.take(frame, this.#sendLink);
      case "pong":
        return;
      case "exiting":
        this.#deps.log.info({ channel: this.channelId, reason: frame.reason }, "adapter is leaving");
    }
  }

  /** A good poll is written down now and then, and at once after a silence, which may have cost taps. */
  async #polled(drained: boolean): Promise<void> {
    const { access, clock, log, store } = this.#deps;
    const now = clock.now();
    // A session that was away proves by its tree what it has: nothing is offered again.
    if (this.channelId === PI) return void (this.lastPollAt = now);
    const heardAt = this.lastPollAt;
    this.lastPollAt = now;
    const silent = this.#pollStoredAt === null || (heardAt !== null && now - heardAt > OFFER.silenceMs);
    const stored = this.#pollStoredAt ?? 0;
    if (!silent && !this.#mayOffer && (!drained || now - stored < OFFER.polledEveryMs)) return;
    this.#pollStoredAt = now;
    // Cards are offered again only when everything that was kept has been handed over.
    this.#mayOffer = !drained;
    const { channelId, adapterEpoch } = this;
    const { offered } = await store.channels.polled({ channelId, adapterEpoch, heardAt, drained, access: access() });
    if (offered > 0) log.info({ channel: channelId, offered }, "cards are offered again after a silence");
    this.pump();
  }

  async #inbound(frame: Inbound): Promise<void> {
    const { store, wake, access, log } = this.#deps;
    const now = access();
    const { ack, stop, verdict } = await store.channels.receive({
      channelId: this.channelId,
      adapterEpoch: this.adapterEpoch,
      inbound: frame,
      access: now,
      // Only commands ask for it.
      ...(frame.kind === "command" ? { service: this.#deps.facts() } : {}),
    });
    // The command has released the claim; the processes follow, and nobody's verdict waits for them.
    if (stop !== undefined && stop !== null)
      this.#deps
        .stopRunner(stop)
        .catch((error: unknown) => log.error({ error: String(error) }, "stopping a runner failed"));
    this.#child.port.send({
      type: "verdict",
      updateId: frame.updateId,
      verdict,
      ack,
      ...readerOf(now, tappedAt(this.channelId, frame)),
    });
    // One synchronous write for each tap would cost as much as a verdict's share of its commit; the inbox keeps every verdict anyway.
    log.debug({ channel: this.channelId, update: frame.updateId, kind: frame.kind, verdict }, "update handled");
    wake.runs();
    wake.channels();
    wake.views();
    // A card that somebody gave up may be one for somebody else.
    if (verdict === "recovered") wake.deadlines();
  }

  /** It is started anew; what it had in its hands is in doubt, as after any other end. */
  #silent(): void {
    this.error = new HoldpointError(
      "adapterSilent",
      `The adapter of ${this.channelId} gave no sign of life.`,
    ).toRecord();
    this.endedFor = this.error;
    this.#deps.log.error({ channel: this.channelId, error: this.error }, "an adapter is silent and is ended");
    void this.#child.stop(PROCESS.killGraceMs);
  }

  #failed(frame: FromAdapter, error: unknown): void {
    this.endedFor = this.error = toErrorRecord(error);
    this.#deps.log.error(
      { channel: this.channelId, frame: frame.type, error: this.error },
      "a frame of the adapter could not be handled",
    );
    // Without a stored verdict or receipt the child may not go on: it is started anew and the database tells what is uncertain.
    void this.#child.stop(0);
  }
}

/** Who reads the acknowledgement of a tap. */
function tappedAt(channelId: string, frame: Inbound): ReadAt {
  const { place, sender } = frame.kind === "answer" ? frame : { place: null, sender: undefined };
  return { channelId, place: place ?? "", account: sender?.id };
}

/** A poll that failed without a reason counts all the same. */
function unexplained(): ErrorRecord {
  return new HoldpointError("channelUnreachable", "The poll failed without a reason.").toRecord();
}
