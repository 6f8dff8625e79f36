/**
 * The control channel's server side, under `/_sim/`: the state (with a long poll on its version) and the actions of
 * `actions.ts` as `POST /_sim/<group>/<name>` with a JSON array of arguments. Only plain local programs may use it: a
 * browser page of another origin is refused.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sim } from "./types.ts";
import { CLOCK_ACTIONS, FAULT_ACTIONS, PEOPLE_ACTIONS, SERVER_ACTIONS } from "./actions.ts";
import { readBody } from "./arguments.ts";
import { listenOn, localUrl, type SideDoor } from "./server.ts";

type Parts = Pick<Sim, "ledger" | "people" | "faults" | "clock" | "server">;
type Action = (...args: unknown[]) => unknown;

const MAX_WAIT_MS = 20_000;
const MAX_BODY = 1024 * 1024;

export function createControlDoor(parts: Parts): SideDoor {
  const actions = new Map<string, Action>();
  const offer = (group: string, names: readonly string[], target: object) => {
    for (const name of names) {
      actions.set(`/_sim/${group}/${name}`, (...args) => (target as Record<string, Action>)[name]?.(...args));
    }
  };
  offer("people", PEOPLE_ACTIONS, parts.people);
  offer("faults", FAULT_ACTIONS, parts.faults);
  offer("clock", CLOCK_ACTIONS, parts.clock);
  offer("server", SERVER_ACTIONS, parts.server);

  async function serve(request: IncomingMessage, url: URL): Promise<[status: number, body: unknown]> {
    const host = request.headers.host ?? "";
    if (request.headers.origin !== undefined || !/^(127\.0\.0\.1|localhost)(:\d+)?$/u.test(host)) {
      return [403, { error: "the control channel is for local programs only" }];
    }
    if (request.method === "GET" && url.pathname === "/_sim/state") {
      const since = url.searchParams.get("since");
      const wait = Math.min(MAX_WAIT_MS, Math.max(0, Number(url.searchParams.get("wait") ?? 0) || 0));
      if (since !== null && wait > 0) {
        await parts.ledger.waitFor((state) => state.version > Number(since), { timeoutMs: wait }).catch(() => {});
      }
      return [200, { result: parts.ledger.state() }];
    }
    const action = request.method === "POST" ? actions.get(url.pathname) : undefined;
    if (!action) return [404, { error: `no action ${request.method} ${url.pathname}` }];
    if (!/^application\/json/iu.test(request.headers["content-type"] ?? "")) {
      return [415, { error: "arguments must be application/json" }];
    }
    try {
      const args: unknown = JSON.parse((await readBody(request, MAX_BODY)).toString("utf8"));
      if (!Array.isArray(args)) throw new Error("arguments must be a JSON array");
      // A missing optional argument in the middle arrives as null.
      const result = await action(...args.map((arg: unknown) => arg ?? undefined));
      return [200, { result: result ?? null }];
    } catch (error) {
      return [400, { error: error instanceof Error ? error.message : String(error) }];
    }
  }

  return (request, response, url) => {
    if (!url.pathname.startsWith("/_sim/")) return false;
    void respond(serve(request, url), response);
    return true;
  };
}

async function respond(work: Promise<[number, unknown]>, response: ServerResponse): Promise<void> {
  const [status, body] = await work.catch((): [number, unknown] => [500, { error: "the control channel failed" }]);
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

/** The control channel on a port of its own, so that it answers while the Bot API port is down. */
export async function listenForControl(parts: Parts, port = 0): Promise<{ port: number; close(): Promise<void> }> {
  const door = createControlDoor(parts);
  const server: Server = createServer((request, response) => {
    response.on("error", () => {});
    if (!door(request, response, localUrl(request))) response.writeHead(404).end();
  });
  await listenOn(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
