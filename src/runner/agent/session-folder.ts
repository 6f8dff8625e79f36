/**
 * Where an agent step keeps what must survive its process: one folder for each visit of a node, with Pi's session file, so
 * that an interrupted step goes on in the same conversation, and the rest of a prompt that is too long to be said.
 */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HoldpointError } from "../../contracts/errors.ts";
import { sha256Hex } from "../../contracts/ids.ts";
import { AGENT } from "../../contracts/limits.ts";
import type { AgentStep } from "./types.ts";

/** Pi's session id in its folder: one conversation each. */
export const SESSION_ID = "step";

/** Room in a prompt for everything that is not the author's text: heading, the note about the file. */
const FRAME_CHARS = 2_000;

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

/**
 * The prompt as it is said: the author's text, or its beginning and a reference to a file with all of it.
 * Throws `promptTooLarge` when the agent has no tool to read the file with.
 */
export async function saidPrompt(step: AgentStep, folder: SessionFolder): Promise<string> {
  const contract = step.contract.kind === "submit" ? step.contract.expectedOutput.length : 0;
  const room = AGENT.promptChars - FRAME_CHARS - contract;
  const { length } = step.prompt;
  if (length <= room) return step.prompt;
  const details = { node: step.nodeId, limit: room, seen: length };
  const canRead = step.allowedTools === null || step.allowedTools.includes("read");
  if (!canRead || room < FRAME_CHARS) {
    throw new HoldpointError(
      "promptTooLarge",
      `The prompt of node "${step.nodeId}" has ${length} characters; with its contract there is room for ${Math.max(0, room)}.`,
      { details },
    );
  }
  const path = join(folder.path, `prompt-${step.attempt}.md`);
  await writeFile(path, step.prompt, { mode: 0o600 });
  const head = step.prompt.slice(0, room - FRAME_CHARS).replace(/[\ud800-\udbff]$/, "");
  return (
    `${head}\n\n--- The prompt goes on in a file ---\nThese were the first ${head.length} of ${length} characters. Read the ` +
    `rest before you begin; the file holds the complete prompt.\n` +
    `Path: ${path}\nSHA-256: ${sha256Hex(step.prompt)}`
  );
}
