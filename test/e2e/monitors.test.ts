// A monitor from its lines in the configuration to the phone: down, acknowledged, up; and the address of a job, as it is printed.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
let target: Server;
let status = 200;

beforeAll(async () => {
  target = createServer((_, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/health`;
  const hooks = createServer();
  await new Promise<void>((resolve) => hooks.listen(0, "127.0.0.1", resolve));
  const { port } = hooks.address() as AddressInfo;
  await new Promise((resolve) => hooks.close(resolve));
  stage = await Stage.open(scope, {
    clock: true,
    home: {
      config: {
        webhooks: { port },
        monitors: {
          shop: {
            title: "shop.example",
            everySeconds: 60,
            probe: { type: "http", url },
            audience: "operators",
          },
          backup: { everySeconds: 3_600, probe: { type: "heartbeat" }, audience: "operators" },
        },
      },
    },
  });
});
afterAll(async () => {
  target.closeAllConnections();
  target.close();
  await scope.close();
});

test("an outage is one message, edited while it lasts, with its buttons; its end is a reply", async () => {
  status = 503;
  await stage.clock?.advance(4 * 60_000);
  const card = await stage.ann.waitForCard("shop.example is down");
  expect(card.text).toMatch(/^\u{1F534} shop\.example is down\n503 instead of 200–299/u);
  const tapped = await stage.ann.tap(card.id, "Acknowledge");
  expect(await stage.ann.waitForToast(tapped)).toContain("cknowledged");
  status = 200;
  await stage.clock?.advance(4 * 60_000);
  const end = await stage.ann.waitForMessage("shop.example is up again");
  expect(end.replyTo).toBe(card.id);
  const { stdout } = await stage.cli(["monitors"]);
  expect(stdout).toMatch(/shop\s+up/);
});

test("the printed line of a heartbeat reports, and the probing child that is killed is replaced", async () => {
  const shown = (await stage.cli(["monitors", "show", "backup"])).stdout;
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+\/heartbeat\/backup\/[0-9a-f]+/.exec(shown) ?? [];
  expect((await fetch(url, { method: "POST" })).status).toBe(202);
  expect((await fetch(`${url}0`, { method: "POST" })).status).toBe(400);
  expect((await stage.cli(["monitors"])).stdout).toMatch(/backup\s+up/);
  const [child] = new Database(stage.home.database, { readonly: true })
    .prepare("SELECT pid FROM child_processes WHERE kind = 'probes' AND ended_at IS NULL")
    .pluck()
    .all() as number[];
  process.kill(child ?? 0, "SIGKILL");
  await expect.poll(async () => (await stage.cli(["monitors", "check", "shop"])).code, { timeout: 30_000 }).toBe(0);
});
