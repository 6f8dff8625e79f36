// Loading a workflow file: what it may import, what counts as its source, and what is refused before it runs.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SourceFile } from "../../src/contracts/definition.ts";
import { forgetTransformed } from "../../src/runner/loading/transform-cache.ts";
import { loadWorkflow, type Loaded, type LoadedWorkflow } from "../../src/runner/load.ts";
import { compute, defineWorkflow } from "../../src/workflow/index.ts";
import { makeFolder, oneNode, type Folder } from "./folder.ts";

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

async function loaded(workflow: string, more = {}): Promise<LoadedWorkflow> {
  const result = await loadWorkflow(folder.launch(workflow, more));
  if (result.kind !== "loaded") throw result.error;
  return result;
}
const refused = async (workflow: string, more = {}): Promise<Exclude<Loaded, LoadedWorkflow>> => {
  const result = await loadWorkflow(folder.launch(workflow, more));
  if (result.kind === "loaded") throw new Error("It was loaded.");
  return result;
};
const paths = (sources: readonly SourceFile[]): string[] =>
  sources.map(({ path }) => path.slice(folder.path.length + 1));

describe("what a file may import", () => {
  it("the engine by either name, zod and files of its own, without a package.json or a build", async () => {
    folder.put("sub/helper.ts", `export * from "./deep";\nexport const helper: string = "helper";`);
    folder.put("sub/deep.ts", `enum Kind { A = "deep" }\nexport const deep = Kind.A;`);
    folder.put("data.json", `{ "value": 7 }`);
    folder.put(
      "plain.mjs",
      `import { compute } from "holdpoint";\nexport const kind = compute({ run: () => 1 }).type;`,
    );
    folder.put("old.cjs", `module.exports = { old: "cjs" };`);
    folder.put(
      "w.workflow.ts",
      `import { compute, defineWorkflow } from "holdpoint";
       import * as earlier from "@osolmaz/pi-workflows";
       import { z } from "zod";
       import data from "./data.json";
       import old from "./old.cjs";
       import { kind } from "./plain.mjs";
       import { deep, helper } from "./sub/helper.ts";
       const late = await Promise.resolve("late");
       const title = [deep, helper, data.value, kind, old.old, late, typeof z.string, earlier.compute === compute, import.meta.url.startsWith("file:")].join(" ");
       export default defineWorkflow({ name: "w", title, startAt: "a", nodes: { a: compute({ run: () => 1 }) } });`,
    );
    const { definition, sources, title } = await loaded("w.workflow.ts");
    expect(title).toBe("deep helper 7 compute cjs late function true true");
    expect(definition.nodes["a"]?.type).toBe("compute");
    const own = ["data.json", "old.cjs", "plain.mjs", "sub/deep.ts", "sub/helper.ts", "w.workflow.ts"];
    expect(paths(sources)).toEqual(own);
    for (const { path, sha256 } of sources) {
      expect(sha256).toBe(createHash("sha256").update(readFileSync(path)).digest("hex"));
    }
  });

  it.each(["w.workflow.mjs", "w.workflow.mts", "module/w.workflow.js"])("%s finds the engine too", async (name) => {
    folder.put("module/package.json", `{ "type": "module" }`);
    folder.put("module/inner.js", `export const inner = 1;`);
    folder.put(
      name,
      oneNode("() => 1", name.startsWith("module") ? `import { inner } from "./inner.js"; void inner;` : ""),
    );
    const { sources } = await loaded(name);
    expect(paths(sources)).toEqual(name.startsWith("module") ? ["module/inner.js", name] : [name]);
  });

  it("a module that throws is evaluated once", async () => {
    folder.put(
      "bad.mjs",
      `import { appendFileSync } from "node:fs";\nappendFileSync("count", "x");\nthrow new Error("bad module");`,
    );
    folder.put("w.workflow.ts", oneNode("() => 1", `import "./bad.mjs";`));
    expect((await refused("w.workflow.ts")).error.message).toContain("bad module");
    expect(readFileSync(join(folder.path, "count"), "utf8")).toBe("x");
  });

  it("a linked workflow is known by its real path", async () => {
    folder.put("real/w.workflow.ts", oneNode("() => 1"));
    symlinkSync(join(folder.path, "real"), join(folder.path, "link"));
    expect(paths((await loaded("link/w.workflow.ts")).sources)).toEqual(["real/w.workflow.ts"]);
  });

  it("the cache gives the same workflow", async () => {
    folder.put("w.workflow.ts", oneNode("(): number => 1"));
    const cacheDir = join(folder.path, "cache");
    const first = await loaded("w.workflow.ts", { cacheDir });
    expect(existsSync(cacheDir)).toBe(true);
    const second = await loaded("w.workflow.ts", { cacheDir });
    expect(second.digest).toBe(first.digest);
    expect(second.sources).toEqual(first.sources);
  });
});

describe("what is refused", () => {
  it.each<[string, string, string, RegExp]>([
    [
      "a file that throws",
      `const x: number = 1;\nthrow new Error("no luck");`,
      "workflowLoad",
      /w\.workflow\.ts:2:\d+ cannot be loaded: no luck/,
    ],
    ["a file with a syntax error", "const = 1;", "workflowLoad", /w\.workflow\.ts.*cannot be loaded/],
    ["a file without a default export", "export const x = 1;", "workflowLoad", /does not export a workflow/],
    [
      "a file that exports something else",
      "export default { name: 'w' };",
      "workflowLoad",
      /does not export a workflow/,
    ],
    ["an import that does not exist", `import "./none.ts";`, "workflowLoad", /none\.ts/],
    [
      "a graph that breaks a rule",
      oneNode("() => 1").replace(`startAt: "a"`, `startAt: "b"`),
      "workflowInvalid",
      /startAt is "b"/,
    ],
    [
      "a node that breaks a rule, which names the place because the node has no name yet",
      oneNode("() => 1").replace("compute({", "compute({ timeoutMs: -5,"),
      "workflowInvalid",
      /timeoutMs is -5.*w\.workflow\.ts:3:\d+\)$/,
    ],
  ])("%s", async (_what, text, kind, message) => {
    folder.put("w.workflow.ts", text);
    const { error, kind: how } = await refused("w.workflow.ts");
    expect([how, error.kind]).toEqual(["failed", kind]);
    expect(error.message).toMatch(message);
  });

  it("a workflow file or a project folder that is gone", async () => {
    expect((await refused("none.workflow.ts")).error.kind).toBe("workflowNotFound");
    folder.put("w.workflow.ts", oneNode("() => 1"));
    const { error } = await refused("w.workflow.ts", { projectPath: join(folder.path, "none") });
    expect(error.message).toContain("cannot be entered");
  });
});

describe("input and title", () => {
  const parsing = (input: string, title = `"t"`): string =>
    `import { compute, defineWorkflow } from "holdpoint";
     import { z } from "zod";
     export default defineWorkflow({ name: "w", input: ${input}, title: ${title}, startAt: "a", nodes: { a: compute({ run: () => 1 }) } });`;

  it("the parser makes the input, and the title may use it", async () => {
    folder.put(
      "w.workflow.ts",
      parsing(
        "(given) => z.object({ n: z.number().default(5) }).parse(given ?? {})",
        "({ input }) => `n is ${input.n}`",
      ),
    );
    expect(await loaded("w.workflow.ts")).toMatchObject({ input: { n: 5 }, parsed: true, title: "n is 5" });
  });

  it("an input that was made before is not made again", async () => {
    folder.put("w.workflow.ts", parsing("(given) => ({ times: (given?.times ?? 0) + 1 })"));
    const first = await loaded("w.workflow.ts");
    expect(first.input).toEqual({ times: 1 });
    const later = { input: first.input, inputParsed: true, sources: first.sources, definitionDigest: first.digest };
    expect(await loaded("w.workflow.ts", later)).toMatchObject({ input: { times: 1 }, parsed: false });
  });

  it.each<[string, string, RegExp]>([
    ["throws", "() => { throw new Error('version is missing'); }", /refused its input: version is missing/],
    ["is asynchronous", "async () => 1", /returned a promise/],
    ["makes what JSON cannot carry", "() => ({ at: new Date(0) })", /at \$\.at is an instance of Date/],
  ])("a parser that %s ends the start", async (_what, input, message) => {
    folder.put("w.workflow.ts", parsing(input));
    const { error } = await refused("w.workflow.ts");
    expect(error.kind).toBe("inputInvalid");
    expect(error.message).toMatch(message);
  });

  it("a title that throws is left out, and a long one is cut", async () => {
    folder.put("w.workflow.ts", parsing("() => null", "() => { throw new Error('x'); }"));
    expect((await loaded("w.workflow.ts")).title).toBeNull();
    folder.put("v.workflow.ts", parsing("() => null", `"x".repeat(500)`));
    expect((await loaded("v.workflow.ts")).title).toBe("x".repeat(200));
  });
});

describe("what was approved is what runs", () => {
  const marks = `import { appendFileSync } from "node:fs";\nappendFileSync("executed", "x");`;

  const spoiled: [string, (helper: string) => void, RegExp][] = [
    ["changed", (helper) => void folder.put(helper, `${marks}\nexport const x = 2;`), /helper\.ts is not what it was/],
    ["gone", (helper) => rmSync(join(folder.path, helper)), /helper\.ts cannot be read any more \(ENOENT\)/],
  ];
  /** Starts with a helper of its own, so that nothing of it is in the memory of this process. */
  const started = (what: string): Promise<LoadedWorkflow> => {
    folder.put("helper.ts", `export const x = "${what} ${folder.path}";`);
    folder.put("w.workflow.ts", oneNode("() => x", `import { x } from "./helper.ts";`));
    return loaded("w.workflow.ts");
  };
  const resumed = ({ digest, sources }: LoadedWorkflow, more = {}): object => ({
    command: "continue",
    sources,
    definitionDigest: digest,
    ...more,
  });
  /** As the server lays approved files out. */
  const layOut = (sources: readonly SourceFile[]): string => {
    for (const { path, sha256 } of sources) folder.put(`approved/${sha256}`, readFileSync(path, "utf8"));
    return join(folder.path, "approved");
  };
  const result = ({ definition }: LoadedWorkflow): unknown =>
    (definition.nodes["a"] as unknown as { run(): unknown }).run();

  it.each(spoiled)(
    "when an included file is %s and nothing else is left, it is named and nothing is executed",
    async (what, spoil, message) => {
      const first = await started(what);
      spoil("helper.ts");
      const { error, kind } = await refused("w.workflow.ts", resumed(first));
      expect([kind, error.kind]).toEqual(["changed", "workflowSourceChanged"]);
      expect(error.message).toMatch(message);
      expect(existsSync(join(folder.path, "executed"))).toBe(false);
      await started(what);
      expect((await loaded("w.workflow.ts", resumed(first))).digest).toBe(first.digest);
    },
  );

  it.each(spoiled)(
    "when an included file is %s, the run goes on with the approved one at its place",
    async (what, spoil) => {
      const first = await started(`laid out, ${what}`);
      const sourcesDir = layOut(first.sources);
      spoil("helper.ts");
      const again = await loaded("w.workflow.ts", resumed(first, { sourcesDir }));
      expect([again.digest, again.sources, result(again)]).toEqual([first.digest, first.sources, result(first)]);
      expect(existsSync(join(folder.path, "executed"))).toBe(false);
    },
  );

  it("the workflow file itself may be gone, and its folder; packages are found from where it stood", async () => {
    folder.put("node_modules/dep/package.json", `{ "name": "dep", "main": "index.js" }`);
    folder.put("node_modules/dep/index.js", `module.exports = { dep: __filename };`);
    folder.put("sub/data.json", `{ "of": "${folder.path}" }`);
    folder.put("sub/old.cjs", `const { dep } = require("dep"); module.exports = { dep, here: __filename };`);
    const extras = `import old from "./old.cjs"; import data from "./data.json"; import { dep } from "dep";`;
    folder.put("sub/w.workflow.ts", oneNode("() => [old.here, old.dep, dep, data.of, import.meta.url]", extras));
    const first = await loaded("sub/w.workflow.ts");
    expect(paths(first.sources)).toEqual(["sub/data.json", "sub/old.cjs", "sub/w.workflow.ts"]);
    const sourcesDir = layOut(first.sources);
    rmSync(join(folder.path, "sub"), { recursive: true });
    const again = await loaded("sub/w.workflow.ts", resumed(first, { sourcesDir }));
    expect(result(again)).toEqual(result(first));
    expect(result(again)).toContain(join(folder.path, "node_modules/dep/index.js"));
  });

  it("a package or a project folder that is gone since then parks the run, it does not fail it", async () => {
    folder.put("node_modules/dep/index.js", `module.exports = 1;`);
    folder.put("w.workflow.ts", oneNode("() => dep", `import dep from "dep"; // ${folder.path}`));
    const first = await loaded("w.workflow.ts");
    const gone = await refused("w.workflow.ts", resumed(first, { projectPath: join(folder.path, "none") }));
    expect([gone.kind, gone.error.message]).toEqual(["changed", expect.stringContaining("cannot be entered")]);
    rmSync(join(folder.path, "node_modules"), { recursive: true });
    const { error, kind } = await refused("w.workflow.ts", resumed(first));
    expect([kind, error.kind]).toEqual(["changed", "workflowSourceChanged"]);
    expect(error.message).toMatch(/cannot be loaded any more as when the run started: .*dep/s);
  });

  it("files that came later do not get in between", async () => {
    folder.put("helper.ts", `export const x = "approved ${folder.path}";`);
    folder.put("w.workflow.ts", oneNode("() => x", `import { x } from "./helper";`));
    const first = await loaded("w.workflow.ts");
    folder.put("helper.js", `${marks}\nexport const x = "intruder";`);
    const again = await loaded("w.workflow.ts", resumed(first));
    expect(result(again)).toBe(`approved ${folder.path}`);
    expect(existsSync(join(folder.path, "executed"))).toBe(false);
  });

  it("a module that is loaded past the loader is approved like the others", async () => {
    folder.put("native.cjs", `module.exports = "approved ${folder.path}";`);
    const extras = `import { createRequire } from "node:module"; const native = createRequire(import.meta.url)("./native.cjs");`;
    folder.put("w.workflow.ts", oneNode("() => native", extras));
    const first = await loaded("w.workflow.ts");
    expect(paths(first.sources)).toEqual(["native.cjs", "w.workflow.ts"]);
    const sourcesDir = layOut(first.sources);
    folder.put("native.cjs", `require("node:fs").appendFileSync("executed", "x");`);
    expect(result(await loaded("w.workflow.ts", resumed(first, { sourcesDir })))).toBe(`approved ${folder.path}`);
    expect(existsSync(join(folder.path, "executed"))).toBe(false);
  });

  it("what was laid out is verified: a spoiled copy is not executed", async () => {
    const first = await started("verified");
    const sourcesDir = layOut(first.sources);
    for (const { sha256 } of first.sources) folder.put(`approved/${sha256}`, marks);
    folder.put("helper.ts", "export const x = 2;");
    expect((await refused("w.workflow.ts", resumed(first, { sourcesDir }))).kind).toBe("changed");
    expect(existsSync(join(folder.path, "executed"))).toBe(false);
  });

  it("a torn file in the cache of transpiled code is not executed", async () => {
    folder.put("w.workflow.ts", oneNode(`(): string => "torn ${folder.path}"`));
    const cacheDir = join(folder.path, "cache");
    await loaded("w.workflow.ts", { cacheDir });
    const files = readdirSync(cacheDir);
    expect(files).toHaveLength(1);
    for (const file of files) folder.put(`cache/${file}`, readFileSync(join(cacheDir, file), "utf8").slice(0, -20));
    forgetTransformed();
    expect(result(await loaded("w.workflow.ts", { cacheDir }))).toBe(`torn ${folder.path}`);
  });

  it("a file that is loaded only now, and a graph that depends on its surroundings, are refused", async () => {
    folder.put("extra.ts", "export {};");
    folder.put("w.workflow.ts", oneNode("() => 1", `if (process.env["EXTRA_FILE"]) await import("./extra.ts");`));
    folder.put("v.workflow.ts", oneNode("() => 1").replace(`name: "one"`, `name: process.env["EXTRA_FILE"] ?? "one"`));
    const [w, v] = [await loaded("w.workflow.ts"), await loaded("v.workflow.ts")];
    process.env["EXTRA_FILE"] = "1";
    try {
      const again = await refused("w.workflow.ts", { sources: w.sources, definitionDigest: w.digest });
      expect(again.error.message).toContain("extra.ts is loaded now");
      const other = await refused("v.workflow.ts", { sources: v.sources, definitionDigest: v.digest });
      expect(other.error).toMatchObject({
        kind: "workflowSourceChanged",
        message: expect.stringContaining("another graph"),
      });
    } finally {
      delete process.env["EXTRA_FILE"];
    }
  });

  it("a definition made by another copy of the package is recognized", async () => {
    // The loader hands in the engine of this process; its brand is what counts, not its identity.
    const brand = Symbol.for("holdpoint.workflow.v1");
    expect(brand in defineWorkflow({ name: "w", startAt: "a", nodes: { a: compute({ run: () => 1 }) } })).toBe(true);
  });
});
