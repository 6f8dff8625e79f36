// Starting a server on demand, with small stand-in servers as the entry.

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

import { connect } from "../../src/client/index.ts";
import { startServer } from "../../src/client/start.ts";
import { makeTempHome, startFakeServer } from "./fake-server.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** An entry that listens, greets, answers everything with its environment, and ends with the first connection. */
const GREETER = `
const net = require("node:net");
const path = require("node:path");
const server = net.createServer((socket) => {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
    for (let end = text.indexOf("\\n"); end >= 0; end = text.indexOf("\\n")) {
      const frame = JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
      if (frame.type === "hello") socket.write(JSON.stringify({ ...frame, connectionId: "c" }) + "\\n");
      else socket.write(JSON.stringify({ type: "response", requestId: frame.requestId, outcome: "rejected", error: {
        code: "HP999", kind: "internal", remedy: "none",
        message: process.env.HOLDPOINT_ON_DEMAND + " " + process.cwd() + " " + process.env.HOLDPOINT_READY_LINE } }) + "\\n");
    }
  });
  socket.on("close", () => process.exit(0));
});
server.listen(path.join(process.env.HOLDPOINT_HOME, "server.sock"));
`;

function home(entry: string): { home: string; entry: string } {
  const folder = makeTempHome();
  open.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const file = join(folder, "entry.cjs");
  writeFileSync(file, entry);
  return { home: join(folder, "home"), entry: file };
}

test("a server is started when none answers, in its home, told that it may end when idle", async () => {
  const place = home(GREETER);
  const client = await connect({ home: place.home, startOnDemand: true, serverEntry: place.entry });
  open.push(() => client.close());
  await expect(client.call("server.status", {})).rejects.toMatchObject({ message: `1 ${place.home} 1` });
});

test("a start log is private to its user", async () => {
  const place = home(GREETER);
  const client = await connect({ home: place.home, startOnDemand: true, serverEntry: place.entry });
  open.push(() => client.close());
  expect(statSync(join(place.home, "logs", "server-start.log")).mode & 0o777).toBe(0o600);
  expect(statSync(place.home).mode & 0o777).toBe(0o700);
});

test("a server that ends at once is reported with its last words and the place of the logs", async () => {
  const place = home(`console.error("HP201 config.json is not JSON"); process.exit(3);`);
  await expect(connect({ home: place.home, startOnDemand: true, serverEntry: place.entry })).rejects.toMatchObject({
    kind: "serverUnavailable",
    message: expect.stringMatching(/exit code 3.*HP201 config.json is not JSON/s),
    remedy: expect.stringContaining(join(place.home, "logs", "server.log")),
  });
  expect(readFileSync(join(place.home, "logs", "server-start.log"), "utf8")).toContain("HP201");
});

test("a server that refuses to start gives its own error, with its own remedy", async () => {
  const error = { code: "HP201", kind: "configInvalid", message: "config.json is not JSON.", remedy: "Correct it." };
  const place = home(`console.log(${JSON.stringify(JSON.stringify({ ready: false, error }))}); process.exit(1);`);
  await expect(connect({ home: place.home, startOnDemand: true, serverEntry: place.entry })).rejects.toMatchObject(
    error,
  );
});

test("a start that lost against another one waits for the winner", async () => {
  const error = { code: "HP801", kind: "serverRunning", message: "Another one.", remedy: "Use it." };
  const refuse = `console.log(${JSON.stringify(JSON.stringify({ ready: false, error }))});`;
  // The loser says so and is gone before the winner, a process of its own, listens.
  const winner = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(GREETER)}], {
    detached: true, stdio: "ignore" }).unref(); ${refuse}`;
  const place = home(winner);
  const client = await connect({ home: place.home, startOnDemand: true, serverEntry: place.entry });
  open.push(() => client.close());
  await expect(client.call("server.status", {})).rejects.toMatchObject({ kind: "internal" });
});

test("a silent server that holds the home is named by its pid, not called absent", async () => {
  const error = { code: "HP801", kind: "serverRunning", message: "Another one.", remedy: "Use it." };
  const place = home(`console.log(${JSON.stringify(JSON.stringify({ ready: false, error }))}); process.exit(3);`);
  mkdirSync(place.home);
  writeFileSync(join(place.home, "server.json"), JSON.stringify({ pid: process.pid, epoch: 1 }));
  const start = startServer({
    home: place.home,
    socketPath: join(place.home, "server.sock"),
    clientId: "c",
    entry: place.entry,
    timeoutMs: 1_000,
    mayIdleOut: true,
  });
  await expect(start).rejects.toMatchObject({
    kind: "serverUnavailable",
    message: expect.stringMatching(new RegExp(`^pid ${process.pid} holds .* but does not answer`)),
    details: { silent: true, pid: process.pid },
  });
});

test("a server that greets nobody is not called absent", async () => {
  const server = await startFakeServer({ handle: () => undefined, hello: null });
  open.push(() => server.close());
  await expect(connect({ home: server.home })).rejects.toMatchObject({
    message: expect.stringContaining("but does not answer"),
    details: { silent: true },
  });
});

test("without the option nothing is started", async () => {
  const place = home(GREETER);
  mkdirSync(place.home);
  await expect(connect({ home: place.home, serverEntry: place.entry })).rejects.toMatchObject({
    kind: "serverUnavailable",
  });
  expect(existsSync(join(place.home, "logs"))).toBe(false);
});
