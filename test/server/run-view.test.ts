import { expect, test } from "vitest";
import { displayStatus } from "../../src/contracts/run-status.ts";
import type { RunListRow } from "../../src/state/store.ts";

const row: RunListRow = {
  runNo: 1,
  runId: "20261130T081731Z-deploy-7k3fa9x2",
  shortId: "7k3f",
  resourceNo: 1,
  workflow: "deploy",
  title: null,
  status: "running",
  paused: false,
  revision: 1,
  steps: 0,
  currentNode: null,
  queueStatus: "running",
  parkReason: null,
  queueError: null,
  availableAt: 0,
  ambiguousEffects: 0,
  pendingDecision: null,
  pendingCheckpoint: null,
  checkpointSummary: null,
  pendingSession: null,
  inTurn: false,
  wakeAt: null,
  sleepReason: null,
  error: null,
  createdAt: 0,
  updatedAt: 0,
  finishedAt: null,
};

// Terminal, ambiguous, paused, pending request, running, parked, queued.
test.each<[string, Partial<RunListRow>, string]>([
  [
    "a finished run stays finished, whatever is unsettled",
    { status: "completed", ambiguousEffects: 1, paused: true },
    "completed",
  ],
  ["doubt comes before pause", { ambiguousEffects: 1, paused: true, queueStatus: "parked" }, "ambiguous"],
  [
    "paused comes before waiting",
    { paused: true, status: "waiting", pendingDecision: "a91c4e", queueStatus: "parked" },
    "paused",
  ],
  ["a time that has not come is waiting", { status: "waiting", wakeAt: 1, queueStatus: "parked" }, "waiting"],
  ["an open question is waiting", { status: "waiting", pendingDecision: "a91c4e", queueStatus: "parked" }, "waiting"],
  [
    "an open checkpoint is waiting",
    { status: "waiting", pendingCheckpoint: "c-9f31c2", queueStatus: "parked" },
    "waiting",
  ],
  [
    "a step that waits for a session is waiting",
    { status: "waiting", pendingSession: "s-1", queueStatus: "parked" },
    "waiting",
  ],
  [
    "a session in a turn of its step is running, however long that takes",
    { status: "waiting", pendingSession: "s-1", inTurn: true, queueStatus: "parked" },
    "running",
  ],
  [
    "paused comes before a turn that has not ended",
    { status: "waiting", paused: true, pendingSession: "s-1", inTurn: true, queueStatus: "parked" },
    "paused",
  ],
  ["a starting runner is running", { queueStatus: "starting" }, "running"],
  ["a parked run without a question is parked", { queueStatus: "parked", parkReason: "runnerNoProgress" }, "parked"],
  [
    "a run that is reserved in a turn is queued",
    { status: "queued", queueStatus: "parked", parkReason: "turn" },
    "queued",
  ],
  ["a new run is queued", { status: "queued", queueStatus: "queued" }, "queued"],
])("%s", (_name, change, expected) => {
  expect(displayStatus({ ...row, ...change })).toBe(expected);
});
