// One decision in the forms that tests need: as authored, as a request, as a card.

import {
  cardOf,
  normalizeRequest,
  type CardModel,
  type DecisionPolicy,
  type DecisionRequest,
} from "../../src/contracts/decision/index.ts";

/** Tuesday, 12:30 in Berlin. */
export const NOON = Date.parse("2026-12-01T11:30:00Z");
export const HOUR = 3_600_000;

export function authoredRequest(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    audience: "operator",
    title: "Approve the deployment",
    subject: { service: "shop-api", version: "4.12.0" },
    presentation: {
      schema: "holdpoint.decision-presentation.v1",
      summary: "shop-api 4.12.0 to production",
      blocks: [
        { kind: "section", title: "Changes" },
        { kind: "bullets", items: ["Three migrations, all reversible", "Cache keys renamed"] },
        {
          kind: "fields",
          items: [
            { label: "Repository", value: "shop-api" },
            { label: "Commit", value: "9f2c1e7" },
          ],
        },
      ],
    },
    choices: {
      approve: { label: "Approve" },
      replan: { label: "Replan", input: { name: "instructions", prompt: "What should change?", maxLength: 200 } },
      stop: { label: "Stop" },
    },
    onTimeout: { afterMs: 2 * HOUR, response: { choice: "stop" } },
    ...changes,
  };
}

export const BINDING = {
  runId: "20261201T113000Z-deploy-7k3fa9x2",
  workflowName: "deploy",
  nodeId: "gate",
  attemptId: "attempt-1",
  createdAt: NOON,
} as const;

export function exampleRequest(changes: Record<string, unknown> = {}, policy?: DecisionPolicy): DecisionRequest {
  return normalizeRequest(authoredRequest(changes), policy === undefined ? BINDING : { ...BINDING, policy });
}

export function exampleCard(changes: Record<string, unknown> = {}): CardModel {
  return cardOf(exampleRequest(changes), { runShortId: "7k3f", timeZone: "Europe/Berlin", audience: ["Ann"] });
}
