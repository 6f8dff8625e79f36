// Words for people stand in renderers/text only: whatever else makes or carries a message holds codes and values.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

import { describe, expect, test } from "vitest";
import { parseSync } from "vite";

import { LANGUAGES } from "../../src/contracts/language.ts";
import { ROOT } from "../harness/paths.ts";
import { wordsIn } from "../../renderers/text/index.ts";

/** What makes messages. (Errors, logs and the command line speak English, to whoever runs the service.) */
const CHECKED = [
  "renderers",
  "adapters/telegram/message.ts",
  "adapters/telegram/connect.ts",
  "src/decision",
  "src/state/channels",
  "src/state/notifications",
  "src/state/effects/content.ts",
  "src/state/effects/doubts.ts",
  "src/state/effects/outcome-post.ts",
];
const WORDS = "renderers/text/";

/** Calls whose texts are errors (these have codes), notes for a log, SQL or patterns. */
const NOT_SHOWN = /Error$|Problem$|^(note|run|get|all|test|exec|match)$/;

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node)["type"] === "string";
}

function calleeName(node: Node): string {
  const callee = node["callee"] as Node;
  const property = callee.type === "MemberExpression" ? (callee["property"] as Node) : callee;
  return String(property["name"] ?? "");
}

/** Text literals of a source that read like a sentence or a label. */
function spoken(file: string, source: string): string[] {
  const found: string[] = [];
  const look = (text: string): void => {
    if (isSpoken(text)) found.push(`${file}: ${JSON.stringify(text.slice(0, 80))}`);
  };
  const visit = (node: Node): void => {
    if (node.type === "ImportDeclaration" || /^TS(?!AsExpr|Satisfies|NonNull)/.test(node.type)) return;
    if ((node.type === "CallExpression" || node.type === "NewExpression") && NOT_SHOWN.test(calleeName(node))) return;
    if (node.type === "Literal" && typeof node["value"] === "string") look(node["value"]);
    if (node.type === "TemplateElement") look((node["value"] as { raw: string }).raw);
    for (const [key, value] of Object.entries(node)) {
      if (key === "source" && node.type.startsWith("Export")) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child);
    }
  };
  visit(parseSync(file, source).program as unknown as Node);
  return found;
}

/** Two words side by side, or one with a capital letter; neither SQL nor an identifier. */
function isSpoken(text: string): boolean {
  if (/\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|AND|ORDER BY|LIMIT|EXISTS|SET|JOIN|NULL|AS)\b/.test(text))
    return false;
  if (/^[a-z]+(?:[A-Z.:_/-][\w.:/-]*)?$/.test(text)) return false;
  return /\p{L}{2,} \p{L}{2,}/u.test(text) || /^\p{Lu}\p{Ll}+[ .!?…:]?$/u.test(text);
}

function* sources(path: string): Generator<string> {
  if (statSync(path).isFile()) yield path;
  else for (const entry of readdirSync(path)) yield* sources(join(path, entry));
}

describe("what people read", () => {
  test("stands in renderers/text only", () => {
    const files = CHECKED.flatMap((path) => [...sources(join(ROOT, path))])
      .map((path) => relative(ROOT, path))
      .filter((path) => path.endsWith(".ts") && !path.startsWith(WORDS));
    expect(files.length).toBeGreaterThan(40);
    expect(files.flatMap((path) => spoken(path, readFileSync(join(ROOT, path), "utf8")))).toEqual([]);
  });

  test("would be found elsewhere, in whatever form it stands", () => {
    const source = [
      'const a = "Approve the deployment";',
      "const b = `Answered by ${name}.`;",
      'rich.add("Stop");',
      'const c = { label: "Show again" };',
      'const sql = "SELECT 1 FROM runs WHERE run_no = ?";',
      'throw new HoldpointError("unknown", "No such thing is known.");',
    ].join("\n");
    expect(spoken("x.ts", source)).toHaveLength(4);
  });

  test.each(LANGUAGES)("is there in every language that a configuration may name: %s", (language) => {
    expect(Object.keys(wordsIn(language)).toSorted()).toEqual(Object.keys(wordsIn("en")).toSorted());
  });
});
