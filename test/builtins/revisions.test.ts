// Built-in workflows are known by id and revision: a revision never changes, and its name leads to its file in every installation.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import {
  BUILTINS_FOLDER,
  BUILTINS_INDEX,
  builtinIdOf,
  newestRevisions,
  sourceName,
  sourcePlace,
} from "../../src/contracts/builtins.ts";
import { sha256Hex } from "../../src/contracts/ids.ts";

/**
 * What each revision is. After a release, a change of what a workflow does is a new revision in a new folder; only a change that
 * nobody can notice may change a digest here.
 */
const DIGESTS: Readonly<Record<string, string>> = {
  "autoimplement@1": "b0ba9c6f37135608e47276678c90e7514a53f1297f930f31251db1fc9a1b0019",
  "autoplan@1": "ff2d96dce32274c725b0f198c5e0f2518f38668894aea867d58b3720b0eff12c",
  "monitor@1": "e11e26251020eaecc10a5be26eb05317a079897388933be588e1b20f461ea7f6",
  "plain-summary@1": "6978796257d8ef755178eb726f0885ef967119a0a9758b27cd69f6a46344e3f9",
  "plan-approval@1": "67bfdd9aa758850cd2a6ee3d65ff29babe0e824dc0a245253edb3d9360f6f260",
  "plan-approval@2": "a6b96cdf8c4d2610c39fb3eb1ba23d465fb0df8103be383a087cb6db32e47909",
  "plan-change@1": "7a66bc1481dfffec16138242121bfe36f51c72b83d901bf014f959443a835589",
};

test("every revision is what it was", () => {
  const folders = readdirSync(BUILTINS_FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const seen = folders.map(({ name }) => {
    const files = readdirSync(join(BUILTINS_FOLDER, name)).toSorted();
    return [name, sha256Hex(files.map((file) => readFileSync(join(BUILTINS_FOLDER, name, file), "utf8")).join("\n"))];
  });
  expect(Object.fromEntries(seen)).toEqual(DIGESTS);
});

test("what others include is the newest revision of each, by either name", () => {
  const { exports } = JSON.parse(readFileSync(join(BUILTINS_FOLDER, "../../package.json"), "utf8")) as {
    exports: Record<string, { default: string; types: string }>;
  };
  const newest = newestRevisions(Object.keys(DIGESTS));
  expect(newest.length).toBeGreaterThan(1);
  const wanted = newest.flatMap(({ id, name }) => {
    const file = `./dist/src/builtins/${name.slice("builtin:".length)}/${id}.workflow`;
    const entry = { types: `${file}.d.ts`, default: `${file}.js` };
    return [`./builtins/${id}`, `./workflows/${id}`].map((key) => [key, entry]);
  });
  const found = Object.entries(exports).filter(([name]) => /^\.\/(?:builtins|workflows)\//.test(name));
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
  expect(readFileSync(BUILTINS_INDEX, "utf8")).toContain('"./plan-approval@2/');
});

test("the file of a revision has its name, and the name leads back to it", () => {
  const path = join(BUILTINS_FOLDER, "plan-approval@1", "plan-approval.workflow.ts");
  expect(sourceName(path)).toBe("builtin:plan-approval@1");
  expect(sourcePlace("builtin:plan-approval@1")).toBe(path);
  expect(existsSync(path)).toBe(true);
  expect(builtinIdOf("builtin:plan-approval@1")).toBe("plan-approval");
});

test("other files among them are known by their place, and files elsewhere by their path", () => {
  const helper = join(BUILTINS_FOLDER, "plan-approval@1", "helper.ts");
  expect(sourceName(helper)).toBe("builtin:plan-approval@1/helper.ts");
  expect(sourcePlace("builtin:plan-approval@1/helper.ts")).toBe(helper);
  expect(sourcePlace(sourceName(BUILTINS_INDEX))).toBe(BUILTINS_INDEX);
  expect(sourceName("/p/a.workflow.ts")).toBe("/p/a.workflow.ts");
  expect(sourcePlace("/p/a.workflow.ts")).toBe("/p/a.workflow.ts");
  expect(builtinIdOf("/p/a@1")).toBeUndefined();
});

test("the newest revision is found as people count, and folders of another form are none", () => {
  const folders = ["a@9", "a@10", "b@2", "b@1", "index.ts", "C@1", "d", "e@"];
  expect(newestRevisions(folders)).toEqual([
    { id: "a", name: "builtin:a@10" },
    { id: "b", name: "builtin:b@2" },
  ]);
});
