/** The server's Unix socket, mode 0600. A stale socket file is removed only by the holder of the lock. */
import { chmod, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { HoldpointError } from "../../contracts/errors.ts";
import { WIRE } from "../../contracts/limits.ts";
import type { Listener } from "../ports.ts";

/** Throws `homeInvalid` when the path does not fit a socket address. */
export function unixListener(socketPath: string): Listener {
  const bytes = Buffer.byteLength(socketPath);
  if (bytes > WIRE.socketPathBytes) {
    throw new HoldpointError(
      "homeInvalid",
      `The socket path ${socketPath} has ${bytes} bytes; the limit is ${WIRE.socketPathBytes}.`,
    );
  }
  const open = new Set<Socket>();
  const server = createServer();
  return {
    async listen(onConnection) {
      await rm(socketPath, { force: true });
      server.on("connection", (socket) => {
        open.add(socket);
        socket.once("close", () => open.delete(socket));
        onConnection(socket);
      });
      const mask = process.umask(0o177);
      try {
        await new Promise<void>((resolve, reject) => {
          server.once("error", reject);
          server.listen(socketPath, resolve);
        });
      } finally {
        process.umask(mask);
      }
      await chmod(socketPath, 0o600);
    },
    async close() {
      for (const socket of open) socket.destroy();
      if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(socketPath, { force: true });
    },
  };
}
