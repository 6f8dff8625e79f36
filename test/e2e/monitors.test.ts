// A monitor from its lines in the configuration to the phone: down, acknowledged, repaired, up; and the address of a job, as it is
// printed.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Scope } from "../harness/index.ts";
import { Stage, until } from "./stage.ts";

/** Starts the target again, as somebody asked. */
const REPAIR = `import { action, defineWorkflow, idempotentEffect } from "holdpoint";
export default defineWorkflow({ name: "start-again", startAt: "start", edges: [], nodes: {
  start: action({ effect: idempotentEffect("start"), request: ({ input }) => ({ for: input.monitor }), run: async ({ input }) => {
    const { status } = await fetch(input.input.start, { method: "POST" });
    return { status, monitor: input.monitor, finding: input.finding.code, by: input.requestedBy };
  } }),
} });`;

const scope = new Scope();
let stage: Stage;
let target: Server;
let status = 200;

beforeAll(async () => {
  target = createServer(({ url: asked = "" }, response) => {
    if (asked.endsWith("?again")) status = 200;
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/health`;
  const hooks = createServer();
  await new Promise<void>((resolve) => hooks.listen(0, "127.0.0.1", resolve));
  const { port } = hooks.address() as AddressInfo;
  await new Promise((resolve) => hooks.close(resolve));
  const project = mkdtempSync(join(tmpdir(), "hp-project-"));
  scope.add(() => rmSync(project, { recursive: true, force: true }));
  const workflow = join(project, "start-again.workflow.ts");
  writeFileSync(workflow, REPAIR);
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
            remediation: { workflow, project, input: { start: `${url}?again` } },
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

test("Repair… starts the workflow, the alert says by whom and as which run, and the target is up again by it", async () => {
  status = 503;
  await stage.clock?.advance(4 * 60_000);
  const card = await stage.ann.waitForCard("shop.example is down");
  await stage.ann.waitForToast(await stage.ann.tap(card.id, "Repair\u2026"));
  const run = await until(
    async () => (await stage.client.call("monitor.get", { monitor: "shop" })).repair?.runId,
    "the run of the repair",
  );
  const ended = await until(async () => {
    const view = await stage.client.call("run.get", { run });
    return view.run.status === "completed" && view;
  }, "the end of the repair");
  expect(ended.outputs["start"]).toEqual({ status: 200, monitor: "shop", finding: "status", by: "Ann" });
  await until(
    async () => (await stage.message(card.id)).includes(`Repair started by Ann: run ${ended.run.shortId}.`),
    "the run in the alert",
  );
  await stage.clock?.advance(4 * 60_000);
  await until(async () => (await stage.message(card.id)).startsWith("\u{1F7E2}"), "the end of the outage");
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
