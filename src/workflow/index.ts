/**
 * The authoring API of Holdpoint: what a workflow file imports from `holdpoint`.
 *
 * This folder owns definitions, the graph's rules (rules/, which the server uses too) and the pure engine that executes
 * a definition over a port (engine/). It must not read files, open pipes or sockets, or know where a run is stored.
 */
export type { ActionContext, EffectIdentity, ExecutedStep, NodeContext, TitleContext } from "./context.ts";
export { defineWorkflow, isWorkflow, snapshotOf, type WorkflowDefinition, type WorkflowOptions } from "./definition.ts";
export type { PlainEdge, SwitchEdge, WorkflowEdge } from "./edges.ts";
export {
  idempotentEffect,
  manualEffect,
  observedEffect,
  outcomeUnknown,
  type EffectContract,
  type Observation,
} from "./effects.ts";
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
export { action, compute, type OutputOf, type WorkflowNode } from "./nodes.ts";
export type { NodeOutcome, NodeResult } from "../contracts/protocol/runner.ts";
