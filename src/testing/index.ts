/**
 * The test kit for authors, `holdpoint/testing`: a workflow runs in memory, with a clock that the test moves, scripted
 * answers, agents and commands, crashes on demand, and assertions on effects. A resource manager has its passes on demand.
 *
 * Owns: a host over memory with the rules of the server. Must not touch files, processes, sockets or the real clock.
 */
import type { WorkflowDefinition } from "../workflow/index.ts";
import { type TestOptions, TestRun } from "./run.ts";

export { FakeClock } from "./clock.ts";
export { manageResource, type TestPass, type TestResource } from "./resources.ts";
export type { EffectState, TestEffect, TestEvent } from "./ledger.ts";
export type { Pending, TestOptions, TestPrompt, TestRun, TestStatus } from "./run.ts";
export {
  agentTurns,
  each,
  NO_SUBMISSION,
  type AgentScript,
  type AnswerScript,
  type CommandTools,
  type ScriptedResult,
  type ShellScript,
  type ShellScripts,
} from "./script.ts";

/**
 * Starts a run. It goes on by itself up to whatever waits for the clock or for somebody; `await run.settled()`.
 *
 * @example
 * const run = startWorkflow(deploy, { input: { version: "1.2.0" } });
 * await run.settled();
 * await run.clock.advance(2 * 60 * 60_000);
 * @throws HoldpointError `workflowInvalid`, or `inputInvalid` when the workflow's parser refuses the input.
 */
export function startWorkflow(definition: WorkflowDefinition, options?: TestOptions): TestRun {
  return new TestRun(definition, options);
}

/**
 * Runs a workflow to its end, or to where it waits for something that is not scripted.
 *
 * @example
 * const run = await runWorkflow(deploy, {
 *   input: { version: "1.2.0" },
 *   answers: { approve: { choice: "approve" } },
 *   shell: { build: { stdout: "done" } },
 * });
 * expect(run.status).toBe("completed");
 * run.assertEffect("deploy", { state: "applied", attempts: 1 });
 */
export function runWorkflow(definition: WorkflowDefinition, options?: TestOptions): Promise<TestRun> {
  return new TestRun(definition, options).settled();
}
