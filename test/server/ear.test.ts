// When a channel counts as deaf, and when it hears again: noticed within two minutes, told once, not upset by a restart or a sleep.

import { describe, expect, test } from "vitest";

import { DEAF, TELEGRAM } from "../../src/contracts/limits.ts";
import { Ear, type EarVerdict } from "../../src/server/channels/ear.ts";

const START = 1_000_000;
const MINUTE = 60_000;

/** What is told over time, when every wake-up comes exactly as asked for. */
class Listener {
  readonly ear: Ear;
  now = START;
  readonly told: (EarVerdict & { at: number })[] = [];

  constructor(known: ConstructorParameters<typeof Ear>[0] = null) {
    this.ear = new Ear(known, START);
  }

  poll(how: "good" | Parameters<Ear["failed"]>[1]): void {
    if (how === "good") this.ear.good(this.now);
    else this.ear.failed(this.now, how);
    this.#look();
  }

  wait(ms: number): void {
    const until = this.now + ms;
    for (let at = this.ear.nextLook(this.now); at !== null && at <= until; at = this.ear.nextLook(this.now)) {
      this.now = at;
      this.#look();
    }
    this.now = until;
  }

  #look(): void {
    const verdict = this.ear.verdict(this.now);
    if (verdict === null) return;
    this.told.push({ ...verdict, at: this.now });
    this.ear.told(verdict);
  }
}

describe("polls that fail", () => {
  test("for a minute: told once, then told once that it hears", () => {
    const channel = new Listener();
    channel.poll("good");
    channel.wait(MINUTE);
    const since = channel.now;
    for (let n = 0; n < 20; n += 1) {
      channel.poll("unreachable");
      channel.wait(30_000);
    }
    const until = channel.now;
    channel.poll("good");
    channel.wait(10 * MINUTE);
    expect(channel.told).toEqual([
      { kind: "deaf", since, cause: "unreachable", at: since + DEAF.afterMs },
      { kind: "hears", at: until },
    ]);
    // A poll that hangs from the beginning fails by its guard; both together stay below two minutes.
    expect(TELEGRAM.pollTimeoutMs + DEAF.afterMs).toBeLessThan(2 * MINUTE);
  });

  test("a short outage is not told; nor is one that has ended before anybody looked", () => {
    const channel = new Listener();
    for (let n = 0; n < 10; n += 1) {
      channel.poll("unreachable");
      channel.wait(DEAF.afterMs - 1);
      channel.poll("good");
      channel.wait(1);
    }
    channel.wait(10 * MINUTE);
    expect(channel.told).toEqual([]);
  });

  test("a refused token and an adapter that keeps ending are told as what they are", () => {
    for (const cause of ["token", "adapter"] as const) {
      const channel = new Listener();
      channel.poll(cause);
      channel.wait(2 * MINUTE);
      expect(channel.told).toEqual([{ kind: "deaf", since: START, cause, at: START + DEAF.afterMs }]);
    }
  });

  test("a machine that slept through them starts counting anew", () => {
    const channel = new Listener();
    channel.poll("unreachable");
    channel.now += 8 * 60 * MINUTE;
    channel.ear.rebase(channel.now);
    expect(channel.ear.verdict(channel.now)).toBeNull();
    channel.poll("unreachable");
    channel.wait(DEAF.afterMs);
    expect(channel.told).toMatchObject([{ kind: "deaf", since: START + 8 * 60 * MINUTE }]);
  });
});

describe("another program that takes the updates", () => {
  test("is told although every other poll succeeds, and is over only when nothing was heard of it for two minutes", () => {
    const channel = new Listener();
    for (let n = 0; n < 5; n += 1) {
      channel.poll("conflict");
      channel.wait(TELEGRAM.conflictWaitMs);
      channel.poll("good");
      channel.wait(5_000);
    }
    const last = channel.now - 5_000 - TELEGRAM.conflictWaitMs;
    for (let n = 0; n < 10; n += 1) {
      channel.poll("good");
      channel.wait(25_000);
    }
    expect(channel.told).toEqual([
      { kind: "deaf", since: START, cause: "conflict", at: START + MINUTE },
      { kind: "hears", at: last + DEAF.conflictQuietMs },
    ]);
  });

  test("one 409, left over from a poll of our own before a crash, is nobody else", () => {
    const channel = new Listener();
    channel.poll("conflict");
    channel.wait(TELEGRAM.conflictWaitMs + 25_000);
    channel.poll("good");
    channel.wait(10 * MINUTE);
    expect(channel.told).toEqual([]);
  });
});

describe("after a restart of the server", () => {
  test("what was told is not told again, and its end is", () => {
    const channel = new Listener({ since: START - MINUTE, cause: "unreachable" });
    channel.poll("unreachable");
    channel.wait(10 * MINUTE);
    expect(channel.told).toEqual([]);
    channel.poll("good");
    expect(channel.told).toEqual([{ kind: "hears", at: channel.now }]);
  });

  test("a fight for the updates may still go on: a first good poll does not end it", () => {
    const channel = new Listener({ since: START - MINUTE, cause: "conflict" });
    channel.poll("good");
    expect(channel.told).toEqual([]);
    channel.wait(DEAF.conflictQuietMs);
    expect(channel.told).toMatchObject([{ kind: "hears" }]);
  });
});
