// Canonical JSON: the published vectors hold here and in processes of other locales; what JSON cannot carry is refused.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

import { canonicalJson, digestHex, sha256Digest } from "../../src/contracts/canonical.ts";
import { VALUE } from "../../src/contracts/limits.ts";

interface Vector {
  name: string;
  json: string;
  canonical: string;
  sha256: string;
  sha256WithNewline: string;
}

const vectorFile = fileURLToPath(new URL("./canonical-vectors.json", import.meta.url));
const { vectors } = JSON.parse(readFileSync(vectorFile, "utf8")) as { vectors: Vector[] };

describe("published vectors", () => {
  test("there are at least ten of them", () => {
    expect(vectors.length).toBeGreaterThanOrEqual(10);
  });

  test.each(vectors)("$name", (vector) => {
    const value: unknown = JSON.parse(vector.json);
    expect(canonicalJson(value)).toBe(vector.canonical);
    expect(digestHex(vector.canonical)).toBe(vector.sha256);
    expect(sha256Digest(value)).toBe(`sha256:${vector.sha256}`);
    expect(sha256Digest(value, { trailingNewline: true })).toBe(`sha256:${vector.sha256WithNewline}`);
  });

  test("canonical text is its own canonical form", () => {
    for (const vector of vectors) expect(canonicalJson(JSON.parse(vector.canonical))).toBe(vector.canonical);
  });
});

describe("the locale of the process changes nothing", () => {
  test.each([
    ["C", "en"],
    ["et_EE.UTF-8", "et"],
    ["tr_TR.UTF-8", "tr"],
  ])("under LC_ALL=%s", (locale, language) => {
    const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: locale };
    delete env["NODE_OPTIONS"];
    delete env["NODE_EXTRA_CA_CERTS"];
    const child = spawnSync(process.execPath, [fileURLToPath(new URL("./canonical-child.mjs", import.meta.url))], {
      env,
      encoding: "utf8",
      timeout: 30_000,
    });
    expect(child.stderr).toBe("");
    const report = JSON.parse(child.stdout) as { language: string; canonical: string[]; digests: string[] };
    // Not vacuous: the child's own collation really is that of the locale.
    expect(report.language).toBe(language);
    expect(report.canonical).toEqual(vectors.map((vector) => vector.canonical));
    expect(report.digests).toEqual(vectors.map((vector) => `sha256:${vector.sha256WithNewline}`));
  });
});

describe("what JSON cannot carry is refused with its place", () => {
  const cyclic: Record<string, unknown> = { list: [] };
  (cyclic["list"] as unknown[]).push({ back: cyclic });
  const sparse: number[] = [1];
  sparse[2] = 3;
  let deep: unknown = null;
  for (let i = 0; i <= VALUE.canonicalDepth; i++) deep = [deep];

  test.each<[string, unknown, string]>([
    ["undefined", { a: { b: undefined } }, "$.a.b is of type undefined"],
    ["a function", { a: [() => 1] }, "$.a[0] is of type function"],
    ["a symbol", [Symbol("x")], "$[0] is of type symbol"],
    ["a bigint", { n: 1n }, "$.n is of type bigint"],
    ["NaN", { n: NaN }, "$.n is the number NaN"],
    ["infinity", [-Infinity], "$[0] is the number -Infinity"],
    ["half a surrogate pair", { "a b": "x\ud83d" }, '$["a b"] is text with half of a surrogate pair'],
    ["half a surrogate pair in a key", { "\udc00": 1 }, "has a name with half of a surrogate pair"],
    ["a date", { at: new Date(0) }, "$.at is an instance of Date"],
    ["a map", new Map(), "$ is an instance of Map"],
    ["a hole", sparse, "$[1] is of type undefined"],
    ["a cycle", cyclic, "$.list[0].back contains itself"],
    ["too many levels", deep, `is deeper than ${VALUE.canonicalDepth} levels`],
  ])("%s", (_name, value, message) => {
    expect(() => canonicalJson(value)).toThrowError(
      expect.objectContaining({
        name: "HoldpointError",
        kind: "notCanonical",
        message: expect.stringContaining(message),
      }),
    );
  });

  test("the same value twice, without a cycle, is fine", () => {
    const shared = { x: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"x":1},{"x":1}]');
  });
});
