/**
 * Values that people give on the command line: JSON from an argument, a file or standard input.
 */
import { readFile } from "node:fs/promises";

import { HoldpointError, messageOf } from "../contracts/errors.ts";
import { parseJsonText } from "../contracts/json-text.ts";
import { VALUE } from "../contracts/limits.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { usage, type Io } from "./context.ts";

/**
 * Reads a JSON value: `-` is standard input, `@file` a file, anything else JSON itself.
 *
 * @param what how messages call it, for example `--input`
 * @throws HoldpointError `usage` when it is not JSON or the file cannot be read, `outputTooLarge` above the limit.
 */
export async function readJson(given: string, what: string, io: Io): Promise<JsonValue> {
  const { text, source } = await textOf(given, what, io);
  const bytes = Buffer.byteLength(text);
  if (bytes > VALUE.outputBytes) {
    throw new HoldpointError("outputTooLarge", `${source} has ${bytes} bytes; the limit is ${VALUE.outputBytes}.`, {
      details: { limit: VALUE.outputBytes, seen: bytes },
    });
  }
  try {
    return parseJsonText(text) as JsonValue;
  } catch (error) {
    throw usage(
      `${source} is not valid JSON: ${messageOf(error)}.`,
      what.startsWith("-")
        ? `Give JSON, for example ${what} '{"service":"shop-api"}' or ${what} @input.json.`
        : "Give JSON, the name of a file that has it, as @file.json, or - for standard input.",
    );
  }
}

/** As `readJson`, but what is no JSON is the text itself, unless it comes from a file or standard input. */
export async function readAnswer(given: string, what: string, io: Io): Promise<JsonValue> {
  if (given === "-" || given.startsWith("@")) return readJson(given, what, io);
  try {
    JSON.parse(given);
  } catch {
    return given;
  }
  return readJson(given, what, io);
}

async function textOf(given: string, what: string, io: Io): Promise<{ text: string; source: string }> {
  if (given === "-") {
    if (io.stdin.isTTY === true) io.err(`Reading ${what} from the terminal; Ctrl-D on a line of its own ends it.\n`);
    return { text: await readAll(io.stdin), source: "Standard input" };
  }
  if (!given.startsWith("@")) return { text: given, source: `The value of ${what}` };
  const path = given.slice(1);
  try {
    return { text: await readFile(path, "utf8"), source: path };
  } catch (error) {
    throw usage(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      "Check the path after @.",
    );
  }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    const buffer = Buffer.from(piece);
    pieces.push(buffer);
    bytes += buffer.length;
    // Whatever comes after is not needed to refuse it.
    if (bytes > VALUE.outputBytes) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}
