/** How a run stands, in lines for a person or a model. Pure. */
import * as words from "./pi.ts";
import { clean } from "../../terminal/layout.ts";
import { progressLine } from "./progress-line.ts";
import { deadlineLine, nextLines, resolutionLine } from "./story.ts";
import { duration } from "../../terminal/times.ts";
import { cutToUnits } from "../../../src/contracts/decision/graphemes.ts";
import { PI_TOOL } from "../../../src/contracts/limits.ts";
import type { RunView } from "../../../src/contracts/protocol/operations.ts";

export function statusLines(view: RunView): string[] {
  const { run } = view;
  const took = duration((run.finishedAt ?? run.updatedAt) - run.createdAt);
  const at = run.currentNode === null || run.finishedAt !== null ? "" : `, at ${clean(run.currentNode)}`;
  const lines = [
    `${words.runName(run.workflow, run.shortId)}: ${words.runWord(run.status)}${at} (${took}, revision ${run.revision})`,
  ];
  if (run.title !== null) lines.push(clean(run.title));
  if (view.error !== null) {
    lines.push(cutToUnits(clean(view.error.message), PI_TOOL.errorChars), clean(view.error.remedy));
  }
  for (const progress of view.progress) lines.push(progressLine(progress));
  for (const decision of view.decisions) {
    const stands = decision.status === "pending" ? deadlineLine(decision) : resolutionLine(decision);
    lines.push(`Decision ${decision.fingerprint}, ${clean(decision.title)}: ${stands}`);
  }
  for (const { nodeId, requestId, shortId, status, summary } of view.checkpoints) {
    if (status !== "pending") continue;
    lines.push(
      `Checkpoint ${shortId} at ${clean(nodeId)}${summary === null ? "" : `: ${clean(summary)}`} (request ${requestId})`,
    );
  }
  for (const { followUpId, orderNumber, prompt, status } of view.followUps)
    lines.push(`Follow-up ${orderNumber} ${status} (${followUpId}): ${clean(prompt)}`);
  if (view.finalOutput !== null)
    lines.push(`Result: ${cutToUnits(JSON.stringify(view.finalOutput), PI_TOOL.errorChars)}`);
  if (run.finishedAt === null) lines.push(...nextLines(view));
  return [...new Set(lines)];
}
