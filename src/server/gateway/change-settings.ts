/** A change of settings from the request to the disk: the workflow's own functions judge it first, where there are any. */
import { fromErrorRecord, isHoldpointError } from "../../contracts/errors.ts";
import { SETTINGS } from "../../contracts/limits.ts";
import type { Proposal, Store } from "../../state/store.ts";
import type { ServerCore } from "../core.ts";

type Input = Parameters<Store["settings"]["change"]>[0];

/**
 * Stores the change if it is valid and was made for what stands. A change for "whichever version is the present one" is judged again
 * when another one came between.
 *
 * @throws HoldpointError what `settings.change` and the judge throw; nothing is stored then.
 */
export async function changeSettings(
  core: ServerCore,
  input: Omit<Input, "judged">,
): Promise<Awaited<ReturnType<Store["settings"]["change"]>>> {
  const { store } = core.options;
  for (let again: number = SETTINGS.judgeAgain; ; again -= 1) {
    const proposal = store.read.settings.proposal(input);
    // oxlint-disable-next-line no-await-in-loop -- each judgement is of what the one before was refused for
    if (proposal !== null) await judge(core, proposal);
    try {
      // oxlint-disable-next-line no-await-in-loop
      return await store.settings.change({ ...input, judged: proposal?.judged ?? null });
    } catch (error) {
      const overtaken = isHoldpointError(error) && error.kind === "settingsChanged";
      if (!overtaken || input.expectedChangeNumber !== null || again === 0) throw error;
    }
  }
}

async function judge(core: ServerCore, { judged: _judged, ...question }: Proposal): Promise<void> {
  const refusal = await core.judge.ask(question);
  if (refusal !== null) throw fromErrorRecord(refusal);
}
