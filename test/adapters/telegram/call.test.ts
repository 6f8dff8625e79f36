// What is known about a call after each way in which it can end, over real sockets.

import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { BotClient, isObject, type CallResult } from "../../../adapters/telegram/call.ts";

const TOKEN = "123456789:AAE-x_secret-of_this~test";
const FORMS = [TOKEN, encodeURIComponent(TOKEN), Buffer.from(TOKEN).toString("base64"), TOKEN.slice(10)];

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Peer {
  readonly url: string;
  /** Complete requests that arrived. */
  requests: number;
}

/** A raw server: `react` runs when a whole request is there. */
async function peer(
  react: (socket: Socket) => void,
  accept: (socket: Socket) => void = () => undefined,
): Promise<Peer> {
  const result: { url: string; requests: number } = { url: "", requests: 0 };
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    accept(socket);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (text.length !== text.indexOf("\r\n\r\n") + 4 + length) return;
      result.requests += 1;
      react(socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  result.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return result;
}

function respond(status: string, type: string, body: string, headers = "", declared = Buffer.byteLength(body)) {
  return (socket: Socket): void => {
    socket.end(`HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${declared}\r\n\r\n${body}`);
  };
}
const json = (status: string, value: unknown) => respond(status, "application/json", JSON.stringify(value));
const html = (status: string) => respond(status, "text/html", "<html><h1>proxy</h1></html>");
const refused = (code: unknown, description: string, more: object = {}) =>
  json(`${String(code)} X`, { ok: false, error_code: code, description, ...more });

async function send(apiRoot: string, timeoutMs = 20_000, signal?: AbortSignal): Promise<CallResult<number>> {
  const client = new BotClient(TOKEN, { apiRoot, timeoutMs, reuse: false });
  closers.push(() => client.close());
  const result = await client.call("sendMessage", { chat_id: 1, text: "hi" }, idOf, signal);
  for (const form of FORMS) expect(JSON.stringify(result)).not.toContain(form);
  return result;
}

function idOf(value: unknown): number | undefined {
  return isObject(value) && typeof value["message_id"] === "number" ? value["message_id"] : undefined;
}

describe("an answer of the Bot API", () => {
  test("with the promised result is accepted, also with fields nobody knows", async () => {
    const { url } = await peer(json("200 OK", { ok: true, result: { message_id: 7, news: 1 }, more: [] }));
    expect(await send(url)).toEqual({ outcome: "accepted", result: 7 });
  });

  test.each([400, 401, 403, 404, 409, 499])("with code %i is a rejection that keeps code and text", async (code) => {
    const { url } = await peer(refused(code, "Bad Request: no"));
    expect(await send(url)).toEqual({ outcome: "rejected", code, description: "Bad Request: no", parameters: {} });
  });

  test("keeps what Telegram asks for: to wait, or to go to another chat", async () => {
    const wait = await peer(refused(429, "Too Many Requests: retry after 7", { parameters: { retry_after: 7 } }));
    expect(await send(wait.url)).toMatchObject({ outcome: "rejected", code: 429, parameters: { retryAfterS: 7 } });
    const moved = await peer(refused(400, "upgraded", { parameters: { migrate_to_chat_id: -1001234567890123 } }));
    expect(await send(moved.url)).toMatchObject({ parameters: { migrateToChatId: "-1001234567890123" } });
  });

  test("that repeats the token in any form is shown without it", async () => {
    const { url } = await peer(refused(400, `echo ${FORMS.join(" ")}`));
    expect(await send(url)).toMatchObject({ description: "echo [token] [token] [token] [token]" });
  });
});

describe("a request that never had a connection is not sent", () => {
  test("when the connection is refused", async () => {
    const { url } = await peer(() => undefined);
    for (const close of closers.splice(0)) close();
    expect(await send(url)).toMatchObject({ outcome: "notSent", reason: expect.stringContaining("ECONNREFUSED") });
  });

  test("when the host has no address", async () => {
    // A label of 64 characters is refused by the resolver itself, without a question to the network.
    const result = await send(`http://${"x".repeat(64)}.invalid`);
    expect(result).toMatchObject({ outcome: "notSent", reason: expect.stringContaining("getaddrinfo") });
  });

  test("when it was stopped before", async () => {
    const server = await peer(json("200 OK", { ok: true, result: { message_id: 7 } }));
    expect(await send(server.url, 20_000, AbortSignal.abort())).toMatchObject({ outcome: "notSent" });
    expect(server.requests).toBe(0);
  });

  test("when TLS meets a server that speaks none, or one that says nothing", async () => {
    const plain = await peer(
      () => undefined,
      (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    );
    expect(await send(plain.url.replace("http:", "https:"))).toMatchObject({ outcome: "notSent" });
    const silent = await peer(() => undefined);
    expect(await send(silent.url.replace("http:", "https:"), 200)).toMatchObject({ outcome: "notSent" });
  });
});

describe("everything else may have taken effect", () => {
  const cases: [string, (socket: Socket) => void][] = [
    ["the connection is reset after the request", (socket) => void socket.resetAndDestroy()],
    ["the connection ends after the request", (socket) => void socket.end()],
    ["the connection ends within the body", respond("200 OK", "application/json", `{"ok":tr`, "", 500)],
    ["the connection is reset within the body", resetInBody],
    ["502 with a page", html("502 Bad Gateway")],
    ["429 with a page", html("429 Too Many Requests")],
    ["200 with a page", html("200 OK")],
    ["500 in JSON", refused(500, "Internal Server Error: restart")],
    ["a proxy's JSON with 403", json("403 Forbidden", { message: "Forbidden" })],
    ["a code in words", refused("400", "Bad Request")],
    ["a refusal without ok", json("400 Bad Request", { error_code: 400, description: "Bad Request" })],
    ["a code that is no refusal", refused(302, "Found")],
    ["an empty object", json("200 OK", {})],
    ["null", json("200 OK", null)],
    ["a list", json("200 OK", [])],
    ["ok without a result", json("200 OK", { ok: true })],
    ["ok with another result", json("200 OK", { ok: true, result: true })],
    ["no body at all", respond("204 No Content", "text/plain", "")],
  ];
  test.each(cases)("%s", async (_name, react) => {
    const server = await peer(react);
    const result = await send(server.url);
    expect(result).toMatchObject({ outcome: "ambiguous", reason: expect.stringMatching(/^sendMessage: ./) });
    expect(server.requests).toBe(1);
  });

  test("no answer at all, once the time is over", async () => {
    const server = await peer(() => undefined);
    expect(await send(server.url, 100)).toMatchObject({
      outcome: "ambiguous",
      reason: expect.stringContaining("timed out"),
    });
    expect(server.requests).toBe(1);
  });

  test("a request that was stopped while it was under way", async () => {
    const stop = new AbortController();
    const server = await peer(() => stop.abort());
    expect(await send(server.url, 20_000, stop.signal)).toMatchObject({ outcome: "ambiguous" });
  });

  test("a redirect, which is not followed", async () => {
    let hits = 0;
    const elsewhere = createHttp((_request, response) => {
      hits += 1;
      response.end("{}");
    });
    elsewhere.listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    closers.push(() => elsewhere.close());
    const location = `Location: http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/\r\n`;
    const { url } = await peer(respond("302 Found", "text/html", "moved", location));
    expect(await send(url)).toMatchObject({ outcome: "ambiguous", reason: expect.stringContaining("HTTP 302") });
    expect(hits).toBe(0);
  });

  test("a used connection that the service has just closed", async () => {
    // The second request goes out on the first one's connection, and ends with it.
    let count = 0;
    const body = JSON.stringify({ ok: true, result: { message_id: 7 } });
    const keep = (socket: Socket): void => {
      count += 1;
      if (count > 1) socket.destroy();
      else
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
    };
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("data", () => keep(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => server.close());
    const apiRoot = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = new BotClient(TOKEN, { apiRoot, timeoutMs: 20_000, reuse: true });
    closers.push(() => client.close());
    const call = (): Promise<CallResult<number>> => client.call("sendMessage", {}, idOf);
    expect(await call()).toMatchObject({ outcome: "accepted" });
    expect(await call()).toMatchObject({ outcome: "ambiguous" });
    expect(sockets.size).toBe(1);
  });
});

function resetInBody(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{", () =>
    socket.resetAndDestroy(),
  );
}
