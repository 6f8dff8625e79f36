// An adapter that sends nothing at all is asked for a sign of life, and ended only when none comes.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { ADAPTER } from "../../src/contracts/limits.ts";
import type { FromAdapter, ToAdapter } from "../../src/contracts/protocol/channel.ts";
import { ChannelSession, type ChannelSessionDeps } from "../../src/server/channels/channel-session.ts";
import { SilenceWatch } from "../../src/server/channels/silence-watch.ts";
import type { Clock } from "../../src/server/ports.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Scene {
  pings = 0;
  ends = 0;
  readonly watch: SilenceWatch;
  readonly clock: Clock = {
    now: () => Date.now() + this.offset,
    timer: (at, wake) => {
      const entry = { at, wake };
      this.#wakes.push(entry);
      return { cancel: () => void (this.#wakes = this.#wakes.filter((one) => one !== entry)) };
    },
  };
  /** The server's clock, which may stand still or jump, unlike real time. */
  offset = 0;
  #wakes: { at: number; wake: () => void }[] = [];

  constructor() {
    this.watch = new SilenceWatch({
      clock: this.clock,
      ping: () => (this.pings += 1),
      onSilent: () => (this.ends += 1),
    });
  }

  async pass(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
    this.wake();
  }

  wake(): void {
    const due = this.#wakes.filter(({ at }) => at <= Date.now() + this.offset);
    this.#wakes = this.#wakes.filter((one) => !due.includes(one));
    for (const { wake } of due) wake();
  }
}

describe("a silent adapter", () => {
  test("is ended once, within two minutes", async () => {
    const scene = new Scene();
    await scene.pass(ADAPTER.silentMs);
    expect([scene.pings, scene.ends]).toEqual([1, 0]);
    await scene.pass(ADAPTER.signOfLifeMs);
    expect([scene.pings, scene.ends]).toEqual([1, 1]);
    expect(ADAPTER.silentMs + ADAPTER.signOfLifeMs).toBeLessThan(120_000);
    await scene.pass(1_000_000);
    expect(scene.ends).toBe(1);
  });

  test("that answers is left alone, and asked again after the next silence", async () => {
    const scene = new Scene();
    for (let times = 1; times <= 3; times += 1) {
      await scene.pass(ADAPTER.silentMs);
      expect(scene.pings).toBe(times);
      scene.watch.heard();
    }
    await scene.pass(ADAPTER.signOfLifeMs);
    expect(scene.ends).toBe(0);
  });

  test("that is heard of all the time is not asked", async () => {
    const scene = new Scene();
    for (let polls = 0; polls < 10; polls += 1) {
      await scene.pass(ADAPTER.silentMs - 1);
      scene.watch.heard();
    }
    expect(scene.pings).toBe(0);
  });
});

describe("a clock that jumps", () => {
  test("asks, and ends nothing before real time has passed without an answer", async () => {
    const scene = new Scene();
    scene.offset = 36 * 3_600_000;
    scene.wake();
    expect([scene.pings, scene.ends]).toEqual([1, 0]);
    scene.offset *= 2;
    scene.wake();
    expect(scene.ends).toBe(0);
    scene.watch.heard();
    await scene.pass(ADAPTER.signOfLifeMs);
    expect(scene.ends).toBe(0);
  });
});

test("a watch that was stopped ends nothing", async () => {
  const scene = new Scene();
  await scene.pass(ADAPTER.silentMs);
  scene.watch.stop();
  await scene.pass(10 * ADAPTER.signOfLifeMs);
  expect(scene.ends).toBe(0);
});

test("the session of an adapter asks it, tells why, and ends it when it does not answer", async () => {
  const scene = new Scene();
  scene.watch.stop();
  const sent: string[] = [];
  const stopped: number[] = [];
  let hear: (frame: FromAdapter) => void = () => undefined;
  const child = {
    port: { send: ({ type }: ToAdapter) => void sent.push(type), onFrame: (take: typeof hear) => (hear = take) },
    stop: (graceMs: number) => {
      stopped.push(graceMs);
      return new Promise(() => undefined);
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const conversations = { adapterGone() {} };
  const deps = { clock: scene.clock, log, conversations } as unknown as ChannelSessionDeps;
  const session = new ChannelSession(deps, "telegram:main", "a-1", child as never);
  await scene.pass(ADAPTER.silentMs);
  hear({ type: "pong" });
  await scene.pass(ADAPTER.silentMs);
  expect([sent, stopped]).toEqual([["ping", "ping"], []]);
  await scene.pass(ADAPTER.signOfLifeMs);
  expect(stopped).toHaveLength(1);
  expect(session.error).toMatchObject({ kind: "adapterSilent" });
  session.close();
});
