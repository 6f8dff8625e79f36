#!/usr/bin/env node
/**
 * The command line: the bin of the package. Only what `--help` needs is imported here; commands are loaded when used.
 */
import type { Io } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { runCli } from "./program.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const io: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  env: process.env,
  stdin: process.stdin,
  terminal: process.stdout.isTTY,
  // A terminal that does not know its size says 0.
  columns: process.stdout.columns || 80,
  onSignal(listener) {
    for (const signal of SIGNALS) process.on(signal, listener);
    return () => {
      for (const signal of SIGNALS) process.off(signal, listener);
    };
  },
};

// `holdpoint runs | head -1` closes our output early. How the command ends counts when it is known by then; else the code
// is that of a program that SIGPIPE ended, never 0: what was followed may still fail.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(process.exitCode ?? EXIT.brokenPipe.code);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), io);
