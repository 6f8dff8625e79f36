/** What a test says about everything that a workflow does not do itself: people, agents, commands. */
import type { AgentStep } from "../contracts/agent-step.ts";
import type { CommandResult, CommandSpec, CommandStream } from "../contracts/command.ts";
import type { FakeClock } from "./clock.ts";

/** Any JSON, and what `each` and `agentTurns` make. */
type Value = object | string | number | boolean | null;

/**
 * An answer to a human decision, or any JSON for a checkpoint; `each([…])` has one for every visit, a function
 * `(asked, visit) => answer` sees what was asked. When there is none the run waits for `run.answer`.
 */
export type AnswerScript = ((asked: any, visit: number) => unknown) | Value;

/** What an agent does in one visit: submissions in order, until one is accepted. */
export class Turns {
  readonly submissions: readonly unknown[];
  constructor(submissions: readonly unknown[]) {
    this.submissions = submissions;
  }
}

/** Nothing is submitted in this turn; a reminder follows. */
export const NO_SUBMISSION = Symbol("no submission");

/**
 * Several turns of one step: refused submissions, turns without one (`NO_SUBMISSION`), and at last the right one.
 *
 * @example
 * agents: { review: turns("no JSON", NO_SUBMISSION, { verdict: "good" }) }
 */
export function agentTurns(...submissions: readonly unknown[]): Turns {
  return new Turns(submissions);
}

/**
 * What a visit submits: a value, `agentTurns(…)`, a function `(step, {clock, signal}) => value`, or `each([…])` with one of
 * these for every visit.
 */
export type AgentScript =
  | ((step: AgentStep, tools: { readonly clock: FakeClock; readonly signal: AbortSignal }) => unknown)
  | Value;

/** One script per visit, in order; the last one stays. */
export class Each {
  readonly scripts: readonly unknown[];
  constructor(scripts: readonly unknown[]) {
    this.scripts = scripts;
  }
}
export function each(scripts: readonly unknown[]): Each {
  return new Each(scripts);
}

/** What a command comes to; whatever is left out is a success without output. */
export type ScriptedResult = Partial<CommandResult>;
export interface CommandTools {
  readonly clock: FakeClock;
  /** Aborted when the command is to be stopped. */
  readonly signal: AbortSignal;
  readonly nodeId: string;
  /** A line of output, as a parser of updates sees it. */
  line(text: string, stream?: CommandStream): void;
}
type CommandScript = (spec: CommandSpec, tools: CommandTools) => ScriptedResult | Promise<ScriptedResult>;
export type ShellScript = ScriptedResult | CommandScript;
/** One function for all commands, or node path → script. */
export type ShellScripts = CommandScript | Readonly<Record<string, ShellScript | Each>>;

/** The script for a visit (from 1). */
export function scriptFor(script: unknown, visit: number): unknown {
  if (!(script instanceof Each)) return script;
  return script.scripts[Math.min(visit, script.scripts.length) - 1];
}
