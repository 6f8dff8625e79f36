// Records as a server would show them, for tests; every field is valid, the interesting ones can be given.

import type {
  DecisionSummary,
  EffectSummary,
  RunSummary,
  RunView,
  ServerStatus,
} from "../../src/contracts/protocol/operations.ts";

/** 2026-11-30 12:00:00 UTC */
export const NOON = Date.UTC(2026, 10, 30, 12, 0, 0);

export function runSummary(part: Partial<RunSummary> = {}): RunSummary {
  return {
    runId: "20261130T120000Z-deploy-7k3fa9x2",
    shortId: "7k3f",
    workflow: "deploy",
    title: "shop-api 4.12.0",
    status: "running",
    reason: null,
    revision: 3,
    currentNode: "plan",
    steps: 1,
    createdAt: NOON,
    updatedAt: NOON + 1_000,
    finishedAt: null,
    wakeAt: null,
    ...part,
  };
}

export function runView(run: Partial<RunSummary> = {}, part: Partial<RunView> = {}): RunView {
  return {
    schema: "holdpoint.run-view.v1",
    run: runSummary(run),
    workflowPath: "/srv/deploy.workflow.ts",
    definitionDigest: null,
    continuations: 0,
    input: { service: "shop-api" },
    finalOutput: null,
    error: null,
    outputs: {},
    timeline: [],
    timelineCut: false,
    decisions: [],
    effects: [],
    checkpoints: [],
    progress: [],
    updates: { published: 0, current: 0 },
    followUps: [],
    lineage: { restartOf: null, restartNumber: 0, restartedAs: null },
    processes: [],
    nextStep: null,
    ...part,
  };
}

export function decisionSummary(part: Partial<DecisionSummary> = {}): DecisionSummary {
  return {
    decisionId: "decision-1",
    fingerprint: "a91c4e",
    runId: runSummary().runId,
    runShortId: "7k3f",
    workflow: "deploy",
    nodeId: "approve",
    title: "Approve the deployment",
    audience: "operators",
    choices: [
      { id: "approve", label: "Approve", input: false },
      { id: "replan", label: "Replan", input: true },
      { id: "stop", label: "Stop", input: false },
    ],
    status: "pending",
    deadlineAt: NOON + 7_200_000,
    defaultChoice: "stop",
    createdAt: NOON,
    policy: {
      quorum: 1,
      veto: [],
      votes: [],
      everybodyVoted: false,
      channels: [],
      assurance: null,
      reminders: null,
      escalation: null,
    },
    notes: [],
    destinations: [{ destination: "telegram:default/1001", effectId: "effect-1", status: "applied", shown: 1 }],
    decideWith: null,
    resolution: null,
    ...part,
  };
}

export function effectSummary(part: Partial<EffectSummary> = {}): EffectSummary {
  return {
    effectId: "effect-9f31c2",
    shortId: "e-9f31c2",
    purpose: "action",
    type: "deploy",
    status: "applied",
    runId: runSummary().runId,
    decisionFingerprint: null,
    destination: null,
    attempts: 1,
    nextAttemptAt: null,
    createdAt: NOON,
    settledAt: NOON + 2_000,
    error: null,
    settleWith: null,
    ...part,
  };
}

export function serverStatus(part: Partial<ServerStatus> = {}): ServerStatus {
  return {
    state: "running",
    product: "0.1.0",
    pid: 4_242,
    epoch: 7,
    home: "/home/ann/.holdpoint",
    startedAt: NOON,
    now: NOON + 60_000,
    runs: { running: 1, waiting: 2 },
    pendingDecisions: 2,
    ambiguousEffects: 0,
    runners: [],
    resources: { count: 0, queued: 0, passes: [], idleRunners: 0 },
    channels: [],
    clients: 1,
    capacity: 4,
    configError: null,
    crashes: [],
    ...part,
  };
}
