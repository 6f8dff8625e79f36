// What is told of the last words of a process.
import { expect, it } from "vitest";
import { gist } from "../../src/server/crash-log.ts";

it.each([
  [
    "an error with its stack",
    "at start\nTypeError: x is not a function\n    at y (z.ts:1:2)\n",
    "TypeError: x is not a function",
  ],
  ["words without an error", "\n  first words\nmore\n", "first words"],
  ["nothing", " \n", ""],
  [
    "V8's figures before the end of memory",
    "<--- Last few GCs --->\n\n[7:0x1] 40 ms: Scavenge 2046.1 (2085.0) -> 2045.9 MB\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
    "out of memory (JavaScript heap out of memory)",
  ],
])("%s", (_what, diagnostic, told) => {
  expect(gist(diagnostic)).toBe(told);
});
