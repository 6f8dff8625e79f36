/**
 * The HTTP side of webhooks: a bounded number of connections, a bounded request in a bounded time, an answer without a body. What a
 * request means is none of its business.
 */
import type { IncomingMessage } from "node:http";
import { messageOf } from "../../contracts/errors.ts";
import { SOURCE } from "../../contracts/limits.ts";
import type { HookPage, HookRequest, Log } from "../ports.ts";
import { OptionalPage } from "./optional-page.ts";

const BOUNDS = {
  maxHeaderSize: SOURCE.headerBytes,
  requestTimeout: SOURCE.requestMs,
  headersTimeout: SOURCE.requestMs,
  // How often both are looked at; 30 s by default, in which slow senders would hold all connections.
  connectionsCheckingInterval: SOURCE.lookMs,
};

export function hookPage(log: Log): HookPage {
  const page = new OptionalPage(log, "webhooks cannot be served", BOUNDS, SOURCE.connections);
  return {
    serve(address, take) {
      return page.serve(address, (request, response) => {
        const answer = (status: number): void => void response.writeHead(status, { connection: "close" }).end();
        void read(request)
          .then(take)
          .then(answer, (error: unknown) => {
            log.error({ error: messageOf(error) }, "a webhook could not be read");
            answer(400);
          });
      });
    },
    close: () => page.close(),
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
