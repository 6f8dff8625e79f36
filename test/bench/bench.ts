/** What every part of the benchmark is given. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Built } from "../adapters/built.ts";
import type { Key } from "./keys.ts";
import type { SeedOptions } from "./children/seed.ts";

export interface Bench {
  /** Folder of the built product. */
  readonly dist: string;
  /** A folder on a real disk; each part makes its homes in it. */
  readonly folder: string;
  readonly children: Built;
  readonly rounds: number;
  /** Takes the values of all rounds of a figure. */
  report(key: Key, values: readonly number[]): void;
  /** Something went otherwise than the figures assume; they are reported all the same, and are not valid. */
  doubt(why: string): void;
  /** One line for the person who watches. */
  say(line: string): void;
}

/** The part's name, the figures it reports, and its work. */
export interface Part {
  readonly name: string;
  readonly keys: readonly Key[];
  run(bench: Bench): Promise<void>;
}

/** Runs a child of the benchmark to its end and returns what it printed. */
export async function runChild(bench: Bench, source: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [bench.children.path(source), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`${source} ended with code ${String(code)}`);
  return output;
}

/** Fills a home with waiting decisions; returns one line for each card that was sent. */
export function seed(bench: Bench, home: string, options: SeedOptions): Promise<string> {
  return runChild(bench, "test/bench/children/seed.ts", home, JSON.stringify(options));
}
