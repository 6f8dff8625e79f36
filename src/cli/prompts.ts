/**
 * Questions on a terminal, one at a time. A hidden answer (a token) is not echoed and never kept. Without a terminal the answers
 * are the lines of standard input, so that a script can give them, or a program that shows the questions itself.
 */
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";

import type { Io } from "./context.ts";

/** A question as another program shows it; `step`: what was said before is over. */
export type Question =
  | { readonly type: "step" }
  | { readonly type: "ask"; readonly question: string; readonly fallback: string }
  | { readonly type: "confirm"; readonly question: string };

/** Thrown when the person ends the conversation: Ctrl-C, Ctrl-D, or no more lines. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
    this.name = "Stopped";
  }
}

export class Prompter {
  readonly #io: Io;
  readonly #show: ((question: Question) => void) | undefined;
  /** Of a standard input that is no terminal: lines must not get lost between two questions. */
  #lines: AsyncIterator<string> | null = null;

  /** With `show`, questions are handed to it and answered by the lines of standard input. */
  constructor(io: Io, show?: (question: Question) => void) {
    this.#io = io;
    this.#show = show;
  }

  /** The answer without white space around it; `fallback` for an empty one. Throws `Stopped`. */
  async ask(question: string, fallback = ""): Promise<string> {
    const hint = fallback === "" ? "" : ` [${fallback}]`;
    const answer = (await this.#read(`${question}${hint}: `, { type: "ask", question, fallback })).trim();
    return answer === "" ? fallback : answer;
  }

  /** An answer that is not shown. Throws `Stopped`. */
  async hidden(question: string): Promise<string> {
    const answer = (await this.#read(`${question}: `, "hidden")).trim();
    this.#io.err("\n");
    return answer;
  }

  /** What was said before need not be shown any longer. */
  step(): void {
    this.#show?.({ type: "step" });
  }

  /** Only `y` or `yes` is a yes. Throws `Stopped`. */
  async confirm(question: string): Promise<boolean> {
    return /^y(es)?$/i.test((await this.#read(`${question} [y/N] `, { type: "confirm", question })).trim());
  }

  async #read(text: string, question: Question | "hidden"): Promise<string> {
    if (this.#show !== undefined) {
      if (question === "hidden") throw new Error("a secret is asked on a terminal only");
      this.#show(question);
    } else if (this.#io.stdin.isTTY === true) return this.#typed(text, question === "hidden");
    // Questions are no result: they go where they do not mix with what a program reads.
    else this.#io.err(text);
    this.#lines ??= createInterface({ input: this.#io.stdin })[Symbol.asyncIterator]();
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Stopped();
    return value;
  }

  #typed(question: string, hidden: boolean): Promise<string> {
    const echo = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!hidden) this.#io.err(chunk.toString());
        done();
      },
    });
    const reader: Interface = createInterface({ input: this.#io.stdin, output: echo, terminal: true, historySize: 0 });
    return new Promise((resolve, reject) => {
      reader.once("line", (line) => {
        resolve(line);
        reader.close();
      });
      reader.once("SIGINT", () => reader.close());
      // After a line this changes nothing any more.
      reader.once("close", () => reject(new Stopped()));
      // Only now that the terminal itself echoes nothing any more: whoever answers at once must not show a token.
      this.#io.err(question);
    });
  }
}
