/** How often something may happen in a minute, by name, on the server's clock. Names that are quiet are forgotten. */
const MINUTE_MS = 60_000;

export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Takes one turn; false when there is none left. */
  take(name: string): boolean {
    const now = this.#now();
    const bucket = this.#buckets.get(name) ?? { left: this.#perMinute, at: now };
    const gained = (Math.max(0, now - bucket.at) * this.#perMinute) / MINUTE_MS;
    const left = Math.min(this.#perMinute, bucket.left + gained);
    if (this.#buckets.size > 10_000) this.#forget(now);
    this.#buckets.set(name, { left: left >= 1 ? left - 1 : left, at: now });
    return left >= 1;
  }

  #forget(now: number): void {
    for (const [name, { at }] of this.#buckets) if (now - at > MINUTE_MS) this.#buckets.delete(name);
  }
}
