/**
 * What every channel adapter has to do, whatever it is connected to: one suite, run against each of them through its
 * pipe, with the server's side written out in the test.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Connect } from "../../adapters/channel/transport.ts";
import {
  fromAdapterSchema,
  type ChannelLaunch,
  type FromAdapter,
  type Perform,
  type ToAdapter,
} from "../../src/contracts/protocol/channel.ts";
import { WIRE } from "../../src/contracts/limits.ts";
import { framePort } from "../../src/contracts/wire/frames.ts";
import { exampleCard } from "../decision/examples.ts";
import { FakeServer, loopInProcess } from "./fake-server.ts";

/**
 * What not every kind of channel has. `parts`: a message may be several. `doubt`: what was carried out cannot be looked for, so that an end without an
 * answer is uncertain. `edits`: what is shown can be changed and removed. `backlog`: what people send is kept while nobody asks for it. `hurry`: who
 * taps must be acknowledged within seconds. `polls`: asking for what people sent can fail.
 */
export type Trait = "parts" | "doubt" | "edits" | "backlog" | "hurry" | "polls";

/** A running service with two places and a person in each, and the adapter that connects to it. */
export interface Subject {
  readonly connect: Connect;
  /** The entry of the child process as built JavaScript. */
  readonly entry: string;
  /** A text that must not show up in the child's environment, arguments or diagnostics. */
  readonly secret: string | null;
  /** Two destinations in different places. */
  readonly places: readonly [string, string];
  launch(changes?: Partial<ChannelLaunch>): ChannelLaunch;
  /** Where people connect to the adapter: lets them, with what the server says to them meanwhile. */
  meet?(server: FakeServer): Promise<void>;
  /** How it is told that a message was refused, and the code when nobody is reached. */
  readonly tells: { readonly refused: "rejected" | "notSent"; readonly unreachable: string };
  /** How many requests to show, change or remove a message reached the service. */
  requests(): number;
  arrived(count: number): Promise<void>;
  /** What people see in a place, oldest first. */
  visible(destination: string): { id: number; text: string; buttons: number }[];
  /**
   * The next such request: `refuse` = definitely refused, `vanish` = carried out, but the connection ends without an
   * answer, `hold` = neither carried out nor answered until `release`.
   */
  fault(kind: "refuse" | "vanish" | "hold"): void;
  release(): void;
  down(): Promise<void>;
  up(): Promise<void>;
  say(destination: string, text: string): void;
  tap(destination: string, message: number, button: number): void;
  /** The update that the first button of a card makes, whose message has this reference. */
  tapped(reference: string | undefined): Record<string, unknown>;
  /** Waits until `count` acknowledgements were shown; their texts. */
  toasts(count: number): Promise<string[]>;
  close(): Promise<void>;
}

/** Runs the rules of a kind of channel that lacks these. Returns the rules that do not apply to it, each with what they need. */
export function channelConformance(
  name: string,
  create: () => Promise<Subject>,
  lacks: readonly Trait[] = [],
): readonly (readonly [Trait, rule: string])[] {
  const leftOut: [Trait, string][] = [];
  /** A rule for channels that have it. */
  const having = (trait: Trait, rule: string, play: () => Promise<void>): void => {
    if (lacks.includes(trait)) leftOut.push([trait, rule]);
    else test(rule, play);
  };
  /** What holds in the place of such rules. */
  const lacking = (trait: Trait, rule: string, play: () => Promise<void>): void => {
    if (lacks.includes(trait)) test(rule, play);
  };
  const most = lacks.includes("parts") ? 1 : 3;

  describe(`${name} as a channel`, () => {
    let subject: Subject;
    let open: FakeServer[];
    beforeEach(async () => {
      subject = await create();
      open = [];
    });
    afterEach(async () => {
      for (const server of open) server.close();
      subject.release();
      await subject.close();
    });

    const begin = async (changes: Partial<ChannelLaunch> = {}): Promise<FakeServer> => {
      const { server } = await loopInProcess(subject.connect, { acknowledgeMs: 60_000 });
      open.push(server);
      server.send(subject.launch(changes));
      await server.take("ready");
      await subject.meet?.(server);
      return server;
    };

    test("it is ready when the service knows it, and then says that nothing waits", async () => {
      const server = await begin();
      expect(await server.take("health")).toMatchObject({ ok: true, pendingUpdates: 0, error: null });
      expect(server.frames[0]).toMatchObject({ type: "ready", account: { id: expect.any(String) } });
    });

    test("asked for a sign of life, it gives one at once, also while a poll is held", async () => {
      const server = await begin();
      await server.take("health");
      server.send({ type: "ping" });
      await server.take("pong");
    });

    test("no byte of a message leaves before the permit", async () => {
      const server = await begin();
      const perform = post(subject.places[0], "e-1", 1);
      server.send(perform);
      expect(await server.take("dispatching")).toMatchObject({ effectId: "e-1", attempt: 1, part: 1, of: 1 });
      // Another place goes all the way meanwhile, so the silence of the first is no matter of time.
      await server.see(post(subject.places[1], "e-2", 1));
      expect(subject.visible(subject.places[0])).toEqual([]);
      expect(subject.requests()).toBe(1);
      server.permit(perform, 1);
      await server.take("part", ({ effectId }) => effectId === "e-1");
      expect(subject.visible(subject.places[0])).toHaveLength(1);
    });

    having(
      "parts",
      "each part waits for the receipt of the one before, and only the last has the buttons",
      async () => {
        const server = await begin();
        const perform = post(subject.places[0], "e-1", 3);
        server.send(perform);
        await server.take("dispatching");
        server.permit(perform, 1);
        const first = await server.take("part");
        await server.see(post(subject.places[1], "e-2", 1));
        expect(server.count("dispatching")).toBe(2);
        expect(subject.visible(subject.places[0])).toHaveLength(1);
        server.send({ type: "partStored", effectId: "e-1", attempt: 1, part: 1 });
        for (const part of [2, 3]) {
          expect(await server.take("dispatching")).toMatchObject({ part, of: 3 });
          server.permit(perform, part);
          await server.take("part");
          server.send({ type: "partStored", effectId: "e-1", attempt: 1, part });
        }
        expect(await server.take("outcome")).toMatchObject({ outcome: "accepted" });
        const seen = subject.visible(subject.places[0]);
        expect(seen.map(({ buttons }) => buttons)).toEqual([0, 0, 3]);
        expect(first.reference.endsWith(`:${seen[0]?.id}`)).toBe(true);
        expect(new Set(seen.map(({ text }) => text)).size).toBe(3);
      },
    );

    having("parts", "a later attempt starts at the part it is given", async () => {
      const server = await begin();
      const perform = { ...post(subject.places[0], "e-1", 3), attempt: 2, fromPart: 2 };
      const { outcome, parts } = await server.see(perform);
      expect(outcome.outcome).toBe("accepted");
      expect(parts.map(({ part }) => part)).toEqual([2, 3]);
      expect(subject.visible(subject.places[0]).map(({ text }) => /part (\d)\/3/.exec(text)?.[1])).toEqual(["2", "3"]);
    });

    test("a permit that says no sends nothing and ends the attempt as not sent", async () => {
      const server = await begin();
      const perform = post(subject.places[0], "e-1", 3);
      server.send(perform);
      await server.take("dispatching");
      server.permit(perform, 1, false);
      expect(await server.take("outcome")).toMatchObject({ effectId: "e-1", outcome: "notSent" });
      expect(subject.requests()).toBe(0);
    });

    having(
      "parts",
      "a refused part ends the attempt: parts before it keep their receipts, later ones are not sent",
      async () => {
        const server = await begin();
        const perform = post(subject.places[0], "e-1", 3);
        server.send(perform);
        await server.take("dispatching");
        server.permit(perform, 1);
        await server.take("part");
        subject.fault("refuse");
        server.send({ type: "partStored", effectId: "e-1", attempt: 1, part: 1 });
        await server.take("dispatching");
        server.permit(perform, 2);
        const outcome = await server.take("outcome");
        expect(outcome).toMatchObject({ outcome: "rejected", error: { code: "HP606" } });
        expect(subject.requests()).toBe(2);
        expect(subject.visible(subject.places[0])).toHaveLength(1);
      },
    );

    test("a refused message has no receipt, and it is told who refused", async () => {
      const server = await begin();
      subject.fault("refuse");
      const { outcome, parts } = await server.see(post(subject.places[0], "e-1", 1));
      expect(outcome).toMatchObject({ outcome: subject.tells.refused, error: { code: "HP606" } });
      expect(parts).toEqual([]);
      expect(subject.requests()).toBe(1);
      expect(subject.visible(subject.places[0])).toEqual([]);
    });

    lacking(
      "doubt",
      "a request that was carried out without an answer is found by the next attempt, and not repeated",
      async () => {
        const server = await begin();
        subject.fault("vanish");
        const { outcome, parts } = await server.see(post(subject.places[0], "e-1", 1));
        expect(outcome).toMatchObject({ outcome: "notSent" });
        expect(parts).toEqual([]);
        expect(subject.visible(subject.places[0])).toHaveLength(1);
        await subject.up();
        const again = await server.see({ ...post(subject.places[0], "e-1", 1), attempt: 2 });
        expect(again.outcome.outcome).toBe("accepted");
        expect(again.parts).toHaveLength(1);
        expect(subject.visible(subject.places[0])).toHaveLength(1);
      },
    );

    having("doubt", "a request that was carried out without an answer is ambiguous and goes out once", async () => {
      const server = await begin();
      subject.fault("vanish");
      const { outcome, parts } = await server.see(post(subject.places[0], "e-1", 1));
      expect(outcome).toMatchObject({ outcome: "ambiguous", error: { code: "HP607" } });
      expect(parts).toEqual([]);
      // The place is free again, and nothing of the first was repeated.
      await server.see(post(subject.places[0], "e-2", 1));
      expect(subject.requests()).toBe(2);
      expect(subject.visible(subject.places[0])).toHaveLength(2);
    });

    test("a service that cannot be reached is not sent, and the next attempt arrives once", async () => {
      const server = await begin();
      await subject.down();
      const { outcome } = await server.see(post(subject.places[0], "e-1", 1));
      expect(outcome).toMatchObject({ outcome: "notSent", error: { code: subject.tells.unreachable } });
      await subject.up();
      const again = await server.see({ ...post(subject.places[0], "e-1", 1), attempt: 2 });
      expect(again.outcome.outcome).toBe("accepted");
      expect(subject.visible(subject.places[0])).toHaveLength(1);
    });

    test("attempts of one place run in their order, and another place does not wait for them", async () => {
      const server = await begin();
      const [first, second] = [post(subject.places[0], "e-1", 1), post(subject.places[0], "e-2", 1)];
      server.send(first);
      server.send(second);
      subject.fault("hold");
      await server.take("dispatching");
      server.permit(first, 1);
      await subject.arrived(1);
      await server.see(post(subject.places[1], "e-3", 1));
      expect(server.frames.some((frame) => "effectId" in frame && frame.effectId === "e-2")).toBe(false);
      subject.release();
      await server.take("part");
      server.send({ type: "partStored", effectId: "e-1", attempt: 1, part: 1 });
      await server.take("outcome", ({ effectId }) => effectId === "e-1");
      expect(server.frames.some((frame) => "effectId" in frame && frame.effectId === "e-2")).toBe(false);
      server.send({ type: "outcomeStored", effectId: "e-1", attempt: 1 });
      expect(await server.take("dispatching")).toMatchObject({ effectId: "e-2" });
    });

    having(
      "edits",
      "an edit changes the message in place, a deletion removes it; neither makes a receipt",
      async () => {
        const server = await begin();
        const { parts } = await server.see(post(subject.places[0], "e-1", 1));
        const reference = parts[0]?.reference ?? "";
        const edited = await server.see(settle(subject.places[0], reference));
        expect(edited).toMatchObject({ parts: [], outcome: { outcome: "accepted" } });
        const [message] = subject.visible(subject.places[0]);
        expect(message).toMatchObject({ buttons: 0 });
        expect(message?.text).toContain("Approved by Ann");
        const remove: Perform = {
          ...settle(subject.places[0], reference),
          effectId: "e-3",
          op: "delete",
          content: null,
        };
        expect((await server.see(remove)).outcome.outcome).toBe("accepted");
        expect(subject.visible(subject.places[0])).toEqual([]);
      },
    );

    lacking(
      "edits",
      "that a card is decided is said once under it, however often it is told; nothing is removed",
      async () => {
        const server = await begin();
        const { parts } = await server.see(post(subject.places[0], "e-1", 1));
        const decided = settle(subject.places[0], parts[0]?.reference ?? "");
        for (const attempt of [1, 2]) {
          const told = await server.see({ ...decided, attempt });
          expect(told).toMatchObject({ parts: [], outcome: { outcome: "accepted" } });
        }
        const remove: Perform = { ...decided, effectId: "e-3", op: "delete", content: null };
        expect((await server.see(remove)).outcome.outcome).toBe("accepted");
        const [, said, ...more] = subject.visible(subject.places[0]);
        expect(said?.text).toContain("Approved by Ann");
        expect(more).toEqual([]);
      },
    );

    test("updates come one at a time and in order, their text exactly as it was typed", async () => {
      const server = await begin();
      const texts = ["\n  one\ttwo", "zweitens: ü😀", "three"];
      for (const text of texts) subject.say(subject.places[0], text);
      const seen: string[] = [];
      for (const text of texts) {
        const inbound = await server.take("inbound");
        if (inbound.kind !== "message" && inbound.kind !== "choice")
          throw new Error(`"${text}" came as ${inbound.kind}`);
        seen.push(inbound.text ?? "");
        // A whole attempt passes between update and verdict, and still no second update comes.
        await server.see(post(subject.places[1], `e-${seen.length}`, 1));
        expect(server.count("inbound")).toBe(seen.length);
        server.verdict(inbound.updateId);
      }
      // Outer white space may be taken off by the service itself, before the adapter.
      expect(seen.map((text) => text.trim())).toEqual(texts.map((text) => text.trim()));
    });

    having(
      "backlog",
      "an update without a verdict comes again after a restart, one with a verdict does not",
      async () => {
        const before = await begin();
        subject.say(subject.places[0], "one");
        subject.say(subject.places[0], "two");
        const one = await before.take("inbound");
        before.verdict(one.updateId);
        const two = await before.take("inbound");
        before.close();
        const after = await begin({ cursor: one.updateId });
        expect(await after.take("inbound")).toEqual(two);
        expect(after.count("inbound")).toBe(1);
      },
    );

    test("a tap names what it chooses, its card and its sender, and is told the verdict", async () => {
      const server = await begin();
      const { parts } = await server.see(post(subject.places[0], "e-1", 1));
      const message = subject.visible(subject.places[0])[0]?.id ?? 0;
      subject.tap(subject.places[0], message, 0);
      const tap = await server.take("inbound");
      expect(tap).toMatchObject(subject.tapped(parts[0]?.reference));
      server.verdict(tap.updateId, { code: "chosen", label: "Approve" });
      expect(await subject.toasts(1)).toEqual(["Approved."]);
    });

    having("hurry", "a tap whose verdict takes too long is told that it arrived, and is not told twice", async () => {
      const { server } = await loopInProcess(subject.connect, { acknowledgeMs: 1 });
      open.push(server);
      server.send(subject.launch());
      await server.take("ready");
      await server.see(post(subject.places[0], "e-1", 1));
      subject.tap(subject.places[0], subject.visible(subject.places[0])[0]?.id ?? 0, 0);
      const tap = await server.take("inbound");
      expect(await subject.toasts(1)).toEqual(["Received, checking. The result follows as a message."]);
      server.verdict(tap.updateId, { code: "chosen", label: "Approve" });
      // The server is told, so that the verdict becomes a message under the card.
      expect(await server.take("late")).toMatchObject({
        updateId: tap.updateId,
        reference: expect.stringMatching(/:1$/),
      });
      subject.say(subject.places[0], "next");
      await server.take("inbound");
      expect(await subject.toasts(1)).toHaveLength(1);
    });

    having("polls", "a failed poll is told in words, and the next good one too", async () => {
      const server = await begin();
      await server.take("health");
      await subject.down();
      expect(await server.take("health", ({ ok }) => !ok)).toMatchObject({
        error: { code: "HP605" },
        pendingUpdates: null,
      });
      await subject.up();
      await server.take("health", ({ ok }) => ok);
      expect(server.count("ready")).toBe(1);
    });

    test("stop ends polling, lets a message under way finish, sends nothing new, and leaves", async () => {
      const server = await begin();
      const [first, second] = [post(subject.places[0], "e-1", most), post(subject.places[0], "e-2", 1)];
      server.send(first);
      server.send(second);
      await server.take("dispatching");
      subject.fault("hold");
      server.permit(first, 1);
      await subject.arrived(1);
      server.send({ type: "stop" });
      subject.release();
      await server.take("part");
      server.send({ type: "partStored", effectId: "e-1", attempt: 1, part: 1 });
      if (most > 1) {
        // The rest of that card is the server's to grant or not.
        await server.take("dispatching");
        server.permit(first, 2, false);
      }
      await server.take("outcome", ({ effectId }) => effectId === "e-1");
      server.send({ type: "outcomeStored", effectId: "e-1", attempt: 1 });
      expect(await server.take("outcome", ({ effectId }) => effectId === "e-2")).toMatchObject({ outcome: "notSent" });
      server.send({ type: "outcomeStored", effectId: "e-2", attempt: 1 });
      await server.take("exiting");
      expect(await server.closed).toBeUndefined();
      expect(subject.visible(subject.places[0])).toHaveLength(1);
    });

    test("words that do not fit the conversation end it", async () => {
      const reactions: ((server: FakeServer) => void)[] = [
        (server) => server.verdict(4_711),
        (server) => server.permit({ effectId: "e-9", attempt: 1 }, 1),
        (server) => server.send(subject.launch()),
        (server) => server.send({ type: "shrug" } as unknown as ToAdapter),
      ];
      for (const react of reactions) {
        const server = await begin();
        react(server);
        await server.closed;
      }
      const { server } = await loopInProcess(subject.connect);
      server.send({ type: "stop" });
      await server.closed;
      expect(server.frames).toEqual([]);
    });

    describe("as a process of its own", () => {
      test("it does the same, and ends with its pipe while a call hangs", async () => {
        const { child, server, stderr } = spawnChild(subject.entry);
        server.send(subject.launch());
        await server.take("ready");
        await subject.meet?.(server);
        const { outcome } = await server.see(post(subject.places[0], "e-1", most));
        expect(outcome.outcome).toBe("accepted");
        if (subject.secret !== null) {
          for (const file of ["environ", "cmdline"]) {
            expect(readFileSync(`/proc/${child.pid}/${file}`, "latin1")).not.toContain(subject.secret);
          }
        }
        subject.fault("hold");
        const held = post(subject.places[0], "e-2", 1);
        server.send(held);
        await server.take("dispatching", ({ effectId }) => effectId === "e-2");
        server.permit(held, 1);
        await subject.arrived(most + 1);
        const exit = once(child, "exit");
        server.close();
        const [code] = await exit;
        expect(code).toBe(0);
        expect(stderr()).toBe("");
      });

      test("it ends after a frame that is larger than the limit, and says so", async () => {
        const { child, server, pipe, stderr } = spawnChild(subject.entry);
        server.send(subject.launch());
        await server.take("ready");
        const exit = once(child, "exit");
        pipe.write(`{"type":"perform","text":"${"x".repeat(WIRE.frameBytes)}"}\n`);
        const [code] = await exit;
        expect(code).toBe(1);
        expect(stderr()).toContain("the limit is 1048576");
      });
    });
  });
  return leftOut;
}

function spawnChild(entry: string) {
  const child = spawn(process.execPath, [entry], { stdio: ["ignore", "ignore", "pipe", "pipe"] });
  const pipe = child.stdio[3] as Duplex;
  // Writing more than the child reads before it ends is part of a test.
  pipe.on("error", () => undefined);
  let text = "";
  child.stderr?.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  return {
    child,
    pipe,
    server: new FakeServer(framePort<FromAdapter, ToAdapter>(pipe, fromAdapterSchema)),
    stderr: () => text,
  };
}

/** Posts a card of 1 or 3 parts. */
function post(destination: string, effectId: string, parts: 1 | 3): Perform {
  const blocks = Array.from({ length: 2 }, (_, at) => ({ kind: "preformatted", text: `${at}`.repeat(4_000) }));
  const long = { schema: "holdpoint.decision-presentation.v1", summary: "long", blocks };
  const card = exampleCard(parts === 1 ? {} : { presentation: long });
  return {
    type: "perform",
    effectId,
    attempt: 1,
    op: "post",
    destination,
    content: {
      kind: "card",
      card,
      state: { status: { kind: "pending" } },
      tokens: Object.fromEntries(card.choices.map(({ id }) => [id, `token-${id}`])),
    },
    fromPart: 1,
    part: null,
    reference: null,
    replyTo: null,
  };
}

function settle(destination: string, reference: string): Perform {
  const card = exampleCard();
  return {
    ...post(destination, "e-settle", 1),
    op: "edit",
    content: {
      kind: "card",
      card,
      state: { status: { kind: "chosen", provenance: "human", label: "Approve", by: "Ann", at: card.createdAt } },
    },
    part: 1,
    reference,
  };
}
