/**
 * The server's Unix socket, mode 0600. A stale socket file is removed only by the holder of the lock. Where a living server's
 * socket file is removed (by a cleaner of temporary folders, or by hand) it is made again: connections that stand are not touched.
 */
import { chmod, lstat, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
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
  let server: Server | undefined;
  let look: NodeJS.Timeout | undefined;
  let opening: Promise<void> = Promise.resolve();

  const listen = async (onConnection: (socket: Socket) => void): Promise<void> => {
    // Closing removes the file at this path, so the old one goes first.
    server?.close();
    await rm(socketPath, { force: true });
    const next = createServer((socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      onConnection(socket);
    });
    await new Promise<void>((resolve, reject) => {
      next.once("error", reject);
      // The file is made within this call: nothing else that this process makes may get this mask.
      const mask = process.umask(0o177);
      next.listen(socketPath, resolve);
      process.umask(mask);
    });
    await chmod(socketPath, 0o600);
    server = next;
  };

  return {
    async listen(onConnection) {
      await listen(onConnection);
      look = setInterval(() => {
        // A folder that is gone or full: the next look tries again.
        opening = opening
          .then(() => stands(socketPath))
          .then((good) => (good ? undefined : listen(onConnection)))
          .catch(() => {});
      }, WIRE.socketLookMs).unref();
    },
    async close() {
      clearInterval(look);
      await opening;
      for (const socket of open) socket.destroy();
      if (server?.listening === true) await new Promise<void>((resolve) => server?.close(() => resolve()));
      await rm(socketPath, { force: true });
    },
  };
}

async function stands(socketPath: string): Promise<boolean> {
  try {
    return (await lstat(socketPath)).isSocket();
  } catch {
    return false;
  }
}
