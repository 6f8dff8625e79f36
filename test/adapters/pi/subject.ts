/** Two Pi sessions with their extensions, for the suite that every channel adapter passes: they connect to the adapter, not it to them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { connectPi } from "../../../adapters/pi/child/connect.ts";
import type { ChannelLaunch } from "../../../src/contracts/protocol/channel.ts";
import type { Delivery } from "../../../src/contracts/pi/session-message.ts";
import { exampleCard } from "../../decision/examples.ts";
import { deliver, FakeSession, SessionFile } from "../../harness/pi-session.ts";
import type { Subject } from "../conformance.ts";
import { launchFor, type FakeServer } from "../fake-server.ts";
import { exampleView } from "./example-view.ts";

type Fault = Parameters<Subject["fault"]>[0];

export class PiSubject implements Subject {
  readonly connect = connectPi;
  readonly secret = null;
  readonly places = ["pi/hall", "pi/yard"] as const;
  readonly tells = { refused: "notSent", unreachable: "HP682" } as const;
  readonly #entry: () => string;
  readonly #folder = mkdtempSync(join(tmpdir(), "hp-pi-"));
  readonly #files = this.places.map((place) => new SessionFile(nameOf(place)));
  #sessions: FakeSession[] = [];
  #requests = 0;
  #fault: Fault | null = null;
  #held: (() => void)[] = [];
  readonly #told: string[] = [];
  #listeners: (() => void)[] = [];
  #answers = 0;

  constructor(entry: () => string) {
    this.#entry = entry;
  }

  get entry(): string {
    return this.#entry();
  }

  get #socket(): string {
    return join(this.#folder, "pi.sock");
  }

  launch(changes: Partial<ChannelLaunch> = {}): ChannelLaunch {
    const settings = { socket: this.#socket, rpcAnswers: true, product: "0.0.0", installPath: "/" };
    return launchFor({ channel: "pi", settings, ...changes });
  }

  async meet(server: FakeServer): Promise<void> {
    void attend(server).catch(() => undefined);
    void store(server).catch(() => undefined);
    await this.up();
  }

  requests(): number {
    return this.#requests;
  }

  arrived(count: number): Promise<void> {
    return this.#until(() => this.#requests >= count);
  }

  visible(destination: string): { id: number; text: string; buttons: number }[] {
    return this.#file(destination).entries.map(({ delivery }, at) => ({
      id: at + 1,
      text: said(delivery),
      buttons: 0,
    }));
  }

  fault(kind: Fault): void {
    this.#fault = kind;
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  async down(): Promise<void> {
    for (const session of this.#sessions) session.disconnect();
    await Promise.all(this.#sessions.map(({ closed }) => closed));
    this.#sessions = [];
  }

  /** Each session comes back, and tells first what is on its tree. */
  async up(): Promise<void> {
    await this.down();
    const onDeliver = (delivery: Delivery, session: FakeSession): void => this.#take(delivery, session);
    this.#sessions = await Promise.all(
      this.#files.map((file) => FakeSession.open(this.#socket, file, { mode: "rpc", onDeliver })),
    );
  }

  say(destination: string, text: string): void {
    this.#answer(destination, text);
  }

  tap(destination: string): void {
    this.#answer(destination, null);
  }

  tapped(reference: string | undefined): Record<string, unknown> {
    const { requestDigest, requestId } = exampleCard();
    return {
      kind: "choice",
      choice: "approve",
      decisionId: requestId,
      requestDigest,
      place: reference?.split(":")[0],
      sender: { id: expect.stringMatching(/^uid:\d+$/) as string, name: userInfo().username },
    };
  }

  async toasts(count: number): Promise<string[]> {
    await this.#until(() => this.#told.length >= count);
    return this.#told;
  }

  async close(): Promise<void> {
    await this.down();
    rmSync(this.#folder, { recursive: true });
  }

  #file(destination: string): SessionFile {
    return this.#files[this.places.findIndex((place) => place === destination)] as SessionFile;
  }

  /** As the extension does it, but for the fault. */
  #take(delivery: Delivery, session: FakeSession): void {
    this.#requests += 1;
    const fault = this.#fault;
    this.#fault = null;
    if (fault === "refuse") session.delivered(delivery, "failed", null);
    else if (fault === "hold") this.#held.push(() => deliver(delivery, session));
    else if (fault === "vanish") {
      session.file.append(delivery);
      session.disconnect();
    } else deliver(delivery, session);
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** A person chooses; one after another, as lines are typed. */
  #answer(destination: string, text: string | null): void {
    const { requestDigest, requestId } = exampleCard();
    const session = this.#sessions.find(({ file }) => file === this.#file(destination));
    const choice = text === null ? "approve" : "replan";
    const answer = {
      eventId: `event-${(this.#answers += 1)}`,
      decisionId: requestId,
      requestDigest,
      choice,
      text,
    } as const;
    const replied = session?.call({ type: "answer", ...answer, input: "rpc", bare: false });
    void replied?.then(({ text: reply }) => this.#hear(reply)).catch(() => undefined);
  }

  #hear(reply: string): void {
    this.#told.push(reply);
    for (const listener of this.#listeners.splice(0)) listener();
  }

  async #until(test: () => boolean): Promise<void> {
    while (!test()) await new Promise<void>((resolve) => this.#listeners.push(resolve));
  }
}

/** A session that connects is shown its view. */
async function attend(server: FakeServer): Promise<never> {
  for (;;) {
    const { epoch, place } = await server.take("link.open");
    server.send({ type: "link.view", place, epoch, view: { ...exampleView(), sessionId: place } });
  }
}

/** What is on its tree is stored. */
async function store(server: FakeServer): Promise<never> {
  for (;;) {
    const { epoch, place, report } = await server.take("link.report", ({ report: { type } }) => type === "branch");
    if (report.type !== "branch") continue;
    const reply = { ok: true, text: "", code: "branchStored", end: false, error: null };
    server.send({ type: "link.reply", place, epoch, callId: report.callId, ...reply });
  }
}

function said({ content, details: { message } }: Delivery): string {
  if (message.kind !== "settlement") return content;
  const { status } = message.state;
  return status.kind === "chosen" ? `Approved by ${status.by}` : status.kind;
}

function nameOf(place: string): string {
  return place.split("/")[1] as string;
}
