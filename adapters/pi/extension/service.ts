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
  /** Told once when the server cannot be reached, and again only after it was there. */
  readonly onUnavailable: (why: string) => void;
  /** Told when a server is about to be started. */
  readonly onStarting: () => void;
}

export class Service {
  readonly #options: ServiceOptions;
  #opening: Promise<HoldpointClient> | undefined;
  #complained = false;
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
    try {
      const client = await this.#client();
      const result = await client.call(operation, payload, options);
      this.#complained = false;
      return result;
    } catch (error) {
      if (isUnavailable(error) && !this.#complained && !this.#closed) {
        this.#complained = true;
        this.#options.onUnavailable(error.message);
      }
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
      throw error;
    }
  }

  async #connect(): Promise<HoldpointClient> {
    const { clientId, onStarting } = this.#options;
    const client = await connect({ clientId, startOnDemand: true, onStarting, serverProgram: serverNode });
    if (this.#closed) client.close();
    return client;
  }
}

export function isUnavailable(error: unknown): error is Error {
  return isHoldpointError(error) && error.kind === "serverUnavailable";
}
