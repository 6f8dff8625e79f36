/**
 * `/workflow-channel setup` in Pi's terminal: the questions of `holdpoint setup telegram` as dialogs of Pi. The work is done by that
 * command in a process of its own; nothing of a bot is known here, and a token is never asked, because a dialog shows what is typed.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { clean } from "../../../../renderers/terminal/layout.ts";
import { inert } from "../../../../src/contracts/decision/inert.ts";
import { PI_WIDGET } from "../../../../src/contracts/limits.ts";
import { product } from "../../../../src/contracts/product.ts";
import { setupDialogSchema, type SetupDialog } from "../../../../src/contracts/protocol/setup-dialog.ts";
import { Refusal } from "../actions.ts";
import type { Life } from "../life.ts";
import type { PiContext } from "../pi-api.ts";
import { serverNode } from "../server-node.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** What may follow the word; the other options of the command line are for scripts. */
const OPTIONS = new Set(["--token-file", "--profile", "--audience", "--person", "--api-root"]);
/** Lines that stay when there are more than Pi shows. */
const HEAD = 6;
/** The widget's name in Pi. */
const BOARD = "holdpoint-setup";

export const setupProgram = (): string => `${product().installPath}/dist/src/cli/main.js`;

export interface SetupDeps {
  readonly life: Life;
  readonly say: (text: string, type?: "info" | "warning") => void;
}

/** One set-up at a time. */
export class Setup {
  readonly #deps: SetupDeps;
  /** Ends the one that is under way. */
  #running: AbortController | undefined;

  constructor(deps: SetupDeps) {
    this.#deps = deps;
  }

  /** Begins it, and says how to end it; the questions follow, and Pi can be used meanwhile. Throws a `Refusal`. */
  begin(line: string, { ui }: Pick<PiContext, "ui">): string {
    if (line === "stop") {
      if (this.#running === undefined) return words.setupNone;
      this.#running.abort();
      // Its end is told when it is there.
      return "";
    }
    if (this.#running !== undefined) throw new Refusal(words.setupRunning);
    const options = optionsOf(line);
    const left = new AbortController();
    this.#running = left;
    this.#deps.life.begin("setup", async () => {
      try {
        await this.#run(options, ui, left.signal);
      } finally {
        this.#running = undefined;
      }
    });
    return words.setupBegins;
  }

  async #run(options: readonly string[], ui: PiContext["ui"], left: AbortSignal): Promise<void> {
    const { life, say } = this.#deps;
    const program = await serverNode();
    if (left.aborted) return say(words.setupStopped);
    const child: Child = spawn(program, [setupProgram(), "setup", "telegram", "--dialog", ...options], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const signal = AbortSignal.any([life.signal, left]);
    const end = (): void => void child.kill();
    signal.addEventListener("abort", end, { once: true });
    // A process that is gone takes no answer; its end says why.
    child.stdin.on("error", () => undefined);
    const board = new Board(ui);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString("utf8")));
    try {
      for await (const text of createInterface({ input: child.stdout })) {
        const answer = await this.#serve(setupDialogSchema.parse(JSON.parse(text)), board, ui, signal);
        if (answer === null) child.stdin.end();
        else if (answer !== undefined) child.stdin.write(`${answer}\n`);
      }
      const code = await ended;
      if (left.aborted) say(words.setupStopped);
      else if (code === 0 || complaint === "") say(board.text);
      else say(complaint.trim(), "warning");
    } finally {
      end();
      life.try("setup", () => board.clear());
    }
  }

  /** The answer to a question, null when it was left; undefined for what is only told. */
  async #serve(
    frame: SetupDialog,
    board: Board,
    ui: PiContext["ui"],
    signal: AbortSignal,
  ): Promise<string | null | undefined> {
    switch (frame.type) {
      case "say":
        board.add(frame.text);
        return undefined;
      case "step":
        board.over();
        return undefined;
      case "ask": {
        board.over();
        const hint = frame.fallback === "" ? "" : words.setupFallback(clean(frame.fallback));
        const typed = await ui.input(`${clean(frame.question)}${hint}`, clean(frame.fallback), { signal });
        return typed === undefined ? null : typed.replaceAll(/[\r\n]+/g, " ").trim();
      }
      case "confirm": {
        board.over();
        // The harmless one stands first, where a stray Enter lands.
        const picked = await ui.select(clean(frame.question), [words.no, words.yes], { signal });
        return picked === words.yes ? "yes" : picked === undefined ? null : "no";
      }
    }
  }
}

/** What was said in this step stays above the editor: a message of Pi would go with the next one, and the code with it. */
class Board {
  readonly #ui: PiContext["ui"];
  #lines: string[] = [];
  #over = false;

  constructor(ui: PiContext["ui"]) {
    this.#ui = ui;
  }

  get text(): string {
    return this.#lines.join("\n").trim();
  }

  add(line: string): void {
    if (line.trim() === "") return;
    if (this.#over) this.#lines = [];
    this.#over = false;
    this.#lines.push(inert(line));
    // The code stands near the top, and what strangers write in between comes after it.
    const { length } = this.#lines;
    const tail = this.#lines.slice(Math.max(HEAD, length - (PI_WIDGET.lines - HEAD)));
    this.#ui.setWidget(BOARD, [...this.#lines.slice(0, HEAD), ...tail]);
  }

  /** The next line begins anew. */
  over(): void {
    this.#over = true;
  }

  clear(): void {
    this.#ui.setWidget(BOARD, undefined);
  }
}

function optionsOf(line: string): string[] {
  const given = line.split(/\s+/).filter((word) => word !== "");
  for (let at = 0; at < given.length; at += 2)
    if (!OPTIONS.has(given[at] ?? "") || given[at + 1] === undefined) throw new Refusal(words.needs(words.setupUsage));
  return given;
}
