/**
 * Serves the figures on a loopback port. Only GET /metrics, only for a Host that is this machine (a web page that had its name point
 * here gets nothing), and nothing can be changed through it.
 */
import { createServer, type Server } from "node:http";
import type { Log, MetricsPage } from "../ports.ts";

const HOSTS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

export function metricsPage(log: Log): MetricsPage {
  let server: Server | null = null;
  let served: number | null = null;
  const close = (): Promise<void> => {
    const old = server;
    server = null;
    served = null;
    if (old === null) return Promise.resolve();
    old.closeAllConnections();
    return new Promise((resolve) => void old.close(() => resolve()));
  };
  return {
    async serve(port, type, text) {
      if (port === served) return;
      await close();
      if (port === null) return;
      const page = createServer((request, response) => {
        const known = request.url?.split("?")[0] === "/metrics" && HOSTS.test(request.headers.host ?? "");
        if (!known || request.method !== "GET") {
          response.writeHead(known ? 405 : 404).end();
          return;
        }
        response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(text());
      });
      server = page;
      served = port;
      // Figures are no reason for the service not to run: a port that is taken is told and left.
      await new Promise<void>((resolve) => {
        page.once("error", (error) => {
          log.error({ port, error: error.message }, "the figures cannot be served");
          if (server === page) served = null;
          resolve();
        });
        page.listen(port, "127.0.0.1", resolve);
      });
    },
    close,
  };
}
