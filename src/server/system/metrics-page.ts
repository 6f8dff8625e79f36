/**
 * Serves the figures on a loopback port. Only GET /metrics, only for a Host that is this machine (a web page that had its name point
 * here gets nothing), and nothing can be changed through it.
 */
import type { Log, MetricsPage } from "../ports.ts";
import { OptionalPage } from "./optional-page.ts";

const HOSTS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

export function metricsPage(log: Log): MetricsPage {
  const page = new OptionalPage(log, "the figures cannot be served");
  return {
    serve(port, type, text) {
      return page.serve(port === null ? null : { host: "127.0.0.1", port }, (request, response) => {
        const known = request.url?.split("?")[0] === "/metrics" && HOSTS.test(request.headers.host ?? "");
        if (!known || request.method !== "GET") {
          response.writeHead(known ? 405 : 404).end();
          return;
        }
        response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(text());
      });
    },
    close: () => page.close(),
  };
}
