/** What the tests of commands share: a server that says what the test tells it to, and commands run against it. */
import { afterEach, expect } from "vitest";
import { displayWidth } from "../../src/cli/layout.ts";
import type { RunView } from "../../src/contracts/protocol/operations.ts";
import { startFakeServer, type FakeServer, type Handler } from "../client/fake-server.ts";
import { NOON } from "../client/views.ts";
import { holdpoint, type Ran, type RunOptions } from "./run-in-process.ts";

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A server that answers as the function says; closed after the test. */
export async function serve(
  handle: Handler,
  options: Omit<Parameters<typeof startFakeServer>[0], "handle"> = {},
): Promise<FakeServer> {
  const server = await startFakeServer({ ...options, handle });
  open.push(() => server.close());
  return server;
}

/** A server that answers every request with one result. */
export function always(result: unknown): Promise<FakeServer> {
  return serve(() => ({ outcome: "accepted", result }));
}

/** Runs a command line against the home of a server. */
export function on(server: FakeServer, args: readonly string[], options?: RunOptions): Promise<Ran> {
  return holdpoint([...args, "--home", server.home], options);
}

/** No line is wider than 80 columns. */
export function fits(text: string): void {
  for (const line of text.split("\n")) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
}

/** An entry of a run's timeline. */
export const item = (index: number, type: string, detail: object): RunView["timeline"][number] => ({
  at: NOON + index * 1_000,
  index,
  type,
  actor: "server",
  detail: detail as never,
});
