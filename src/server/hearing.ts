/**
 * Whether the service heard its channels: after a start or a wake-up, overdue timeouts wait until every channel handed over its
 * backlog or the grace time has passed, and answers from that window count for deadlines that fell into the silence.
 */
import { DECISION, LEASE } from "../contracts/limits.ts";
import type { Outage } from "./context.ts";
import type { Clock, Log, Timer } from "./ports.ts";

/** A look this much later than the beat that was due means that the process was not running: asleep, frozen, or its clock jumped. */
const SLEPT_MS = LEASE.renewMs + 5_000;

export class Hearing {
  #outage: Outage | null = null;
  #waitingFor = new Set<string>();
  #lastTick: number;
  #timer: Timer | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #channels: () => readonly string[];
  readonly #onOpen: () => void;

  /** `channels` are those that have to be heard; `onOpen` is called when overdue timeouts may be applied again. */
  constructor(clock: Clock, log: Log, channels: () => readonly string[], onOpen: () => void) {
    this.#clock = clock;
    this.#log = log;
    this.#channels = channels;
    this.#onOpen = onOpen;
    this.#lastTick = clock.now();
  }

  /** The silence that answers may still refer to, or null. */
  get outage(): Outage | null {
    return this.#outage;
  }

  /** True while timeouts have to wait. */
  get waiting(): boolean {
    return this.#outage !== null;
  }

  /** A silence since `from` ends now; the channels have to hand over what they kept. */
  begin(from: number): void {
    const now = this.#clock.now();
    const channels = this.#channels();
    if (channels.length === 0 || from >= now) return;
    this.#outage = { from: this.#outage?.from ?? from, to: now };
    this.#waitingFor = new Set(channels);
    this.#timer?.cancel();
    this.#timer = this.#clock.timer(now + DECISION.graceMs, () => this.#end("the grace time has passed"));
    this.#log.info({ from, to: now, channels }, "timeouts wait for the channels' backlog");
  }

  /** A poll of the channel came back; `drained` when nothing more was waiting. */
  heard(channelId: string, drained: boolean): void {
    if (!this.#outage || !drained) return;
    this.#waitingFor.delete(channelId);
    if (this.#waitingFor.size === 0) this.#end("every channel has handed over its backlog");
  }

  /** Called with each heartbeat and before any timeout is applied; notices that the process did not run for a while. */
  tick(): void {
    const now = this.#clock.now();
    const last = this.#lastTick;
    this.#lastTick = now;
    if (now - last > SLEPT_MS) this.begin(last);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #end(why: string): void {
    if (!this.#outage) return;
    if (this.#timer) this.#timer.cancel();
    this.#outage = null;
    this.#log.info({ why }, "timeouts apply again");
    this.#onOpen();
  }
}
