import { beforeEach, describe, expect, test } from "vitest";
import { DECISION, LEASE } from "../../src/contracts/limits.ts";
import { Hearing } from "../../src/server/hearing.ts";
import type { Log } from "../../src/server/ports.ts";
import { ControlledClock } from "../../src/server/system/controlled-clock.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const START = 1_000_000;

describe("after a silence", () => {
  let clock: ControlledClock;
  let channels: string[];
  let opened: number[];
  let hearing: Hearing;
  beforeEach(() => {
    clock = new ControlledClock(START);
    opened = [];
    channels = ["telegram:a"];
    hearing = new Hearing(
      clock,
      silent,
      () => channels,
      () => opened.push(clock.now()),
    );
  });

  test("timeouts wait until every channel has handed over its backlog", () => {
    channels = ["telegram:a", "telegram:b"];
    hearing.begin(START - 60_000);
    expect(hearing.outage).toEqual({ from: START - 60_000, to: START });
    hearing.heard("telegram:a", false);
    hearing.heard("telegram:a", true);
    expect(hearing.waiting).toBe(true);
    hearing.heard("telegram:b", true);
    expect(hearing.waiting).toBe(false);
    expect(opened).toEqual([START]);
  });

  test("a channel that stays deaf holds timeouts up for the grace time only", async () => {
    hearing.begin(START - 60_000);
    await clock.advance(DECISION.graceMs - 1);
    expect(hearing.waiting).toBe(true);
    await clock.advance(1);
    expect(opened).toEqual([START + DECISION.graceMs]);
  });

  test("without channels nothing waits", () => {
    channels = [];
    hearing.begin(START - 60_000);
    expect(hearing.waiting).toBe(false);
  });

  test("a late heartbeat is a sleep, a punctual one is not", async () => {
    await clock.advance(LEASE.renewMs);
    hearing.tick();
    expect(hearing.waiting).toBe(false);
    await clock.advance(3_600_000);
    hearing.tick();
    expect(hearing.outage).toEqual({ from: START + LEASE.renewMs, to: START + LEASE.renewMs + 3_600_000 });
  });
});
