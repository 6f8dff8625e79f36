/**
 * The workflow that a word on the command line means, with the nearest name when there is none.
 */
import { findWorkflow, type WorkflowFile } from "../contracts/discovery.ts";
import { HoldpointError, isHoldpointError } from "../contracts/errors.ts";
import { suggestion } from "../contracts/nearest.ts";

/** As `findWorkflow`; the error's remedy names the nearest workflow that would be found. */
export async function workflowNamed(given: string): Promise<WorkflowFile> {
  try {
    return await findWorkflow(given);
  } catch (error) {
    const names = isHoldpointError(error) ? error.details?.["names"] : undefined;
    if (!isHoldpointError(error) || !Array.isArray(names) || names.length === 0) throw error;
    const remedy = `${suggestion(given, names.map(String))} Or give a path to a .workflow.ts file.`;
    throw new HoldpointError(error.kind, error.message, {
      remedy,
      ...(error.details ? { details: error.details } : {}),
    });
  }
}
