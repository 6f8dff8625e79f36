// Figures for Prometheus: on a loopback port when configured, off otherwise, and without anything that is nobody's business.

import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
let port = 0;
beforeAll(async () => {
  port = await freePort();
  stage = await Stage.open(scope);
});
afterAll(() => scope.close());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const found = (server.address() as AddressInfo).port;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return found;
}

function get(
  path = "/metrics",
  options: { host?: string; method?: string } = {},
): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { host: options.host ?? `127.0.0.1:${port}` };
    const asked = request(
      { host: "127.0.0.1", port, path, method: options.method ?? "GET", headers, agent: false },
      (answer: IncomingMessage) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, type: answer.headers["content-type"] ?? "", text }),
        );
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}

test("off unless configured; a reload switches them on and off", async () => {
  await expect(get()).rejects.toThrow("ECONNREFUSED");
  stage.home.writeConfig({ ...stage.home.config, metrics: { port } });
  await stage.client.call("server.reload", {});
  const asked = await stage.ask("Counted");
  const { status, text, type } = await get();
  expect({ status, type }).toEqual({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
  for (const line of [
    'holdpoint_runs{state="waiting"} 1',
    "holdpoint_decisions_pending 1",
    'holdpoint_channel_up{channel="telegram:default"} 1',
    'holdpoint_channel_deaf{channel="telegram:default"} 0',
    'holdpoint_channel_ambiguous{channel="telegram:default"} 0',
    "holdpoint_config_error 0",
  ])
    expect(text.split("\n")).toContain(line);
  for (const line of text.split("\n"))
    expect(line).toMatch(/^$|^# (HELP|TYPE) holdpoint_[a-z_]+ .+|^holdpoint_[a-z_]+(\{[a-z]+="[^"]*"\})? [0-9.e+]+$/);
  expect(text).not.toMatch(/1001|Ann|Counted/);
  expect(text).not.toContain(stage.standIn.token);
  await stage.client.call("run.cancel", { run: asked.run, reason: null });

  stage.home.writeConfig(stage.home.config);
  await stage.client.call("server.reload", {});
  await expect(get()).rejects.toThrow("ECONNREFUSED");
});

test("only that page, only by reading, only for this machine; a port that is taken does not stop the service", async () => {
  stage.home.writeConfig({ ...stage.home.config, metrics: { port } });
  await stage.client.call("server.reload", {});
  expect((await get("/")).status).toBe(404);
  expect((await get("/metrics", { method: "POST" })).status).toBe(405);
  expect((await get("/metrics", { host: "evil.example" })).status).toBe(404);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  scope.add(() => new Promise<void>((resolve) => void taken.close(() => resolve())));
  stage.home.writeConfig({ ...stage.home.config, metrics: { port: (taken.address() as AddressInfo).port } });
  expect(await stage.client.call("server.reload", {})).toEqual({ loaded: true, error: null });
  expect((await stage.client.call("server.status", {})).state).toBe("running");
});
