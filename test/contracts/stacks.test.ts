/** Stacks of the built product name the sources. */
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stackOf } from "../../src/contracts/errors.ts";
import { buildChildren, type Built } from "../adapters/built.ts";

describe("a stack", () => {
  let built: Built;
  beforeAll(() => (built = buildChildren(["src/contracts/errors.ts"])));
  afterAll(() => built.remove());

  it("of the built product has no place in a built file left that a map tells, and keeps all others", () => {
    // The frame of a built file is written by hand: what counts is what becomes of it.
    const file = pathToFileURL(realpathSync(built.path("src/contracts/errors.ts"))).href;
    const other = join(import.meta.dirname, "other.js");
    const script = `import { stackOf } from ${JSON.stringify(file)};
      const error = new Error("broken");
      error.stack = "Error: broken\\n    at one (${file}:30:1)\\n    at two (${other}:1:1)\\n    at node:internal/x:1:1";
      process.stdout.write(stackOf(error));`;
    const text = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    expect(text).toMatch(/at one \(\/.*src\/contracts\/errors\.ts:\d+:\d+\)/);
    expect(text).toContain(`at two (${other}:1:1)`);
    expect(text).toContain("at node:internal/x:1:1");
  });

  it("that cannot be read is none", () => {
    const error = Object.defineProperty(new Error("x"), "stack", {
      get() {
        throw new Error("no");
      },
    });
    expect(stackOf(error)).toBeUndefined();
  });
});
