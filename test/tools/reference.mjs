// Writes docs/reference.md from the code: state tables, error codes, limits, fault points, operations. `--check` only
// compares, and fails when the page is out of date.
import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const load = (path) => createJiti(import.meta.url).import(join(root, path));
const { STATE_TABLES } = await load("src/contracts/states.ts");
const { ERRORS } = await load("src/contracts/errors.ts");
const { OPERATIONS } = await load("src/contracts/protocol/operations.ts");
const limits = await load("src/contracts/limits.ts");
const { LABELS } = await load("src/state/store.ts");

const lines = ["# Reference", "", "Made from the code by `node test/tools/reference.mjs`; do not edit by hand.", ""];
const say = (...text) => lines.push(...text, "");

say("## States");
for (const [record, table] of Object.entries(STATE_TABLES)) {
  say(`### ${record}`);
  const edges = Object.entries(table).flatMap(([from, events]) =>
    Object.entries(events).map(([event, to]) => `  ${from} --> ${to}: ${event}`),
  );
  say("```mermaid", "stateDiagram-v2", ...edges, "```");
}

say("## Errors");
lines.push("| code | name | when | what to do |", "|---|---|---|---|");
for (const [kind, { code, when, remedy }] of Object.entries(ERRORS))
  lines.push(`| ${code} | ${kind} | ${when} | ${remedy} |`);
lines.push("");

say("## Limits", "The reason of each number stands beside it in `src/contracts/limits.ts`.");
lines.push("| group | limit | value |", "|---|---|---|");
for (const [group, values] of Object.entries(limits)) {
  if (typeof values !== "object") continue;
  for (const [name, value] of Object.entries(values)) lines.push(`| ${group} | ${name} | ${String(value)} |`);
}
lines.push("");

say("## Commands of the store", "Each is two fault points, `<label>:before` and `<label>:after` its commit.");
say(
  [...LABELS]
    .sort()
    .map((label) => `\`${label}\``)
    .join(", "),
);

say("## Operations of client.v1", "Those that change something need an idempotency key and leave a receipt.");
lines.push("| operation | changes something |", "|---|---|");
for (const [name, { change }] of Object.entries(OPERATIONS)) lines.push(`| \`${name}\` | ${change ? "yes" : "no"} |`);

const text = `${lines.join("\n").trimEnd()}\n`;
const page = join(root, "docs/reference.md");
if (process.argv.includes("--check")) {
  if (!existsSync(page) || readFileSync(page, "utf8") !== text) {
    console.log("docs/reference.md is out of date: run `node test/tools/reference.mjs`");
    process.exit(1);
  }
} else writeFileSync(page, text);
