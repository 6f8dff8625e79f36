/**
 * One connection to a server: the handshake, requests with their responses, events. It never reconnects;
 * that is the business of its owner.
 */
import { createConnection, type Socket } from "node:net";
import { dirname } from "node:path";
import { z } from "zod";

import { HoldpointError, fromErrorRecord, isHoldpointError } from "../contracts/errors.ts";
import { CLIENT } from "../contracts/limits.ts";
import { product } from "../contracts/product.ts";
import {
  eventSchema,
  helloSchema,
  responseSchema,
  type ClientEvent,
  type ClientRequest,
  type ClientResponse,
  type ToServer,
} from "../contracts/protocol/client.ts";
import { PROTOCOL } from "../contracts/protocol/shared.ts";
import { framePort, type FramePort } from "../contracts/wire/frames.ts";
import { silentServer } from "./holder.ts";
import { skewError } from "./skew.ts";

/** A hello of another protocol may have other fields; only these are needed to say who must be updated. */
const anyHelloSchema = z.looseObject({ type: z.literal("hello"), protocol: z.number().int(), product: z.string() });
const incomingSchema = z.discriminatedUnion("type", [anyHelloSchema, responseSchema, eventSchema]);
type Incoming = z.infer<typeof incomingSchema>;

export interface Connection {
  /** Sends one request and resolves with its response, whatever its outcome. Rejects when the connection ends first. */
  request(request: Omit<ClientRequest, "type">): Promise<ClientResponse>;
  /** Replaces the listener; events that came before are delivered to it first. */
  onEvent(listener: (event: ClientEvent) => void): void;
  /** Called once when the connection has ended, at once if it already has. */
  onClose(listener: (error: HoldpointError) => void): void;
  readonly closed: boolean;
  close(): void;
}

interface Waiting {
  resolve(response: ClientResponse): void;
  reject(error: HoldpointError): void;
  timer: NodeJS.Timeout;
}

/**
 * Connects to a socket and exchanges `hello`.
 *
 * @param clientId sent as this client's connection id; the scope of its idempotency keys
 * @throws HoldpointError `serverUnavailable` when nothing answers within CLIENT.connectMs (see `isSilence`), `versionSkew` when the
 *   server speaks another protocol.
 */
export async function openConnection(socketPath: string, clientId: string): Promise<Connection> {
  const socket = await dial(socketPath);
  const port = framePort<Incoming, ToServer>(socket, incomingSchema);
  const own = product();
  const hello = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(silent(socketPath, `no greeting within ${CLIENT.connectMs} ms`)),
      CLIENT.connectMs,
    );
    const settle = (error?: HoldpointError): void => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve();
    };
    port.onClose((error) => settle(lost(error)));
    port.onFrame((frame) => settle(greetingProblem(frame)));
  });
  port.send({
    type: "hello",
    protocol: PROTOCOL.client,
    product: own.version,
    installPath: own.installPath,
    connectionId: clientId,
  });
  try {
    await hello;
  } catch (error) {
    port.close();
    throw error;
  }
  return converse(port);
}

function dial(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    const fail = (error: HoldpointError): void => {
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(silent(socketPath, `no connection within ${CLIENT.connectMs} ms`)),
      CLIENT.connectMs,
    );
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      fail(unavailable(socketPath, dialProblem(error)));
    });
  });
}

function dialProblem(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "the socket does not exist";
  if (error.code === "ECONNREFUSED") return "the socket is left over from a server that is gone";
  if (error.code === "EACCES") return "this user may not open the socket";
  return error.message;
}

/** What is wrong with the first frame of a server, if anything. */
function greetingProblem(frame: Incoming): HoldpointError | undefined {
  if (frame.type === "response" && frame.error) return fromErrorRecord(frame.error);
  if (frame.type !== "hello") {
    return new HoldpointError("protocolRejected", `The server began with "${frame.type}" instead of "hello".`);
  }
  if (frame.protocol !== PROTOCOL.client) return skewError(frame);
  const strict = helloSchema.safeParse(frame);
  if (strict.success) return undefined;
  const issue = strict.error.issues[0];
  return new HoldpointError(
    "frameInvalid",
    `The server's hello is invalid at "${issue?.path.join(".")}": ${issue?.message}`,
  );
}

function converse(port: FramePort<Incoming, ToServer>): Connection {
  const waiting = new Map<string, Waiting>();
  const early: ClientEvent[] = [];
  let listener: ((event: ClientEvent) => void) | undefined;

  port.onFrame((frame) => {
    if (frame.type === "event") {
      if (listener) listener(frame);
      else early.push(frame);
    } else if (frame.type === "response") {
      const entry = waiting.get(frame.requestId);
      waiting.delete(frame.requestId);
      clearTimeout(entry?.timer);
      entry?.resolve(frame);
    }
  });
  port.onClose((error) => {
    for (const entry of waiting.values()) {
      clearTimeout(entry.timer);
      entry.reject(lost(error));
    }
    waiting.clear();
  });

  return {
    request(request) {
      return new Promise((resolve, reject) => {
        if (port.closed) return reject(lost());
        const timer = setTimeout(() => {
          waiting.delete(request.requestId);
          const text = `The server did not answer ${request.operation} within ${CLIENT.callMs / 1_000} s.`;
          reject(
            new HoldpointError("serverUnavailable", text, { remedy: "See logs/server.log, then repeat the command." }),
          );
        }, CLIENT.callMs);
        waiting.set(request.requestId, { resolve, reject, timer });
        try {
          port.send({ type: "request", ...request });
        } catch (error) {
          clearTimeout(timer);
          waiting.delete(request.requestId);
          reject(error);
        }
      });
    },
    onEvent(next) {
      listener = next;
      for (const event of early.splice(0)) next(event);
    },
    onClose: (next) => port.onClose((error) => next(lost(error))),
    get closed() {
      return port.closed;
    },
    close: () => port.close(),
  };
}

/** The error of a conversation that ended; one of ours (a bad frame) is kept. */
function lost(error?: Error): HoldpointError {
  if (isHoldpointError(error)) return error;
  const why = error ? `: ${error.message}` : "";
  return new HoldpointError("serverUnavailable", `The server closed the connection${why}.`, {
    details: { lost: true },
  });
}

/** Whether an error says that somebody listens but does not answer. */
export function isSilence(error: unknown): boolean {
  return isHoldpointError(error) && error.details?.["silent"] === true;
}

function silent(socketPath: string, why: string): HoldpointError {
  return silentServer(dirname(socketPath), why);
}

function unavailable(socketPath: string, why: string): HoldpointError {
  return new HoldpointError("serverUnavailable", `No server answers at ${socketPath}: ${why}.`);
}
