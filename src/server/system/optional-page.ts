/**
 * An HTTP page that the service can do without: moved when its address changes, and only told of in the log when its port is taken.
 */
import type { RequestListener, Server, ServerOptions } from "node:http";
import { createServer } from "node:http";
import type { Log } from "../ports.ts";

export interface PageAddress {
  readonly host: string;
  readonly port: number;
}

export class OptionalPage {
  readonly #log: Log;
  /** What the log says when it cannot be served. */
  readonly #trouble: string;
  readonly #options: ServerOptions;
  readonly #connections: number | undefined;
  #server: Server | null = null;
  #served: string | null = null;

  constructor(log: Log, trouble: string, options: ServerOptions = {}, connections?: number) {
    this.#log = log;
    this.#trouble = trouble;
    this.#options = options;
    this.#connections = connections;
  }

  /** Serves at this address from now on, null = nowhere. Does nothing when it is served there already. Never throws. */
  async serve(address: PageAddress | null, answer: RequestListener): Promise<void> {
    const wanted = address === null ? null : `${address.host} ${address.port}`;
    if (wanted === this.#served) return;
    await this.close();
    if (address === null) return;
    const page = createServer(this.#options, answer);
    if (this.#connections !== undefined) page.maxConnections = this.#connections;
    this.#server = page;
    this.#served = wanted;
    await new Promise<void>((resolve) => {
      // Also of a page that is served already (no more file descriptors): unheard, it would end the server.
      page.on("error", (error) => {
        this.#log.error({ ...address, error: error.message }, this.#trouble);
        if (this.#server === page && !page.listening) this.#served = null;
        resolve();
      });
      page.listen(address.port, address.host, resolve);
    });
  }

  close(): Promise<void> {
    const old = this.#server;
    this.#server = null;
    this.#served = null;
    if (old === null) return Promise.resolve();
    old.closeAllConnections();
    return new Promise((resolve) => void old.close(() => resolve()));
  }
}
