/**
 * The client library (`holdpoint/client`): how programs talk to a running server over client.v1.
 *
 * Owns: finding the home and its socket, the handshake, typed calls, watches that survive a restart of the server,
 * starting a server on demand. Must not: derive a run's status, read the database or any file of the home but what a
 * server leaves there to be found and explained (socket, `server.json`, start log), repeat a change without its idempotency key.
 */
export { connect, type ConnectOptions, type HoldpointClient } from "./client.ts";
export { type CallOptions } from "./requests.ts";
export { type Watch, type WatchOptions } from "./watch.ts";
export { resolveHome, socketPathOf } from "./home.ts";
export { HoldpointError, isHoldpointError, type ErrorKind, type ErrorRecord } from "../contracts/errors.ts";
export type {
  ChannelStatus,
  DecisionSummary,
  EffectDetail,
  EffectSummary,
  OperationName,
  OperationPayload,
  OperationResult,
  RunSummary,
  RunView,
  ServerStatus,
  TimelineItem,
} from "../contracts/protocol/operations.ts";
