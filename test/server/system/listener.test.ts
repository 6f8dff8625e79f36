// The server's socket: a file that disappears is made again, without touching the connections that stand.

import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { WIRE } from "../../../src/contracts/limits.ts";
import { unixListener } from "../../../src/server/system/listener.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hp-sock-"));
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

/** Says a word and hears it back. */
async function echo(socket: Socket, word: string): Promise<string> {
  const heard = new Promise<string>((resolve, reject) => {
    socket.once("data", (data: Buffer) => resolve(data.toString()));
    socket.once("error", reject);
  });
  socket.write(word);
  return heard;
}

test("a socket file that was removed is there again at the next look; who was connected stays so", async () => {
  const path = join(folder, "holdpoint.sock");
  const listener = unixListener(path);
  await listener.listen((stream) => void stream.pipe(stream));
  const first = connect(path);
  expect(await echo(first, "one")).toBe("one");

  rmSync(path);
  vi.advanceTimersByTime(WIRE.socketLookMs);
  await vi.waitFor(() => expect(existsSync(path)).toBe(true));
  await vi.waitFor(() => expect(lstatSync(path).mode & 0o777).toBe(0o600));

  const second = connect(path);
  expect(await echo(second, "two")).toBe("two");
  expect(await echo(first, "three")).toBe("three");

  const inode = lstatSync(path).ino;
  vi.advanceTimersByTime(WIRE.socketLookMs);
  expect(await echo(second, "four")).toBe("four");
  expect(lstatSync(path).ino).toBe(inode);

  first.on("error", () => {});
  second.on("error", () => {});
  await listener.close();
  expect(existsSync(path)).toBe(false);
});

test("a home that is gone does not end the server; the socket is made when the home is there again", async () => {
  const inside = join(folder, "home");
  mkdirSync(inside);
  const path = join(inside, "holdpoint.sock");
  const listener = unixListener(path);
  await listener.listen((stream) => void stream.pipe(stream));
  rmSync(inside, { recursive: true });
  vi.advanceTimersByTime(WIRE.socketLookMs);
  await new Promise((resolve) => setImmediate(resolve));
  mkdirSync(inside);
  await vi.waitFor(() => {
    vi.advanceTimersByTime(WIRE.socketLookMs);
    expect(existsSync(path)).toBe(true);
  });
  const socket = connect(path);
  expect(await echo(socket, "here")).toBe("here");
  socket.on("error", () => {});
  await listener.close();
});
