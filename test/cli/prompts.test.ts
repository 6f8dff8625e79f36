// Questions on a terminal: a hidden answer is never shown, however quickly it comes, and Ctrl-C ends the conversation.

import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";

import type { Io } from "../../src/cli/context.ts";
import { Prompter, Stopped } from "../../src/cli/prompts.ts";

/** A terminal: what it shows, whether it echoes by itself, and who types when a question appears. */
function terminal(types: (question: string) => string): { io: Io; shown: () => string; echoed: string[] } {
  let shown = "";
  let raw = false;
  const echoed: string[] = [];
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => {
      raw = on;
    },
  });
  const err = (text: string): void => {
    shown += text;
    if (!/: $|\[y\/N\] $/.test(text)) return;
    const keys = types(text);
    // A terminal that is not in raw mode shows what is typed at once.
    if (!raw) echoed.push(keys);
    stdin.write(keys);
  };
  const io = {
    out: () => undefined,
    err,
    env: {},
    stdin,
    terminal: true,
    columns: 80,
    onSignal: () => () => undefined,
  };
  return { io, shown: () => shown, echoed };
}

test("a token that is typed the moment it is asked for is neither echoed nor shown; other answers are", async () => {
  const { echoed, io, shown } = terminal((question) => (question.startsWith("Token") ? "123:secret\r" : " ops \r"));
  const prompter = new Prompter(io);
  expect(await prompter.hidden("Token")).toBe("123:secret");
  expect(await prompter.ask("Audience", "operators")).toBe("ops");
  expect(echoed).toEqual([]);
  expect(shown()).not.toContain("secret");
  expect(shown()).toContain("Audience [operators]: ");
  expect(shown()).toContain(" ops ");
});

test("an empty answer takes what is offered; only y or yes is a yes", async () => {
  expect(await new Prompter(terminal(() => "\r").io).ask("Audience", "operators")).toBe("operators");
  for (const [word, yes] of [
    ["y", true],
    ["YES", true],
    ["", false],
    ["n", false],
    ["ye", false],
  ] as const)
    expect(await new Prompter(terminal(() => `${word}\r`).io).confirm("Right?"), word).toBe(yes);
});

test("Ctrl-C, Ctrl-D and the end of the input stop the conversation", async () => {
  for (const keys of ["\u0003", "\u0004"])
    await expect(new Prompter(terminal(() => keys).io).ask("Audience")).rejects.toThrow(Stopped);
  const { io } = terminal(() => "");
  const piped = new Prompter({ ...io, stdin: Readable.from([Buffer.from("one\ntwo\n")]) });
  expect([await piped.ask("A"), await piped.ask("B")]).toEqual(["one", "two"]);
  await expect(piped.ask("C")).rejects.toThrow(Stopped);
});
