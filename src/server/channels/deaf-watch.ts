/**
 * Notices channels that hear nothing and has it told over another channel, once, and again when they hear. It judges only by what
 * adapters report: polls that hang end by their own guard, in real time.
 */
import type { DeafCause } from "../../contracts/decision/codes.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import { DEAF } from "../../contracts/limits.ts";
import type { Store } from "../../state/store.ts";
import type { AccessSource, Wake } from "../context.ts";
import type { Clock, Log, Timer } from "../ports.ts";
import { Ear, type EarVerdict } from "./ear.ts";

export interface DeafWatchDeps {
  readonly store: Pick<Store, "channels" | "read">;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Pick<Wake, "channels">;
  readonly access: AccessSource;
}

interface Watched {
  readonly ear: Ear;
  timer: Timer | undefined;
  storing: boolean;
}

export class DeafWatch {
  readonly #deps: DeafWatchDeps;
  readonly #watched = new Map<string, Watched>();
  #stopped = false;

  constructor(deps: DeafWatchDeps) {
    this.#deps = deps;
  }

  /** A poll of the channel ended: well (`null`), or with this error. */
  polled(channelId: string, error: ErrorRecord | null): void {
    const { clock } = this.#deps;
    const watched = this.#of(channelId);
    if (error === null) watched.ear.good(clock.now());
    else watched.ear.failed(clock.now(), causeOf(error));
    this.#look(channelId, watched);
  }

  /** Its adapter ended by itself. */
  ended(channelId: string): void {
    const watched = this.#of(channelId);
    watched.ear.failed(this.#deps.clock.now(), "adapter");
    this.#look(channelId, watched);
  }

  /** It is not asked for any more. */
  forget(channelId: string): void {
    this.#watched.get(channelId)?.timer?.cancel();
    this.#watched.delete(channelId);
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#watched.values()) timer?.cancel();
  }

  #of(channelId: string): Watched {
    const found = this.#watched.get(channelId);
    if (found !== undefined) return found;
    const { clock, store } = this.#deps;
    const ear = new Ear(store.read.channels.deafness(channelId), clock.now());
    const watched: Watched = { ear, timer: undefined, storing: false };
    this.#watched.set(channelId, watched);
    return watched;
  }

  #look(channelId: string, watched: Watched): void {
    watched.timer?.cancel();
    if (this.#stopped || watched.storing || this.#watched.get(channelId) !== watched) return;
    const { clock } = this.#deps;
    const verdict = watched.ear.verdict(clock.now());
    if (verdict !== null) return void this.#note(channelId, watched, verdict);
    const at = watched.ear.nextLook(clock.now());
    if (at !== null) watched.timer = this.#timer(at, channelId, watched);
  }

  /** Stores what is new and has it told; looks again afterwards. */
  async #note(channelId: string, watched: Watched, verdict: EarVerdict): Promise<void> {
    const { access, clock, log, store, wake } = this.#deps;
    watched.storing = true;
    try {
      const deaf = verdict.kind === "deaf" ? { since: verdict.since, cause: verdict.cause } : null;
      const { told } = await store.channels.hearing({ channelId, deaf, access: access() });
      watched.ear.told(verdict);
      if (deaf === null) log.info({ channel: channelId, told }, "the channel hears again");
      else log.error({ channel: channelId, ...deaf, told }, "the channel hears nothing");
      wake.channels();
      watched.storing = false;
      this.#look(channelId, watched);
    } catch (error) {
      watched.storing = false;
      log.error({ channel: channelId, error: String(error) }, "the hearing of a channel could not be noted");
      // Meanwhile it may have been forgotten, and then nobody looks any more.
      const wanted = !this.#stopped && this.#watched.get(channelId) === watched;
      if (wanted) watched.timer = this.#timer(clock.now() + DEAF.againMs, channelId, watched);
    }
  }

  #timer(at: number, channelId: string, watched: Watched): Timer {
    const { clock } = this.#deps;
    return clock.timer(at, () => {
      const now = clock.now();
      if (now < at) {
        // Long sleeps are cut: it was only a wake-up.
        watched.timer = this.#timer(at, channelId, watched);
        return;
      }
      if (now - at > DEAF.sleptMs) watched.ear.rebase(now);
      this.#look(channelId, watched);
    });
  }
}

function causeOf({ kind }: ErrorRecord): DeafCause {
  if (kind === "channelConflict") return "conflict";
  return kind === "tokenRefused" || kind === "tokenFile" ? "token" : "unreachable";
}
