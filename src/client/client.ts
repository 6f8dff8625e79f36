/**
 * The client: typed calls over one connection that is opened when it is first needed and opened again when it was lost.
 */
import { randomUUID } from "node:crypto";

import { HoldpointError, isHoldpointError } from "../contracts/errors.ts";
import type { ClientRequest, ClientResponse } from "../contracts/protocol/client.ts";
import type { OperationName, OperationPayload, OperationResult, RunView } from "../contracts/protocol/operations.ts";
import { isSilence, openConnection, type Connection } from "./connection.ts";
import { checkSocketPath, resolveHome, socketPathOf } from "./home.ts";
import { requestOf, resultOf, type CallOptions } from "./requests.ts";
import { startServer } from "./start.ts";
import { watchRun, type Watch, type WatchOptions } from "./watch.ts";

export interface ConnectOptions {
  /** Default: HOLDPOINT_HOME, else `~/.holdpoint`. */
  readonly home?: string | undefined;
  /** Default: `server.sock` in the home. */
  readonly socketPath?: string | undefined;
  /** Scope of the idempotency keys; give a stable one to be able to repeat a call from another process. */
  readonly clientId?: string | undefined;
  /** Starts a server when none answers. Default false. */
  readonly startOnDemand?: boolean | undefined;
  /** Told before a server is started, which may take a few seconds. */
  readonly onStarting?: (() => void) | undefined;
  /** Entry of the server to start; for tests. */
  readonly serverEntry?: string | undefined;
  /** Tells which Node starts the server; default: the one of this process. */
  readonly serverProgram?: (() => Promise<string>) | undefined;
}

export interface HoldpointClient {
  readonly home: string;
  readonly clientId: string;
  /**
   * Performs one operation. A call whose connection breaks is repeated once with the same idempotency key, so it
   * takes effect at most once.
   *
   * @throws HoldpointError the server's error; `frameInvalid` for a payload or result of the wrong shape;
   *   `serverUnavailable` when nobody answers; `versionSkew`.
   */
  call<K extends OperationName>(
    operation: K,
    payload: OperationPayload<K>,
    options?: CallOptions,
  ): Promise<OperationResult<K>>;
  /** Calls `onView` with the present view of a run and at each change, also after a restart of the server. */
  watchRun(run: string, onView: (view: RunView) => void, options?: WatchOptions): Watch;
  /** Ends the connection and all watches. */
  close(): void;
}

/**
 * Connects to the server of a home (and starts one, if asked to).
 *
 * @throws HoldpointError `serverUnavailable`, `versionSkew`, `homeInvalid`.
 */
export async function connect(options: ConnectOptions = {}): Promise<HoldpointClient> {
  const client = new Client(options);
  await client.open();
  return client;
}

class Client implements HoldpointClient {
  readonly home: string;
  readonly clientId: string;
  readonly #socketPath: string;
  readonly #options: ConnectOptions;
  readonly #watches = new Set<Watch>();
  #connection: Promise<Connection> | undefined;
  #closed = false;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.home = resolveHome(options.home);
    this.clientId = options.clientId ?? randomUUID();
    this.#socketPath = options.socketPath ?? socketPathOf(this.home);
    checkSocketPath(this.#socketPath);
  }

  async open(): Promise<Connection> {
    if (this.#closed) throw new HoldpointError("serverUnavailable", "This client was closed.");
    this.#connection ??= this.#dial();
    const opening = this.#connection;
    try {
      return await opening;
    } catch (error) {
      if (this.#connection === opening) this.#connection = undefined;
      throw error;
    }
  }

  async call<K extends OperationName>(
    operation: K,
    payload: OperationPayload<K>,
    options: CallOptions = {},
  ): Promise<OperationResult<K>> {
    const request = requestOf(operation, payload, options);
    const response = await this.#send(request);
    return resultOf(operation, response);
  }

  watchRun(run: string, onView: (view: RunView) => void, options: WatchOptions = {}): Watch {
    // A connection of its own: there is no "unwatch", closing it ends the subscription on both sides.
    // It never starts a server: one that was stopped on purpose while somebody watched must stay stopped.
    const watch = watchRun(() => openConnection(this.#socketPath, this.clientId), run, onView, options);
    this.#watches.add(watch);
    const forget = (): void => void this.#watches.delete(watch);
    watch.done.then(forget, forget);
    return watch;
  }

  close(): void {
    this.#closed = true;
    for (const watch of this.#watches) watch.stop();
    const opening = this.#connection;
    this.#connection = undefined;
    opening?.then(
      (connection) => connection.close(),
      () => {},
    );
  }

  async #dial(): Promise<Connection> {
    let connection: Connection;
    try {
      connection = await openConnection(this.#socketPath, this.clientId);
    } catch (error) {
      if (this.#options.startOnDemand !== true || !isUnavailable(error)) throw error;
      // A silent server is not an absent one. The attempt is made all the same: it finds the server when it wakes up,
      // and says who holds the home when it does not.
      if (!isSilence(error)) this.#options.onStarting?.();
      connection = await startServer({
        home: this.home,
        socketPath: this.#socketPath,
        clientId: this.clientId,
        entry: this.#options.serverEntry,
        program: await this.#options.serverProgram?.(),
        mayIdleOut: true,
      });
    }
    connection.onClose(() => this.#forget(connection));
    return connection;
  }

  async #forget(connection: Connection): Promise<void> {
    const opening = this.#connection;
    const current = await opening?.catch(() => undefined);
    if (current === connection && this.#connection === opening) this.#connection = undefined;
  }

  async #send(request: Omit<ClientRequest, "type">): Promise<ClientResponse> {
    const connection = await this.#usable();
    try {
      return await connection.request(request);
    } catch (error) {
      // Stopping ends the connection by nature; everything else may be repeated: reads change nothing, changes
      // carry a key under which the server knows them.
      if (!connection.closed || this.#closed || request.operation === "server.stop" || !isUnavailable(error))
        throw error;
      return (await this.#usable()).request(request);
    }
  }

  async #usable(): Promise<Connection> {
    const connection = await this.open();
    if (!connection.closed) return connection;
    this.#connection = undefined;
    return this.open();
  }
}

function isUnavailable(error: unknown): boolean {
  return isHoldpointError(error) && error.kind === "serverUnavailable";
}
