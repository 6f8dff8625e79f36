/**
 * Updates of running nodes. Owns `workflow_updates`, their current projection and the budget of each run. Must not: change a
 * run, its revision or its chain; an update informs and nothing follows from it.
 */
import { publish } from "./publish.ts";

export { reads } from "./reads.ts";

export const commands = { publish } as const;
