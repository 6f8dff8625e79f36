/** `interactions.update`: the agent of a session tells how its step goes, as a running node would. */
import type { UpdateEnvelope, UpdateReceipt } from "../../contracts/update.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";
import { openAttempt, runByNo } from "../runs/rows.ts";
import { known, store } from "../updates/publish.ts";
import { requestOf } from "./submit.ts";

export interface UpdateInput {
  readonly session: string;
  readonly requestId: string;
  /** Id of the tool call: the same is stored once. */
  readonly key: string;
  readonly envelope: UpdateEnvelope;
}

/** Throws `submissionRefused` for a request that is not this session's, and `updateRefused` for one that is over. */
export const update = defineCommand("interactions.update", (tx, input: UpdateInput): UpdateReceipt => {
  const request = requestOf(tx, input);
  const run = runByNo(tx, request.runNo);
  const before = known(tx, run, input.key);
  if (before !== undefined) return before;
  const open = openAttempt(tx, run);
  if (request.status !== "pending" || open?.nodeId !== request.nodeId || open.visit !== request.visit)
    throw new HoldpointError("updateRefused", `The step "${request.nodeId}" is over; its updates come too late.`);
  return store(tx, run, open.attemptNo, input.envelope, input.key);
});
