// The tables of docs/conformance.md: every line names tests that exist (file, and words of the title), or the issue that is to
// bring the subsystem. So the page cannot promise what nobody tests.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const RULES = [...Array.from({ length: 22 }, (_, at) => String(at + 1)), "28", "29"];
const FAULTS = [
  ..."L1 L3 L4 L6 L7 L8 L9 L10 L11 L12 R1 R2 R4 R5 R6 R8 R9 R10 R11 R12 R13 R14 R15 R16".split(" "),
  ..."C1 C2 C4 C5 C7 C8 C9 C10 D1 D3 D5 D6 D7 D8 D9 D10 E1 E2 E4 E5 E6 E7".split(" "),
  ..."M1 M3 M4 M5 M7 M8 M9 M10 M11 M12 M13 P1 P2 P4 P5 P6 P7 P8 X1 X2 X3 X4 X5 X6 X7 X8".split(" "),
  ...[2, 3, 5, 6, 7, 8, 9, 10, 11, 12].map((at) => `fault T${at}`),
];

// The cases of the channel: T01 to T28.
const CASES = Array.from({ length: 28 }, (_, at) => `T${String(at + 1).padStart(2, "0")}`);

// The acceptance cases of the monitor workflow.
const MONITOR = [...Array.from({ length: 15 }, (_, at) => `W${at + 1}`), "B1"];

const problems = [];
const seen = new Map();
let tests = 0;
for (const line of readFileSync(join(root, "docs/conformance.md"), "utf8").split("\n")) {
  const cells = line.split("|").map((cell) => cell.trim());
  const id = cells[1] ?? "";
  if (!/^([LRCDETWBMPX]?\d+|fault T\d+)$/.test(id)) continue;
  if (seen.has(id)) problems.push(`${id} has two lines`);
  seen.set(id, line);
  const named = [...(cells[3] ?? "").matchAll(/`(test\/[^`]+)` “([^”]+)”/g)];
  if (named.length === 0 && !/not yet: issue [A-Z]/.test(cells[3] ?? ""))
    problems.push(`${id} names neither a test nor an issue`);
  for (const [, file, title] of named) {
    tests += 1;
    if (!existsSync(join(root, file))) problems.push(`${id}: ${file} does not exist`);
    else if (!readFileSync(join(root, file), "utf8").includes(title))
      problems.push(`${id}: ${file} has no test “${title}”`);
  }
}
for (const id of [...RULES, ...FAULTS, ...CASES, ...MONITOR]) if (!seen.has(id)) problems.push(`${id} has no line`);
for (const problem of problems) console.log(problem);
console.log(`${seen.size} lines, ${tests} tests named, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
