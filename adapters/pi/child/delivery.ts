/** From what the server wants shown to what is put into a session. */
import { CUSTOM_TYPES, type Delivery, type SessionMessage } from "../../../src/contracts/pi/session-message.ts";
import { HoldpointError } from "../../../src/contracts/errors.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { sessionText } from "../../../renderers/pi/index.ts";
import { replyText } from "../../../renderers/text/en.ts";

/** What starts a turn of the agent; everything else is for people. */
const TRIGGERS: ReadonlySet<SessionMessage["kind"]> = new Set(["step", "terminal", "followUp"]);

/** Null when there is nothing to put there: what an edit changes is in the session's view. */
export function deliveryOf(perform: Perform): Delivery | null {
  const { content, effectId, op, reference } = perform;
  if (op === "delete" || content === null) return null;
  if (op === "edit") {
    // A card is not changed any more; that it is decided is said once, under it.
    if (content.kind !== "card" || content.state.status.kind === "pending" || reference === null) return null;
    return delivery(`settled-${reference}`, { kind: "settlement", card: content.card, state: content.state });
  }
  return delivery(effectId, messageOf(content));
}

function messageOf(content: NonNullable<Perform["content"]>): SessionMessage {
  switch (content.kind) {
    case "card":
      return { kind: "decision", card: content.card, state: content.state };
    case "notification":
      return { kind: "notification", notification: content.notification, timeZone: content.timeZone };
    case "reply": {
      const { reply, timeZone } = content;
      return { kind: "notice", text: replyText(reply, { timeZone, reference: Date.now(), nameZone: true }) };
    }
    case "alert":
      throw new HoldpointError("protocolRejected", "Alerts go to chats, not to a session of Pi.");
    case "session":
      return content.message;
  }
}

function delivery(messageId: string, message: SessionMessage): Delivery {
  const entry = message.kind === "settlement";
  const content = sessionText(message);
  if (!entry && content.trim() === "") throw new HoldpointError("protocolRejected", "A message without text.");
  return {
    messageId,
    form: entry ? "entry" : "message",
    customType: CUSTOM_TYPES[message.kind],
    content,
    trigger: TRIGGERS.has(message.kind),
    details: { schema: "holdpoint.session-message.v1", messageId, message },
  };
}
