/**
 * The sessions that are connected: `pi.sock`, the handshake, and one speaker for each session. The newest instance speaks; the one before it is
 * told and disconnected, because two Pi processes on one session write into the same file.
 */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { HoldpointError, toErrorRecord, type ErrorRecord } from "../../../src/contracts/errors.ts";
import { PI_LINK } from "../../../src/contracts/limits.ts";
import {
  fromExtensionSchema,
  PI_LINK_PROTOCOL,
  type FromExtension,
  type ToExtension,
} from "../../../src/contracts/protocol/pi-link.ts";
import { framePort, type FramePort } from "../../../src/contracts/wire/frames.ts";
import { PiSession } from "./session.ts";
import type { PiSettings } from "./settings.ts";

export interface SessionEvents {
  opened(session: PiSession): void;
  said(session: PiSession, frame: FromExtension): void;
  closed(session: PiSession): void;
  note(text: string): void;
}

export class PiSessions {
  readonly #settings: PiSettings;
  readonly #events: SessionEvents;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #speaking = new Map<string, PiSession>();
  #epochs = 0;

  constructor(settings: PiSettings, events: SessionEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#server = createServer((socket) => this.#connected(socket));
  }

  /** Listens, for this user only. Rejects when the path cannot be used. */
  async listen(): Promise<void> {
    const { socket: path } = this.#settings;
    // What an adapter before this one left: the server has proved that it is gone.
    rmSync(path, { force: true });
    const umask = process.umask(0o177);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(path, () => {
          this.#server.off("error", reject);
          resolve();
        });
      });
      chmodSync(path, 0o600);
    } finally {
      process.umask(umask);
    }
  }

  /** Whoever speaks for a session now. */
  get(place: string): PiSession | undefined {
    return this.#speaking.get(place);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#sockets.delete(socket));
    const port = framePort<FromExtension, ToExtension>(socket, fromExtensionSchema);
    const guard = setTimeout(() => port.close(), PI_LINK.helloMs);
    let session: PiSession | null = null;
    port.onClose((error) => {
      clearTimeout(guard);
      if (error !== undefined) this.#events.note(`a session was disconnected: ${error.message}`);
      if (session !== null) this.#gone(session);
    });
    port.onFrame((frame) => {
      if (session !== null) return this.#events.said(session, frame);
      clearTimeout(guard);
      session = this.#greet(port, frame);
    });
  }

  #greet(port: FramePort<FromExtension, ToExtension>, frame: FromExtension): PiSession | null {
    const error = refusalOf(frame);
    if (error !== null || frame.type !== "hello") {
      if (error !== null) port.send({ type: "refused", error });
      port.close();
      return null;
    }
    const session = new PiSession(frame, ++this.#epochs, port);
    const before = this.#speaking.get(session.place);
    this.#speaking.set(session.place, session);
    if (before !== undefined) {
      before.send({ type: "superseded", byPid: frame.pid });
      before.ended();
      before.port.close();
    }
    const { installPath, product } = this.#settings;
    session.send({ type: "welcome", protocol: PI_LINK_PROTOCOL, product, installPath, epoch: session.epoch });
    this.#events.opened(session);
    return session;
  }

  #gone(session: PiSession): void {
    session.ended();
    // One that was taken over from is gone already.
    if (this.#speaking.get(session.place) !== session) return;
    this.#speaking.delete(session.place);
    this.#events.closed(session);
  }
}

function refusalOf(frame: FromExtension): ErrorRecord | null {
  if (frame.type !== "hello")
    return toErrorRecord(new HoldpointError("linkRefused", `A session began with "${frame.type}" instead of hello.`));
  if (frame.protocol === PI_LINK_PROTOCOL) return null;
  return new HoldpointError(
    "linkRefused",
    `The extension speaks pi-link ${frame.protocol}; this server speaks ${PI_LINK_PROTOCOL}.`,
    { details: { theirs: frame.protocol, ours: PI_LINK_PROTOCOL, product: frame.product } },
  ).toRecord();
}
