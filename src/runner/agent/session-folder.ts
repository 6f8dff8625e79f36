/**
 * Where an agent step keeps what must survive its process: one folder for each visit of a node, with Pi's session file, so
 * that an interrupted step goes on in the same conversation.
 */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentStep } from "../../contracts/agent-step.ts";

/** Pi's session id in its folder: one conversation each. */
export const SESSION_ID = "step";

/** The folder for the sessions of a run, below the one for the agents of all runs. */
export function agentFolder(agentsDir: string, runId: string): string {
  return join(agentsDir, runId);
}

export interface SessionFolder {
  readonly path: string;
  /** There is a conversation from an interrupted attempt of this visit. */
  readonly begun: boolean;
}

export async function openSessionFolder(runFolder: string, { nodeId, visit }: AgentStep): Promise<SessionFolder> {
  // A node id has no dot: the name is unambiguous.
  const path = join(runFolder, `${nodeId.replaceAll("/", ".")}-${visit}`);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const begun = (await readdir(path)).some((name) => name.endsWith(".jsonl"));
  return { path, begun };
}
