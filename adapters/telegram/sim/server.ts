/**
 * The HTTP side: one loopback port with the Bot API, the page for people and (if wanted) the control channel. It finds
 * the method, keeps the request log and can go down and come back on the same port. The token stops here: it is
 * compared and never stored.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LedgerRequest } from "./types.ts";
import { ApiError } from "./api-error.ts";
import { type Arguments, readArguments } from "./arguments.ts";
import { answer, type Exchange, refused, send } from "./exchange.ts";
import type { FaultBook } from "./faults.ts";
import type { Call } from "./methods/call.ts";
import { METHODS } from "./methods/index.ts";
import type { Updates } from "./updates.ts";
import type { World } from "./world.ts";

/** A handler for paths outside of the Bot API; false when the path is not its own. */
export type SideDoor = (request: IncomingMessage, response: ServerResponse, url: URL) => boolean;

export interface BotApiServer {
  port(): number;
  listen(port: number): Promise<void>;
  down(): Promise<void>;
  close(): Promise<void>;
}

export function createBotApiServer(
  world: World,
  updates: Updates,
  faults: FaultBook,
  sideDoors: SideDoor[],
): BotApiServer {
  let port = 0;
  let server: Server | undefined;
  const trap = createTrap(world);

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // The caller may cut the connection at any moment; that is an outcome, not an error.
    request.on("error", () => {});
    response.on("error", () => {});
    const url = localUrl(request);
    if (sideDoors.some((door) => door(request, response, url))) return;
    serve(request, response, url).catch((error: unknown) => {
      if (!response.headersSent && !response.destroyed) response.writeHead(500).end();
      if (!request.destroyed) process.emitWarning(error instanceof Error ? error : String(error));
    });
  }

  async function serve(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const gone = new AbortController();
    const record = begin(request);
    response.once("close", () => {
      if (response.writableFinished) return;
      if (!record.verdict) record.callerGone = true;
      gone.abort();
      world.touch();
    });
    const handedOut: number[] = [];
    const exchange: Exchange = {
      request,
      response,
      caller: gone.signal,
      run: () => Promise.reject(new ApiError(404, "Not Found")),
      elsewhere: trap.address,
      conflict: updates.conflict,
    };
    const finish = (outcome: Awaited<ReturnType<typeof answer>>) => {
      record.verdict = { ...outcome, at: world.clock.now() };
      if (handedOut.length > 0) record.updateIds = handedOut;
      world.touch();
    };
    try {
      const [, token, name] = /^\/bot([^/]+)\/([^/]*)$/u.exec(url.pathname) ?? [];
      record.method = name ?? "";
      if (token === undefined || name === undefined) throw new ApiError(404, "Not Found");
      if (request.method !== "GET" && request.method !== "POST") throw new ApiError(405, "Method Not Allowed");
      const args = await readArguments(request, url.searchParams);
      record.encoding = args.encoding;
      record.params = args.values;
      if (token.replace(/%3a/iu, ":") !== world.token) throw new ApiError(401, "Unauthorized");
      const method = METHODS.get(name.toLowerCase());
      if (!method) throw new ApiError(404, "Not Found: method not found");
      world.touch();
      const call: Call = { world, updates, args, caller: gone.signal, handedOut };
      exchange.run = async () => method(call);
      const hit = faults.match(name, chatIdOf(world, args));
      if (hit) record.fault = hit.id;
      finish(await answer(exchange, hit));
    } catch (error) {
      if (!(error instanceof ApiError)) {
        finish({ status: 0, ok: false, wire: "client gone", executed: false });
        throw error;
      }
      finish(await send(exchange, refused(error), false));
    }
  }

  function begin(request: IncomingMessage): LedgerRequest {
    const record: LedgerRequest = {
      seq: world.requests.length + 1,
      method: "",
      http: request.method === "GET" ? "GET" : "POST",
      encoding: "none",
      params: {},
      at: world.clock.now(),
    };
    world.requests.push(record);
    return record;
  }

  async function down(): Promise<void> {
    const ending = server;
    server = undefined;
    if (!ending) return;
    updates.dropPolls();
    const closed = new Promise((resolve) => ending.close(resolve));
    ending.closeAllConnections();
    await closed;
  }

  return {
    port: () => port,
    async listen(wanted) {
      if (server) return;
      const next = createServer({ keepAliveTimeout: 70_000 }, handle);
      await listenOn(next, wanted === 0 ? port : wanted);
      server = next;
      port = (next.address() as AddressInfo).port;
    },
    down,
    async close() {
      faults.clear();
      await down();
      await trap.close();
    },
  };
}

/** The path and query of a request; the root for what is no URL. */
export function localUrl(request: IncomingMessage): URL {
  const base = "http://127.0.0.1";
  const path = request.url ?? "/";
  return new URL(URL.canParse(path, base) ? path : "/", base);
}

/** Listens on 127.0.0.1. @throws Error when the port is taken */
export function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The chat that a request is about, for faults that are limited to one chat. */
function chatIdOf(world: World, { values }: Arguments): number | undefined {
  const chatId = values["chat_id"];
  if (chatId !== undefined) return Number(chatId);
  const callbackId = values["callback_query_id"];
  return callbackId === undefined ? undefined : world.taps.find((tap) => tap.callbackId === callbackId)?.chatId;
}

/** The other host of a redirect: counts what arrives and answers with success, as a careless proxy might. */
function createTrap(world: World): { address: () => Promise<string>; close: () => Promise<void> } {
  let server: Server | undefined;
  let ready: Promise<string> | undefined;
  async function open(): Promise<string> {
    server = createServer((request, response) => {
      let bytes = 0;
      request.on("data", (chunk: Buffer) => (bytes += chunk.length));
      request.on("end", () => {
        world.redirectHits.push({ http: request.method ?? "", path: request.url ?? "", bytes });
        world.touch();
        response.setHeader("Content-Type", "application/json");
        response.end(
          JSON.stringify({ ok: true, result: { message_id: 1, date: 0, chat: { id: 1, type: "private" } } }),
        );
      });
    });
    await listenOn(server, 0);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/elsewhere`;
  }
  return {
    address: () => (ready ??= open()),
    async close() {
      await ready;
      const ending = server;
      if (!ending) return;
      const closed = new Promise((resolve) => ending.close(resolve));
      ending.closeAllConnections();
      await closed;
    },
  };
}
