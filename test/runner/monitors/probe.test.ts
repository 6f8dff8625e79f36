import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parseMonitorSpec, type MonitorSpec } from "../../../src/contracts/monitor/spec.ts";
import { processEntry } from "../../../src/contracts/process-identity.ts";
import type { Seen } from "../../../src/runner/monitors/expect.ts";
import { probe } from "../../../src/runner/monitors/probe.ts";
import { tempFolder } from "../../state/fixture.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const ENOUGH_MS = 30_000;
/** Short: the test waits for it, and nothing it waits for would ever come. */
const LATE_MS = 60;

function specOf(probeOf: object, wanted: object = {}): MonitorSpec {
  return parseMonitorSpec({ everySeconds: 60, audience: "ops", probe: probeOf, expect: wanted }, "monitors.test");
}

async function see(probeOf: object, wanted: object = {}, timeoutMs = ENOUGH_MS, now = Date.now()): Promise<Seen> {
  const registrar = { register: () => Promise.resolve("1"), unregister: () => Promise.resolve() };
  return probe(specOf(probeOf, wanted).check, { timeoutMs, now, registrar });
}

function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => sockets.add(socket));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

const web = (answer: http.RequestListener): Promise<number> => listen(http.createServer(answer));
const site = async (answer: http.RequestListener): Promise<object> => ({
  type: "http",
  url: `http://127.0.0.1:${await web(answer)}/health`,
});

describe("a probe of a web address", () => {
  test("is fine with any 2xx, and tells another status with what was expected", async () => {
    expect(await see(await site((_, res) => res.writeHead(204).end()))).toEqual({ ok: true, finding: { code: "ok" } });
    const broken = await site((_, res) => res.writeHead(503).end("busy"));
    expect(await see(broken)).toEqual({ ok: false, finding: { code: "status", seen: 503, expected: "200–299" } });
    expect((await see(broken, { status: 503 })).ok).toBe(true);
  });

  test("tells where a redirect points, without what may be a key, and does not follow it", async () => {
    let asked = 0;
    const moved = await site((_, res) => {
      asked += 1;
      res.writeHead(301, { location: "https://shop.example/?key=secret#part" }).end();
    });
    expect((await see(moved)).finding).toEqual({ code: "redirect", seen: 301, to: "https://shop.example/" });
    expect(asked).toBe(1);
    expect((await see(moved, { status: 301, headers: { location: "shop.example" } })).ok).toBe(true);
  });

  test("looks at the text, at headers and into JSON", async () => {
    const body = JSON.stringify({ status: "ok", queue: { length: 7 }, nodes: [{ up: true }] });
    const target = await site((_, res) => res.writeHead(200, { "x-release": "4.12.0" }).end(body));
    const json = (path: string, rest: object): Promise<Seen> => see(target, { json: [{ path, ...rest }] });
    expect((await see(target, { body: '"ok"', headers: { "X-Release": "4.12" } })).ok).toBe(true);
    expect((await see(target, { body: "ready" })).finding).toEqual({ code: "body", expected: "ready" });
    expect((await see(target, { headers: { "x-release": "5" } })).finding).toMatchObject({
      code: "header",
      seen: "4.12.0",
    });
    expect((await json("$.nodes.0.up", { equals: true })).ok).toBe(true);
    expect((await json("$.queue.length", { atMost: 5 })).finding).toEqual({
      code: "json",
      path: "$.queue.length",
      expected: "≤ 5",
      seen: "7",
    });
    expect((await json("$.constructor.name", { equals: "Object" })).finding).toMatchObject({
      code: "json",
      seen: null,
    });
    const text = await site((_, res) => res.end("<html>"));
    expect((await see(text, { json: [{ path: "$.a", equals: 1 }] })).finding).toEqual({ code: "notJson" });
  });

  test("has one time limit for all of it: connecting, the first byte and the last one", async () => {
    const silent = await site(() => undefined);
    expect((await see(silent, {}, LATE_MS)).finding).toMatchObject({ code: "timeout", phase: "answer" });
    const endless = await site((_, res) => void res.writeHead(200).write("a"));
    expect((await see(endless, {}, LATE_MS)).finding).toMatchObject({ code: "timeout", phase: "answer" });
    const deaf = await listen(net.createServer());
    const secure = { type: "http", url: `https://127.0.0.1:${deaf}/` };
    expect((await see(secure, {}, LATE_MS)).finding).toMatchObject({ code: "timeout", phase: "secure" });
  });

  test("tells a refused, a broken and an unreadable connection apart", async () => {
    const port = await listen(net.createServer((socket) => socket.destroy()));
    expect((await see({ type: "http", url: `http://127.0.0.1:${port}/` })).finding).toEqual({ code: "reset" });
    const garbage = await listen(net.createServer((socket) => socket.end("not http at all\r\n\r\n")));
    expect((await see({ type: "http", url: `http://127.0.0.1:${garbage}/` })).finding).toMatchObject({
      code: "protocol",
    });
    const closed = await listen(net.createServer());
    closers.pop()?.();
    expect((await see({ type: "http", url: `http://127.0.0.1:${closed}/` })).finding).toEqual({ code: "refused" });
    expect((await see({ type: "http", url: "http://no-such-host.invalid/" })).finding).toEqual({
      code: "lookup",
      host: "no-such-host.invalid",
    });
  });

  test("tells a certificate that nobody vouches for, and a server that speaks no TLS", async () => {
    const port = await secureServer();
    expect((await see({ type: "http", url: `https://127.0.0.1:${port}/` })).finding).toEqual({
      code: "tls",
      detail: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    const plain = await web((_, res) => res.end());
    expect((await see({ type: "http", url: `https://127.0.0.1:${plain}/` })).finding).toMatchObject({ code: "tls" });
  });

  test("reads on beyond what it keeps, and stops at an answer without end", async () => {
    const large = await site((_, res) => res.end("x".repeat(1_000_000)));
    expect((await see(large)).ok).toBe(true);
    const flood = await site((_, res) => {
      const chunk = Buffer.alloc(1_048_576);
      const pour = (): void => {
        while (!res.destroyed && res.write(chunk));
        if (!res.destroyed) res.once("drain", pour);
      };
      pour();
    });
    expect((await see(flood)).finding).toMatchObject({ code: "tooLarge" });
  });
});

function secureServer(): Promise<number> {
  const folder = join(import.meta.dirname, "../../fixtures/tls");
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  return listen(https.createServer({ cert: read("cert.pem"), key: read("key.pem") }, (_, res) => res.end()));
}

describe("a probe of a port", () => {
  test("is fine when somebody listens, and can want a greeting", async () => {
    const port = await listen(
      net.createServer((socket) => void socket.on("error", () => undefined).write("220 mail ready\r\n")),
    );
    const target = { type: "tcp", host: "127.0.0.1", port };
    expect((await see(target)).ok).toBe(true);
    expect((await see(target, { greeting: "220 " })).ok).toBe(true);
    expect((await see(target, { greeting: "SSH-" }, LATE_MS)).finding).toMatchObject({
      code: "timeout",
      phase: "answer",
    });
    const short = await listen(net.createServer((socket) => socket.end("554 no\r\n")));
    expect((await see({ ...target, port: short }, { greeting: "220" })).finding).toEqual({
      code: "greeting",
      expected: "220",
      seen: "554 no",
    });
  });
});

describe("a probe of a certificate", () => {
  test("counts the days by the server's clock, and tells what else is wrong with it", async () => {
    const target = { type: "tls-expiry", host: "127.0.0.1", port: await secureServer() };
    const late = Date.parse("2200-01-01T00:00:00Z");
    expect((await see(target)).finding).toEqual({ code: "tls", detail: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    const { finding } = await see(target, { daysLeft: 30 }, ENOUGH_MS, late);
    expect(finding).toMatchObject({ code: "certificate", expected: 30 });
    expect(finding.code === "certificate" && finding.daysLeft < 0).toBe(true);
  });
});

describe("a probe by a command", () => {
  const sh = (line: string): object => ({ type: "command", command: "/bin/sh", args: ["-c", line] });

  test("judges exit code and output, and tells the last line of what went wrong", async () => {
    expect((await see(sh("echo fine"), { output: "fine" })).ok).toBe(true);
    expect((await see(sh("exit 3"), { exitCode: 3 })).ok).toBe(true);
    expect((await see(sh("echo one >&2; echo disk full >&2; exit 2"))).finding).toEqual({
      code: "exitCode",
      seen: 2,
      expected: 0,
      detail: "disk full",
    });
    expect((await see(sh("echo '{\"free\": 3}'"), { json: [{ path: "$.free", atLeast: 10 }] })).finding).toMatchObject({
      code: "json",
      seen: "3",
    });
    expect((await see({ type: "command", command: "no-such-program" })).finding).toMatchObject({ code: "notStarted" });
    expect((await see(sh("kill -9 $$"))).finding).toEqual({ code: "signal", signal: "SIGKILL" });
  });

  test("ends a command that takes too long, with everything that it started", async () => {
    const folder = tempFolder();
    const late = await see(sh(`sleep 300 & echo $! > ${folder}/pid; wait`), {}, 400);
    expect(late.finding).toMatchObject({ code: "timeout", phase: "run" });
    const pid = Number(readFileSync(`${folder}/pid`, "utf8"));
    expect(processEntry(pid)).toBeNull();
  });
});

describe("a probe of a file", () => {
  test("looks at whether it is there, its age, its size and its content", async () => {
    const path = join(tempFolder(), "backup.sql");
    const file = { type: "file", path };
    expect((await see(file)).finding).toEqual({ code: "fileMissing" });
    expect((await see(file, { exists: false })).ok).toBe(true);
    writeFileSync(path, "-- dump complete\n");
    const now = Date.parse("2026-11-30T12:00:00Z");
    utimesSync(path, new Date(now), new Date(now));
    expect((await see(file, { maxAgeSeconds: 3_600, minBytes: 5, content: "complete" }, ENOUGH_MS, now)).ok).toBe(true);
    const later = now + 7_200_000;
    expect((await see(file, { maxAgeSeconds: 3_600 }, ENOUGH_MS, later)).finding).toEqual({
      code: "fileOld",
      ageSeconds: 7_200,
      expected: 3_600,
    });
    expect((await see(file, { minBytes: 1_000 })).finding).toMatchObject({ code: "fileSmall", bytes: 17 });
    expect((await see(file, { content: "failed" })).finding).toEqual({ code: "fileContent", expected: "failed" });
    expect((await see(file, { exists: false })).finding).toEqual({ code: "fileThere" });
  });
});
