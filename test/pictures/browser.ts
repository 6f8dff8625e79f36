/** A headless Chromium of this machine: the text of a page, and a picture of it. Nothing is downloaded; without one there are no pictures. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** Without these it looks for the network at every start. */
const QUIET = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--hide-scrollbars",
];

/** `CHROMIUM` names another one; undefined when there is none. */
export function findBrowser(): string | undefined {
  const named = process.env["CHROMIUM"];
  return named === undefined ? PLACES.find((path) => existsSync(path)) : named;
}

export interface Shot {
  readonly url: string;
  readonly file: string;
  readonly width: number;
  readonly height: number;
}

/** Takes the picture, and returns the page as the browser has it. */
export async function photograph(browser: string, { file, height, url, width }: Shot): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), "hp-pictures-"));
  const run = async (args: readonly string[]): Promise<string> => {
    const all = [...QUIET, `--user-data-dir=${profile}`, `--window-size=${width},${height}`, ...args, url];
    const { stdout } = await promisify(execFile)(browser, all, { timeout: 60_000, maxBuffer: 16_777_216 });
    return stdout;
  };
  try {
    const page = await run(["--dump-dom"]);
    await run([`--screenshot=${file}`, "--force-device-scale-factor=1.5"]);
    return page;
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}
