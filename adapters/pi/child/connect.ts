/**
 * Pi as a channel: `pi.sock` instead of a service. A place is a session; a message is sent when the session has it on its tree and in its file. That
 * it is looked for first makes sending again harmless, so an attempt without a known end counts as not sent.
 */
import { PI } from "../../../src/contracts/config.ts";
import { HoldpointError, type ErrorKind } from "../../../src/contracts/errors.ts";
import { SESSION } from "../../../src/contracts/limits.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import type { FromExtension, LinkReport } from "../../../src/contracts/protocol/pi-link.ts";
import { ChannelProblem, type Connect, type SendResult, type Transport } from "../../channel/transport.ts";
import { Answers } from "./answers.ts";
import { deliveryOf } from "./delivery.ts";
import type { PiSession } from "./session.ts";
import { PiSessions } from "./sessions.ts";
import { piSettingsSchema } from "./settings.ts";

/** So often the server hears that this child is alive although nobody answers. */
const POLL_MS = 25_000;

export const connectPi: Connect = async (launch, _secret, events): Promise<Transport> => {
  const settings = piSettingsSchema.parse(launch.settings);
  const answers = new Answers(settings.rpcAnswers);
  const sessions = new PiSessions(settings, {
    opened: ({ epoch, hello, place }) => {
      const { cwd, mode, pid } = hello;
      events.report?.({ type: "link.open", place, epoch, pid, cwd, mode });
    },
    said: (session, frame) => said(session, frame),
    closed: ({ epoch, parted, place }) => events.report?.({ type: "link.closed", place, epoch, parted }),
    note: (text) => events.note(text),
  });

  function said(session: PiSession, frame: FromExtension): void {
    switch (frame.type) {
      case "hello":
        return session.port.close();
      case "bye":
        session.parted = true;
        return session.port.close();
      case "delivered":
        return session.delivered(frame);
      case "answer":
        return answers.take(session, frame);
      default:
        session.note(frame);
        report(session, frame);
    }
  }

  function report({ epoch, place }: PiSession, report: LinkReport): void {
    events.report?.({ type: "link.report", place, epoch, report });
  }

  try {
    await sessions.listen();
  } catch (error) {
    throw new ChannelProblem("channelUnreachable", `${settings.socket} cannot be opened: ${String(error)}`);
  }
  let polled = false;
  return {
    account: { id: PI, name: "Pi" },
    parts: (perform) => {
      deliveryOf(perform);
      return 1;
    },
    send: (perform) => send(sessions, perform),
    async poll(after, signal) {
      // First that nothing waits, then whatever comes.
      const waiting = await answers.next(after, polled ? POLL_MS : 0, signal);
      polled = true;
      return waiting;
    },
    acknowledge(update, ack) {
      if (update.kind === "choice") answers.told(update, ack);
      return Promise.resolve();
    },
    converse(frame) {
      const session = sessions.get(frame.place);
      // Of an older connection: whoever speaks now has a view of its own.
      if (session?.epoch !== frame.epoch) return;
      if (frame.type === "link.view") return session.send({ type: "view", view: frame.view });
      const { type: _type, place: _place, epoch: _epoch, ...reply } = frame;
      session.send({ type: "reply", ...reply });
      if (reply.code !== "branchStored") return;
      const again = session.opened();
      if (again !== null) report(session, again);
    },
    close: () => sessions.close(),
  };
};

async function send(sessions: PiSessions, perform: Perform): Promise<SendResult> {
  const place = perform.destination.split("/")[1] ?? "";
  const delivery = deliveryOf(perform);
  if (delivery === null) return { outcome: "accepted" };
  const session = sessions.get(place);
  if (session === undefined) return away(`Session ${place} is not open.`);
  const done = await session.deliver(delivery);
  switch (done.kind) {
    case "there":
      return perform.op === "post"
        ? { outcome: "accepted", reference: `${place}:${done.entryId}` }
        : { outcome: "accepted" };
    case "away":
      return away(done.why);
    case "unsaved":
      return away(done.why, "sessionUnsaved");
    case "failed":
      return problem("notSent", "channelRefused", done.why);
  }
}

/** Not sent, and no use to try before the session says that it is ready; the server is told of that. */
function away(why: string, kind: "sessionAway" | "sessionUnsaved" = "sessionAway"): SendResult {
  return { ...problem("notSent", kind, why), retryAfterMs: SESSION.awayMs };
}

function problem(outcome: SendResult["outcome"], kind: ErrorKind, why: string): SendResult {
  return { outcome, error: new HoldpointError(kind, why).toRecord() };
}
