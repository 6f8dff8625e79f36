/**
 * Requests and responses of client.v1 with their types: payloads are validated before they are sent, results before
 * anybody sees them.
 */
import { randomUUID } from "node:crypto";
import type { z } from "zod";

import { HoldpointError, fromErrorRecord } from "../contracts/errors.ts";
import type { ClientRequest, ClientResponse } from "../contracts/protocol/client.ts";
import {
  OPERATIONS,
  type OperationName,
  type OperationPayload,
  type OperationResult,
} from "../contracts/protocol/operations.ts";

export interface CallOptions {
  /** Default for operations that change something: a new random key. */
  readonly idempotencyKey?: string | undefined;
  /** Refuses the change (`revisionConflict`) when the record has another revision. */
  readonly expectedRevision?: number | undefined;
}

/** The request of a call; a change without a key gets a random one. Throws `usage` for a wrong payload. */
export function requestOf<K extends OperationName>(
  operation: K,
  payload: OperationPayload<K>,
  options: CallOptions,
): Omit<ClientRequest, "type"> {
  const entry = OPERATIONS[operation];
  const parsed = entry.payload.safeParse(payload);
  if (!parsed.success) throw valueError(operation, parsed.error);
  const key = options.idempotencyKey ?? (entry.change ? randomUUID() : undefined);
  return {
    requestId: randomUUID(),
    operation,
    payload: parsed.data,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    ...(options.expectedRevision === undefined ? {} : { expectedRevision: options.expectedRevision }),
  };
}

/** The validated result of a response. Throws the error that it carries, or `frameInvalid` for a wrong shape. */
export function resultOf<K extends OperationName>(operation: K, response: ClientResponse): OperationResult<K> {
  if (response.outcome !== "accepted" && response.outcome !== "adopted") {
    if (response.error) throw fromErrorRecord(response.error);
    throw new HoldpointError(
      "protocolRejected",
      `The server answered ${operation} with "${response.outcome}" and no reason.`,
    );
  }
  const parsed = OPERATIONS[operation].result.safeParse(response.result);
  if (!parsed.success) throw shapeError(`The server's result of ${operation}`, parsed.error);
  return parsed.data as OperationResult<K>;
}

/** A value that the caller gave and the operation cannot take: no matter of versions. */
function valueError(operation: string, error: z.ZodError): HoldpointError {
  const issue = error.issues[0];
  return new HoldpointError(
    "usage",
    `${operation} cannot take this value of "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}.`,
    { remedy: "Give a value within the limit that is named." },
  );
}

function shapeError(what: string, error: z.ZodError): HoldpointError {
  const issue = error.issues[0];
  return new HoldpointError(
    "frameInvalid",
    `${what} is invalid at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}`,
  );
}
