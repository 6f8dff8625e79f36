/** Chats as people see them: an adapter that works, over the store's commands, and a clock that is moved from due time to due time. */
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import type { RaiseInput } from "../../../src/state/alerts/raise.ts";
import type { RecoverInput } from "../../../src/state/alerts/recover.ts";
import { renderAlert, renderNotification } from "../../../renderers/telegram/index.ts";
import { LOBBY, MAIN, OPS, World } from "../decisions/fixture.ts";

export interface Visible {
  readonly reference: string;
  readonly destination: string;
  readonly silent: boolean;
  readonly replyTo: string | null;
  readonly at: number;
  text: string;
  /** Button → token. */
  tokens: Record<string, string>;
  /** How often it was edited. */
  edits: number;
}

/** Everything that was sent and when, edits included. */
export interface Call {
  readonly place: string;
  readonly op: Perform["op"];
  readonly at: number;
}

export class Chat extends World {
  readonly messages: Visible[] = [];
  readonly calls: Call[] = [];

  static override async open(...given: Parameters<typeof World.open>): Promise<Chat> {
    const chat = new Chat(...given);
    chat.epoch = (
      await chat.store.server.claimEpoch({ serverId: "server-1", pid: 4_711, startIdentity: "boot-1" })
    ).epoch;
    await chat.openChannel();
    return chat;
  }

  raise(change: Partial<RaiseInput> = {}): ReturnType<World["store"]["alerts"]["raise"]> {
    return this.store.alerts.raise({
      access: this.access,
      audience: "ops",
      groupKey: "shop",
      severity: "critical",
      subject: "shop.example",
      condition: "down",
      lines: ["503 instead of 200"],
      ...change,
    });
  }

  recover(change: Partial<RecoverInput> = {}): ReturnType<World["store"]["alerts"]["recover"]> {
    return this.store.alerts.recover({ access: this.access, audience: "ops", groupKey: "shop", ...change });
  }

  /** Sends what may go out now; a person sees it in `messages`. */
  async flush(): Promise<void> {
    for (;;) {
      const perform = await this.next();
      if (perform === null) return;
      await this.show(perform);
    }
  }

  /** Performs one attempt as a channel that works. */
  async show(perform: Perform): Promise<void> {
    const { references } = await this.post(perform);
    this.see(perform, references[0] ?? perform.reference ?? "");
  }

  see(perform: Perform, reference: string): void {
    const place = perform.destination.split("/")[1] as string;
    this.calls.push({ place, op: perform.op, at: this.clock.at });
    const [text, tokens] = shownOf(perform);
    const known = this.messages.find((message) => message.reference === reference);
    if (known !== undefined) {
      Object.assign(known, { text, tokens, edits: known.edits + 1 });
      return;
    }
    const { destination, replyTo, silent } = perform;
    this.messages.push({
      reference,
      destination,
      silent: silent === true,
      replyTo,
      at: this.clock.at,
      text,
      tokens,
      edits: 0,
    });
  }

  /** Lets time pass, with everything that becomes due on the way. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.at + ms;
    for (;;) {
      await this.store.alerts.tend({ access: this.access });
      await this.flush();
      const times = [this.store.read.channels.nextDueAt(MAIN), this.store.read.alerts.nextAt()];
      const next = Math.min(end, ...times.filter((at) => at !== null && at > this.clock.at).map(Number));
      if (this.clock.at >= end) return;
      this.clock.at = next;
    }
  }

  in(place: string = OPS): Visible[] {
    return this.messages.filter(({ destination }) => destination.startsWith(`${MAIN}/${place}`));
  }

  /** First lines of what is in a chat. */
  heads(place: string = OPS): string[] {
    return this.in(place).map(({ text }) => text.split("\n")[0] as string);
  }

  press(message: Visible | undefined, button: string, user?: string): ReturnType<World["tapToken"]> {
    const token = message?.tokens[button];
    if (message === undefined || token === undefined) throw new Error(`no button ${button}`);
    const place = message.destination.split("/")[1] as string;
    return this.tapToken(token, { reference: message.reference, place, ...(user === undefined ? {} : { user }) });
  }
}

function shownOf(perform: Perform): [string, Record<string, string>] {
  const { content } = perform;
  if (content?.kind === "alert") {
    const part = renderAlert(content.alert, { timeZone: content.timeZone, reference: content.alert.at });
    const live = new Set(part.buttons.flat().map(({ choice }) => choice));
    const tokens = Object.entries(content.tokens ?? {}).filter(([button]) => live.has(button));
    return [part.text, Object.fromEntries(tokens)];
  }
  if (content?.kind === "notification") {
    const clock = { timeZone: content.timeZone, reference: content.notification.at };
    return [renderNotification(content.notification, clock)[0]?.text ?? "", {}];
  }
  return [content?.kind ?? perform.op, {}];
}

export { LOBBY, OPS };
