// The recorder in the extension: links lead to entries that are sent before them, what is too much is counted, and no error of it leaves it.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Life } from "../../../adapters/pi/extension/life.ts";
import type { PiContext, PiEntry, PiMessage } from "../../../adapters/pi/extension/pi-api.ts";
import { Recorder } from "../../../adapters/pi/extension/recorder.ts";
import { PI_CAPTURE } from "../../../src/contracts/limits.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { LinkReport } from "../../../src/contracts/protocol/pi-link.ts";

type Capture = Extract<LinkReport, { type: "capture" }>;

let life: Life;
let entries: PiEntry[];
let sent: Capture[];
let reply: { ok: boolean };
let live: boolean;
let recorder: Recorder;
let arrived: () => void;

beforeEach(() => {
  life = new Life();
  entries = [{ id: "old", type: "message", message: { role: "user", content: "before" } }];
  sent = [];
  reply = { ok: true };
  live = true;
  arrived = () => undefined;
  const sessionManager = { getEntries: () => entries, getBranch: () => entries };
  life.see({ sessionManager } as unknown as PiContext);
  const ask = (frame: Capture): Promise<{ ok: boolean }> => {
    sent.push(frame);
    arrived();
    return Promise.resolve(reply);
  };
  recorder = new Recorder({
    life,
    instance: "i-1",
    link: () => ({ ask, last: ask, live }) as never,
    turn: () => undefined,
  });
});
afterEach(() => life.end());

const view = (runId: string | null, finishedAt: number | null = null): SessionView =>
  ({ run: runId === null ? null : { summary: { runId, finishedAt } } }) as unknown as SessionView;

/** Waits until so many records were sent. */
async function records(count: number): Promise<Capture["records"]> {
  for (;;) {
    const all = sent.flatMap((frame) => frame.records);
    if (all.length >= count) return all;
    await new Promise<void>((resolve) => (arrived = resolve));
  }
}

function says(id: string, text: string): void {
  const message: PiMessage = { role: "assistant", content: text, stopReason: "stop" };
  recorder.event("message_start", { message });
  recorder.event("message_end", { message });
  entries.push({ id, type: "message", message });
}

test("entries are kept word for word, and a message's link leads to one that was sent before it", async () => {
  recorder.event("turn_start", {});
  recorder.follow(view("run-1"));
  recorder.event("turn_start", {});
  says("e-1", "hello");
  recorder.event("message_update", {
    assistantMessageEvent: { type: "text_delta", delta: "h", partial: { all: "of it" } },
  });
  const all = await records(5);
  expect(all.map(({ entryId, kind }) => [kind, entryId])).toEqual([
    ["entry", "e-1"],
    ["turn_started", null],
    ["message_started", null],
    ["message_finished", "e-1"],
    ["assistant_event", null],
  ]);
  expect(all[0]?.data).toEqual(entries[1]);
  expect(all[4]?.data).toEqual({ type: "text_delta", delta: "h" });
  expect(sent[0]).toMatchObject({ runId: "run-1", instance: "i-1", first: 0, before: ["old"], dropped: 0 });
});

test("nothing is recorded before a run and after it; what it waits for, and its view alone, end nothing", async () => {
  recorder.follow(view("run-1"));
  recorder.follow(view("run-1"));
  recorder.event("turn_start", {});
  await records(1);
  recorder.event("turn_end", {});
  await records(2);
  expect(sent.map(({ first }) => first)).toEqual([0, 1]);
  recorder.follow(view("run-1", 5));
  recorder.event("turn_start", {});
  recorder.follow(view("run-2"));
  recorder.event("turn_start", {});
  await records(3);
  expect(sent.map(({ first, runId }) => [runId, first])).toEqual([
    ["run-1", 0],
    ["run-1", 1],
    ["run-2", 0],
  ]);
});

test("an entry of which no event tells is recorded when it is told of, not when something else happens", async () => {
  recorder.follow(view("run-1"));
  entries.push({ id: "card", type: "custom_message", customType: "holdpoint-decision" });
  recorder.entries();
  expect((await records(1)).map(({ entryId, kind }) => [kind, entryId])).toEqual([["entry", "card"]]);
});

test("what is too much is counted, and what is too large says how large it was", async () => {
  live = false;
  recorder.follow(view("run-1"));
  const text = "x".repeat(PI_CAPTURE.recordBytes);
  entries.push({ id: "large", type: "message", message: { role: "user", content: text } });
  for (let i = 0; i < PI_CAPTURE.queueRecords + 10; i += 1) recorder.event("turn_start", {});
  live = true;
  recorder.settled();
  const all = await records(PI_CAPTURE.queueRecords);
  expect(sent.reduce((sum, { dropped }) => sum + dropped, 0)).toBeGreaterThanOrEqual(10);
  expect(sent.every((frame) => frame.records.length <= 256)).toBe(true);
  expect(all.find(({ entryId }) => entryId === "large")?.data ?? { omittedBytes: 0 }).toHaveProperty("omittedBytes");
});

test("a server that refuses, and an error of the recorder, end the recording of this run and nothing else", async () => {
  reply = { ok: false };
  recorder.follow(view("run-1"));
  recorder.event("turn_start", {});
  await records(1);
  await new Promise((resolve) => setImmediate(resolve));
  recorder.event("turn_end", {});
  recorder.follow(view("run-1"));
  recorder.event("turn_end", {});
  reply = { ok: true };
  recorder.follow(view("run-2"));
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  expect(() => recorder.event("message_update", { assistantMessageEvent: circular })).not.toThrow();
  expect(life.troubles.at(-1)).toMatch(/^recording: /);
  recorder.follow(view("run-3"));
  recorder.event("turn_start", {});
  await records(2);
  expect(sent.map(({ runId }) => runId)).toEqual(["run-1", "run-3"]);
});

test("the end of the session sends what is left", () => {
  recorder.follow(view("run-1"));
  recorder.event("turn_start", {});
  recorder.end();
  expect(sent).toHaveLength(1);
});
