/**
 * Child process: a channel adapter without a service behind it. It takes every card at once and hands over taps as fast as the
 * pipe takes them. The harness drives it over the Unix socket that `HOLDPOINT_BENCH_ADAPTER` names, one JSON object a line.
 */
import { createInterface } from "node:readline";
import { connect } from "node:net";
import { Attempts } from "../../../adapters/channel/attempts.ts";
import type { SendResult, Transport } from "../../../adapters/channel/transport.ts";
import {
  type FromAdapter,
  type Perform,
  type ToAdapter,
  toAdapterSchema,
} from "../../../src/contracts/protocol/channel.ts";
import { sha256Hex } from "../../../src/contracts/ids.ts";
import { openChildPipe } from "../../../src/contracts/wire/child.ts";
import { monotonicMs } from "./ask.ts";
import type { Card } from "./seed.ts";

export type ToBenchAdapter =
  /** Messages that the server gives out from now on are not taken before `release`. */
  | { readonly type: "hold" }
  | { readonly type: "release" }
  /** Hands over a tap on each card, at most `window` without a verdict. */
  | { readonly type: "tap"; readonly cards: readonly Omit<Card, "runId">[]; readonly window: number };

export type FromBenchAdapter =
  | { readonly type: "ready"; readonly pid: number }
  | ({ readonly type: "card"; readonly title: string } & Omit<Card, "runId">)
  /** `startedAt` by `monotonicMs`, `ms` from the first tap to the last verdict. */
  | {
      readonly type: "tapped";
      readonly startedAt: number;
      readonly ms: number;
      readonly verdicts: Record<string, number>;
    };

const port = openChildPipe<ToAdapter, FromAdapter>(toAdapterSchema);
const control = connect(process.env["HOLDPOINT_BENCH_ADAPTER"] as string);
const tell = (message: FromBenchAdapter): void => void control.write(`${JSON.stringify(message)}\n`);

let held: Promise<void> = Promise.resolve();
let release = (): void => undefined;
let message = Date.now();
let updateId = 0;
let onVerdict: (verdict: string) => void = () => undefined;

const transport: Transport = {
  account: { id: "bench", name: "Bench" },
  parts: () => 1,
  send: take,
  poll: () => new Promise(() => undefined),
  acknowledge: () => Promise.resolve(),
  close: () => undefined,
};
const attempts = new Attempts({ send: (frame) => port.send(frame), transport: () => transport });

async function take(perform: Perform): Promise<SendResult> {
  await held;
  if (perform.op !== "post") return { outcome: "accepted" };
  message += 1;
  const place = perform.destination.split("/")[1] ?? "";
  const reference = `${place}:${message}`;
  if (perform.content?.kind === "card") {
    const [token = ""] = Object.values(perform.content.tokens ?? {});
    tell({ type: "card", title: perform.content.card.title, token, place, reference });
  }
  return { outcome: "accepted", reference };
}

function tap(cards: readonly Omit<Card, "runId">[], window: number): void {
  const verdicts: Record<string, number> = {};
  const startedAt = monotonicMs();
  let sent = 0;
  let heard = 0;
  const send = (): void => {
    const card = cards[sent];
    if (card === undefined) return;
    sent += 1;
    updateId += 1;
    const { token, place, reference } = card;
    port.send({
      type: "inbound",
      kind: "answer",
      updateId,
      digest: sha256Hex(token),
      sentAt: Date.now(),
      token,
      eventId: `tap-${updateId}`,
      place,
      topic: null,
      reference,
      sender: { id: "1001", name: "Ann" },
      traits: [],
    });
  };
  onVerdict = (verdict) => {
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    heard += 1;
    if (heard === cards.length) tell({ type: "tapped", startedAt, ms: monotonicMs() - startedAt, verdicts });
    else send();
  };
  for (let i = 0; i < Math.min(window, cards.length); i += 1) send();
}

port.onFrame((frame) => {
  switch (frame.type) {
    case "launch":
      updateId = frame.cursor ?? 0;
      port.send({ type: "ready", account: { id: "bench", name: "Bench" } });
      port.send({ type: "health", ok: true, pendingUpdates: 0, error: null });
      tell({ type: "ready", pid: process.pid });
      break;
    case "perform":
      attempts.perform(frame);
      break;
    case "permit":
    case "partStored":
    case "outcomeStored":
      attempts.reply(frame);
      break;
    case "verdict":
      onVerdict(frame.verdict);
      break;
    case "stop":
      process.exit(0);
  }
});

createInterface({ input: control }).on("line", (line) => {
  const command = JSON.parse(line) as ToBenchAdapter;
  if (command.type === "tap") tap(command.cards, command.window);
  else if (command.type === "hold") held = new Promise((resolve) => (release = resolve));
  else release();
});
