// What the Pi adapter tells the server of its sessions, where the order of things that cross matters.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectPi } from "../../../adapters/pi/child/connect.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { exampleCard } from "../../decision/examples.ts";
import { FakeSession, SessionFile } from "../../harness/pi-session.ts";
import { launchFor, loopInProcess, type FakeServer } from "../fake-server.ts";
import { exampleView } from "./example-view.ts";

const CARD: Perform = {
  type: "perform",
  effectId: "e-1",
  attempt: 1,
  op: "post",
  destination: "pi/s-1",
  content: { kind: "card", card: exampleCard(), state: { status: { kind: "pending" } }, tokens: {} },
  fromPart: 1,
  part: null,
  reference: null,
  replyTo: null,
};

let folder: string;
let server: FakeServer;
let session: FakeSession;
let place: string;
let epoch: number;
let file: SessionFile;

beforeEach(async () => {
  file = new SessionFile("s-1");
  folder = mkdtempSync(join(tmpdir(), "hp-pi-"));
  const socket = join(folder, "pi.sock");
  ({ server } = await loopInProcess(connectPi));
  const settings = { socket, rpcAnswers: false, product: "0", installPath: "/" };
  server.send(launchFor({ channel: "pi", settings }));
  await server.take("ready");
  session = await FakeSession.greet(socket, file);
  ({ place, epoch } = await server.take("link.open"));
  server.send({ type: "link.view", place, epoch, view: exampleView() });
});
afterEach(() => {
  session.disconnect();
  server.close();
  rmSync(folder, { recursive: true });
});

/** The server's word that what the session told of its tree is stored. */
async function store(): Promise<void> {
  const { report } = await server.take("link.report", ({ report: { type } }) => type === "branch");
  if (report.type !== "branch") throw new Error("no branch");
  const reply = { ok: true, text: "", code: "branchStored", end: false, error: null };
  server.send({ type: "link.reply", place, epoch, callId: report.callId, ...reply });
}

test("what was turned away while the tree of a session was being stored is asked for once more when it is", async () => {
  const stored = session.branch();
  // The server has told the session so, and offers what waits, before it can hear that this one was turned away.
  const { outcome } = await server.see(CARD);
  expect(outcome).toMatchObject({ outcome: "notSent", error: { code: "HP682" } });
  await store();
  await stored;
  const { report } = await server.take("link.report", ({ report: { type } }) => type === "standing");
  expect(report).toMatchObject({ type: "standing", idle: true, pendingInput: false });
  expect((await server.see({ ...CARD, attempt: 2 })).outcome.outcome).toBe("accepted");
  expect(file.of("decision")).toHaveLength(1);
});

test("a session that turned nothing away says nothing twice", async () => {
  const stored = session.branch();
  await store();
  await stored;
  await server.see({ ...CARD, effectId: "e-2" });
  expect(server.frames.filter((frame) => frame.type === "link.report" && frame.report.type === "standing")).toEqual([]);
});
