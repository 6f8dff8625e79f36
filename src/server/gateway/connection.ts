/**
 * One client connection: hello both ways, then requests. A bad frame closes only this connection, with the reason; a failed
 * view ends only its subscription.
 */
import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { HoldpointError, isHoldpointError, stackOf, toErrorRecord } from "../../contracts/errors.ts";
import {
  toServerSchema,
  type ClientEvent,
  type ClientRequest,
  type ClientResponse,
  type Hello,
  type ToClient,
  type ToServer,
} from "../../contracts/protocol/client.ts";
import { OPERATIONS, type OperationName, type OperationPayload } from "../../contracts/protocol/operations.ts";
import { PROTOCOL, type JsonValue } from "../../contracts/protocol/shared.ts";
import { framePort, type FramePort } from "../../contracts/wire/frames.ts";
import type { Log } from "../ports.ts";

/** Sends one event; false when the client does not read and has enough waiting: the newest state is to be sent later. */
export type Send = (payload: JsonValue, event?: ClientEvent["event"]) => boolean;

/** Bytes that may wait for a client before it gets no further events. */
const BACKLOG_BYTES = 1_048_576;

/** Who asks: the client's own id is the scope of its idempotency keys. */
export interface Caller {
  readonly clientId: string;
  readonly idempotencyKey: string | null;
  readonly expectedRevision: number | null;
  /** Sends events of one subscription until the connection closes. */
  readonly subscribe: (begin: (send: Send) => () => void) => string;
}

export interface HandlerResult {
  readonly outcome: "accepted" | "adopted";
  readonly result: unknown;
}

export type Handlers = {
  readonly [K in OperationName]: (payload: OperationPayload<K>, caller: Caller) => Promise<HandlerResult>;
};

export interface ConnectionDeps {
  readonly handlers: Handlers;
  readonly log: Log;
  readonly product: string;
  readonly installPath: string;
}

/** Serves one client until it leaves. Returns a function that closes the connection. */
export function serveConnection(stream: Duplex, deps: ConnectionDeps, onClose: () => void): () => void {
  const port: FramePort<ToServer, ToClient> = framePort(stream, toServerSchema);
  const subscriptions = new Set<() => void>();
  let clientId: string | undefined;
  const hello: Hello = {
    type: "hello",
    protocol: PROTOCOL.client,
    product: deps.product,
    installPath: deps.installPath,
    connectionId: randomUUID(),
  };

  port.onClose((error) => {
    for (const end of subscriptions) end();
    subscriptions.clear();
    if (error) deps.log.warn({ client: clientId, error: error.message }, "client connection closed");
    onClose();
  });
  const subscribe: Caller["subscribe"] = (begin) => {
    const subscriptionId = randomUUID();
    // The response with the id goes out first.
    setImmediate(() => {
      if (port.closed) return;
      subscriptions.add(
        begin((payload, event = "run") => {
          // The last word of a subscription is told in any case.
          if (event === "run" && port.backlog > BACKLOG_BYTES) return false;
          sendSafely(port, { type: "event", subscriptionId, event, payload }, deps.log);
          return true;
        }),
      );
    });
    return subscriptionId;
  };
  port.onFrame((frame) => {
    if (frame.type === "hello") {
      clientId = frame.connectionId;
      port.send(hello);
      if (frame.protocol !== PROTOCOL.client) port.close();
      return;
    }
    if (clientId === undefined) return port.close();
    const caller = {
      clientId,
      idempotencyKey: frame.idempotencyKey ?? null,
      expectedRevision: frame.expectedRevision ?? null,
      subscribe,
    };
    void answer(frame, caller, deps).then((response) => sendSafely(port, response, deps.log));
  });
  return () => port.close();
}

async function answer(request: ClientRequest, caller: Caller, deps: ConnectionDeps): Promise<ClientResponse> {
  const { requestId, operation } = request;
  try {
    if (!Object.hasOwn(OPERATIONS, operation)) {
      throw new HoldpointError(
        "frameInvalid",
        `Operation "${operation}" is not known; this server has ${Object.keys(OPERATIONS).join(", ")}.`,
      );
    }
    const name = operation as OperationName;
    const entry = OPERATIONS[name];
    const payload = entry.payload.safeParse(request.payload);
    if (!payload.success) {
      const issue = payload.error.issues[0];
      throw new HoldpointError(
        "frameInvalid",
        `Payload of ${operation} is invalid at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? ""}`,
      );
    }
    if (entry.change && caller.idempotencyKey === null)
      throw new HoldpointError("frameInvalid", `${operation} changes something and needs an idempotencyKey.`);
    const handler = deps.handlers[name] as (payload: unknown, caller: Caller) => Promise<HandlerResult>;
    const { outcome, result } = await handler(payload.data, caller);
    return { type: "response", requestId, outcome, result: result as JsonValue };
  } catch (error) {
    if (!isHoldpointError(error))
      deps.log.error({ operation, error: stackOf(error) ?? String(error) }, "operation failed");
    return { type: "response", requestId, outcome: outcomeOf(error), error: toErrorRecord(error) };
  }
}

function outcomeOf(error: unknown): ClientResponse["outcome"] {
  if (!isHoldpointError(error)) return "unavailable";
  switch (error.kind) {
    case "idempotencyConflict":
    case "revisionConflict":
    case "settingsChanged":
    case "resourceChanged":
      return "conflict";
    case "runNotFound":
    case "effectNotFound":
    case "decisionNotFound":
    case "requestNotFound":
    case "channelUnknown":
    case "resourceNotFound":
    case "managerNotFound":
    case "monitorUnknown":
      return "notFound";
    case "claimLost":
      return "claimLost";
    case "notWritten":
    case "diskFull":
    case "storageBroken":
    case "internal":
      return "unavailable";
    default:
      return "rejected";
  }
}

/** A result that does not fit a frame is an error of that request, not the end of the connection. */
function sendSafely(port: FramePort<ToServer, ToClient>, frame: ToClient, log: Log): void {
  try {
    port.send(frame);
  } catch (error) {
    log.error({ type: frame.type, error: String(error) }, "a frame to a client could not be sent");
    if (frame.type === "response")
      port.send({ type: "response", requestId: frame.requestId, outcome: "unavailable", error: toErrorRecord(error) });
    else if (frame.type === "event")
      port.send({
        type: "event",
        subscriptionId: frame.subscriptionId,
        event: "unavailable",
        payload: { ...toErrorRecord(error) } as JsonValue,
      });
  }
}
