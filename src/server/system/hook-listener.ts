/**
 * The HTTP side of webhooks: a bounded number of connections, a bounded request in a bounded time, an answer without a body. What a
 * request means is none of its business.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import { messageOf } from "../../contracts/errors.ts";
import { SOURCE } from "../../contracts/limits.ts";
import type { HookPage, HookRequest, Log } from "../ports.ts";

export function hookPage(log: Log): HookPage {
  let server: Server | null = null;
  let served: string | null = null;
  const close = (): Promise<void> => {
    const old = server;
    server = null;
    served = null;
    if (old === null) return Promise.resolve();
    old.closeAllConnections();
    return new Promise((resolve) => void old.close(() => resolve()));
  };
  return {
    async serve(address, take) {
      const wanted = address === null ? null : `${address.host} ${address.port}`;
      if (wanted === served) return;
      await close();
      if (address === null) return;
      const page = createServer(
        {
          maxHeaderSize: SOURCE.headerBytes,
          requestTimeout: SOURCE.requestMs,
          headersTimeout: SOURCE.requestMs,
          // How often both are looked at; 30 s by default, in which slow senders would hold all connections.
          connectionsCheckingInterval: SOURCE.lookMs,
        },
        (request, response) => {
          const answer = (status: number): void => void response.writeHead(status, { connection: "close" }).end();
          void read(request)
            .then(take)
            .then(answer, (error: unknown) => {
              log.error({ error: messageOf(error) }, "a webhook could not be read");
              answer(400);
            });
        },
      );
      page.maxConnections = SOURCE.connections;
      server = page;
      served = wanted;
      // Hints are no reason for the service not to run: a port that is taken is told and left.
      await new Promise<void>((resolve) => {
        // Also of a page that is served already (no more file descriptors): unheard, it would end the server.
        page.on("error", (error) => {
          log.error({ ...address, error: error.message }, "webhooks cannot be served");
          if (server === page && !page.listening) served = null;
          resolve();
        });
        page.listen(address.port, address.host, resolve);
      });
    },
    close,
  };
}

/** The whole request; without its body when that is too large, and then the rest of it is not waited for. */
async function read(request: IncomingMessage): Promise<HookRequest> {
  const { headers, method = "" } = request;
  const path = (request.url ?? "").split("?")[0] ?? "";
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > SOURCE.bodyBytes) return { method, path, headers, body: null };
    pieces.push(piece);
  }
  return { method, path, headers, body: Buffer.concat(pieces) };
}
