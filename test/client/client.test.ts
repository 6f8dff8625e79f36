// The client library against a server of the same protocol that says what the test tells it to.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

import { connect, type HoldpointClient } from "../../src/client/index.ts";
import { CLIENT } from "../../src/contracts/limits.ts";
import type { RunView } from "../../src/contracts/protocol/operations.ts";
import { makeTempHome, startFakeServer, type FakeOptions, type FakeServer } from "./fake-server.ts";
import { runView, serverStatus } from "./views.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(options: FakeOptions): Promise<FakeServer> {
  const server = await startFakeServer(options);
  open.push(() => server.close());
  return server;
}

async function clientOf(server: FakeServer): Promise<HoldpointClient> {
  const client = await connect({ home: server.home });
  open.push(() => client.close());
  return client;
}

const ack = { runId: "r-1", shortId: "7k3f", status: "queued", revision: 1 };
const start = { workflow: "deploy", workflowPath: "/w.ts", projectPath: "/w", input: {} };

test("a call gets the typed result of its operation", async () => {
  const server = await serve({ handle: () => ({ outcome: "accepted", result: serverStatus() }) });
  const client = await clientOf(server);
  expect((await client.call("server.status", {})).pid).toBe(4_242);
  expect(server.requests[0]).not.toHaveProperty("idempotencyKey");
});

test("the hello carries the client's id, its version and where it is installed", async () => {
  const server = await serve({ handle: () => undefined });
  const client = await clientOf(server);
  expect(server.hellos).toEqual([
    expect.objectContaining({ protocol: 1, product: "0.1.0", connectionId: client.clientId }),
  ]);
});

test("a change gets a key of its own, and keeps the one it is given", async () => {
  const server = await serve({ handle: () => ({ outcome: "accepted", result: ack }) });
  const client = await clientOf(server);
  await client.call("run.start", start);
  await client.call("run.start", start);
  await client.call("run.start", start, { idempotencyKey: "mine", expectedRevision: 4 });
  const keys = server.requests.map((request) => request.idempotencyKey);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys[1]).not.toBe(keys[0]);
  expect(keys[2]).toBe("mine");
  expect(server.requests[2]?.expectedRevision).toBe(4);
});

test("an error of the server arrives with its code, its remedy and its details", async () => {
  const error = {
    code: "HP406",
    kind: "runNotFound",
    message: 'No run fits "zz".',
    remedy: "List them.",
    details: { a: 1 },
  };
  const server = await serve({ handle: () => ({ outcome: "notFound", error }) });
  const client = await clientOf(server);
  await expect(client.call("run.get", { run: "zz" })).rejects.toMatchObject({
    kind: "runNotFound",
    code: "HP406",
    message: error.message,
    remedy: "List them.",
    details: { a: 1 },
  });
});

test("a result of the wrong shape is refused with the place", async () => {
  const server = await serve({ handle: () => ({ outcome: "accepted", result: { ...serverStatus(), pid: "x" } }) });
  const client = await clientOf(server);
  await expect(client.call("server.status", {})).rejects.toMatchObject({
    kind: "frameInvalid",
    message: expect.stringContaining('"pid"'),
  });
});

test("a payload of the wrong shape never leaves the client", async () => {
  const server = await serve({ handle: () => undefined });
  const client = await clientOf(server);
  await expect(client.call("run.get", { run: "" })).rejects.toMatchObject({
    kind: "usage",
    message: expect.stringContaining('"run"'),
    // Nothing about versions: it is the caller's value that does not fit.
    remedy: expect.not.stringContaining("version"),
  });
  expect(server.requests).toEqual([]);
});

test("a call whose connection broke is repeated once, under the same key", async () => {
  let calls = 0;
  const server = await serve({
    handle: () => {
      calls += 1;
      if (calls > 1) return { outcome: "adopted", result: ack };
      server.cut();
      return undefined;
    },
  });
  const client = await clientOf(server);
  expect(await client.call("run.start", start)).toEqual(ack);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[1]?.idempotencyKey).toBe(server.requests[0]?.idempotencyKey);
  expect(server.hellos.map((hello) => hello.connectionId)).toEqual([client.clientId, client.clientId]);
});

test("a stop whose connection broke is not repeated: the next server must not get it", async () => {
  const server = await serve({
    handle: () => {
      server.cut();
      return undefined;
    },
  });
  const client = await clientOf(server);
  await expect(client.call("server.stop", {})).rejects.toMatchObject({ kind: "serverUnavailable" });
  expect(server.requests).toHaveLength(1);
});

test("without a server the error says where it looked and what to do", async () => {
  const home = makeTempHome();
  open.push(() => rmSync(home, { recursive: true }));
  await expect(connect({ home })).rejects.toMatchObject({
    kind: "serverUnavailable",
    message: expect.stringContaining(join(home, "server.sock")),
    remedy: expect.stringContaining("holdpoint server start"),
  });
});

test("a home whose socket path is too long is refused before anything is tried", async () => {
  const home = `/tmp/${"x".repeat(100)}`;
  await expect(connect({ home })).rejects.toMatchObject({
    kind: "homeInvalid",
    details: { limit: 107, seen: 117 },
  });
});

test.each([
  [2, "client"],
  [0, "server"],
])("a server of protocol %i says that the %s must be updated", async (protocol, update) => {
  const server = await serve({ handle: () => undefined, hello: { protocol, product: "9.9.9", news: true } });
  await expect(connect({ home: server.home })).rejects.toMatchObject({
    kind: "versionSkew",
    message: expect.stringContaining("9.9.9"),
    details: { update },
  });
});

test("a hello of our own protocol with unknown fields is refused", async () => {
  const server = await serve({ handle: () => undefined, hello: { news: true } });
  await expect(connect({ home: server.home })).rejects.toMatchObject({ kind: "frameInvalid" });
});

test("rule 5: a watch shows the first view, each later one, and goes on after the server was away", async () => {
  let views = 0;
  const server = await serve({
    handle: (request, port) => {
      views += 1;
      const payload = runView({ revision: views });
      port.send({
        type: "response",
        requestId: request.requestId,
        outcome: "accepted",
        result: { subscriptionId: "s" },
      });
      port.send({ type: "event", subscriptionId: "s", event: "run", payload });
      return undefined;
    },
  });
  const client = await clientOf(server);
  const states: string[] = [];
  const revisions = await new Promise<number[]>((resolve, reject) => {
    const seen: number[] = [];
    const onView = (view: RunView): void => {
      seen.push(view.run.revision);
      if (seen.length < 3) server.cut();
      else resolve(seen);
    };
    const watch = client.watchRun("7k3f", onView, { random: () => 0, onState: (state) => states.push(state) });
    watch.done.catch(reject);
  });
  expect(revisions).toEqual([1, 2, 3]);
  expect(states).toEqual(["reconnecting", "live", "reconnecting", "live"]);
});

test("a watch on an unknown run ends with the server's error", async () => {
  const error = { code: "HP406", kind: "runNotFound", message: "No run.", remedy: "List them." };
  const server = await serve({ handle: () => ({ outcome: "notFound", error }) });
  const client = await clientOf(server);
  await expect(client.watchRun("zz", () => {}).done).rejects.toMatchObject({ kind: "runNotFound" });
});

test("a watch gives up after the last allowed attempt, and never starts a server", async () => {
  const server = await serve({ handle: () => undefined });
  const client = await connect({ home: server.home, startOnDemand: true, serverEntry: "/nonexistent.js" });
  open.push(() => client.close());
  await server.down();
  const random = (): number => 0;
  await expect(client.watchRun("7k3f", () => {}, { random }).done).rejects.toMatchObject({
    kind: "serverUnavailable",
    message: expect.stringContaining(`${CLIENT.reconnects} attempts`),
  });
});

test("a stopped watch resolves and its connection is closed", async () => {
  const server = await serve({
    handle: () => ({ outcome: "accepted", result: { subscriptionId: "s" } }),
  });
  const client = await clientOf(server);
  const watch = client.watchRun("7k3f", () => {});
  watch.stop();
  await watch.done;
});
