/** Lines of a stream of bytes. A line that is longer than the limit is told up to it, at once, and its rest is dropped. */
import { SHELL } from "../../contracts/limits.ts";

const NEWLINE = 10;

export class LineCutter {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Within the rest of a line that was told already. */
  #skipping = false;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#tell();
      this.#skipping = false;
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  /** The stream is over: what has no line end is a line too. */
  end(): void {
    if (this.#bytes > 0) this.#tell();
  }

  #add(piece: Buffer): void {
    if (this.#skipping || piece.length === 0) return;
    const room = SHELL.lineBytes - this.#bytes;
    // Copied: a chunk is large, and a piece of it would keep all of it.
    this.#parts.push(Buffer.from(piece.subarray(0, room)));
    this.#bytes += Math.min(room, piece.length);
    if (piece.length <= room) return;
    this.#tell();
    this.#skipping = true;
  }

  #tell(): void {
    if (this.#skipping) return;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    // A character that was cut in the middle becomes a replacement character; a carriage return belongs to the line end.
    this.#onLine(bytes.toString("utf8").replace(/\r$/, ""));
  }
}
