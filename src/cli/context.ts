/**
 * What every command gets: where it writes, how (for people or for programs), and how it reaches the server.
 */
import { HoldpointError, type ErrorRecord } from "../contracts/errors.ts";
import type { HoldpointClient } from "../client/index.ts";

/** The process around a command, as a value so that tests can run commands in their own process. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Whether stdout is a terminal, and how wide. */
  readonly terminal: boolean;
  readonly columns: number;
  /** Calls the listener at SIGINT, SIGTERM and SIGHUP until it is released. */
  onSignal(listener: (signal: NodeJS.Signals) => void): () => void;
}

export interface GlobalOptions {
  readonly home?: string;
  readonly json?: boolean;
  readonly plain?: boolean;
  /** False with `--no-start`. */
  readonly start?: boolean;
}

export type Paint = "bold" | "dim" | "red" | "green" | "yellow";

const CODES: Record<Paint, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Schema of the one JSON document that a command prints with `--json`. */
const JSON_SCHEMA = "holdpoint.cli.v1";

export class Context {
  readonly io: Io;
  /** Words of the command, for example `effect show`. */
  readonly command: string;
  readonly json: boolean;
  readonly plain: boolean;
  readonly home: string | undefined;
  readonly mayStart: boolean;
  readonly colour: boolean;
  /** Columns to write in: at most 100, so that lines stay readable, 80 when it is not a terminal. */
  readonly width: number;

  constructor(io: Io, command: string, options: GlobalOptions) {
    this.io = io;
    this.command = command;
    this.json = options.json === true;
    this.plain = options.plain === true;
    // An empty variable of a shell must not lead to another home than the one that was meant.
    if (options.home === "") throw usage("--home is empty.", "Name a folder, or leave --home out.");
    this.home = options.home;
    this.mayStart = options.start !== false;
    this.colour = io.terminal && !this.plain && !io.env["NO_COLOR"] && io.env["TERM"] !== "dumb";
    this.width = io.terminal ? Math.max(40, Math.min(100, io.columns)) : 80;
  }

  /** A line for people; nothing with `--json`. */
  line(text = ""): void {
    if (!this.json) this.io.out(`${text}\n`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  /** The one document of a command that worked; nothing without `--json`. */
  result(value: unknown): void {
    if (this.json) this.#document({ ok: true, result: value });
  }

  /** The one document of a command that did not. */
  failure(error: ErrorRecord): void {
    this.#document({ ok: false, error });
  }

  paint(style: Paint, text: string): string {
    return this.colour && text !== "" ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
  }

  /** A heading between parts of a longer text. */
  heading(text: string): void {
    this.line();
    this.line(this.paint("bold", text));
  }

  /** Connects, runs and closes. Starts a server unless `--no-start` or `start: false` forbids it. */
  async withClient<T>(use: (client: HoldpointClient) => Promise<T>, options: { start?: boolean } = {}): Promise<T> {
    const { connect } = await import("../client/index.ts");
    const startOnDemand = this.mayStart && options.start !== false;
    const onStarting = (): void => {
      if (!this.json) this.io.err("No server runs; starting one …\n");
    };
    const client = await connect({ home: this.home, startOnDemand, onStarting });
    try {
      return await use(client);
    } finally {
      client.close();
    }
  }

  #document(body: object): void {
    this.io.out(`${JSON.stringify({ schema: JSON_SCHEMA, command: this.command, ...body })}\n`);
  }
}

/** An error about the command line. */
export function usage(message: string, remedy?: string): HoldpointError {
  return new HoldpointError("usage", message, remedy === undefined ? {} : { remedy });
}
