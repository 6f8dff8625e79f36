/** What a command writes: kept up to a limit, and cut into lines for who listens. */
import { StringDecoder } from "node:string_decoder";
import { truncationMarker } from "../../contracts/command.ts";
import { LineCutter } from "./lines.ts";

/** One stream of a command. */
export class Output {
  readonly #limit: number;
  readonly #decoder = new StringDecoder("utf8");
  readonly #lines: LineCutter | undefined;
  #kept: string[] = [];
  #length = 0;
  #dropped = 0;

  /** @param limit UTF-16 units that are kept. */
  constructor(limit: number, onLine: ((line: string) => void) | undefined) {
    this.#limit = limit;
    this.#lines = onLine && new LineCutter(onLine);
  }

  take(chunk: Buffer): void {
    this.#lines?.push(chunk);
    this.#keep(this.#decoder.write(chunk));
  }

  /** The text, with the marker when something was dropped; a last line without its end is told before. */
  end(): { readonly text: string; readonly truncated: boolean } {
    this.#lines?.end();
    this.#keep(this.#decoder.end());
    const text = this.#kept.join("");
    if (this.#dropped === 0) return { text, truncated: false };
    // No half of a pair at the cut.
    const whole = text.replace(/[\ud800-\udbff]$/, "");
    return { text: whole + truncationMarker(this.#dropped + text.length - whole.length), truncated: true };
  }

  #keep(text: string): void {
    const room = this.#limit - this.#length;
    const kept = text.length <= room ? text : text.slice(0, room);
    if (kept !== "") this.#kept.push(kept);
    this.#length += kept.length;
    this.#dropped += text.length - kept.length;
  }
}
