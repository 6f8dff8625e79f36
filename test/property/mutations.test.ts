/** Each seeded mutation of the engine is caught by the model-based test (docs/conformance.md). */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MUTATIONS } from "./engine/mutations.ts";

const mutant = fileURLToPath(new URL("children/mutant.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

async function caught(...args: string[]): Promise<string | null> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "jiti/register", mutant, ...args], {
    cwd: root,
  });
  return (JSON.parse(stdout.trim().split("\n").at(-1) as string) as { caught: string | null }).caught;
}

describe.concurrent("the model-based test notices when", { timeout: 300_000 }, () => {
  it.each(MUTATIONS)("$what", async ({ id }) => {
    // A case was found; a mutant that cannot be loaded ends its process with an error instead.
    expect(await caught(id)).toContain("The workflow:");
  });

  it("and nothing when nothing is wrong", async () => {
    expect(await caught("none", "40")).toBeNull();
  });
});
