/**
 * The engine without its surroundings. Owns: the order of nodes, time limits, isolation of values, what is waited for.
 * Must not: store, know the server's protocol, or load workflow files.
 */
export { Engine, type EngineOptions } from "./engine.ts";
export { failureOf } from "./failures.ts";
export type {
  AgentOutcome,
  CheckpointAsked,
  CommandListeners,
  DecisionAsked,
  EffectRequest,
  EffectReservation,
  EffectSettlement,
  EngineEnd,
  EngineHost,
  FullEngineHost,
  NotificationAsked,
  ResumeState,
  SettingsAsked,
  SleepAsked,
  UpdateAsked,
  Validate,
} from "./host.ts";
export { judgeSettings, whereOf } from "./settings.ts";
export { processTimers, type EngineTimers } from "./timers.ts";
export { toJson } from "./values.ts";
