/**
 * The stand-in as a process of its own. Options come as one JSON document: from the file named by the first argument,
 * or as the first line of standard input. It prints one line of JSON when it listens, and ends when standard input
 * closes, so it cannot outlive the program that started it.
 */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { listenForControl } from "./control-server.ts";
import { startSim } from "./index.ts";
import type { SimOptions } from "./types.ts";

const input = createInterface({ input: process.stdin });
input.once("close", () => process.exit(0));

const file = process.argv[2];
const document =
  file === undefined
    ? await new Promise<string>((resolve) => input.once("line", resolve))
    : await readFile(file, "utf8");
try {
  const sim = await startSim(JSON.parse(document) as SimOptions);
  const control = await listenForControl(sim);
  const ready = { port: sim.port, pid: process.pid, controlPort: control.port, token: sim.token };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
} catch (error) {
  process.stderr.write(
    `the Telegram stand-in cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}
