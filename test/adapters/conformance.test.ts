// All adapters under one suite: Telegram against its stand-in, lines over a Unix socket, and Pi with sessions that connect to it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectTelegram } from "../../adapters/telegram/connect.ts";
import { botMessages, startSim } from "../../adapters/telegram/sim/index.ts";
import { connectLine } from "../fixtures/line-adapter/connect.ts";
import { LineService } from "../fixtures/line-adapter/service.ts";
import { buildChildren, type Built } from "./built.ts";
import { channelConformance, type Subject } from "./conformance.ts";
import { launchFor } from "./fake-server.ts";
import { PiSubject } from "./pi/subject.ts";

let built: Built;
beforeAll(() => {
  built = buildChildren(["adapters/telegram/main.ts", "test/fixtures/line-adapter/main.ts", "adapters/pi/main.ts"]);
}, 60_000);
afterAll(() => built.remove());

const MESSAGE_METHODS = ["sendMessage", "editMessageText", "deleteMessage"];

/** What a pressed button says: its token, and the message that it is under. */
const buttonOf = (reference: string | undefined): Record<string, unknown> => ({
  kind: "answer",
  token: "token-approve",
  reference,
  sender: { id: expect.stringMatching(/^\d+$/) },
  traits: [],
});

async function telegram(): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "hp-telegram-"));
  const tokenFile = join(folder, "token");
  const sim = await startSim({ pollRules: { conflictDelayMs: 0, sameOffsetHoldMs: 0, sameOffsetLimitMs: 0 } });
  writeFileSync(tokenFile, `${sim.token}\n`, { mode: 0o600 });
  for (const [id, firstName] of [
    [1001, "Ann"],
    [1002, "Bea"],
  ] as const) {
    sim.people.addPerson({ id, firstName });
  }
  const held: string[] = [];
  const count = (): number =>
    sim.ledger
      .state()
      .requests.filter(({ method }) => MESSAGE_METHODS.some((name) => name.toLowerCase() === method.toLowerCase()))
      .length;
  const chatOf = (destination: string): number => Number(destination.split("/")[1]);
  return {
    connect: connectTelegram,
    entry: built.path("adapters/telegram/main.ts"),
    secret: sim.token,
    places: ["telegram:test/1001", "telegram:test/1002"],
    launch: (changes) =>
      launchFor({ channel: "telegram:test", settings: { apiRoot: sim.url, pollSeconds: 50 }, tokenFile, ...changes }),
    tells: { refused: "rejected", unreachable: "HP605" },
    tapped: buttonOf,
    requests: count,
    arrived: async (wanted) => {
      await sim.ledger.waitFor(() => count() >= wanted);
    },
    visible: (destination) =>
      botMessages(sim.ledger.state(), chatOf(destination)).map(({ id, text, buttons }) => ({
        id,
        text,
        buttons: buttons.flat().length,
      })),
    fault(kind) {
      const method = MESSAGE_METHODS;
      if (kind === "refuse") {
        sim.faults.add({ kind: "reject", status: 400, description: "Bad Request: not enough rights", method });
      } else if (kind === "vanish") sim.faults.add({ kind: "drop", when: "after", how: "rst", method });
      else held.push(sim.faults.add({ kind: "slow", what: "ledger", method }));
    },
    release: () => {
      for (const id of held.splice(0)) sim.faults.remove(id);
    },
    down: () => sim.server.down(),
    up: () => sim.server.up(),
    say: (destination, text) => void sim.people.say(chatOf(destination), chatOf(destination), text),
    tap: (destination, message, button) =>
      void sim.people.tap(chatOf(destination), chatOf(destination), message, button),
    toasts: (wanted) => sim.ledger.waitFor(({ toasts }) => toasts.length >= wanted && toasts.map(({ text }) => text)),
    async close() {
      await sim.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function line(): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), "hp-line-"));
  const path = join(folder, "line.sock");
  const service = new LineService(path);
  await service.up();
  const placeOf = (destination: string): string => destination.split("/")[1] ?? "";
  const count = (): number => service.requests.filter(({ method }) => method !== "toast").length;
  const toasts = (): string[] =>
    service.requests.flatMap((request) => (request.method === "toast" ? [request.text] : []));
  return {
    connect: connectLine,
    entry: built.path("test/fixtures/line-adapter/main.ts"),
    secret: null,
    places: ["line:test/hall", "line:test/yard"],
    launch: (changes) => launchFor({ channel: "line:test", settings: { path }, ...changes }),
    tells: { refused: "rejected", unreachable: "HP605" },
    tapped: buttonOf,
    requests: count,
    arrived: (wanted) => service.until(() => count() >= wanted),
    visible: (destination) =>
      service.messages
        .filter(({ place }) => place === placeOf(destination))
        .map(({ id, text, buttons }) => ({ id, text, buttons: buttons.length })),
    fault: (kind) => service.fault(kind),
    release: () => service.release(),
    down: () => service.down(),
    up: () => service.up(),
    say: (destination, text) => service.say({ from: "7", name: "Ann", place: placeOf(destination), text }),
    tap(destination, message, button) {
      const data = service.messages.find(({ id }) => id === message)?.buttons[button] ?? "";
      service.say({ from: "7", name: "Ann", place: placeOf(destination), data }, message);
    },
    async toasts(wanted) {
      await service.until(() => toasts().length >= wanted);
      return toasts();
    },
    async close() {
      await service.down();
      rmSync(folder, { recursive: true });
    },
  };
}

channelConformance("Telegram", telegram);
channelConformance("lines over a socket", line);
const leftOut = channelConformance(
  "Pi",
  () => Promise.resolve(new PiSubject(() => built.path("adapters/pi/main.ts"))),
  ["parts", "doubt", "edits", "backlog", "hurry", "polls"],
);

test("what does not apply to Pi is known by name, and has a rule in its place where there is one", () => {
  expect(leftOut).toEqual([
    ["parts", "each part waits for the receipt of the one before, and only the last has the buttons"],
    ["parts", "a later attempt starts at the part it is given"],
    ["parts", "a refused part ends the attempt: parts before it keep their receipts, later ones are not sent"],
    ["doubt", "a request that was carried out without an answer is ambiguous and goes out once"],
    ["edits", "an edit changes the message in place, a deletion removes it; neither makes a receipt"],
    ["backlog", "an update without a verdict comes again after a restart, one with a verdict does not"],
    ["hurry", "a tap whose verdict takes too long is told that it arrived, and is not told twice"],
    ["polls", "a failed poll is told in words, and the next good one too"],
  ]);
});
