// A small server of client.v1 for tests of the client and the CLI: it greets as told and answers from a table.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { toServerSchema, type ClientRequest, type Hello, type ToServer } from "../../src/contracts/protocol/client.ts";
import { framePort, type FramePort } from "../../src/contracts/wire/frames.ts";

type Port = FramePort<ToServer, unknown>;
type Answer = { outcome: string; result?: unknown; error?: unknown } | undefined;
/** Answers a request; undefined: says nothing (the handler may use the port itself). */
export type Handler = (request: ClientRequest, port: Port) => Answer;

export interface FakeServer {
  readonly home: string;
  readonly socketPath: string;
  readonly hellos: Hello[];
  readonly requests: ClientRequest[];
  /** Cuts all connections; the socket keeps listening. */
  cut(): void;
  /** Stops listening and cuts all connections; the home stays. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

export interface FakeOptions {
  readonly handle: Handler;
  /** Changes of the greeting; null: never greets. */
  readonly hello?: Record<string, unknown> | null;
  readonly home?: string;
}

export function makeTempHome(): string {
  return mkdtempSync(join(tmpdir(), "hp-"));
}

export async function startFakeServer(options: FakeOptions): Promise<FakeServer> {
  const home = options.home ?? makeTempHome();
  const socketPath = join(home, "server.sock");
  const sockets = new Set<Socket>();
  const hellos: Hello[] = [];
  const requests: ClientRequest[] = [];
  let server: Server | undefined;

  const converse = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    const port: Port = framePort<ToServer, unknown>(socket, toServerSchema);
    port.onFrame((frame) => {
      if (frame.type === "hello") {
        hellos.push(frame);
        if (options.hello === null) return;
        port.send({
          type: "hello",
          protocol: 1,
          product: "0.1.0",
          installPath: "/opt/holdpoint",
          connectionId: `c${hellos.length}`,
          ...options.hello,
        });
        return;
      }
      requests.push(frame);
      const answer = options.handle(frame, port);
      if (answer) port.send({ type: "response", requestId: frame.requestId, ...answer });
    });
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const up = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server = createServer(converse);
      server.once("error", reject);
      server.listen(socketPath, resolve);
    });
  const down = (): Promise<void> =>
    new Promise((resolve) => {
      cut();
      if (server) server.close(() => resolve());
      else resolve();
    });

  await up();
  return {
    home,
    socketPath,
    hellos,
    requests,
    cut,
    down,
    up,
    close: async () => {
      await down();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
