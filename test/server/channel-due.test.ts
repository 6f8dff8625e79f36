// A message that has to wait for its time goes out then, whatever happened while that was looked up.

import { expect, test } from "vitest";
import type { FromAdapter, ToAdapter } from "../../src/contracts/protocol/channel.ts";
import { ChannelSession, type ChannelSessionDeps } from "../../src/server/channels/channel-session.ts";
import { ControlledClock } from "../../src/server/system/controlled-clock.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a message that becomes due while it is found not to be due is sent all the same", async () => {
  const clock = new ControlledClock(1_000);
  const sent: string[] = [];
  let hear: (frame: FromAdapter) => void = () => undefined;
  const due = 1_002;
  let waits = true;
  const store = {
    effects: {
      nextAttempt: async () => {
        const found = waits && clock.now() >= due;
        if (found) waits = false;
        // The answer comes after its commit, which took a while.
        else if (waits) await clock.advance(5);
        return { perform: found ? { type: "perform", effectId: "effect-1" } : null, refused: false };
      },
    },
    read: {
      channels: { nextDueAt: (_channel: string, after: number = clock.now()) => (waits && due > after ? due : null) },
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const deps = { clock, log, store, access: () => null, conversations: { adapterGone() {} } };
  const child = {
    port: { send: ({ type }: ToAdapter) => void sent.push(type), onFrame: (take: typeof hear) => (hear = take) },
    stop: () => Promise.resolve(),
  };
  const session = new ChannelSession(deps as unknown as ChannelSessionDeps, "telegram:main", "a-1", child as never);
  hear({ type: "ready", account: { id: "1", name: "bot" } } as never);
  await turn();
  await clock.advance(0);
  await turn();
  expect(sent).toEqual(["perform"]);
  session.close();
});
