/**
 * What only the workflow's own code can tell, without executing anything of a run: whether the approved files can be loaded here, and
 * what the author's functions say of a change of settings before it is stored.
 */
import { HoldpointError } from "../contracts/errors.ts";
import type { Judge } from "../contracts/protocol/runner.ts";
import { judgeSettings, whereOf } from "../workflow/engine/index.ts";
import { compileWorkflow } from "../workflow/index.ts";
import { loadWorkflow } from "./load.ts";

/**
 * Why the change may not be stored, with the author's words, or why the files cannot be loaded; null when it may, and they can.
 * Never rejects for what an author did.
 */
export async function judge({ change, ...files }: Judge): Promise<HoldpointError | null> {
  const loaded = await loadWorkflow({ ...files, input: null, inputParsed: true });
  if (loaded.kind !== "loaded") return loaded.error;
  if (change === null) return null;
  const scope = compileWorkflow(loaded.definition).scopes.get(change.mount);
  const settings = scope?.definition.settings;
  if (scope === undefined || settings === undefined)
    return new HoldpointError("settingsRefused", `The workflow has no settings at "${change.mount}".`);
  try {
    judgeSettings(settings, change, whereOf(scope.definition.name, change.mount));
    return null;
  } catch (error) {
    if (error instanceof HoldpointError) return error;
    throw error;
  }
}
