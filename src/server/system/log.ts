/** The server's log: JSON lines in logs/server.log, and readable on a terminal. Secrets never get here; ids and words do. */
import { closeSync, fchmodSync, openSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import type { Log } from "../ports.ts";

/** `terminal` adds a readable stream on stderr. */
export async function openLog(logsDir: string, level: string, terminal: boolean): Promise<Log & { close(): void }> {
  const path = join(logsDir, "server.log");
  const fd = openSync(path, "a", 0o600);
  fchmodSync(fd, 0o600);
  const file = pino.destination({ fd, sync: true });
  const streams: pino.StreamEntry[] = [{ stream: file, level: level as pino.Level }];
  if (terminal) {
    const { default: pretty } = await import("pino-pretty");
    streams.push({
      stream: pretty({
        destination: 2,
        sync: true,
        ignore: "pid,hostname",
        colorize: process.stderr.isTTY && !process.env["NO_COLOR"],
      }),
      level: level as pino.Level,
    });
  }
  const logger = pino(
    { level, redact: { paths: ["token", "*.token", "claim", "*.claim"], censor: "[redacted]" } },
    pino.multistream(streams),
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    close: () => {
      file.flushSync();
      closeSync(fd);
    },
  };
}
