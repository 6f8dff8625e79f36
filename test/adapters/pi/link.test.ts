// The link of a session ends where trying again is of no use.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

import { Life } from "../../../adapters/pi/extension/life.ts";
import { Link, type LinkHost } from "../../../adapters/pi/extension/link/link.ts";
import type { PiContext } from "../../../adapters/pi/extension/pi-api.ts";
import { StandingWatch } from "../../../adapters/pi/extension/standing.ts";
import type { Delivery } from "../../../src/contracts/pi/session-message.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import { fromExtensionSchema, type FromExtension, type ToExtension } from "../../../src/contracts/protocol/pi-link.ts";
import { framePort, type FramePort } from "../../../src/contracts/wire/frames.ts";
import { HoldpointError } from "../../../src/contracts/errors.ts";

test("a server of another version is asked once, and the link is over with its reason", async () => {
  const said: [string, string | undefined][] = [];
  let asked = 0;
  const host = {
    life: new Life(),
    socketPath: () => {
      asked += 1;
      return Promise.reject(new HoldpointError("versionSkew", "The server is older."));
    },
    onState: (state: string, why?: string) => said.push([state, why]),
  };
  await new Link(host as unknown as LinkHost).run();
  expect(asked).toBe(1);
  expect(said.at(-1)).toEqual(["over", "The server is older."]);
});

interface Play {
  readonly link: Link;
  /** The adapter listens from now on. */
  readonly listen: () => Promise<void>;
}

/** A link, and an adapter that greets it, hears every frame, and answers what wants an answer unless `hear` says that it does not. */
async function withLink(
  hear: (frame: FromExtension, port: FramePort<FromExtension, ToExtension>) => boolean,
  isIdle: () => boolean,
  use: (play: Play) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-link-"));
  const path = join(folder, "pi.sock");
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const port = framePort<FromExtension, ToExtension>(socket, fromExtensionSchema);
    port.onFrame((frame) => {
      const answered = hear(frame, port);
      if (frame.type === "hello") {
        port.send({ type: "welcome", protocol: 1, product: "0", installPath: "/", epoch: 1 });
        port.send({ type: "view", view: VIEW });
      } else if (answered && "callId" in frame)
        port.send({ type: "reply", callId: frame.callId, ok: true, text: "", code: null, end: false, error: null });
    });
  });
  const life = new Life();
  const session = { getEntries: () => [], getBranch: () => [], getLeafId: () => null, getSessionFile: () => undefined };
  life.see({ isIdle, hasPendingMessages: () => false, sessionManager: session } as unknown as PiContext);
  const host = {
    life,
    pi: {},
    standing: new StandingWatch(),
    socketPath: () => Promise.resolve(path),
    hello: () => HELLO,
    onView: () => undefined,
    onEntry: () => undefined,
    onState: () => undefined,
    openTurn: () => null,
    textOf: () => null,
    random: () => 0,
  };
  const link = new Link(host as unknown as LinkHost);
  void link.run();
  try {
    await use({ link, listen: () => new Promise((resolve) => server.listen(path, resolve)) });
  } finally {
    life.end();
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test("an answer that waits for a link is refused after a while and never sent later; what may wait is sent when the link is there", async () => {
  const heard: string[] = [];
  const hear = ({ type }: FromExtension): boolean => heard.push(type) > 0;
  await withLink(
    hear,
    () => true,
    async ({ link, listen }) => {
      const answer = { ...ANSWER, eventId: "e-1" };
      const [refused] = await Promise.all([link.ask(answer, 50), Promise.resolve()]);
      expect(refused).toMatchObject({ ok: false, text: expect.stringContaining("not sent") as string });
      const cleared = link.ask({ type: "clear" });
      await listen();
      expect(await cleared).toMatchObject({ ok: true });
      expect(heard).not.toContain("answer");
      expect(await link.ask(answer, 1_000)).toMatchObject({ ok: true });
      expect(heard.filter((type) => type === "answer")).toHaveLength(1);
    },
  );
});

test("a session that was busy when a message came tells when it is not, also where it had told that it is idle", async () => {
  const heard: string[] = [];
  let idle = true;
  let told = (): void => undefined;
  const again = new Promise<void>((resolve) => (told = resolve));
  await withLink(
    (frame, port) => {
      if (frame.type === "delivered") {
        heard.push(frame.result);
        idle = true;
      } else if (frame.type === "standing") {
        heard.push(frame.idle ? "idle" : "at work");
        if (frame.idle) told();
      } else if (frame.type === "clear") {
        // Pi is at work for a moment, of which no event tells.
        idle = false;
        port.send({ type: "deliver", delivery: DELIVERY });
      }
      return true;
    },
    () => idle,
    async ({ link, listen }) => {
      await listen();
      await link.ask({ type: "clear" });
      await again;
      expect(heard).toEqual(["busy", "at work", "idle"]);
    },
  );
});

test("turns that could not be told before are announced with the branch, and that they are told is said with another", async () => {
  const heard: (string | number)[] = [];
  let told = (): void => undefined;
  const all = new Promise<void>((resolve) => (told = resolve));
  await withLink(
    (frame) => {
      if (frame.type === "branch") heard.push(frame.kept);
      else if (frame.type === "turn.start" || frame.type === "turn.end") heard.push(frame.type);
      if (heard.length === 4) told();
      return true;
    },
    () => true,
    async ({ link, listen }) => {
      const start = { turnId: "t-1", cause: { kind: "user" } } as const;
      const end = {
        turnId: "t-1",
        stop: "completed",
        error: null,
        responseEntryId: null,
        activeMs: 1,
        text: "",
      } as const;
      link.turn({ start });
      link.turn({ start, end });
      await listen();
      await all;
      expect(heard).toEqual([2, "turn.start", "turn.end", 0]);
    },
  );
});

const DELIVERY: Delivery = {
  messageId: "effect-1",
  form: "message",
  customType: "holdpoint-notice",
  content: "x",
  trigger: false,
  details: { schema: "holdpoint.session-message.v1", messageId: "effect-1", message: { kind: "notice", text: "x" } },
};
const HELLO = {
  type: "hello",
  protocol: 1,
  product: "0",
  installPath: "/",
  piVersion: "1.6.0",
  sessionId: "s-1",
  instance: "i-1",
  pid: 1,
  cwd: "/",
  mode: "tui",
} as const;
const VIEW: SessionView = {
  schema: "holdpoint.session-view.v1",
  sessionId: "s-1",
  number: 1,
  at: 0,
  run: null,
  request: null,
  decisions: [],
  openTurn: null,
  waiting: 0,
};
const ANSWER = {
  type: "answer",
  decisionId: "d",
  requestDigest: `sha256:${"0".repeat(64)}`,
  choice: "approve",
  text: null,
  input: "interactive",
  bare: false,
} as const;
