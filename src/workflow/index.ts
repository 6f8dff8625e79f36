/**
 * The authoring API of Holdpoint: what a workflow file imports from `holdpoint`.
 *
 * This folder owns definitions, the graph's rules (rules/, which the server uses too) and the pure engine that executes
 * a definition over a port (engine/). It must not read files, open pipes or sockets, or know where a run is stored.
 */
export { agent, assistantMessage, type AgentNode } from "./agent.ts";
export { decision, decisionEdge, type RouteChoices, type RouteOf } from "./agent-decision.ts";
export { checkpoint } from "./checkpoint.ts";
export {
  runCommandBatch,
  type BatchItem,
  type BatchItemResult,
  type BatchKind,
  type BatchResult,
} from "./command-batch.ts";
export { compileWorkflow, type CompiledWorkflow } from "./compile.ts";
export type {
  ActionContext,
  CommandOptions,
  EffectIdentity,
  ExecutedStep,
  NodeContext,
  TitleContext,
  Update,
} from "./context.ts";
export { controlLoop, type ControlLoop, type LoopRoute } from "./control-loop.ts";
export { defineWorkflow, isWorkflow, snapshotOf, type WorkflowDefinition, type WorkflowOptions } from "./definition.ts";
export {
  createJobProgressReporter,
  type JobProgressObject,
  type JobProgressReporter,
  type JobProgressOptions,
} from "./job-progress.ts";
export type { PlainEdge, SwitchEdge, WorkflowEdge } from "./edges.ts";
export {
  idempotentEffect,
  manualEffect,
  observedEffect,
  outcomeUnknown,
  type EffectContract,
  type Observation,
} from "./effects.ts";
export { evidence, type EvidenceRef } from "./evidence.ts";
export {
  choice,
  defineHumanChoices,
  humanDecision,
  humanDecisionEdge,
  textInput,
  type HumanAnswer,
  type HumanChoices,
  type HumanPresentation,
  type HumanRequest,
} from "./human.ts";
export {
  includedResult,
  includeWorkflow,
  type IncludedResult,
  type IncludedWorkflow,
  type WorkflowRef,
} from "./include.ts";
export { action, compute, type OutputOf, type WorkflowNode } from "./nodes.ts";
export { notify, type Notified } from "./notify.ts";
export { defineWorkflowRegistry, type WorkflowRegistry } from "./registry.ts";
export { allowSettingsPath, settingsRoute, workflowSettings, type WorkflowSettings } from "./settings.ts";
export { shell, type ShellCommand, type ShellResult, type ShellUpdates } from "./shell.ts";
export { sleep, type Slept } from "./sleep.ts";
export {
  estimate as estimateProgress,
  observe as observeProgress,
  type Estimate,
  type ProgressTrack,
} from "./rules/progress.ts";
export { sha256Digest } from "../contracts/canonical.ts";
export { progressSchema } from "../contracts/progress.ts";
export type { CommandResult } from "../contracts/command.ts";
export type { Progress } from "../contracts/progress.ts";
export type { NodeOutcome, NodeResult } from "../contracts/protocol/runner.ts";
export type { SettingsActor } from "../contracts/settings.ts";
export type { UpdateReceipt } from "../contracts/update.ts";
