// Fast tests run on the sources; e2e and crash tests run what was built. One project each, so that parts can be timed and chosen.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Their files share a process and the modules in it, which halves the processor time: they leave no state behind. */
const shared = [
  "test/contracts/**",
  "test/decision/**",
  "test/renderers/**",
  "test/workflow/**",
  "test/builtins/**",
  "test/testing/**",
  "test/resource/**",
  "test/state/**",
  "test/server/**",
  "test/client/**",
];
/** These change folders, patch loaders or start processes: each file has a process of its own. */
const fast = [
  "test/runner/**",
  "test/cli/**",
  "test/adapters/**",
  "test/crash/**",
  "test/chaos/**",
  "test/conformance/**",
];
const glob = (folders: string[]): string[] => folders.map((folder) => `${folder}/*.test.ts`);

const source = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The newest revision of each built-in workflow, by both names under which the package exports them. */
const builtins = Object.entries(exportsOfPackage())
  .filter(([name]) => /^\.\/(?:workflows|builtins)\//.test(name))
  .map(([name, { default: file }]) => ({
    find: name.replace(".", "holdpoint"),
    replacement: source(file.replace(/^\.\/dist\//, "").replace(/js$/, "ts")),
  }));

function exportsOfPackage(): Record<string, { default: string }> {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { exports: Record<string, { default: string }> }).exports;
}

/** The longest files begin first, or one of them goes on alone when all others are over; a clean checkout remembers no times. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.includes("/e2e/doubles/");
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: {
    // Examples and authors' tests are read as users write them.
    alias: [
      { find: /^holdpoint$/, replacement: source("src/workflow/index.ts") },
      { find: /^@osolmaz\/pi-workflows$/, replacement: source("src/workflow/index.ts") },
      { find: /^holdpoint\/builtins$/, replacement: source("src/builtins/index.ts") },
      { find: /^holdpoint\/resource-managers$/, replacement: source("src/resource/index.ts") },
      ...builtins,
      { find: /^holdpoint\/testing$/, replacement: source("src/testing/index.ts") },
    ],
  },
  test: {
    // The hang limit: nothing asserts a shorter duration.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: "forks",
    setupFiles: [source("test/harness/clean-after-each.ts")],
    // The default leaves a processor free; on two that would be one worker.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: "shared", include: glob(shared), isolate: false } },
      { extends: true, test: { name: "fast", include: glob(fast) } },
      {
        extends: true,
        test: {
          name: "property",
          include: ["test/property/**/*.test.ts"],
          exclude: ["test/property/mutations.test.ts"],
          testTimeout: 120_000,
        },
      },
      // About two minutes of two cores: `npm run test:mutations`.
      { extends: true, test: { name: "mutations", include: ["test/property/mutations.test.ts"], maxConcurrency: 2 } },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 120_000,
          // They wait for processes for much of their time. A number of its own needs a turn of its own.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "durability",
          include: ["test/durability/**/*.test.ts"],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
