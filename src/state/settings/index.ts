/**
 * Settings of running workflows. Owns `workflow_settings` and their changes. Must not: run an author's parser (the runner
 * does), or repeat anything that has effects because settings changed.
 */
import { change } from "./change.ts";
import { ensure } from "./ensure.ts";

export { reads } from "./reads.ts";

export const commands = { ensure, change } as const;
