/**
 * The deadline: what the timeout policy decides, by the server's clock inside the command. A timer only asks; an answer that
 * comes too late asks as well, so that nobody waits for a slow timer.
 */
import { acceptedAnswer } from "../../contracts/decision/input.ts";
import type { DecisionRequest } from "../../contracts/decision/request.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { mayTimeOut, timeoutResolution } from "../../decision/index.ts";
import { defineCommand } from "../command.ts";
import { continueFrom, failWaiting } from "../runs/waiting.ts";
import type { Tx } from "../tx.ts";
import { outageOf, type Access } from "./access.ts";
import { resolveDecision } from "./resolve.ts";
import { knownDecision, requestOf, resolutionOf, type DecisionRow } from "./rows.ts";
import { recordSubmission } from "./submissions.ts";

const ACTOR = { type: "policy", id: "timeout" } as const;

export interface ExpireResult {
  /** `notDue`: the deadline is still to come, or answers from an outage are still waited for. */
  readonly kind: "timedOut" | "expired" | "alreadyDecided" | "notDue";
  readonly decisionId: string;
  readonly provenance: string | null;
  readonly runNo: number;
}

/** Applies the timeout policy to a decision if it may decide now; `alreadyDecided` when somebody was first. */
export const expire = defineCommand(
  "decisions.expire",
  (tx: Tx, input: { decisionId: string; access: Access }): ExpireResult => {
    const decision = knownDecision(tx, input.decisionId);
    const { decisionId, runNo } = decision;
    if (decision.status !== "pending") {
      return {
        kind: "alreadyDecided",
        decisionId,
        provenance: resolutionOf(tx, decision)?.resolution.provenance ?? null,
        runNo,
      };
    }
    const request = requestOf(tx, decision);
    if (!mayTimeOut(request, tx.now, outageOf(input.access)))
      return { kind: "notDue", decisionId, provenance: null, runNo };
    const provenance = expireDecision(tx, decision, request);
    return { kind: provenance === "timeout_policy" ? "timedOut" : "expired", decisionId, provenance, runNo };
  },
);

/** Resolves a pending decision whose time is up: the default continues the run; without one the run ends, saying why. */
export function expireDecision(
  tx: Tx,
  decision: DecisionRow,
  request: DecisionRequest,
): "timeout_policy" | "expired_no_default" {
  const resolution = timeoutResolution(request, tx.now);
  const { choice, input, provenance } = resolution;
  recordSubmission(tx, {
    decisionNo: decision.decisionNo,
    source: "policy",
    choice,
    input: input ?? null,
    outcome: "won",
    reason: provenance,
  });
  resolveDecision(tx, decision, resolution, { actor: ACTOR });
  if (choice === null) {
    const deadline = new Date(request.expiresAt ?? tx.now).toISOString();
    const error = new HoldpointError(
      "decisionExpired",
      `Nobody answered "${request.title}" (${decision.fingerprint}) by ${deadline}, and it has no default.`,
      {
        details: { decisionId: decision.decisionId, nodeId: decision.nodeId, deadlineAt: request.expiresAt ?? null },
      },
    );
    failWaiting(tx, decision.runNo, { error: error.toRecord(), actor: ACTOR });
    return "expired_no_default";
  }
  continueFrom(tx, decision.runNo, {
    cause: { type: "decision", id: decision.decisionId },
    output: acceptedAnswer(request.choices, choice, input),
    actor: ACTOR,
  });
  return "timeout_policy";
}
