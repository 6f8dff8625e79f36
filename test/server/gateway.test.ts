import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HoldpointError } from "../../src/contracts/errors.ts";
import { WIRE } from "../../src/contracts/limits.ts";
import { serveConnection, type Handlers } from "../../src/server/gateway/connection.ts";
import type { Listener, Log } from "../../src/server/ports.ts";
import { unixListener } from "../../src/server/system/listener.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const handlers = {
  "run.list": () => Promise.resolve({ outcome: "accepted", result: { runs: [], more: false } }),
  "run.pause": () => Promise.reject(new HoldpointError("runNotFound", 'No run fits "x".')),
  "effect.list": () => Promise.resolve({ outcome: "accepted", result: { effects: "x".repeat(WIRE.frameBytes) } }),
} as unknown as Handlers;

let dir: string;
let path: string;
let listener: Listener;
const sockets: Socket[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "holdpoint-gw-"));
  path = join(dir, "server.sock");
  listener = unixListener(path);
  await listener.listen((stream) => {
    serveConnection(stream, { handlers, log: silent, product: "0.0.0", installPath: "/x" }, () => {});
  });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A raw client: sends lines, reads lines. */
async function raw(): Promise<{
  send: (value: unknown) => void;
  next: () => Promise<Record<string, unknown>>;
  closed: Promise<unknown>;
}> {
  const socket = createConnection(path);
  sockets.push(socket);
  await once(socket, "connect");
  let text = "";
  const lines: Record<string, unknown>[] = [];
  const waiters: ((line: Record<string, unknown>) => void)[] = [];
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
      const line = JSON.parse(text.slice(0, end)) as Record<string, unknown>;
      text = text.slice(end + 1);
      const waiter = waiters.shift();
      if (waiter) waiter(line);
      else lines.push(line);
    }
  });
  return {
    send: (value) => void socket.write(typeof value === "string" ? value : `${JSON.stringify(value)}\n`),
    next: () => {
      const line = lines.shift();
      return line ? Promise.resolve(line) : new Promise((resolve) => waiters.push(resolve));
    },
    closed: once(socket, "close"),
  };
}

const hello = { type: "hello", protocol: 1, product: "0.0.0", installPath: "/y", connectionId: "client-1" };

test("a client greets and is greeted, then asks", async () => {
  const client = await raw();
  client.send(hello);
  expect(await client.next()).toMatchObject({ type: "hello", protocol: 1, installPath: "/x" });
  client.send({ type: "request", requestId: "1", operation: "run.list", payload: { limit: 1, before: null } });
  expect(await client.next()).toMatchObject({
    type: "response",
    requestId: "1",
    outcome: "accepted",
    result: { runs: [] },
  });
});

test("another protocol number is greeted once, so that it can say which side to update, and then closed", async () => {
  const client = await raw();
  client.send({ ...hello, protocol: 99 });
  expect(await client.next()).toMatchObject({ type: "hello", protocol: 1 });
  await client.closed;
});

test("a bad frame closes only the connection it came on", async () => {
  const [bad, good] = [await raw(), await raw()];
  good.send(hello);
  await good.next();
  bad.send(hello);
  await bad.next();
  bad.send('{"type":"request","requestId":"1","operation":"run.list","payload":{},"extra":1}\n');
  await bad.closed;
  good.send({ type: "request", requestId: "2", operation: "run.list", payload: { limit: 1, before: null } });
  expect(await good.next()).toMatchObject({ requestId: "2", outcome: "accepted" });
});

test("a frame without end is cut off at the limit", async () => {
  const client = await raw();
  client.send(hello);
  await client.next();
  client.send("x".repeat(WIRE.frameBytes + 1));
  await client.closed;
});

test("a request before hello closes the connection", async () => {
  const client = await raw();
  client.send({ type: "request", requestId: "1", operation: "run.list", payload: { limit: 1, before: null } });
  await client.closed;
});

test.each([
  [
    "an unknown operation is refused with those that exist",
    { operation: "run.explode", payload: {} },
    "rejected",
    /run\.list/,
  ],
  [
    "a wrong payload is refused with the field",
    { operation: "run.list", payload: { limit: 0, before: null } },
    "rejected",
    /"limit"/,
  ],
  [
    "a change without an idempotency key is refused",
    { operation: "run.pause", payload: { run: "x" } },
    "rejected",
    /idempotencyKey/,
  ],
  [
    "an error of a handler keeps its kind",
    { operation: "run.pause", payload: { run: "x" }, idempotencyKey: "k" },
    "notFound",
    /No run/,
  ],
  [
    "a result above the frame limit is an error of that request",
    { operation: "effect.list", payload: { all: true } },
    "unavailable",
    /limit/,
  ],
])("%s", async (_name, request, outcome, message) => {
  const client = await raw();
  client.send(hello);
  await client.next();
  client.send({ type: "request", requestId: "1", ...request });
  const response = await client.next();
  expect(response["outcome"]).toBe(outcome);
  expect((response["error"] as { message: string }).message).toMatch(message);
});

test("a socket path that the system cannot bind is refused with its length", () => {
  expect(() => unixListener(`/${"x".repeat(200)}`)).toThrow(/201 bytes; the limit is 107/);
});
