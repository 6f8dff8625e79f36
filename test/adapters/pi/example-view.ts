/** A view of a session whose run asks something: ten nodes, progress, one decision. */
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import { exampleCard, NOON } from "../../decision/examples.ts";

export function exampleView(): SessionView {
  const card = exampleCard();
  const nodes = Array.from({ length: 10 }, (_, index) => ({
    nodeId: index === 5 ? "approve" : `node-${index}`,
    type: index === 5 ? "humanDecision" : "action",
    status: index < 5 ? ("done" as const) : index === 5 ? ("waiting" as const) : ("pending" as const),
    visits: index <= 5 ? 1 : 0,
  }));
  return {
    schema: "holdpoint.session-view.v1",
    sessionId: "s-1",
    number: 1,
    at: NOON + 60_000,
    run: {
      summary: {
        runId: "run-1-7k3faaaa",
        shortId: "7k3f",
        workflow: "deploy",
        title: "shop-api 4.12.0",
        status: "waiting",
        reason: null,
        revision: 1,
        currentNode: "approve",
        steps: 6,
        createdAt: NOON,
        updatedAt: NOON,
        finishedAt: null,
        wakeAt: null,
      },
      paused: false,
      reserved: false,
      progress: [],
      nextCheckAt: null,
      followUps: [],
      nodes,
      firstNode: 0,
      nodesTotal: nodes.length,
    },
    request: null,
    decisions: [
      {
        messageId: "m-1",
        decisionId: card.requestId,
        fingerprint: card.fingerprint,
        requestDigest: card.requestDigest,
        answerable: true,
        refusedBecause: null,
        shownAt: NOON,
        card,
        state: { status: { kind: "pending" } },
      },
    ],
    openTurn: null,
    waiting: 0,
  };
}
