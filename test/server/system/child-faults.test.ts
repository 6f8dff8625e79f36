// The fault seam of children: which frame kills whom, with one point and with several.
import { expect, test } from "vitest";

import type { FramePort } from "../../../src/contracts/wire/frames.ts";
import type { ChildSpec } from "../../../src/server/ports.ts";
import { childFault, parseChildFault } from "../../../src/server/system/child-faults.ts";

interface Frame {
  readonly type: string;
}

/** Children of one server under the given points, what was struck, and what the server heard of each child. */
function server(...texts: string[]) {
  const struck: string[] = [];
  const seam = childFault(
    texts.map((text) => parseChildFault(text)),
    ({ text }) => struck.push(text),
  );
  const child = (kind: "runner" | "adapter") => {
    const heard: string[] = [];
    let says: (frame: Frame) => void = () => undefined;
    let alive = true;
    const port = { send: () => undefined, onFrame: (listener: typeof says) => (says = listener) };
    const watched = seam.watch({ kind } as ChildSpec<Frame>, port as unknown as FramePort<Frame, Frame>, () => {
      alive = false;
    });
    watched.onFrame(({ type }) => heard.push(type));
    return {
      heard,
      alive: () => alive,
      says: (type: string, more: object = {}) => says({ type, ...more }),
      isTold: (type: string) => watched.send({ type }),
    };
  };
  return { struck, child };
}

test("a frame that arrives is handled, a lost one and all after it are not, and one that is sent is out", () => {
  const heardOf = (fault: string) => {
    const { child, struck } = server(fault);
    const one = child("runner");
    one.says("ready");
    one.isTold("launch");
    one.says("advance");
    one.says("finish");
    expect(struck).toEqual([fault]);
    expect(one.alive()).toBe(false);
    return one.heard;
  };
  expect(heardOf("runner:in:advance")).toEqual(["ready", "advance", "finish"]);
  expect(heardOf("runner:lost:advance")).toEqual(["ready"]);
  expect(heardOf("runner:out:launch")).toEqual(["ready", "advance", "finish"]);
});

test("of several points each is reached once, by a child that lives, and no other kind of child is struck", () => {
  const { child, struck } = server("runner:in:ready:2", "runner:lost:advance", "runner:in:advance", "adapter:in:ready");
  const first = child("runner");
  first.says("ready");
  first.says("advance");
  // What the dead one left in its pipe.
  first.says("advance");
  first.says("ready");
  const second = child("runner");
  second.says("ready");
  const third = child("runner");
  third.says("advance");
  expect(struck).toEqual(["runner:lost:advance", "runner:in:ready:2", "runner:in:advance"]);
  const telegram = child("adapter");
  expect(telegram.alive()).toBe(true);
  telegram.says("ready");
  expect(telegram.alive()).toBe(false);
  const other = child("adapter");
  other.says("ready");
  expect(other.alive()).toBe(true);
});

test("steps that settle one action and reserve the next are a kind of their own", () => {
  const { child, struck } = server("runner:lost:advance.betweenActions");
  const one = child("runner");
  one.says("advance");
  one.says("advance", { reserve: {} });
  one.says("advance", { settle: {} });
  expect(one.alive()).toBe(true);
  one.says("advance", { settle: {}, reserve: {} });
  expect(struck).toEqual(["runner:lost:advance.betweenActions"]);
  expect(one.heard).toHaveLength(3);
});
