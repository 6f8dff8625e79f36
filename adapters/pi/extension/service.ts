/**
 * The server as the extension uses it: over `server.sock` with the client library, which is loaded and connected when it is
 * first needed, and starts a server when none answers. That it cannot is said once, not at every attempt.
 */
import { connect, isHoldpointError, type HoldpointClient } from "../../../src/client/index.ts";
import type { CallOptions, OperationName, OperationPayload, OperationResult } from "../../../src/client/index.ts";
import { serverNode } from "./server-node.ts";

export interface ServiceOptions {
  /** Scope of idempotency keys: the same for each instance of a session. */
  readonly clientId: string;
  /** Told once for each kind of error when the server cannot be reached, and again only after it was there. */
  readonly onUnavailable: (why: string) => void;
  /** Told once when a server is about to be started, and again only after one was there. */
  readonly onStarting: () => void;
}

export class Service {
  readonly #options: ServiceOptions;
  #opening: Promise<HoldpointClient> | undefined;
  /** Kinds of what kept the server from answering, as they were told since it last did. */
  readonly #complained = new Set<string>();
  #starting = false;
  #closed = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** One operation. Throws the server's error, or `serverUnavailable`. */
  async call<K extends OperationName>(
    operation: K,
    payload: OperationPayload<K>,
    options?: CallOptions,
  ): Promise<OperationResult<K>> {
    const client = await this.#client();
    try {
      const result = await client.call(operation, payload, options);
      this.#complained.clear();
      this.#starting = false;
      return result;
    } catch (error) {
      // The client comes back by itself, or starts a server again; a refusal is the answer of one that is there.
      if (isUnavailable(error)) this.#complain(error);
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    const opening = this.#opening;
    this.#opening = undefined;
    opening?.then(
      (client) => client.close(),
      () => {},
    );
  }

  async #client(): Promise<HoldpointClient> {
    const opening = (this.#opening ??= this.#connect());
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      this.#complain(error);
      throw error;
    }
  }

  /** That there is no server, or why it does not start, is told once for each kind. */
  #complain(error: unknown): void {
    if (this.#closed || !isHoldpointError(error) || error.kind === "versionSkew") return;
    if (this.#complained.has(error.kind)) return;
    this.#complained.add(error.kind);
    this.#options.onUnavailable(error.message);
  }

  #sayStarting(): void {
    if (this.#starting || this.#closed) return;
    this.#starting = true;
    this.#options.onStarting();
  }

  async #connect(): Promise<HoldpointClient> {
    const { clientId } = this.#options;
    const onStarting = (): void => this.#sayStarting();
    const client = await connect({ clientId, startOnDemand: true, onStarting, serverProgram: serverNode });
    if (this.#closed) client.close();
    return client;
  }
}

export function isUnavailable(error: unknown): error is Error {
  return isHoldpointError(error) && error.kind === "serverUnavailable";
}
